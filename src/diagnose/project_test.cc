#include "diagnose/project.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "diagnose/test_recordings.h"
#include "presets/presets.h"

namespace rightsize::diagnose {
namespace {

using catalog::NumberFormat;
using perf::SustainedRates;

const perf::SpeedTable& speeds() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  static const perf::SpeedTable kTable(kCatalog, *perf::load_constants(""));
  return kTable;
}
const SustainedRates& rates(const char* name) { return *speeds().find(**speeds().catalog().find_gpu(name)); }

// Shares as in split_time(): they add up to one, with the overlap of the hidden resource separate.
WatchedWork any_work() {
  double parts[6], sum = 0;
  for (double& part : parts) sum += part = *rc::gen::inRange(1, 1000);
  WatchedWork work;
  TimeShares& s = work.shares;
  s.compute = parts[0] / sum, s.memory = parts[1] / sum, s.transfer = parts[2] / sum;
  s.launch = parts[3] / sum, s.stall = parts[4] / sum, s.wait = parts[5] / sum;
  s.overlap = *rc::gen::inRange(0, 1000) / 1000.0 * std::min(s.compute, s.memory);
  work.paced = *rc::gen::arbitrary<bool>();
  work.format = *rc::gen::element(NumberFormat::kBf16, NumberFormat::kFp32, NumberFormat::kInt8);
  return work;
}
const SustainedRates& any_gpu() { return speeds().all()[*rc::gen::inRange<std::size_t>(0, speeds().all().size())]; }

bool known(const SustainedRates& gpu, const WatchedWork& work) { return speed_on(work, gpu, gpu).has_value(); }

WatchedWork only(double TimeShares::*part) {
  WatchedWork work;
  work.shares.*part = 1;
  return work;
}

TEST(SpeedOn, PureArithmeticAndPureTrafficScaleByThePerfModelsRatios) {
  for (const SustainedRates& from : speeds().all()) {
    for (const SustainedRates& to : speeds().all()) {
      const auto slow = perf::slowdown(from, to, NumberFormat::kBf16);
      if (!slow) continue;
      EXPECT_DOUBLE_EQ(speed_on(only(&TimeShares::compute), from, to)->likely, 1 / slow->arithmetic);
      EXPECT_DOUBLE_EQ(speed_on(only(&TimeShares::memory), from, to)->likely, 1 / slow->memory);
      EXPECT_DOUBLE_EQ(speed_on(only(&TimeShares::wait), from, to)->likely, 1) << "waiting is the host's";
    }
  }
}

// Memory time hidden behind arithmetic appears on a GPU with fast arithmetic: 0.8 of the time arithmetic, 0.5 memory
// behind it.
TEST(SpeedOn, OverlappedTimeCountsWhenItBecomesTheLonger) {
  WatchedWork work;
  work.shares.compute = 1, work.shares.overlap = 0.9;
  const SustainedRates& here = rates("h100-sxm");
  SustainedRates there = here;
  catalog::Gpu other = *here.gpu;
  other.name = "twice the arithmetic";
  there.gpu = &other;
  for (FlopsPerSecond& rate : there.arithmetic) rate = rate * 2;
  // Alone, arithmetic now takes 0.5; memory still takes 0.9, and a tenth of the arithmetic had no overlap.
  EXPECT_DOUBLE_EQ(speed_on(work, here, there)->likely, 1 / (0.9 + 0.1 / 2));
}

// The speed of a known job on another GPU is the ratio of its estimates; waiting time stays the same.
TEST(Project, AKnownJobIsProjectedByItsEstimates) {
  static const perf::Constants kConstants = *perf::load_constants("");
  KnownJob known{&kConstants, *model::find_model("llama-3.1-8b"), {}};
  known.job.sequence = 4096;
  const catalog::Gpu* h100 = rates("h100-sxm").gpu;
  Summary summary;
  for (const double wait : {0.0, 0.4}) {
    Diagnosis busy;
    busy.verdict = Verdict::kComputeBound;
    busy.shares.compute = 1 - wait, busy.shares.wait = wait;
    int seen = 0;
    for (const Projection& p : project({&summary, &busy, h100, &known}, speeds())) {
      const auto here = perf::job_time(kConstants, known.model, known.job, *h100);
      const auto there = perf::job_time(kConstants, known.model, known.job, *p.gpu);
      EXPECT_NEAR(p.speed.likely, 1 / ((1 - wait) * (there->unit / here->unit) + wait), 1e-9) << p.gpu->name;
      ++seen;
    }
    EXPECT_GT(seen, 20);
  }
}

// A memory-bound load scales with bandwidth, whatever the arithmetic.
TEST(Project, MemoryBoundWorkScalesWithBandwidth) {
  const catalog::Catalog& catalog = speeds().catalog();
  const catalog::Gpu* h200 = *catalog.find_gpu("h200-sxm");
  auto samples = record(6, [](double) { return Level{0.99, 0.98, 0.91, 0.02, 30}; });
  const Summary summary = summarize_steady(samples, find_phases(samples, false));
  const Diagnosis found = classify(summary, hardware_of(*h200));
  const auto all = project({&summary, &found, h200}, speeds());
  bool seen = false;
  for (const Projection& p : all) {
    if (p.gpu->name != "h100-sxm") continue;
    seen = true;
    EXPECT_NEAR(p.speed.likely, 3350.0 / 4800, 0.04);  // an H100 reaches 4 % more of its bandwidth
    EXPECT_LE(p.speed.low, p.speed.likely);
    EXPECT_GE(p.speed.high, p.speed.likely);
  }
  EXPECT_TRUE(seen);
}

TEST(Project, WaitingDoesNotScale) {
  const catalog::Catalog& catalog = speeds().catalog();
  const catalog::Gpu* h200 = *catalog.find_gpu("h200-sxm");
  auto draw = [](double t) { return std::fmod(t, 0.4) < 0.1 ? on(0.4) : Level{0, 0, 0, 0, 1, 0, 60}; };
  auto samples = record(8, draw);
  const Summary summary = summarize_steady(samples, find_phases(samples, false));
  const Diagnosis found = classify(summary, hardware_of(*h200));
  EXPECT_EQ(found.verdict, Verdict::kInputBound);
  for (const Projection& p : project({&summary, &found, h200}, speeds())) {
    // A tenth of the time is work: even five times slower hardware loses less than half.
    if (p.gpu->bandwidth > h200->bandwidth / 5 && p.gpu->half_rate() && *p.gpu->half_rate() > *h200->half_rate() / 5) {
      EXPECT_GT(p.speed.likely, 0.6) << p.gpu->name;
    }
  }
}

RC_GTEST_PROP(SpeedOn, IsExactlyOneOnTheSameGpu, ()) {
  const WatchedWork work = any_work();
  const SustainedRates& gpu = any_gpu();
  RC_PRE(known(gpu, work));
  const SpeedElsewhere same = *speed_on(work, gpu, gpu);
  RC_ASSERT(std::fabs(same.likely - 1) < 1e-9);
  RC_ASSERT(std::fabs(same.low - 1) < 1e-9);
  RC_ASSERT(std::fabs(same.high - 1) < 1e-9);
  RC_ASSERT(std::fabs(same.busy - (1 - work.shares.wait)) < 1e-9);
}

RC_GTEST_PROP(SpeedOn, ASlowerGpuIsNeverFaster, ()) {
  const WatchedWork work = any_work();
  const SustainedRates &from = any_gpu(), &to = any_gpu();
  RC_PRE(known(from, work) && known(to, work) && from.gpu != to.gpu);
  SustainedRates slower = to;
  const auto factor = [] { return *rc::gen::inRange(10, 1000) / 1000.0; };
  for (FlopsPerSecond& rate : slower.arithmetic) rate = rate * factor();
  slower.memory = slower.memory * factor();
  slower.launch = slower.launch / factor();
  if (slower.host_link) *slower.host_link = *slower.host_link * factor();
  const SpeedElsewhere fast = *speed_on(work, from, to), slow = *speed_on(work, from, slower);
  RC_ASSERT(slow.likely <= fast.likely * (1 + 1e-12));
  RC_ASSERT(slow.low <= fast.low * (1 + 1e-12));
  RC_ASSERT(slow.high <= fast.high * (1 + 1e-12));
}

RC_GTEST_PROP(SpeedOn, IntervalsContainTheLikelySpeedAndWidenWithoutMeasurements, ()) {
  WatchedWork work = any_work();
  work.paced = false;
  const SustainedRates &from = any_gpu(), &to = any_gpu();
  RC_PRE(known(from, work) && known(to, work) && from.gpu != to.gpu);
  double before = 1;
  for (const perf::Basis basis : {perf::Basis::kMeasured, perf::Basis::kTransferred, perf::Basis::kSpecification}) {
    SustainedRates there = to;
    there.basis = basis;
    const SpeedElsewhere speed = *speed_on(work, from, there);
    RC_ASSERT(speed.low < speed.likely && speed.likely < speed.high);
    RC_ASSERT(speed.high / speed.low > before);
    RC_ASSERT(speed.basis == std::max(basis, from.basis));
    before = speed.high / speed.low;
  }
}

}  // namespace
}  // namespace rightsize::diagnose
