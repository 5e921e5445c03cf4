#include "live_service/scaling_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::live_service {
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

int fewest_replicas(const SizedPlan& plan) {
  return plan.kind == ChangeKind::kSchedule ? *std::min_element(plan.schedule.begin(), plan.schedule.end())
                                            : plan.replicas;
}

// Requests a replica holds before another one is wanted.
double threshold_of(const SizedPlan& plan) { return std::max(1.0, std::ceil(plan.running)); }

std::string space_of(const ServiceReading& r) { return r.space.empty() ? "default" : r.space; }

std::string heading(const ServiceReading& r, const SizedPlan& plan) {
  return fmt::format(
      "# {}: {} of {} x {} at most, simulated at the busiest hour of the last {}.\n"
      "# Expected: {}/month; {} requests together on a replica there, TTFT {}, TPOT {} at the percentile asked "
      "for.\n",
      r.name(), plan.replicas, plan.tensor, plan.gpu->name, format_duration(seconds(r.seconds())),
      format_usd(plan.month), format_number(plan.running), format_duration(plan.ttft), format_duration(plan.tpot));
}

// The engine's own flags for its split and limits.
std::string engine_flags(const ServiceReading& r, const SizedPlan& plan) {
  switch (r.engine) {
    case Engine::kSglang:
      return fmt::format("--tp-size {} --max-running-requests {} --chunked-prefill-size {}", plan.tensor,
                         plan.sequences, plan.token_budget);
    case Engine::kTensorRtLlm:
    case Engine::kTriton:
      return fmt::format("--tp_size {} --max_batch_size {} --max_num_tokens {}", plan.tensor, plan.sequences,
                         plan.token_budget);
    case Engine::kTgi:
      return fmt::format("--num-shard {} --max-concurrent-requests {} --max-batch-prefill-tokens {}", plan.tensor,
                         plan.sequences, plan.token_budget);
    case Engine::kVllm:
    case Engine::kGateway:
      break;
  }
  return fmt::format("--tensor-parallel-size {} --max-num-seqs {} --max-num-batched-tokens {}", plan.tensor,
                     plan.sequences, plan.token_budget);
}

}  // namespace

std::string scaled_object(const ServiceReading& r, const SizedPlan& plan, const std::string& server) {
  const int fewest = fewest_replicas(plan);
  std::string text = heading(r, plan) + "# Check the Deployment's name and the address of the metrics server.\n";
  text += fmt::format(
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata:\n  name: {0}\n  namespace: {1}\nspec:\n"
      "  scaleTargetRef:\n    name: {0}\n  minReplicaCount: {2}\n  maxReplicaCount: {3}\n  cooldownPeriod: 600\n"
      "  triggers:\n    - type: prometheus\n      metadata:\n        serverAddress: {4}\n        query: {5}\n"
      "        threshold: \"{6:.0f}\"\n",
      r.workload, space_of(r), fewest, std::max(plan.replicas, fewest),
      server.empty() ? "http://prometheus:9090" : server, in_engines(r), threshold_of(plan));
  return text + (plan.kind == ChangeKind::kSchedule ? cron_triggers(plan, fewest) : std::string());
}

std::string pod_autoscaler(const ServiceReading& r, const SizedPlan& plan) {
  const int fewest = fewest_replicas(plan);
  return heading(r, plan) + fmt::format(
                                "# The metric comes from prometheus-adapter, with this rule under externalRules:\n"
                                "#   - seriesQuery: '{{__name__=~\"vllm:.*|sglang:.*|trtllm.*|tgi.*|nv_trt.*\"}}'\n"
                                "#     name: {{as: {0}_requests_in_engines}}\n"
                                "#     metricsQuery: '{1}'\n"
                                "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: {0}\n  "
                                "namespace: {2}\nspec:\n"
                                "  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: {0}\n"
                                "  minReplicas: {3}\n  maxReplicas: {4}\n"
                                "  metrics:\n    - type: External\n      external:\n        metric:\n          name: "
                                "{0}_requests_in_engines\n"
                                "        target:\n          type: AverageValue\n          averageValue: \"{5:.0f}\"\n"
                                "  behavior:\n    scaleDown:\n      stabilizationWindowSeconds: 600\n",
                                r.workload, in_engines(r), space_of(r), fewest, std::max(plan.replicas, fewest),
                                threshold_of(plan));
}

std::string deployment_patch(const ServiceReading& r, const SizedPlan& plan) {
  return heading(r, plan) +
         fmt::format(
             "# kubectl -n {1} patch deployment {0} --patch-file FILE\n"
             "# Start the engine with: {4}\n"
             "# Check the names of the Deployment and of its container.\n"
             "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {0}\n  namespace: {1}\nspec:\n  replicas: {2}\n"
             "  template:\n    spec:\n      containers:\n        - name: server\n          resources:\n            "
             "limits:\n"
             "              nvidia.com/gpu: {3}\n",
             r.workload, space_of(r), plan.replicas, plan.tensor, engine_flags(r, plan));
}

}  // namespace rightsize::live_service
