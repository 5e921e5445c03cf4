#include <cmath>

#include <gtest/gtest.h>

#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

// A service without doubts: a week of data, an SLO at a bucket bound, the user's price, a plan on the current GPU.
struct Known {
  catalog::Gpu today{}, other{};
  SizedService service;

  Known() {
    today.name = "h200-sxm", other.name = "l40s";
    service.reading.until = 7 * 86400;
    const live_service::Percentiles spread{1.0, live_service::Quantile{1, 1, 1}, live_service::Quantile{1, 1, 1}, {}};
    live_service::Description& d = service.description;
    d.isl = d.osl = d.ttft = d.tpot = spread;
    d.gpu = &today;
    d.price = market::GpuQuote{};
    d.slos = {{capacity::Slo{capacity::Quantity::kTpot, capacity::Statistic::kP95, seconds(0.05)},
               live_service::Quantile{0, 0, 0}, true, true}};
    service.learned = live_service::LearnedSpeed{};
    service.sized = live_service::RightSize{};
    live_service::SizedPlan plan;
    plan.gpu = &today;
    plan.tpot = seconds(0.04);
    plan.speed = {0.8, 1.4};
    service.sized->plans = {plan};
  }

  std::vector<std::string> doubts() const {
    std::vector<std::string> words;
    for (const ConfidenceStep& step : confidence_steps(service)) words.emplace_back(step.what);
    return words;
  }
};

using Words = std::vector<std::string>;

TEST(ConfidenceSteps, AreEmptyWithoutDoubts) { EXPECT_EQ(Known().doubts(), Words{}); }

TEST(ConfidenceSteps, ADayIsNotAWeek) {
  Known known;
  known.service.reading.until = 86400;
  EXPECT_EQ(known.doubts(), Words{"window"});
}

TEST(ConfidenceSteps, AnOpenLastBucketHidesAPercentile) {
  Known known;
  known.service.description.isl.p95->high = INFINITY;
  known.service.description.ttft.p95.reset();
  EXPECT_EQ(known.doubts(), Words{"histograms"});
  EXPECT_NE(confidence_steps(known.service)[0].text.find("prompt lengths, TTFT"), std::string::npos);
}

TEST(ConfidenceSteps, AnSloInsideABucketNeedsABound) {
  Known known;
  known.service.description.slos[0].sure = false;
  EXPECT_EQ(known.doubts(), Words{"buckets"});
}

TEST(ConfidenceSteps, AnotherGpuNeedsAMeasurement) {
  Known known;
  known.service.sized->plans[0].gpu = &known.other;
  EXPECT_EQ(known.doubts(), Words{"speed"});
  EXPECT_NE(confidence_steps(known.service)[0].text.find("misses an SLO"), std::string::npos);
  known.service.sized->plans[0].tpot = seconds(0.03);
  EXPECT_EQ(confidence_steps(known.service)[0].text.find("misses an SLO"), std::string::npos);
}

TEST(ConfidenceSteps, AListPriceIsADoubt) {
  Known known;
  known.service.description.price.reset();
  EXPECT_EQ(known.doubts(), Words{"price"});
}

}  // namespace
}  // namespace rightsize::app
