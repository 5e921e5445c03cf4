#include "live_service/metric_names.h"

#include <algorithm>
#include <array>

namespace rightsize::live_service {
namespace {

using enum Engine;
using enum Signal;

constexpr double kMs = 1e-3, kUs = 1e-6;
constexpr std::string_view kNim = "engine_type=\"\",model_name!~\"\"";

// Current names before older ones: if an engine publishes both, the first counts.
constexpr EngineMetric kTable[] = {
    // vLLM. Aborted requests do not count.
    {kVllm, kRequests, "vllm_request_success", 1, "finished_reason!~\"abort|error\""},
    {kVllm, kPromptTokens, "vllm_prompt_tokens"},
    {kVllm, kOutputTokens, "vllm_generation_tokens"},
    // Queries and hits count a waiting request again in every step; cached tokens do not.
    {kVllm, kCachedTokens, "vllm_prompt_tokens_cached"},
    {kVllm, kCachedTokens, "vllm_prompt_tokens_by_source", 1, "source=~\"local_cache_hit|external_kv_transfer\""},
    {kVllm, kCacheQueries, "vllm_prefix_cache_queries"},
    {kVllm, kCacheQueries, "vllm_gpu_prefix_cache_queries"},
    {kVllm, kCacheHits, "vllm_prefix_cache_hits"},
    {kVllm, kCacheHits, "vllm_gpu_prefix_cache_hits"},
    {kVllm, kExternalHits, "vllm_external_prefix_cache_hits"},
    {kVllm, kExternalHits, "vllm_prompt_tokens_by_source", 1, "source=\"external_kv_transfer\""},
    {kVllm, kPreemptions, "vllm_num_preemptions"},
    {kVllm, kRunning, "vllm_num_requests_running"},
    {kVllm, kWaiting, "vllm_num_requests_waiting"},
    {kVllm, kKvUse, "vllm_kv_cache_usage_perc"},
    {kVllm, kKvUse, "vllm_gpu_cache_usage_perc"},
    {kVllm, kHitRate, "vllm_gpu_prefix_cache_hit_rate"},
    {kVllm, kTtft, "vllm_time_to_first_token_seconds"},
    {kVllm, kInterToken, "vllm_inter_token_latency_seconds"},
    {kVllm, kInterToken, "vllm_time_per_output_token_seconds"},
    {kVllm, kTpot, "vllm_request_time_per_output_token_seconds"},
    {kVllm, kLatency, "vllm_e2e_request_latency_seconds"},
    {kVllm, kQueue, "vllm_request_queue_time_seconds"},
    {kVllm, kQueue, "vllm_time_in_queue_requests"},
    {kVllm, kPrefill, "vllm_request_prefill_time_seconds"},
    {kVllm, kIsl, "vllm_request_prompt_tokens"},
    {kVllm, kOsl, "vllm_request_generation_tokens"},

    {kSglang, kRequests, "sglang_num_requests"},
    {kSglang, kPromptTokens, "sglang_prompt_tokens"},
    {kSglang, kOutputTokens, "sglang_generation_tokens"},
    // By source since 0.5.8 (sgl-project/sglang#17648): device, host, storage_BACKEND.
    {kSglang, kCachedTokens, "sglang_cached_tokens"},
    {kSglang, kExternalHits, "sglang_cached_tokens", 1, "cache_source!~\"device|\""},
    {kSglang, kPreemptions, "sglang_num_retracted_requests"},
    {kSglang, kPreemptions, "sglang_num_retractions"},
    {kSglang, kRunning, "sglang_num_running_reqs"},
    {kSglang, kWaiting, "sglang_num_queue_reqs"},
    {kSglang, kKvUse, "sglang_token_usage"},
    {kSglang, kHitRate, "sglang_cache_hit_rate"},
    {kSglang, kTtft, "sglang_time_to_first_token_seconds"},
    {kSglang, kInterToken, "sglang_inter_token_latency_seconds"},
    {kSglang, kInterToken, "sglang_time_per_output_token_seconds"},
    {kSglang, kLatency, "sglang_e2e_request_latency_seconds"},
    {kSglang, kQueue, "sglang_queue_time_seconds"},
    {kSglang, kIsl, "sglang_prompt_tokens_histogram"},
    {kSglang, kOsl, "sglang_generation_tokens_histogram"},

    {kTensorRtLlm, kRequests, "trtllm_request_success", 1, "finished_reason!~\"abort|error|cancelled\""},
    {kTensorRtLlm, kPromptTokens, "trtllm_prompt_tokens"},
    {kTensorRtLlm, kOutputTokens, "trtllm_generation_tokens"},
    {kTensorRtLlm, kRunning, "trtllm_num_requests_running"},
    {kTensorRtLlm, kWaiting, "trtllm_num_requests_waiting"},
    {kTensorRtLlm, kKvUse, "trtllm_kv_cache_utilization"},
    {kTensorRtLlm, kHitRate, "trtllm_kv_cache_hit_rate"},
    {kTensorRtLlm, kTtft, "trtllm_time_to_first_token_seconds"},
    {kTensorRtLlm, kTpot, "trtllm_time_per_output_token_seconds"},  // (last - first) / (tokens - 1), one per request
    {kTensorRtLlm, kLatency, "trtllm_e2e_request_latency_seconds"},
    {kTensorRtLlm, kQueue, "trtllm_request_queue_time_seconds"},
    {kTensorRtLlm, kPrefill, "trtllm_request_prefill_time_seconds"},
    {kTensorRtLlm, kIsl, "trtllm_request_prompt_tokens"},
    {kTensorRtLlm, kOsl, "trtllm_request_generation_tokens"},
    // trtllm-serve 1.1 without Dynamo's prefix (NVIDIA/TensorRT-LLM#5785), recognized by its label.
    {kTensorRtLlm, kRequests, "request_success", 1, "engine_type!~\"\""},
    {kTensorRtLlm, kTtft, "time_to_first_token_seconds", 1, "engine_type!~\"\""},
    {kTensorRtLlm, kTpot, "time_per_output_token_seconds", 1, "engine_type!~\"\""},
    {kTensorRtLlm, kLatency, "e2e_request_latency_seconds", 1, "engine_type!~\"\""},
    {kTensorRtLlm, kQueue, "request_queue_time_seconds", 1, "engine_type!~\"\""},

    // NVIDIA NIM: vLLM's names without a prefix, recognized by their label.
    {kVllm, kRequests, "request_success", 1, kNim},
    {kVllm, kPromptTokens, "prompt_tokens", 1, kNim},
    {kVllm, kOutputTokens, "generation_tokens", 1, kNim},
    {kVllm, kRunning, "num_requests_running", 1, kNim},
    {kVllm, kWaiting, "num_requests_waiting", 1, kNim},
    {kVllm, kKvUse, "gpu_cache_usage_perc", 1, kNim},
    {kVllm, kTtft, "time_to_first_token_seconds", 1, kNim},
    {kVllm, kInterToken, "time_per_output_token_seconds", 1, kNim},
    {kVllm, kLatency, "e2e_request_latency_seconds", 1, kNim},
    {kVllm, kIsl, "request_prompt_tokens", 1, kNim},
    {kVllm, kOsl, "request_generation_tokens", 1, kNim},

    // Triton: each model of an ensemble counts the same request.
    {kTriton, kRequests, "nv_inference_request_success", 1, "", true},
    {kTriton, kLatencyTotal, "nv_inference_request_duration_us", kUs, "", true},
    {kTriton, kQueueTotal, "nv_inference_queue_duration_us", kUs, "", true},
    {kTriton, kRunning, "nv_trt_llm_request_metrics", 1, "request_type=\"active\""},
    {kTriton, kWaiting, "nv_trt_llm_request_metrics", 1, "request_type=\"waiting\""},
    {kTriton, kWaiting, "nv_inference_pending_request_count", 1, "", true},
    {kTriton, kKvUse, "nv_trt_llm_kv_cache_block_metrics", 1, "kv_cache_block_type=\"fraction\""},
    {kTriton, kTtft, "nv_inference_first_response_histogram_ms", kMs, "", true},
    {kTriton, kIsl, "nv_llm_input_token_len"},
    {kTriton, kOsl, "nv_llm_output_token_len"},

    {kTgi, kRequests, "tgi_request_success"},
    {kTgi, kRunning, "tgi_batch_current_size"},
    {kTgi, kWaiting, "tgi_queue_size"},
    {kTgi, kTokenTime, "tgi_request_mean_time_per_token_duration"},
    {kTgi, kLatency, "tgi_request_duration"},
    {kTgi, kQueue, "tgi_request_queue_duration"},
    {kTgi, kIsl, "tgi_request_input_length"},
    {kTgi, kOsl, "tgi_request_generated_tokens"},

    // Dynamo's front end. It sees requests, not engines.
    {kGateway, kRequests, "dynamo_frontend_requests", 1, "status=~\"success|\""},
    {kGateway, kOutputTokens, "dynamo_frontend_output_tokens"},
    {kGateway, kRunning, "dynamo_frontend_inflight_requests"},
    {kGateway, kWaiting, "dynamo_frontend_queued_requests"},
    {kGateway, kTtft, "dynamo_frontend_time_to_first_token_seconds"},
    {kGateway, kInterToken, "dynamo_frontend_inter_token_latency_seconds"},
    {kGateway, kLatency, "dynamo_frontend_request_duration_seconds"},
    {kGateway, kIsl, "dynamo_frontend_input_sequence_tokens"},
    {kGateway, kOsl, "dynamo_frontend_output_sequence_tokens"},
    // The endpoint picker of a gateway, under three prefixes. It sees requests, not engines.
    {kGateway, kRequests, "llm_d_epp_request"},
    {kGateway, kRequests, "inference_objective_request"},
    {kGateway, kRequests, "inference_model_request"},
    {kGateway, kRunning, "llm_d_epp_running_requests"},
    {kGateway, kRunning, "inference_objective_running_requests"},
    {kGateway, kRunning, "inference_model_running_requests"},
    {kGateway, kTtft, "llm_d_epp_request_ttft_seconds"},
    {kGateway, kTtft, "inference_objective_request_ttft_seconds"},
    {kGateway, kTpot, "llm_d_epp_request_tpot_seconds"},
    {kGateway, kTpot, "inference_objective_request_tpot_seconds"},
    {kGateway, kTokenTime, "llm_d_epp_normalized_time_per_output_token_seconds"},
    {kGateway, kTokenTime, "inference_objective_normalized_time_per_output_token_seconds"},
    {kGateway, kTokenTime, "inference_model_normalized_time_per_output_token_seconds"},
    {kGateway, kLatency, "llm_d_epp_request_duration_seconds"},
    {kGateway, kLatency, "inference_objective_request_duration_seconds"},
    {kGateway, kLatency, "inference_model_request_duration_seconds"},
    {kGateway, kIsl, "llm_d_epp_input_tokens"},
    {kGateway, kIsl, "inference_objective_input_tokens"},
    {kGateway, kIsl, "inference_model_input_tokens"},
    {kGateway, kOsl, "llm_d_epp_output_tokens"},
    {kGateway, kOsl, "inference_objective_output_tokens"},
    {kGateway, kOsl, "inference_model_output_tokens"},
};

constexpr std::string_view kSuffixes[] = {"_bucket", "_sum", "_count"};

std::string_view without_suffix(std::string_view name) {
  for (std::string_view suffix : kSuffixes) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

}  // namespace

std::string_view name_of(Engine engine) {
  constexpr std::array<std::string_view, 6> kNames = {"vllm", "sglang", "tensorrt-llm", "triton", "tgi", "gateway"};
  return kNames[static_cast<std::size_t>(engine)];
}

SignalKind kind_of(Signal signal) {
  if (signal < Signal::kRunning) return SignalKind::kCounter;
  return signal < Signal::kTtft ? SignalKind::kGauge : SignalKind::kHistogram;
}

std::string folded(std::string_view published) {
  for (std::string_view prefix : {"kserve_", "ray_"}) {
    if (published.starts_with(prefix)) published.remove_prefix(prefix.size());
  }
  if (published.ends_with("_total")) published.remove_suffix(6);
  std::string name(published);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

std::optional<PublishedMetric> find_engine_metric(std::string_view published,
                                                  const std::function<bool(std::string_view matcher)>& applies) {
  // A counter may end like a series of a histogram, so the complete name is tried first.
  for (std::string_view name : {published, without_suffix(published)}) {
    const std::string wanted = folded(name);
    for (const EngineMetric& metric : kTable) {
      const bool whole = name.size() == published.size();
      if (metric.name != wanted || (!whole && kind_of(metric.signal) != SignalKind::kHistogram)) continue;
      if (applies && !applies(metric.matcher)) continue;
      return PublishedMetric{&metric, std::string(name)};
    }
  }
  return std::nullopt;
}

std::vector<const EngineMetric*> other_signals(const EngineMetric& metric) {
  std::vector<const EngineMetric*> others;
  for (const EngineMetric& one : kTable) {
    if (one.engine == metric.engine && one.name == metric.name && one.signal != metric.signal) others.push_back(&one);
  }
  return others;
}

std::vector<PublishedMetric> metrics_of(Engine engine, Signal signal, const std::vector<std::string>& names) {
  std::vector<PublishedMetric> found;
  for (const EngineMetric& metric : kTable) {
    if (metric.engine != engine || metric.signal != signal) continue;
    for (const std::string& published : names) {
      const bool histogram = kind_of(signal) == SignalKind::kHistogram;
      if (histogram && !published.ends_with("_bucket")) continue;
      const std::string_view name = histogram ? without_suffix(published) : std::string_view(published);
      if (folded(name) == metric.name) found.push_back({&metric, std::string(name)});
    }
  }
  return found;
}

std::string name_pattern() {
  return "(kserve_|ray_)?(vllm|sglang|trtllm)[:_].+|tgi_.+|nv_(inference|trt_llm|llm)_.+|request_success(_total)?|"
         "(time_to_first_token|time_per_output_token|e2e_request_latency|request_queue_time)_seconds_.+|"
         "(prompt|generation)_tokens(_total)?|num_requests_(running|waiting)|gpu_cache_usage_perc|"
         "request_(prompt|generation)_tokens_.+|(inference_(model|objective)|llm_d_epp|dynamo_frontend)_.+";
}

}  // namespace rightsize::live_service
