// The metric names and buckets that each engine publishes.
#pragma once

#include <cmath>
#include <vector>

namespace rightsize {

struct Metric {
  const char* key;
  const char* name;
  std::vector<double> bounds = {};  // of a histogram
};

struct Format {
  const char* engine;
  std::vector<Metric> counters, gauges, histograms;
  bool model_label = true;
};

inline const std::vector<double> kTtft = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,
                                          0.25,  0.5,   0.75, 1,    2.5,  5,    7.5,  10};
inline const std::vector<double> kToken = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5};
inline const std::vector<double> kWhole = {0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240};
inline const std::vector<double> kLengths = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000};
inline const std::vector<double> kFine = {0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025,
                                          0.03,  0.04,  0.06,  0.08,  0.1,  0.2,   0.4};

inline std::vector<double> growing() {
  std::vector<double> bounds;
  for (int k = 1; k < 36; ++k) bounds.push_back(1e-4 * std::pow(1.5, k));
  return bounds;
}
inline std::vector<double> even() {
  std::vector<double> bounds;
  for (int k = 1; k <= 100; ++k) bounds.push_back(327.68 * k);
  return bounds;
}

inline const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats = {
      {"vllm",
       {{"requests", "vllm:request_success_total"},
        {"prompt", "vllm:prompt_tokens_total"},
        {"output", "vllm:generation_tokens_total"},
        {"queries", "vllm:prefix_cache_queries_total"},
        {"hits", "vllm:prefix_cache_hits_total"},
        {"preemptions", "vllm:num_preemptions_total"}},
       {{"running", "vllm:num_requests_running"},
        {"waiting", "vllm:num_requests_waiting"},
        {"kv", "vllm:kv_cache_usage_perc"}},
       {{"ttft", "vllm:time_to_first_token_seconds", kTtft},
        {"itl", "vllm:inter_token_latency_seconds", kToken},
        {"tpot", "vllm:request_time_per_output_token_seconds", kToken},
        {"e2e", "vllm:e2e_request_latency_seconds", kWhole},
        {"prefill", "vllm:request_prefill_time_seconds", kWhole},
        {"isl", "vllm:request_prompt_tokens", kLengths},
        {"osl", "vllm:request_generation_tokens", kLengths}}},
      {"vllm",  // 0.9: old and new names together
       {{"requests", "vllm:request_success_total"},
        {"prompt", "vllm:prompt_tokens_total"},
        {"output", "vllm:generation_tokens_total"},
        {"queries", "vllm:gpu_prefix_cache_queries_total"},
        {"hits", "vllm:gpu_prefix_cache_hits_total"},
        {"queries", "vllm:prefix_cache_queries_total"},
        {"hits", "vllm:prefix_cache_hits_total"}},
       {{"running", "vllm:num_requests_running"},
        {"waiting", "vllm:num_requests_waiting"},
        {"kv", "vllm:gpu_cache_usage_perc"}},
       {{"ttft", "vllm:time_to_first_token_seconds", kTtft},
        {"itl", "vllm:time_per_output_token_seconds", kToken},
        {"e2e", "vllm:e2e_request_latency_seconds", kWhole},
        {"isl", "vllm:request_prompt_tokens", kLengths},
        {"osl", "vllm:request_generation_tokens", kLengths}}},
      {"sglang",
       {{"requests", "sglang:num_requests_total"},
        {"prompt", "sglang:prompt_tokens_total"},
        {"output", "sglang:generation_tokens_total"},
        {"hits", "sglang:cached_tokens_total"}},
       {{"running", "sglang:num_running_reqs"}, {"waiting", "sglang:num_queue_reqs"}, {"kv", "sglang:token_usage"}},
       {{"ttft", "sglang:time_to_first_token_seconds", kTtft},
        {"itl", "sglang:inter_token_latency_seconds", kFine},
        {"e2e", "sglang:e2e_request_latency_seconds", kWhole}}},
      {"tensorrt-llm",
       {{"requests", "trtllm_request_success_total"}},
       {{"running", "trtllm_num_requests_running"},
        {"waiting", "trtllm_num_requests_waiting"},
        {"kv", "trtllm_kv_cache_utilization"}},
       {{"ttft", "trtllm_time_to_first_token_seconds", kTtft},
        {"tpot", "trtllm_time_per_output_token_seconds", kToken},
        {"e2e", "trtllm_e2e_request_latency_seconds", kWhole},
        {"isl", "trtllm_request_prompt_tokens", kLengths},
        {"osl", "trtllm_request_generation_tokens", kLengths}}},
      {"tgi",
       {{"requests", "tgi_request_success"}},
       {{"running", "tgi_batch_current_size"}, {"waiting", "tgi_queue_size"}},
       {{"mean", "tgi_request_mean_time_per_token_duration", growing()},
        {"e2e", "tgi_request_duration", growing()},
        {"isl", "tgi_request_input_length", even()},
        {"osl", "tgi_request_generated_tokens", even()}},
       false},
  };
  return kFormats;
}

}  // namespace rightsize
