#include "live_service/traffic.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::live_service {
namespace {

// A day with one request per second, and two per second in the hour from 15:00.
ServiceReading a_day() {
  ServiceReading r;
  r.from = 1790000000.0 - std::fmod(1790000000.0, 86400), r.until = r.from + 86400;
  r.step = 60;
  r.finished.assign(1440, 60.0);
  for (std::size_t m = 900; m < 960; ++m) r.finished[m] = 120;
  r.hours.assign(24, {});
  for (std::size_t m = 0; m < 1440; ++m) r.hours[m / 60].requests += r.finished[m];
  double total = 0;
  for (double count : r.finished) total += count;
  r.counters[Signal::kRequests] = total;
  r.histograms[Signal::kIsl] = Histogram({500, 1000, 2000}, {0.5 * total, 0.9 * total, total, total}, 560 * total);
  r.histograms[Signal::kOsl] = Histogram({50, 100, 200}, {0.2 * total, 0.6 * total, total, total}, 100 * total);
  return r;
}

Description described(const ServiceReading& r) {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  static const market::PriceBook kBook(kCatalog);
  return describe(r, {}, kCatalog, kBook);
}

TEST(PeakTraffic, IsTheBusiestHourWithTheMeasuredMeans) {
  const ServiceReading r = a_day();
  const Description d = described(r);
  EXPECT_DOUBLE_EQ(d.peak_hour, 2);
  EXPECT_EQ(d.peak_hour_begin, r.from + 15 * 3600);
  const auto peak = peak_traffic(r, d);
  ASSERT_TRUE(peak);
  EXPECT_NEAR(peak->requests_per_second, 2, 0.01);
  EXPECT_EQ(peak->trace->arrivals.size(), 7200u);
  EXPECT_NEAR(peak->isl, 560, 560 * 0.05);
  EXPECT_NEAR(peak->osl, 100, 100 * 0.05);
}

// GPUs without a power reading count with the mean of the others.
RC_GTEST_PROP(Description, EnergyIsPowerTimesGpuHours, ()) {
  ServiceReading r = a_day();
  double known = 0, joules = 0, all = 0;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    const double seconds = *rc::gen::inRange(1, 86400), power = *rc::gen::inRange(60, 1000);
    const bool reported = *rc::gen::arbitrary<bool>() || i == 1;
    r.gpus.push_back({"NVIDIA H100 80GB HBM3", seconds, 1, reported ? seconds : 0, reported ? power * seconds : 0});
    all += seconds;
    if (reported) known += seconds, joules += power * seconds;
  }
  const Description d = described(r);
  RC_ASSERT(d.energy().has_value());
  RC_ASSERT(std::abs(in_joules(*d.energy()) - joules / known * all) < 1e-6 * joules + 1e-3 * all);
  RC_ASSERT(std::abs(in_joules(*d.energy_per_token()) * d.output_tokens - in_joules(*d.energy())) < 1);
}

TEST(PeakTraffic, ABurstInAnotherHourIsIncluded) {
  ServiceReading r = a_day();
  for (std::size_t m = 305; m < 310; ++m) r.finished[m] = 400;
  const auto peak = peak_traffic(r, described(r));
  ASSERT_TRUE(peak);
  EXPECT_GT(peak->trace->arrivals.size(), 7200u + 3600u);
}

RC_GTEST_PROP(PeakTraffic, ScenariosScaleRateAndLengths, ()) {
  const ServiceReading r = a_day();
  const Description d = described(r);
  const WhatIf more{1 + *rc::gen::inRange(0, 30) / 10.0, 1 + *rc::gen::inRange(0, 30) / 10.0, 1};
  const auto peak = peak_traffic(r, d, more);
  RC_ASSERT(peak.has_value());
  RC_ASSERT(std::abs(peak->requests_per_second / (2 * more.traffic) - 1) < 0.02);
  RC_ASSERT(std::abs(peak->isl / (560 * more.isl) - 1) < 0.06);
}

TEST(PeakTraffic, WithoutRequestsThereIsNone) {
  ServiceReading r = a_day();
  r.counters[Signal::kRequests] = 0;
  r.finished.assign(1440, 0.0);
  r.hours.assign(24, {});
  EXPECT_FALSE(peak_traffic(r, described(r)));
}

TEST(Describe, SloVerdictsTellIfBucketsAreTooCoarse) {
  ServiceReading r = a_day();
  const double n = *r.counter(Signal::kRequests);
  r.histograms[Signal::kTtft] = Histogram({0.1, 0.5, 1}, {0.5 * n, 0.97 * n, n, n}, 0.2 * n);
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  static const market::PriceBook kBook(kCatalog);
  using capacity::Quantity;
  using capacity::Statistic;
  const auto kept = [&](double limit) {
    return describe(r, {{Quantity::kTtft, Statistic::kP95, seconds(limit)}}, kCatalog, kBook);
  };
  EXPECT_EQ(kept(0.5).slo_kept, true);
  EXPECT_TRUE(kept(0.5).slos.front().sure);
  EXPECT_EQ(kept(0.1).slo_kept, false);
  EXPECT_FALSE(kept(0.4).slos.front().sure);
  const Description unknown = describe(r, {{Quantity::kTpot, Statistic::kP95, seconds(1)}}, kCatalog, kBook);
  EXPECT_FALSE(unknown.slo_kept);
}

}  // namespace
}  // namespace rightsize::live_service
