#include "diagnose/series.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

// Noise of a few percent while a program waits does not cut its waits into pieces, and does not change the verdict.
RC_GTEST_PROP(Phases, NoiseWhileWaitingIsNotWork, ()) {
  const auto lengths = *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(2, 9),
                                                             rc::gen::inRange(20, 200));  // samples at 10 Hz
  const double noise = *rc::gen::element(0.02, 0.04);
  std::vector<Sample> quiet, noisy;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (int j = 0; j < lengths[i]; ++j) {
      const double time = 0.1 * static_cast<double>(quiet.size()), level = i % 2 == 0 ? 0.9 : 0;
      quiet.push_back(reading(time, level, 4e10));
      noisy.push_back(reading(time, level > 0 ? level : noise * (j % 3) / 2, 4e10));
    }
  }
  const std::vector<Phase> phases = find_phases(quiet, false), found = find_phases(noisy, false);
  RC_ASSERT(phases.size() == found.size());
  for (std::size_t i = 0; i < phases.size(); ++i)
    RC_ASSERT(phases[i].first == found[i].first && phases[i].kind == found[i].kind);
  RC_ASSERT(verdict_of(quiet) == verdict_of(noisy));
}

}  // namespace
}  // namespace rightsize::diagnose
