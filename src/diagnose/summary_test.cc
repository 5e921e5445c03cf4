#include "diagnose/summary.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

TEST(SummaryBuilder, SummarizesQuantilesMaximaAndClockJumps) {
  SummaryBuilder gathered;
  for (int i = 0; i < 100; ++i) {
    Sample sample;
    sample.time = unix_seconds(i < 50 ? i : i - 30);  // the clock was set back once
    sample.set(Metric::kPower, i);
    gathered.add(sample);
  }
  const Summary summary = gathered.summary();
  EXPECT_EQ(summary.clock_jumps, 1u);
  EXPECT_DOUBLE_EQ(summary.of(Metric::kPower)->mean, 49.5);
  EXPECT_NEAR(summary.of(Metric::kPower)->p50, 49.5, 1);
  EXPECT_NEAR(summary.of(Metric::kPower)->p95, 94, 1);
  EXPECT_DOUBLE_EQ(summary.of(Metric::kPower)->max, 99);
  EXPECT_DOUBLE_EQ(in_seconds(summary.interval), 1);
  EXPECT_DOUBLE_EQ(in_seconds(summary.duration), 99);  // 98 intervals, and that of the last sample
}

TEST(Activity, ActivityIsReadFromSmCountersFirst) {
  Sample sample = reading(0, 0, 1e9);
  sample.set(Metric::kGraphicsActive, 0.3);  // of the whole last second
  EXPECT_EQ(activity(sample), 0);
  sample.set(Metric::kSmActive, 0.0003);  // the smallest kernels
  EXPECT_EQ(activity(sample), 0.3);
  sample.clear(Metric::kGraphicsActive);
  EXPECT_EQ(activity(sample), 0.0003);
}

// Three readings of 690 W, a second apart: 690 W for the three seconds they represent, from power as well as from the
// energy counter.
TEST(SummaryBuilder, MeanPowerIsThatOfTheTimeCovered) {
  for (const bool counter : {false, true}) {
    SummaryBuilder gathered;
    for (int i = 0; i < 3; ++i) {
      Sample sample;
      sample.time = unix_seconds(100 + i);
      sample.set(Metric::kPower, 690);
      if (counter) sample.set(Metric::kEnergy, 5e6 + 690.0 * i);
      gathered.add(sample);
    }
    const Summary summary = gathered.summary();
    EXPECT_NEAR(in_seconds(summary.duration), 3, 1e-9);
    EXPECT_NEAR(in_watts(*summary.energy / summary.duration), 690, 1e-6);
  }
}

// A second of work and two seconds idle, five times: runs of one and two seconds.
TEST(SummaryBuilder, BusyAndIdleStretchesAreMeasured) {
  SummaryBuilder gathered;
  for (int i = 0; i <= 150; ++i) {
    Sample sample;
    sample.time = unix_seconds(i * 0.1);
    sample.set(Metric::kSmActive, i % 30 < 10 ? 0.8 : 0);
    gathered.add(sample);
  }
  const OnOff turns = *gathered.summary().on_off;
  EXPECT_NEAR(turns.idle_share, 2.0 / 3, 0.02);
  EXPECT_NEAR(in_seconds(turns.idle_run), 2, 0.1);
  EXPECT_NEAR(in_seconds(turns.active_run), 1, 0.1);
  EXPECT_NEAR(turns.active_level, 0.8, 1e-9);
}

}  // namespace
}  // namespace rightsize::diagnose
