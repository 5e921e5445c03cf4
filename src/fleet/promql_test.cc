#include "fleet/promql.h"

#include <gtest/gtest.h>

#include "fleet/asker.h"

namespace rightsize::fleet {
namespace {

TEST(PromQl, SelectorsAreEscapedTwice) {
  const Shard shard{"Hostname", {"node-1.example", "a\"b"}};
  QueryFrame frame;
  frame.matchers = "cluster=\"x\"";
  EXPECT_EQ(selector("M", frame, shard), R"(M{cluster="x",Hostname=~"node-1\\.example|a\"b"})");
  EXPECT_EQ(selector("M", {}, {}), "M");
}

TEST(PromQl, Questions) {
  QueryFrame frame;
  frame.window = 7 * 86400;
  frame.step = 30;
  frame.idle = {0.01, 1073741824};
  const MetricSource util{"U", 0.01}, memory{"F", 1048576};
  EXPECT_EQ(over_time(Aggregate::kMean, util, frame, {}, frame.window), "avg_over_time(U[7d])");
  EXPECT_EQ(over_time(Aggregate::kP95, util, frame, {}, 5400), "quantile_over_time(0.95, U[90m])");
  // 1 % is 1 in the server's unit, 1 GiB is 1024 MiB.
  EXPECT_EQ(idle_share(util, frame, {}), "avg_over_time((U <= bool 1)[7d:30s])");
  EXPECT_EQ(held_share(util, memory, frame, {}), "avg_over_time(((U <= bool 1) * (F > bool 1024))[7d:30s])");
}

TEST(PromQl, Durations) {
  EXPECT_EQ(duration_text(86400), "1d");
  EXPECT_EQ(duration_text(3600), "1h");
  EXPECT_EQ(duration_text(90), "90s");
  EXPECT_EQ(duration_text(120), "2m");
  EXPECT_EQ(duration_text(0.2), "1s");
}

TEST(Asker, WhatMeansTooMuch) {
  EXPECT_TRUE(is_too_much(unreadable("x answered 422: query processing would load too many samples into memory")));
  EXPECT_TRUE(is_too_much(unreadable("no answer from x: Timeout was reached")));
  EXPECT_FALSE(is_too_much(unreadable("x answered 400: parse error")));
}

}  // namespace
}  // namespace rightsize::fleet
