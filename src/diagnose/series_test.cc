#include "diagnose/series.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

TEST(Series, LongSeriesAreThinnedAndKeepTheMean) {
  SampleSeries series;
  double sum = 0;
  constexpr int kSamples = 100000;
  for (int i = 0; i < kSamples; ++i) {
    Sample sample;
    sample.time = unix_seconds(i);
    sample.set(Metric::kSmActive, i % 2);
    series.add(sample);
  }
  EXPECT_LE(series.samples().size(), 16384u);
  for (const Sample& sample : series.samples()) sum += *sample.get(Metric::kSmActive);
  EXPECT_NEAR(sum / static_cast<double>(series.samples().size()), 0.5, 0.01);
}

// 4 s of start-up, 0.1 s in which 40 GB are filled, 10 s idle. The engine counter is read once a second, and its first
// reading after the filling covers the filling.
TEST(Phases, MemoryFilledOnceAndKeptIsAHoldingPhase) {
  std::vector<Sample> samples;
  for (int i = 0; i < 140; ++i) {
    samples.push_back(reading(0.1 * i, i == 40 ? 0.12 : 0, i < 40 ? 6e8 : 4e10));
    if (i % 10 == 5) samples.back().set(Metric::kGraphicsActive, i == 45 ? 0.02 : 0);
  }
  const std::vector<Phase> phases = find_phases(samples, true);
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[1].kind, PhaseKind::kSteady);
  EXPECT_NEAR(in_seconds(phases[1].begin), 4.1, 1e-9);
  const Summary steady = summarize_steady(samples, phases);
  EXPECT_EQ(steady.mean(Metric::kGraphicsActive), 0) << "the reading at 4.5 s tells of the time before";
  EXPECT_EQ(classify(steady, Hardware{}).verdict, Verdict::kIdleHeld);
}

}  // namespace
}  // namespace rightsize::diagnose
