#include "service/scaling_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::service {
namespace {

// Requests running and waiting in the service's engines; empty where an engine publishes neither.
std::string in_engines(const ServiceReading& r) {
  std::string_view running, waiting;
  switch (r.engine) {
    case Engine::kVllm:
      running = "vllm:num_requests_running", waiting = "vllm:num_requests_waiting";
      break;
    case Engine::kSglang:
      running = "sglang:num_running_reqs", waiting = "sglang:num_queue_reqs";
      break;
    case Engine::kTensorRtLlm:
      running = "trtllm_num_requests_running", waiting = "trtllm_num_requests_waiting";
      break;
    case Engine::kTgi:
      running = "tgi_batch_current_size", waiting = "tgi_queue_size";
      break;
    case Engine::kTriton:
      running = "nv_trt_llm_request_metrics{request_type=\"active\"}";
      break;
    case Engine::kGateway:
      running = "inference_objective_running_requests";
      break;
  }
  if (running.find('{') != std::string_view::npos) return fmt::format("sum({})", running);
  const std::string only = fmt::format("{{namespace=\"{}\",pod=~\"{}-.*\"}}", r.space, r.workload);
  std::string query = fmt::format("sum({}{})", running, only);
  if (!waiting.empty()) query += fmt::format(" + sum({}{})", waiting, only);
  return query;
}

// Stretches of hours with one number of replicas above the fewest.
std::string cron_triggers(const SizedPlan& plan, int fewest) {
  std::string text;
  for (std::size_t h = 0; h < 24;) {
    std::size_t end = h;
    while (end < 24 && plan.schedule[end] == plan.schedule[h]) ++end;
    if (plan.schedule[h] > fewest) {
      text += fmt::format(
          "    - type: cron\n      metadata:\n        timezone: Etc/UTC\n        start: 0 {} * * *\n        end: {} {} "
          "* * *\n"
          "        desiredReplicas: \"{}\"\n",
          h, end == 24 ? 59 : 0, end == 24 ? 23 : end, plan.schedule[h]);
    }
    h = end;
  }
  return text;
}

}  // namespace

std::string scaled_object(const ServiceReading& r, const SizedPlan& plan, const std::string& server) {
  const bool by_hour = plan.kind == ChangeKind::kSchedule;
  const int fewest = by_hour ? *std::min_element(plan.schedule.begin(), plan.schedule.end()) : plan.replicas;
  const double threshold = std::max(1.0, std::ceil(plan.running));
  std::string text = fmt::format(
      "# {}: {} of {} x {} at most, simulated at the busiest hour of the last {}.\n"
      "# Expected: {}/month; {} requests together on a replica there, TTFT {}, TPOT {} at the percentile asked for.\n"
      "# Check the Deployment's name and the address of the metrics server.\n",
      r.name(), plan.replicas, plan.tensor, plan.gpu->name, format_duration(seconds(r.seconds())),
      format_usd(plan.month), format_number(plan.running), format_duration(plan.ttft), format_duration(plan.tpot));
  text += fmt::format(
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata:\n  name: {0}\n  namespace: {1}\nspec:\n"
      "  scaleTargetRef:\n    name: {0}\n  minReplicaCount: {2}\n  maxReplicaCount: {3}\n  cooldownPeriod: 600\n"
      "  triggers:\n    - type: prometheus\n      metadata:\n        serverAddress: {4}\n        query: {5}\n"
      "        threshold: \"{6:.0f}\"\n",
      r.workload, r.space.empty() ? "default" : r.space, fewest, std::max(plan.replicas, fewest),
      server.empty() ? "http://prometheus:9090" : server, in_engines(r), threshold);
  return text + (by_hour ? cron_triggers(plan, fewest) : std::string());
}

}  // namespace rightsize::service
