#include "gpu_use/promql.h"

#include <gtest/gtest.h>

#include "gpu_use/prometheus_client.h"

namespace rightsize::gpu_use {
namespace {

TEST(PromQl, SelectorsAreEscapedTwice) {
  const Shard shard{.label = "Hostname", .values = {"node-1.example", "a\"b"}, .only = "UUID=\"\""};
  EXPECT_EQ(selector("M", "cluster=\"x\"", shard), R"(M{cluster="x",Hostname=~"node-1\\.example|a\"b",UUID=""})");
  EXPECT_EQ(selector("M", "", {}), "M");
}

TEST(PromQl, EveryQueryNamesItsRange) {
  EXPECT_EQ(present({"U", "F"}, seconds(300), {"UUID"}),
            "(count by (UUID) (count_over_time(U[5m])) or count by (UUID) (count_over_time(F[5m])))");
  // 1.05 is 105 in the server's unit.
  EXPECT_EQ(activity({{"U", 0.01}}, {.lookback = seconds(45), .dirty = true}, {"UUID"}),
            "(max by (UUID) (((last_over_time(U[45s]) >= 0) <= 105)) * 0.01)");
  EXPECT_EQ(over_moments(OfMoments::kCount, "X", seconds(1800), seconds(15)), "count_over_time(X[1799s:15s])");
  EXPECT_EQ(over_time("quantile_over_time(0.95, ", "U", seconds(5400)), "quantile_over_time(0.95, U[90m])");
}

TEST(PromQl, DurationsUseTheLargestUnitThatDivides) {
  EXPECT_EQ(duration_text(seconds(86400)), "1d");
  EXPECT_EQ(duration_text(seconds(3600)), "1h");
  EXPECT_EQ(duration_text(seconds(90)), "90s");
  EXPECT_EQ(duration_text(seconds(120)), "2m");
  EXPECT_EQ(duration_text(seconds(0.2)), "1s");
}

TEST(PrometheusClient, StatusesForTooLargeQueriesAreRecognised) {
  for (int status : {408, 413, 422, 503, 504}) EXPECT_TRUE(means_too_much(status)) << status;
  for (int status : {400, 401, 404, 429, 500}) EXPECT_FALSE(means_too_much(status)) << status;
}

}  // namespace
}  // namespace rightsize::gpu_use
