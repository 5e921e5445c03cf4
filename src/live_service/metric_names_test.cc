#include "live_service/metric_names.h"

#include <gtest/gtest.h>

namespace rightsize::live_service {
namespace {

TEST(MetricNames, ExportersSpellingsAreOneName) {
  for (const char* name : {"vllm:request_success_total", "vllm:request_success", "vllm_request_success_total",
                           "kserve_vllm:request_success_total"}) {
    const auto found = find_engine_metric(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->metric->signal, Signal::kRequests) << name;
    EXPECT_EQ(found->name, name);
  }
}

TEST(MetricNames, PartsOfAHistogramAreFoundByItsName) {
  for (const char* part : {"_bucket", "_sum", "_count"}) {
    const auto found = find_engine_metric(std::string("sglang:time_to_first_token_seconds") + part);
    ASSERT_TRUE(found) << part;
    EXPECT_EQ(found->metric->signal, Signal::kTtft);
    EXPECT_EQ(found->name, "sglang:time_to_first_token_seconds");
  }
}

TEST(MetricNames, ACounterThatEndsLikeAPartOfAHistogramIsNotOne) {
  const auto found = find_engine_metric("nv_inference_pending_request_count");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metric->signal, Signal::kWaiting);
  EXPECT_FALSE(find_engine_metric("tgi_request_success_sum"));
  EXPECT_FALSE(find_engine_metric("vllm:lora_requests_info"));
}

TEST(MetricNames, TheCurrentNameComesBeforeTheOldOne) {
  const std::vector<std::string> names = {
      "vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc", "vllm:time_per_output_token_seconds_bucket",
      "vllm:inter_token_latency_seconds_bucket", "vllm:inter_token_latency_seconds_sum"};
  const auto cache = metrics_of(Engine::kVllm, Signal::kKvUse, names);
  ASSERT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache[0].name, "vllm:kv_cache_usage_perc");
  const auto tokens = metrics_of(Engine::kVllm, Signal::kInterToken, names);
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].name, "vllm:inter_token_latency_seconds");
}

// Samples from the engines' documentation and issues: every metric we use is known.
TEST(MetricNames, PublishedNamesOfEveryEngineAreKnown) {
  const std::pair<const char*, Engine> published[] = {
      {"vllm:num_requests_running", Engine::kVllm},
      {"vllm:gpu_prefix_cache_hits_total", Engine::kVllm},
      {"vllm:external_prefix_cache_hits_total", Engine::kVllm},
      {"vllm:prompt_tokens_cached_total", Engine::kVllm},
      {"sglang:num_queue_reqs", Engine::kSglang},
      {"sglang:num_retracted_requests_total", Engine::kSglang},
      {"trtllm_kv_cache_utilization", Engine::kTensorRtLlm},
      {"trtllm:e2e_request_latency_seconds_bucket", Engine::kTensorRtLlm},
      {"time_to_first_token_seconds_bucket", Engine::kTensorRtLlm},
      {"request_success_total", Engine::kTensorRtLlm},
      {"nv_trt_llm_kv_cache_block_metrics", Engine::kTriton},
      {"nv_inference_request_success", Engine::kTriton},
      {"tgi_request_mean_time_per_token_duration_bucket", Engine::kTgi},
      {"inference_model_request_total", Engine::kGateway},
      {"inference_objective_request_duration_seconds_bucket", Engine::kGateway},
      {"llm_d_epp_request_total", Engine::kGateway},
      {"ray_vllm:generation_tokens_total", Engine::kVllm},
      {"ray_vllm_time_to_first_token_seconds_bucket", Engine::kVllm},
      {"vllm:prompt_tokens_by_source_total", Engine::kVllm},
      {"num_requests_running", Engine::kVllm},
      {"generation_tokens_total", Engine::kVllm},
      {"dynamo_frontend_time_to_first_token_seconds_bucket", Engine::kGateway},
      {"dynamo_frontend_requests_total", Engine::kGateway},
  };
  for (const auto& [name, engine] : published) {
    const auto found = find_engine_metric(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->metric->engine, engine) << name;
  }
}

// All cached tokens, and the loaded ones among them.
TEST(MetricNames, ANameMayCountForTwoSignals) {
  const auto cached = find_engine_metric("sglang:cached_tokens_total");
  ASSERT_TRUE(cached);
  EXPECT_EQ(cached->metric->signal, Signal::kCachedTokens);
  const auto others = other_signals(*cached->metric);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others.front()->signal, Signal::kExternalHits);
  EXPECT_TRUE(other_signals(*find_engine_metric("sglang:num_queue_reqs")->metric).empty());
}

}  // namespace
}  // namespace rightsize::live_service
