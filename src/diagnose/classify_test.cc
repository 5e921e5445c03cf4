#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

using testing::HasSubstr;

TEST(Classify, ClassifiesSteadyLoads) {
  for (const Kind& kind : kSteadyKinds) {
    EXPECT_EQ(verdict_of(record(6, [&](double) { return kind.level; })), kind.verdict) << kind.name;
  }
}

TEST(Classify, ClassifiesWithoutSmCounters) {
  for (const Kind& kind : kSteadyKinds) {
    auto samples = record(6, [&](double) { return kind.level; });
    for (Sample& sample : samples) sample.clear(Metric::kSmActive);
    EXPECT_EQ(verdict_of(samples), kind.verdict) << kind.name;
  }
}

TEST(Classify, StepsThatWaitForDataAreInputBoundAtAnyPeriodBelowASecond) {
  for (double period : {0.3, 0.45, 0.8}) {
    auto draw = [&](double t) { return std::fmod(t, period) < 0.25 * period ? on(0.6) : steady(t); };
    EXPECT_EQ(verdict_of(record(6, draw)), Verdict::kInputBound) << period;
  }
  // Stalls shorter than a sample appear as an engine that is free half of the time, with full kernels.
  EXPECT_EQ(verdict_of(record(6, [](double) { return on(0.5); })), Verdict::kInputBound);
}

TEST(Classify, WorkForSecondsThenNothingForSecondsIsBursty) {
  for (double off : {2.0, 3.0}) {
    auto draw = [&](double t) { return std::fmod(t, off + 1) < 1 ? Level{0.99, 0.95, 0.17, 0.92, 14} : steady(t); };
    EXPECT_EQ(verdict_of(record(9, draw)), Verdict::kBursty) << off;
  }
}

TEST(Classify, RequestsThatLeaveSamplesEmptyAreUnderused) {
  auto draw = [](double t) { return std::fmod(t, 0.3) < 0.1 ? Level{0.1, 0.03, 0.01, 0.01, 7} : steady(t); };
  EXPECT_EQ(verdict_of(record(6, draw)), Verdict::kUnderused);
}

TEST(Classify, StartUpIsLeftOutOfTheVerdict) {
  auto draw = [](double t) { return t < 8 ? steady(t) : Level{0.99, 0.95, 0.17, 0.93, 14}; };
  EXPECT_EQ(verdict_of(record(15, draw), true), Verdict::kComputeBound);
}

TEST(Classify, CheckpointsDoNotMakeTrainingBursty) {
  auto draw = [](double t) {
    return std::fmod(t, 20) < 17 ? Level{0.99, 0.95, 0.35, 0.5, 30} : Level{0, 0, 0, 0, 2000, 0};
  };
  const auto samples = record(60, draw);
  EXPECT_EQ(verdict_of(samples), Verdict::kComputeBound);
  const auto phases = find_phases(samples, false);
  int checkpoints = 0;
  for (const Phase& phase : phases) checkpoints += phase.kind == PhaseKind::kCheckpoint ? 1 : 0;
  EXPECT_EQ(checkpoints, 2) << "the third runs into the end";
}

TEST(Classify, NvidiaSmiAloneGivesLowerConfidence) {
  auto strip = [](const Level& level, double power) {
    auto samples = record(
        20, [&](double) { return level; }, 1);
    for (Sample& sample : samples) {
      Sample bare;
      bare.time = sample.time;
      for (Metric metric : {Metric::kGpuUtil, Metric::kMemoryUsed}) bare.set(metric, *sample.get(metric));
      bare.set(Metric::kMemoryUtil, level.dram);
      bare.set(Metric::kPower, power * 700);
      bare.set(Metric::kPowerLimit, 700);
      sample = bare;
    }
    const Diagnosis found = classify(summarize_steady(samples, find_phases(samples, false)), {});
    EXPECT_LT(found.confidence, 0.6);
    EXPECT_FALSE(found.surer.empty());
    return found.verdict;
  };
  // memory.utilization, unlike DRAM activity, is a share of time.
  EXPECT_EQ(strip({0.99, 0, 0.24, 0, 1}, 0.99), Verdict::kComputeBound);
  EXPECT_EQ(strip({1, 0, 0.55, 0, 1}, 0.56), Verdict::kMemoryBound);
  EXPECT_EQ(strip({1, 0, 1.0, 0, 1}, 0.93), Verdict::kMemoryBound);
  EXPECT_EQ(strip({0.27, 0, 0, 0, 1}, 0.19), Verdict::kLaunchBound);
  EXPECT_EQ(strip({0.1, 0, 0.02, 0, 1}, 0.2), Verdict::kUnderused);
}

// A server's aggregates have no samples and no runs.
TEST(Classify, ClassifiesFromAggregatesAlone) {
  Summary summary;
  summary.duration = days(7);
  summary.interval = seconds(60);
  summary.samples = 10080;
  auto flat = [&](Metric metric, double value) { summary.set(metric, {value, value, value, value}); };
  flat(Metric::kGraphicsActive, 0.97);
  flat(Metric::kDramActive, 0.62);
  flat(Metric::kTensorActive, 0.06);
  EXPECT_EQ(classify(summary, {}).verdict, Verdict::kMemoryBound);
  flat(Metric::kGraphicsActive, 0);
  flat(Metric::kDramActive, 0);
  flat(Metric::kTensorActive, 0);
  flat(Metric::kMemoryUsed, 4e10);
  EXPECT_EQ(classify(summary, {}).verdict, Verdict::kIdleHeld);
  EXPECT_EQ(classify(summary, {}).wasted, 1);
  Summary nothing;
  nothing.samples = 5;
  EXPECT_EQ(classify(nothing, {}).verdict, Verdict::kUnknown);
}

TEST(Classify, TheArticlesRuleIsMentionedIfItDiffers) {
  auto samples = record(6, [](double) { return Level{0.99, 0.98, 0.88, 0, 30}; });
  const Diagnosis copy = classify(summarize_steady(samples, find_phases(samples, false)), {});
  ASSERT_TRUE(copy.article);
  EXPECT_EQ(copy.article->says, "compute-bound");
  EXPECT_FALSE(copy.article->agrees);
  EXPECT_THAT(copy.article->why, HasSubstr("DRAM is at 88 %"));
}

}  // namespace
}  // namespace rightsize::diagnose
