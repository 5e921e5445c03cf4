#include "diagnose/diagnose.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/observer.h"
#include "diagnose/project.h"

namespace rightsize::diagnose {
namespace {

using testing::HasSubstr;

// A recording at 10 Hz whose samples a function draws. Levels are shares; PCIe in MB/s.
struct Level {
  double engine = 0, sm = 0, dram = 0, tensor = 0, pcie = 1, util = -1, memory_gib = 16, fp32 = 0;
};

std::vector<Sample> record(double seconds_long, const std::function<Level(double)>& draw, double step = 0.1) {
  std::vector<Sample> samples;
  for (int i = 0; i * step < seconds_long; ++i) {
    const Level level = draw(i * step);
    Sample sample;
    sample.time = i * step;
    sample.set(Metric::kGraphicsActive, level.engine);
    sample.set(Metric::kSmActive, level.sm);
    sample.set(Metric::kDramActive, level.dram);
    sample.set(Metric::kTensorActive, level.tensor);
    sample.set(Metric::kFp32Active, level.fp32);
    sample.set(Metric::kPcieRx, level.pcie * 1e6);
    sample.set(Metric::kPcieTx, level.pcie * 0.3e6);
    sample.set(Metric::kGpuUtil, level.util < 0 ? level.engine : level.util);
    sample.set(Metric::kMemoryUtil, level.dram);
    sample.set(Metric::kMemoryUsed, level.memory_gib * 1073741824.0);
    samples.push_back(sample);
  }
  return samples;
}

Verdict verdict_of(const std::vector<Sample>& samples, bool from_start = false) {
  const auto phases = find_phases(samples, from_start);
  return classify(summarize_steady(samples, phases), {}).verdict;
}

Level steady(double) { return {}; }

struct Kind {
  const char* name;
  Level level;
  Verdict verdict;
};

// What loads look like by construction. The comments give the physics, the numbers are rounded from such loads.
const Kind kSteadyKinds[] = {
    {"a matrix product keeps the tensor pipes busy", {0.99, 0.95, 0.17, 0.93, 14}, Verdict::kComputeBound},
    {"8-bit products need the same cycles for twice the work", {0.99, 0.95, 0.25, 0.85, 14}, Verdict::kComputeBound},
    {"fp32 without tensor cores", {0.99, 0.97, 0.1, 0, 14, -1, 4, 0.8}, Verdict::kComputeBound},
    {"prefill: products with attention and norms between", {0.99, 0.94, 0.22, 0.66, 20}, Verdict::kComputeBound},
    {"training: optimizer and norms read memory, products lead", {0.99, 0.95, 0.35, 0.5, 30}, Verdict::kComputeBound},
    {"a copy", {0.99, 0.98, 0.88, 0, 30}, Verdict::kMemoryBound},
    {"decode at batch 1: SMs half empty, but never without memory traffic",
     {0.99, 0.45, 0.43, 0.02, 9},
     Verdict::kMemoryBound},
    {"decode at batch 32", {0.99, 0.7, 0.55, 0.08, 20}, Verdict::kMemoryBound},
    {"decode with a long cache", {0.99, 0.9, 0.7, 0.05, 20}, Verdict::kMemoryBound},
    {"an image model in training: batch norms and activations", {0.98, 0.9, 0.5, 0.15, 30}, Verdict::kMemoryBound},
    {"kernels of a microsecond, launched without pause", {0.26, 0.02, 0.0, 0, 210}, Verdict::kLaunchBound},
    {"small kernels one after the other in a graph", {0.97, 0.1, 0.03, 0.01, 3}, Verdict::kLaunchBound},
    {"copies to the GPU", {0.0001, 0, 0.012, 0, 59000, 1.0}, Verdict::kTransferBound},
    {"a request now and then", {0.08, 0.03, 0.01, 0.01, 7}, Verdict::kUnderused},
    {"a held model without requests", {0.0, 0, 0, 0, 1}, Verdict::kIdleHeld},
    {"an empty GPU", {0.0, 0, 0, 0, 1, 0, 0.6}, Verdict::kIdle},
};

TEST(Classify, SteadyLoads) {
  for (const Kind& kind : kSteadyKinds) {
    EXPECT_EQ(verdict_of(record(6, [&](double) { return kind.level; })), kind.verdict) << kind.name;
  }
}

TEST(Classify, TheSameWithoutSmActivity) {
  for (const Kind& kind : kSteadyKinds) {
    auto samples = record(6, [&](double) { return kind.level; });
    for (Sample& sample : samples) sample.clear(Metric::kSmActive);
    EXPECT_EQ(verdict_of(samples), kind.verdict) << kind.name;
  }
}

Level on(double share) { return {share, 0.9 * share, 0.5 * share, 0.15 * share, 30 * share}; }

TEST(Classify, StepsThatWaitForDataAreInputBoundAtAnyPeriodBelowASecond) {
  for (double period : {0.3, 0.45, 0.8}) {
    auto draw = [&](double t) { return std::fmod(t, period) < 0.25 * period ? on(0.6) : steady(t); };
    EXPECT_EQ(verdict_of(record(6, draw)), Verdict::kInputBound) << period;
  }
  // Stalls shorter than a sample show as engines that are free half of the time, with full kernels.
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

TEST(Classify, StartUpDoesNotCount) {
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

TEST(Classify, NvidiaSmiAloneIsLessSure) {
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
TEST(Classify, FromAggregatesOnly) {
  Summary summary;
  summary.seconds = 7 * 86400;
  summary.interval = 60;
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

TEST(Classify, TheArticlesRuleIsShownWhereItDiffers) {
  auto samples = record(6, [](double) { return Level{0.99, 0.98, 0.88, 0, 30}; });
  const Diagnosis copy = classify(summarize_steady(samples, find_phases(samples, false)), {});
  ASSERT_TRUE(copy.article);
  EXPECT_EQ(copy.article->says, "compute-bound");
  EXPECT_FALSE(copy.article->agrees);
  EXPECT_THAT(copy.article->why, HasSubstr("DRAM is at 88 %"));
}

TEST(SplitTime, SharesAddToOne) {
  for (const Kind& kind : kSteadyKinds) {
    auto samples = record(6, [&](double) { return kind.level; });
    const TimeShares s = classify(summarize_steady(samples, find_phases(samples, false)), {}).shares;
    EXPECT_NEAR(s.compute + s.memory + s.transfer + s.launch + s.stall + s.wait, 1, 1e-9) << kind.name;
    for (double part : {s.compute, s.memory, s.transfer, s.launch, s.stall, s.wait, s.overlap}) {
      EXPECT_GE(part, -1e-12) << kind.name;
    }
  }
}

TEST(Accumulator, QuantilesMaximaAndClockJumps) {
  Accumulator gathered;
  for (int i = 0; i < 100; ++i) {
    Sample sample;
    sample.time = i < 50 ? i : i - 30;  // the clock was set back once
    sample.set(Metric::kPower, i);
    gathered.add(sample);
  }
  const Summary summary = gathered.summary();
  EXPECT_EQ(summary.clock_jumps, 1u);
  EXPECT_DOUBLE_EQ(summary.of(Metric::kPower)->mean, 49.5);
  EXPECT_NEAR(summary.of(Metric::kPower)->p50, 49.5, 1);
  EXPECT_NEAR(summary.of(Metric::kPower)->p95, 94, 1);
  EXPECT_DOUBLE_EQ(summary.of(Metric::kPower)->max, 99);
  EXPECT_DOUBLE_EQ(summary.interval, 1);
  EXPECT_DOUBLE_EQ(summary.seconds, 99);  // 98 intervals, and that of the last sample
}

TEST(Series, StaysSmallAndKeepsTheMean) {
  Series series;
  double sum = 0;
  constexpr int kSamples = 100000;
  for (int i = 0; i < kSamples; ++i) {
    Sample sample;
    sample.time = i;
    sample.set(Metric::kSmActive, i % 2);
    series.add(sample);
  }
  EXPECT_LE(series.samples().size(), 16384u);
  for (const Sample& sample : series.samples()) sum += *sample.get(Metric::kSmActive);
  EXPECT_NEAR(sum / static_cast<double>(series.samples().size()), 0.5, 0.01);
}

// A memory-bound load scales with bandwidth, whatever the arithmetic.
TEST(Project, MemoryBoundWorkScalesWithBandwidth) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const market::PriceBook prices(catalog);
  const catalog::Gpu* h200 = *catalog.find_gpu("h200-sxm");
  auto samples = record(6, [](double) { return Level{0.99, 0.98, 0.91, 0.02, 30}; });
  const Summary summary = summarize_steady(samples, find_phases(samples, false));
  const Diagnosis found = classify(summary, hardware_of(*h200));
  const auto all = project({&summary, &found, h200}, catalog, &prices);
  bool seen = false;
  for (const Projection& p : all) {
    if (p.gpu->name != "h100-sxm") continue;
    seen = true;
    EXPECT_NEAR(p.speed, 3350.0 / 4800, 0.02);
    EXPECT_TRUE(p.fits);
    EXPECT_LE(p.low, p.speed);
    EXPECT_GE(p.high, p.speed);
  }
  EXPECT_TRUE(seen);
}

TEST(Project, WaitingDoesNotScaleAndMemoryMustFit) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const market::PriceBook prices(catalog);
  const catalog::Gpu* h200 = *catalog.find_gpu("h200-sxm");
  auto draw = [](double t) { return std::fmod(t, 0.4) < 0.1 ? on(0.4) : Level{0, 0, 0, 0, 1, 0, 60}; };
  auto samples = record(8, draw);
  const Summary summary = summarize_steady(samples, find_phases(samples, false));
  const Diagnosis found = classify(summary, hardware_of(*h200));
  EXPECT_EQ(found.verdict, Verdict::kInputBound);
  for (const Projection& p : project({&summary, &found, h200}, catalog, &prices)) {
    // A tenth of the time is work: even five times slower hardware loses less than half.
    if (p.gpu->bandwidth > h200->bandwidth / 5 && p.gpu->half_rate() && *p.gpu->half_rate() > *h200->half_rate() / 5) {
      EXPECT_GT(p.speed, 0.6) << p.gpu->name;
    }
    if (p.gpu->name == "l40s") {
      EXPECT_FALSE(p.fits) << "60 GiB were held";
    }
  }
}

Sample reading(double time, double sm, double memory) {
  Sample sample;
  sample.time = time;
  sample.set(Metric::kSmActive, sm);
  sample.set(Metric::kMemoryUsed, memory);
  return sample;
}

// 4 s of start-up, 0.1 s in which 40 GB are filled, 10 s of nothing. The engine's counter comes once a second, and the
// first behind the filling covers it.
TEST(Phases, MemoryFilledOnceAndThenHeldIsHolding) {
  std::vector<Sample> samples;
  for (int i = 0; i < 140; ++i) {
    samples.push_back(reading(0.1 * i, i == 40 ? 0.12 : 0, i < 40 ? 6e8 : 4e10));
    if (i % 10 == 5) samples.back().set(Metric::kGraphicsActive, i == 45 ? 0.02 : 0);
  }
  const std::vector<Phase> phases = find_phases(samples, true);
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[1].kind, PhaseKind::kSteady);
  EXPECT_NEAR(phases[1].begin, 4.1, 1e-9);
  const Summary steady = summarize_steady(samples, phases);
  EXPECT_EQ(steady.mean(Metric::kGraphicsActive), 0) << "the reading at 4.5 s tells of the time before";
  EXPECT_EQ(classify(steady, Hardware{}).verdict, Verdict::kIdleHeld);
}

TEST(Activity, SmsSayWhetherAnythingRan) {
  Sample sample = reading(0, 0, 1e9);
  sample.set(Metric::kGraphicsActive, 0.3);  // of the whole last second
  EXPECT_EQ(activity(sample), 0);
  sample.set(Metric::kSmActive, 0.0003);  // the smallest kernels
  EXPECT_EQ(activity(sample), 0.3);
  sample.clear(Metric::kGraphicsActive);
  EXPECT_EQ(activity(sample), kIdleActivity) << "not idle";
}

}  // namespace
}  // namespace rightsize::diagnose
