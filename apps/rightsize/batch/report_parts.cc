#include "rightsize/batch/report_parts.h"

#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "hand_over/template.h"

namespace rightsize::app {

using capacity::Assessment;
using capacity::Configuration;
using report::Json;
using sim::StatisticValues;

Json json_of(const StatisticValues& values) {
  Json out = Json::object();
  for (std::size_t i = 0; i < sim::kStatistics; ++i) out[kStatisticNames[i]] = report::json_number(in_ms(values[i]));
  return out;
}

void put_profile(Json& document, const BatchInput& input, const Assessment& a, double wall) {
  const sim::LatencyProfile& p = a.profile;
  document["stable"] = true;
  document["latency_ms"] = json_of(p.latency);
  document["half_width_ms"] = json_of(p.interval.half_widths());
  if (input.continuous) {
    document["ttft_ms"] = json_of(a.ttft);
    document["tpot_ms"] = json_of(a.tpot);
    document["steps"] = a.steps;
    if (!std::holds_alternative<std::shared_ptr<const sim::Trace>>(input.service.arrivals)) {
      const sim::RequestShape& lengths = input.service.lengths;
      document["lengths"] = {{"isl", lengths.size},
                             {"osl", lengths.output},
                             {"isl_p95", lengths.size_at(sim::Statistic::kP95)},
                             {"osl_p95", lengths.output_at(sim::Statistic::kP95)}};
    }
    document["preemptions"] = a.preemptions;
    document["output_tokens_per_second"] = a.output_tokens_per_second;
  }
  document["mean_batch"] = p.mean_batch;
  document["utilization"] = a.busy;
  document["batches"] = p.batches;
  document["rejected"] = p.rejected;
  document["requests"] = p.requests;
  if (input.left_out() > 0) document["requests_left_out"] = input.left_out();
  document["capacity_per_second"] = report::json_number(a.capacity);
  document["load"] = report::json_number(a.load);
  document["simulated_seconds"] = in_seconds(sim::from_sim_time(p.elapsed));
  document["quantile_relative_error"] = sim::LatencyHistogram::kRelativeError;
  document["seconds"] = wall;
}

std::string rate_shown(const BatchInput& input) {
  const std::optional<RequestsPerSecond> rate = sim::mean_rate(input.service.arrivals);
  return rate ? format_number(in_requests_per_s(*rate)) + " requests/s" : "one request";
}

// A trace is replayed whole unless --requests cuts it.
std::string cut_sentence(const BatchInput& input) {
  if (input.left_out() == 0) return {};
  return fmt::format(" Only the first {} requests of the trace are replayed (--requests); {} are left out.",
                     format_count(static_cast<double>(input.requests)),
                     format_count(static_cast<double>(input.left_out())));
}

static std::string replicas_shown(int count, const BatchOffer& offer) {
  const std::string kind = offer.gpu.empty() ? "GPU" : offer.gpu;
  if (offer.gpus_each > 1) {
    return fmt::format("{} replica{} of {} {}", count, count == 1 ? "" : "s", offer.gpus_each, kind);
  }
  return fmt::format("{} {}{}", count, kind, count == 1 || !offer.gpu.empty() ? "" : "s");
}

std::string gpus_shown(const BatchInput& input, const Configuration& c) {
  std::string text;
  for (const capacity::Group& group : c.groups)
    text += (text.empty() ? "" : " and ") + replicas_shown(group.count, input.offers[group.replica]);
  return text;
}

int gpu_count(const BatchInput& input, const Configuration& c) {
  int sum = 0;
  for (const capacity::Group& group : c.groups) sum += group.count * input.offers[group.replica].gpus_each;
  return sum;
}

const BatchOffer& first_offer(const BatchInput& input, const Configuration& c) {
  return input.offers[c.groups.front().replica];
}

// Requests that run together at most.
std::int64_t most_together(const BatchInput& input, const Configuration& c) {
  return input.continuous ? c.engine.max_sequences : c.batching.max_batch;
}

// What a step with prompts takes besides their tokens: experts read, or work hidden behind the weights.
static std::string with_prompts(const sim::StepCost& step) {
  if (std::abs(step.with_prompts) < 0.01 * step.base) return "";
  return fmt::format(" {} {} a step", step.with_prompts > 0 ? "plus" : "less", shown(std::abs(step.with_prompts)));
}

// Where the times come from, when the speed model made them.
static std::string fit_sentence(const BatchInput& input) {
  std::string text;
  for (const BatchOffer& offer : input.offers) {
    if (!offer.replica.fit) continue;
    const perf::StepFit& fit = *offer.replica.fit;
    text += fmt::format(
        "\n  {}: {} + {} a sequence + {} per 1,000 tokens of context, {} per 1,000 prompt tokens{}, {} a "
        "request; within {} of the speed model, prompts of half and twice the length {}; cache {} tokens",
        offer.name(), shown(offer.replica.step.base), shown(offer.replica.step.sequence),
        shown(offer.replica.step.context * 1000), shown(offer.replica.step.prefill * 1000),
        with_prompts(offer.replica.step), shown(offer.replica.step.request),
        format_percent(Ratio::fraction(fit.worst_step_error)), format_percent(Ratio::fraction(fit.worst_prompt_error)),
        format_count(static_cast<double>(offer.replica.step.kv_tokens)));
  }
  if (text.empty()) return text;
  const perf::StepFit& first = *input.offers[0].replica.fit;
  return fmt::format("Steps from the speed model, which is right within {} (TPOT) and {} (TTFT) in four of five cases:",
                     format_percent(Ratio::fraction(first.tpot_interval.high - 1)),
                     format_percent(Ratio::fraction(first.ttft_interval.high - 1))) +
         text;
}

void add_fit(Outcome& outcome, const BatchInput& input) {
  Json fits = Json::array();
  for (const BatchOffer& offer : input.offers) {
    if (!offer.replica.fit) continue;
    fits.push_back({{"gpu", offer.gpu},
                    {"tp", offer.gpus_each},
                    {"base_ms", in_ms(offer.replica.step.base)},
                    {"sequence_ms", in_ms(offer.replica.step.sequence)},
                    {"context_token_ms", in_ms(offer.replica.step.context)},
                    {"prompt_token_ms", in_ms(offer.replica.step.prefill)},
                    {"with_prompts_ms", in_ms(offer.replica.step.with_prompts)},
                    {"request_ms", in_ms(offer.replica.step.request)},
                    {"kv_tokens", offer.replica.step.kv_tokens},
                    {"worst_step_error", offer.replica.fit->worst_step_error},
                    {"worst_prompt_error", offer.replica.fit->worst_prompt_error},
                    {"tpot_interval", {offer.replica.fit->tpot_interval.low, offer.replica.fit->tpot_interval.high}},
                    {"ttft_interval", {offer.replica.fit->ttft_interval.low, offer.replica.fit->ttft_interval.high}}});
  }
  if (fits.empty()) return;
  outcome.report.document["step_fits"] = std::move(fits);
  outcome.report.blocks.emplace_back(report::Paragraph{fit_sentence(input)});
}

// Slightly below the load at which one replica was confirmed, so that the autoscaler acts before an SLO is at risk.
static double scaling_target(double requests_per_second) {
  const double target = requests_per_second * 0.9;
  return target >= 10 ? std::floor(target) : std::max(0.1, std::floor(target * 10) / 10);
}

static hand_over::Facts hand_over_facts(const BatchInput& input, const Configuration& c) {
  const BatchOffer& offer = first_offer(input, c);
  const int replicas = c.groups.size() == 1 ? c.replicas() : c.groups[0].count;
  const sim::QueuePolicy& queue = input.service.queue;
  const auto levels = input.service.priorities.size();
  const auto microseconds = [](sim::SimTime t) { return (t + 500) / 1000; };
  const double target = scaling_target(input.rate() / c.replicas());
  hand_over::Facts facts;
  facts.set("name", hand_over::object_name(input.name))
      .set("model", input.name)
      .set("gpu", offer.gpu.empty() ? "the GPU" : offer.gpu)
      .set("replicas", replicas)
      .set("several_replicas", replicas > 1)
      .set("min_replicas", replicas)
      .set("max_replicas", replicas * 2)
      .set("container", "server")
      .set("image", "YOUR_SERVER_IMAGE")
      .set("resource", "nvidia.com/gpu")
      .set("pod_gpus", offer.gpus_each)
      .set("pod_metric", "requests_per_second")
      .set("threshold", fmt::format("{:g}", target))
      .set("scale_target", fmt::format("{:.0f}", std::max(1.0, std::floor(target))));
  facts.set("max_batch", c.batching.max_batch)
      .set("executors", c.executors)
      .set("batches", c.batching.max_batch > 1 || !queue.never_acts() || levels > 1)
      .set("preferred_sizes", fmt::format("{}", fmt::join(c.batching.preferred_sizes, ", ")))
      .set("max_delay_us", microseconds(c.batching.max_delay))
      .set("priority_levels", levels > 1 ? levels : 0)
      .set("queue_policy", !queue.never_acts())
      .set("timeout_us", microseconds(queue.timeout))
      .set("timeout_action", queue.on_timeout == sim::QueuePolicy::OnTimeout::kDelay ? "DELAY" : "REJECT")
      .set("timeout_override", queue.timeout != 0 && queue.allow_override)
      .set("max_queue", queue.max_queue);
  const int tensor = offer.gpus_each > 1 ? offer.gpus_each : 0;
  facts.set("tensor", tensor)
      .set("attention_tensor", tensor)
      .set("sequences", c.engine.max_sequences)
      .set("token_budget", c.engine.token_budget)
      .set("kv_tokens", offer.replica.step.kv_tokens > 0 ? offer.replica.step.kv_tokens : c.engine.kv_tokens)
      .set("chunked", c.engine.chunked_prefill ? "true" : "false")
      .set("chunked_prefill", c.engine.chunked_prefill ? "--enable-chunked-prefill" : "--no-enable-chunked-prefill")
      .set("options_file", "options.yaml");
  facts.set("vllm", trim(hand_over::command("work/vllm", facts, " ")))
      .set("trtllm", trim(hand_over::command("work/trtllm", facts, " ")));
  return facts;
}

// The files of --emit, and for dynamic batching the document's triton_config.
void add_hand_over(Outcome& outcome, const BatchInput& input, const Configuration& c) {
  const hand_over::Facts facts = hand_over_facts(input, c);
  if (!input.continuous) outcome.report.document["triton_config"] = hand_over::fill_in("batch/triton", facts);
  for (const std::string& target : input.emit) {
    const std::string text = hand_over::fill_in("batch/" + target, facts);
    outcome.report.document["emit"][target] = text;
    outcome.report.blocks.emplace_back(report::Verbatim{target == "triton" ? "config.pbtxt" : target, text});
  }
}

}  // namespace rightsize::app
