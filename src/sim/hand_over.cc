#include "sim/hand_over.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rightsize::sim {
namespace {

// Triton counts in microseconds.
SimTime in_microseconds(SimTime t) { return (t + 500) / 1000; }

// The load one replica was confirmed at, a little below, so that the scaler acts before an SLO is at risk.
double scaling_target(const Deployment& d) {
  const double target = in_requests_per_s(d.load) * 0.9;
  return target >= 10 ? std::floor(target) : std::max(0.1, std::floor(target * 10) / 10);
}

}  // namespace

std::string triton_config(const Deployment& d, const DynamicBatchConfig& batching, const QueuePolicy& queue,
                          int priority_levels) {
  std::string out = fmt::format("name: \"{}\"\nmax_batch_size: {}\ninstance_group [ {{ count: {} kind: KIND_GPU }} ]\n",
                                d.name, batching.max_batch, d.executors);
  if (batching.max_batch == 1 && queue.never_acts() && priority_levels < 2) return out;
  out += "dynamic_batching {\n";
  if (!batching.preferred_sizes.empty()) {
    out += fmt::format("  preferred_batch_size: [ {} ]\n", fmt::join(batching.preferred_sizes, ", "));
  }
  out += fmt::format("  max_queue_delay_microseconds: {}\n", in_microseconds(batching.max_delay));
  if (priority_levels > 1) {
    out += fmt::format("  priority_levels: {}\n  default_priority_level: {}\n", priority_levels, priority_levels);
  }
  if (!queue.never_acts()) {
    out += "  default_queue_policy {\n";
    if (queue.timeout != 0) {
      out += fmt::format("    timeout_action: {}\n    default_timeout_microseconds: {}\n",
                         queue.on_timeout == QueuePolicy::OnTimeout::kDelay ? "DELAY" : "REJECT",
                         in_microseconds(queue.timeout));
      if (queue.allow_override) out += "    allow_timeout_override: true\n";
    }
    if (queue.max_queue != 0) out += fmt::format("    max_queue_size: {}\n", queue.max_queue);
    out += "  }\n";
  }
  return out + "}\n";
}

std::string vllm_command(const Deployment& d, const ContinuousConfig& config) {
  return fmt::format(
      "vllm serve {}{} --max-num-seqs {} --max-num-batched-tokens {} {}\n# {} replica{} on {}; the cache must hold "
      "{} tokens (vLLM prints 'GPU KV cache size' when it starts)\n",
      d.name, d.gpus_per_replica > 1 ? fmt::format(" --tensor-parallel-size {}", d.gpus_per_replica) : "",
      config.max_sequences, config.token_budget,
      config.chunked_prefill ? "--enable-chunked-prefill" : "--no-enable-chunked-prefill", d.replicas,
      d.replicas == 1 ? "" : "s", d.gpu.empty() ? "the GPU" : d.gpu, config.kv_tokens);
}

std::string trtllm_command(const Deployment& d, const ContinuousConfig& config) {
  return fmt::format(
      "trtllm-serve {}{} --max_batch_size {} --max_num_tokens {} --extra_llm_api_options options.yaml\n# "
      "options.yaml:\n"
      "enable_chunked_prefill: {}\nkv_cache_config:\n  max_tokens: {}\n",
      d.name, d.gpus_per_replica > 1 ? fmt::format(" --tp_size {}", d.gpus_per_replica) : "", config.max_sequences,
      config.token_budget, config.chunked_prefill, config.kv_tokens);
}

std::string kserve_manifest(const Deployment& d) {
  return fmt::format(
      "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: {0}\nspec:\n  predictor:\n"
      "    minReplicas: {1}\n    maxReplicas: {2}\n    scaleMetric: rps\n    scaleTarget: {3:.0f}\n    model:\n"
      "      modelFormat:\n        name: triton\n      resources:\n        limits:\n          nvidia.com/gpu: {4}\n",
      d.name, d.replicas, d.replicas * 2, std::max(1.0, std::floor(scaling_target(d))), d.gpus_per_replica);
}

std::string kubernetes_manifest(const Deployment& d) {
  return fmt::format(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {0}\nspec:\n  replicas: {1}\n  selector:\n"
      "    matchLabels: {{ app: {0} }}\n  template:\n    metadata:\n      labels: {{ app: {0} }}\n    spec:\n"
      "      containers:\n        - name: server\n          image: YOUR_SERVER_IMAGE\n          resources:\n"
      "            limits: {{ nvidia.com/gpu: {4} }}\n---\n"
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: {0}\nspec:\n  scaleTargetRef:\n"
      "    apiVersion: apps/v1\n    kind: Deployment\n    name: {0}\n  minReplicas: {1}\n  maxReplicas: {2}\n  "
      "metrics:\n"
      "    - type: Pods\n      pods:\n        metric: {{ name: requests_per_second }}\n"
      "        target: {{ type: AverageValue, averageValue: \"{3:g}\" }}\n",
      d.name, d.replicas, d.replicas * 2, scaling_target(d), d.gpus_per_replica);
}

}  // namespace rightsize::sim
