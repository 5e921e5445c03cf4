#include "live_service/scaling_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "hand_over/template.h"

namespace rightsize::live_service {
namespace {

using hand_over::Facts;

// An engine's metrics of running and waiting requests and of its cache, and the template of its flags; in the order of
// Engine.
struct EngineNames {
  std::string_view running, waiting, cache, flags;
};
constexpr EngineNames kEngineNames[] = {
    {"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc", "work/vllm_flags"},
    {"sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage", "work/sglang"},
    {"trtllm_num_requests_running", "trtllm_num_requests_waiting", "trtllm_kv_cache_utilization", "work/trtllm"},
    {"nv_trt_llm_request_metrics{request_type=\"active\"}", "", "", "work/trtllm"},
    {"tgi_batch_current_size", "tgi_queue_size", "", "work/tgi"},
    {"inference_objective_running_requests", "", "", "work/vllm_flags"},
};
const EngineNames& names_of(Engine engine) { return kEngineNames[static_cast<std::size_t>(engine)]; }

// The periods that need more than the minimum number of replicas.
std::vector<Facts> busy_hours(const SizedPlan& plan, int fewest) {
  std::vector<Facts> hours;
  for (std::size_t h = 0; h < 24;) {
    std::size_t end = h;
    while (end < 24 && plan.schedule[end] == plan.schedule[h]) ++end;
    if (plan.schedule[h] > fewest)
      hours.push_back(Facts()
                          .set("start", fmt::format("0 {} * * *", h))
                          .set("end", end == 24 ? "59 23 * * *" : fmt::format("0 {} * * *", end))
                          .set("replicas", plan.schedule[h]));
    h = end;
  }
  return hours;
}

Facts facts_of(const ServiceReading& r, const SizedPlan& plan, const std::string& server) {
  const bool scheduled = plan.kind == SizeChange::kSchedule;
  const int fewest = scheduled ? *std::min_element(plan.schedule.begin(), plan.schedule.end()) : plan.replicas;
  Facts facts;
  facts.set("service", r.name())
      .set("name", r.workload)
      .set("namespace", r.space.empty() ? "default" : r.space)
      .set("gpu", plan.gpu->name)
      .set("tensor", plan.tensor)
      .set("attention_tensor", plan.tensor)
      .set("sequences", plan.sequences)
      .set("token_budget", plan.token_budget)
      .set("replicas", plan.replicas)
      .set("several_replicas", plan.replicas > 1)
      .set("min_replicas", fewest)
      .set("max_replicas", std::max(plan.replicas, fewest))
      .set("window", format_duration(seconds(r.seconds())))
      .set("cost", format_usd(plan.month))
      .set("running", format_number(plan.running))
      .set("ttft", format_duration(plan.ttft))
      .set("tpot", format_duration(plan.tpot))
      .set("threshold", fmt::format("{:.0f}", std::max(1.0, std::ceil(plan.running))))
      .set("server", server.empty() ? "http://prometheus:9090" : server)
      .set("query", load_query(r.engine, EngineLoad::kRequests, r.space, r.workload))
      .set("external_metric", r.workload + "_requests_in_engines")
      .set("hours", scheduled ? busy_hours(plan, fewest) : std::vector<Facts>{})
      .set("patch", true)
      .set("container", "server")
      .set("resource", "nvidia.com/gpu")
      .set("pod_gpus", plan.tensor);
  std::string flags = hand_over::command(names_of(r.engine).flags, facts, " ");
  flags.pop_back();
  return facts.set("flags", flags);
}

}  // namespace

std::string load_query(Engine engine, EngineLoad load, const std::string& space, const std::string& workload) {
  const EngineNames& names = names_of(engine);
  if (names.running.find('{') != std::string_view::npos)
    return load == EngineLoad::kRequests ? fmt::format("sum({})", names.running) : std::string();
  const std::string only = fmt::format("{{namespace=\"{}\",pod=~\"{}-.*\"}}", space, workload);
  const auto sum = [&](std::string_view metric) {
    return metric.empty() ? std::string() : fmt::format("sum({}{})", metric, only);
  };
  if (load == EngineLoad::kWaiting) return sum(names.waiting);
  if (load == EngineLoad::kCacheUse) return sum(names.cache);
  return names.waiting.empty() ? sum(names.running) : sum(names.running) + " + " + sum(names.waiting);
}

std::string scaling_file(std::string_view kind, const ServiceReading& reading, const SizedPlan& plan,
                         const std::string& server) {
  return hand_over::fill_in(fmt::format("service/{}", kind), facts_of(reading, plan, server));
}

}  // namespace rightsize::live_service
