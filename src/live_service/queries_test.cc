#include "live_service/queries.h"

#include <regex>

#include <gtest/gtest.h>

namespace rightsize::live_service {
namespace {

const std::vector<std::string> kNames = {"vllm:request_success_total", "vllm:prefix_cache_hits_total",
                                         "vllm:gpu_prefix_cache_hits_total", "vllm:time_to_first_token_seconds_bucket",
                                         "nv_inference_request_success"};
const Selection kChat{"cluster=\"a\"", "namespace", "chat", "pod", {"x-1", "x.2"}, "model_name", "m\"1"};

TEST(Queries, SeriesAreChosenByNamespaceReplicasAndModel) {
  EXPECT_EQ(series_of(kChat, "up"), "up{cluster=\"a\",namespace=\"chat\",model_name=\"m\\\"1\",pod=~\"x-1|x\\\\.2\"}");
}

TEST(Queries, GrowthIsAddedUpInTheServer) {
  const Selection bare{"", "", "", "pod", {"a"}, "", ""};
  EXPECT_EQ(growth(bare, metrics_of(Engine::kVllm, Signal::kRequests, kNames), "", 86400),
            "sum (increase(vllm:request_success_total{pod=~\"a\",finished_reason!~\"abort|error\"}[1d]))");
  EXPECT_EQ(growth(bare, metrics_of(Engine::kVllm, Signal::kTtft, kNames), "_bucket", 3600),
            "sum by (le) (increase(vllm:time_to_first_token_seconds_bucket{pod=~\"a\"}[1h]))");
}

TEST(Queries, AnOldNameCountsOnlyForReplicasWithoutTheNewOne) {
  const Selection bare{"", "", "", "pod", {"a"}, "", ""};
  EXPECT_EQ(growth(bare, metrics_of(Engine::kVllm, Signal::kCacheHits, kNames), "", 3600),
            "sum (increase(vllm:prefix_cache_hits_total{pod=~\"a\"}[1h]) or on (pod) "
            "increase(vllm:gpu_prefix_cache_hits_total{pod=~\"a\"}[1h]))");
}

TEST(Queries, ModelsOfAnEnsembleAreOneRequest) {
  const Selection bare{"", "", "", "pod", {"a"}, "", ""};
  EXPECT_EQ(growth(bare, metrics_of(Engine::kTriton, Signal::kRequests, kNames), "", 3600),
            "sum (max by (pod) (increase(nv_inference_request_success{pod=~\"a\"}[1h])))");
}

TEST(Queries, AThousandReplicasAreNamedExactlyAndShortly) {
  std::vector<std::string> pods;
  for (int i = 0; i < 1000; ++i) pods.push_back("chat.v2-7d4b9c6f5-" + std::to_string(10'000 + i));
  const std::string text = any_of(pods);
  EXPECT_LT(text.size(), 8'000U);
  const std::regex all(text);
  for (const std::string& pod : pods) ASSERT_TRUE(std::regex_match(pod, all)) << pod;
  EXPECT_FALSE(std::regex_match("chat.v2-7d4b9c6f5-11000", all));
  EXPECT_FALSE(std::regex_match("chatxv2-7d4b9c6f5-10001", all));
}

}  // namespace
}  // namespace rightsize::live_service
