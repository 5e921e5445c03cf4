// The chosen policies as files for the tools that run them.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "base/suggest.h"
#include "hand_over/template.h"
#include "live_service/scaling_file.h"
#include "rightsize/autoscale/report.h"

namespace rightsize::app {
namespace {

using autoscale::Kind;
using autoscale::Policy;
using autoscale::SimulatedPolicy;
using live_service::EngineLoad;

struct Tool {
  const char* name;
  Kind kind;
};
constexpr std::array<Tool, 6> kTools = {{{"keda", Kind::kKeda},
                                         {"hpa", Kind::kHpa},
                                         {"variantautoscaling", Kind::kVariant},
                                         {"dynamo", Kind::kDynamo},
                                         {"knative", Kind::kKnative},
                                         {"skyserve", Kind::kSkyServe}}};

std::string whole_seconds_of(sim::SimTime t) { return fmt::format("{}", (t + 999'999'999) / 1'000'000'000); }
std::string percent_of(double share) { return fmt::format("{:.0f}", 100 * share); }

live_service::Engine engine_of(const std::string& stack) {
  return stack == "sglang"   ? live_service::Engine::kSglang
         : stack == "trtllm" ? live_service::Engine::kTensorRtLlm
                             : live_service::Engine::kVllm;
}

// "0 8 * * *": a time of day, in minutes.
std::string cron(sim::SimTime time) {
  constexpr sim::SimTime kMinute = 60'000'000'000, kDay = 1'440;
  const sim::SimTime minute = ((time / kMinute) % kDay + kDay) % kDay;
  return fmt::format("{} {} * * *", minute % 60, minute / 60);
}

// The hours of a day that need more than the minimum number of replicas. Each starts early enough for the start-up.
std::vector<hand_over::Facts> busy_hours(const Policy& p) {
  constexpr sim::SimTime kDay = autoscale::whole_seconds(86400);
  std::vector<hand_over::Facts> hours;
  if (p.plan.empty() || static_cast<sim::SimTime>(p.plan.size()) * p.every != kDay) return hours;
  for (std::size_t i = 0; i < p.plan.size();) {
    std::size_t end = i;
    while (end < p.plan.size() && p.plan[end] == p.plan[i]) ++end;
    if (p.plan[i] > p.min) {
      const sim::SimTime last = static_cast<sim::SimTime>(end) * p.every;
      hours.push_back(hand_over::Facts()
                          .set("start", cron(static_cast<sim::SimTime>(i) * p.every - p.lead))
                          .set("end", last == kDay ? "59 23 * * *" : cron(last))
                          .set("replicas", p.plan[i]));
    }
    i = end;
  }
  return hours;
}

std::string slo_words(const autoscale::Limits& slo) {
  std::vector<std::string> parts;
  for (const auto& [name, limit] :
       {std::pair{"TTFT", slo.ttft}, std::pair{"TPOT", slo.tpot}, std::pair{"latency", slo.latency}})
    if (limit != sim::kNever) parts.push_back(fmt::format("{} {}", name, format_duration(sim::from_sim_time(limit))));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void set_limits(const AutoscaleInput& input, hand_over::Facts& facts) {
  const auto milliseconds_of = [](sim::SimTime t) { return fmt::format("{:g}", static_cast<double>(t) * 1e-6); };
  const autoscale::Limits& slo = input.cluster.slo;
  if (slo.ttft != sim::kNever) facts.set("ttft_ms", milliseconds_of(slo.ttft));
  if (slo.tpot != sim::kNever) facts.set("tpot_ms", milliseconds_of(slo.tpot));
  facts.set("slo", slo_words(slo));
}

void set_expected(const AutoscaleInput& input, const SimulatedPolicy& simulated, hand_over::Facts& facts) {
  const std::optional<double> cost = input.usd(simulated.run.paid_seconds);
  facts.set("policy", autoscale::describe(simulated.policy))
      .set("traffic", input.traffic_words)
      .set("startup", format_duration(input.startup.total()))
      .set("gpu_hours", format_number(input.gpu_hours(simulated.run.paid_seconds)))
      .set("cost", cost ? format_usd(usd(*cost)) : "")
      .set("over", format_percent(Ratio::fraction(simulated.run.over_share())))
      .set("most", simulated.run.most_ready);
}

hand_over::Facts facts_of(const AutoscaleInput& input, const SimulatedPolicy& simulated) {
  const Policy& p = simulated.policy;
  const std::string name = hand_over::object_name(input.name), space = "default";
  const std::string gpu = input.offer.replica.gpu.empty() ? "GPU" : input.offer.replica.gpu;
  const int tensor = input.offer.replica.gpus, most = std::max(p.max, std::max(1, p.min));
  const EngineLoad load = p.metric == autoscale::Metric::kWaiting    ? EngineLoad::kWaiting
                          : p.metric == autoscale::Metric::kCacheUse ? EngineLoad::kCacheUse
                                                                     : EngineLoad::kRequests;
  static constexpr std::array kPredictors = {"constant", "arima", "prophet"};
  hand_over::Facts facts;
  facts.set("name", name)
      .set("namespace", space)
      .set("model", input.name)
      .set("variant", fmt::format("{}-{}-{}", input.name, gpu, tensor))
      .set("gpu", gpu)
      .set("tensor", tensor)
      .set("backend", input.stack)
      .set("min_replicas", p.min)
      .set("max_replicas", most)
      .set("max_gpus", most * tensor)
      .set("threshold", fmt::format("{:g}", p.target))
      .set("server", "http://prometheus:9090")
      .set("query", live_service::load_query(engine_of(input.stack), load, space, name))
      .set("external_metric", name + "_engine_load")
      .set("polling", whole_seconds_of(p.polling))
      .set("cooldown", whole_seconds_of(p.cooldown))
      .set("stabilization", whole_seconds_of(p.down))
      .set("up_most", p.up_most)
      .set("up_period", whole_seconds_of(p.up_period))
      .set("hours", busy_hours(p))
      .set("window", whole_seconds_of(p.window) + "s")
      .set("panic_window", percent_of(p.panic_window))
      .set("panic", percent_of(p.panic))
      .set("grace", whole_seconds_of(p.grace) + "s")
      .set("rate", fmt::format("{:.4g}", p.rate))
      .set("interval", whole_seconds_of(p.interval))
      .set("predictor", kPredictors[static_cast<std::size_t>(p.predictor)])
      .set("up_delay", whole_seconds_of(p.up_delay))
      .set("down_delay", whole_seconds_of(p.down_delay))
      .set("patience", fmt::format("{:.0f}", 2 * in_seconds(input.startup.high()) + 60))
      .set("kv_limit", fmt::format("{:g}", p.kv_limit))
      .set("kv_spare", fmt::format("{:g}", p.kv_spare))
      .set("queue_limit", fmt::format("{:g}", p.queue_limit))
      .set("queue_spare", fmt::format("{:g}", p.queue_spare))
      .set("hourly_cost", input.usd_per_gpu_hour ? fmt::format("{:.2f}", *input.usd_per_gpu_hour * tensor) : "");
  set_limits(input, facts);
  set_expected(input, simulated, facts);
  return facts;
}

}  // namespace

Result<> check_scaling_tools(const std::vector<std::string>& tools) {
  std::vector<std::string> names;
  for (const Tool& tool : kTools) names.emplace_back(tool.name);
  for (const std::string& word : tools) {
    if (std::find(names.begin(), names.end(), word) != names.end()) continue;
    return fail(bad_input(fmt::format("unknown --emit target '{}'", word))
                    .with_hint(did_you_mean(word, names))
                    .with_hint(fmt::format("use {}", fmt::join(names, ", "))));
  }
  return {};
}

Result<std::map<std::string, std::string>> scaling_files(const AutoscaleAnswer& answer) {
  std::map<std::string, std::string> files;
  for (const std::string& word : answer.input.emit) {
    const Tool& tool = *std::find_if(kTools.begin(), kTools.end(), [&](const Tool& t) { return t.name == word; });
    const SimulatedPolicy* best = nullptr;
    for (const SimulatedPolicy& policy : answer.policies) {
      if (policy.policy.kind != tool.kind) continue;
      if (best == nullptr || autoscale::better(policy, *best, answer.input.cluster.slo)) best = &policy;
    }
    if (best == nullptr) {
      return fail(bad_input(fmt::format("--emit {} needs a {} policy", word, autoscale::name_of(tool.kind)))
                      .with_hint(fmt::format("add --policy {}:..., or leave --policy out to search",
                                             autoscale::name_of(tool.kind))));
    }
    // The figures are those of what the file says: a plan that it cannot express is not simulated either.
    std::vector<SimulatedPolicy> without_plan;
    if (!best->policy.plan.empty() && busy_hours(best->policy).empty()) {
      Policy policy = best->policy;
      policy.plan.clear();
      without_plan = autoscale::simulate_all(answer.input.cluster, answer.input.traffic, {policy});
      best = &without_plan.front();
    }
    files[word] = hand_over::fill_in(fmt::format("autoscale/{}", word), facts_of(answer.input, *best));
  }
  return files;
}

}  // namespace rightsize::app
