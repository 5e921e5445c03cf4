#include "diagnose/signals.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

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

// 200 MB/s of commands at 2 KB per launch: one launch every 10 us.
TEST(ReadSignals, LaunchesAreReadFromTheCommandsFetched) {
  Summary summary;
  summary.set(Metric::kPcieRx, {200e6, 200e6, 200e6, 200e6});
  const Signals signals = read_signals(summary, {});
  ASSERT_TRUE(signals.launch_period);
  EXPECT_NEAR(in_seconds(*signals.launch_period), 10e-6, 1e-12);
  EXPECT_FALSE(read_signals({}, {}).launch_period);
  // 800 MB/s into a GPU that is idle half of the time: no host launches every 2.5 us, so this is data.
  summary.set(Metric::kPcieRx, {800e6, 800e6, 800e6, 800e6});
  summary.set(Metric::kGpuUtil, {0.5, 0.5, 0.5, 0.5});
  EXPECT_FALSE(read_signals(summary, {}).launch_period);
}

// An unknown link is assumed to be the slowest that could have carried the observed rate: 20 GB/s needs the fourth
// generation.
TEST(ReadSignals, AnUnknownLinkIsTheSlowestPossible) {
  Summary summary;
  summary.set(Metric::kPcieTx, {20e9, 20e9, 20e9, 20e9});
  EXPECT_NEAR(*read_signals(summary, {}).link, 20 / 31.6, 1e-9);
  Hardware fifth;
  fifth.link = gb_per_s(63);
  EXPECT_NEAR(*read_signals(summary, fifth).link, 20.0 / 63, 1e-9);
}

// Half of the tensor cycles at half of the clock: 4096 FLOP per cycle and SM x 132 SMs x 0.9 GHz x 0.5.
TEST(PlaceOnRoofline, CountsCyclesAtTheClockThatWasSeen) {
  Hardware h100;
  h100.matrix = tflop_per_s(989), h100.sms = 132, h100.bandwidth = gb_per_s(3350);
  Summary summary;
  summary.set(Metric::kTensorActive, {0.5, 0.5, 0.5, 0.5});
  summary.set(Metric::kSmClock, {0.9e9, 0.9e9, 0.9e9, 0.9e9});
  const Roofline roofline = place_on_roofline(summary, read_signals(summary, h100), h100);
  EXPECT_NEAR(in_tflop_per_s(*roofline.achieved), 4096 * 132 * 0.9e9 * 0.5 / 1e12, 1);
  EXPECT_NEAR(*roofline.ridge, 989e12 / 3350e9, 1e-6);
}

}  // namespace
}  // namespace rightsize::diagnose
