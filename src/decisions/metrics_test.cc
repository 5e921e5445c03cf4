#include "decisions/metrics.h"

#include <set>

#include <gtest/gtest.h>

namespace rightsize::decisions {
namespace {

// A bill of -$1 or a speed of NaN would be averaged into a verdict.
TEST(Metrics, NoMetricTakesANegativeOrUnboundedNumber) {
  for (const MetricInfo& metric : metrics()) {
    for (const char* text : {"-1", "nan", "inf", "-inf", "", "x", "1e999"})
      EXPECT_FALSE(metric.parse(text)) << metric.name << "=" << text;
    EXPECT_EQ(*metric.parse("1.5"), 1.5) << metric.name;
    EXPECT_FALSE(metric.show(1.5).empty());
  }
}

TEST(Metrics, UnitsAreThoseOfTheName) {
  EXPECT_EQ(*find_metric(kTpot)->parse("20ms"), 0.02);
  EXPECT_EQ(*find_metric(kMemory)->parse("2KiB"), 2048);
  EXPECT_EQ(*find_metric(kHours)->parse("90min"), 1.5);
  EXPECT_FALSE(find_metric(kTokens)->parse("20ms"));
}

TEST(Metrics, NamesAreUnique) {
  const std::vector<std::string> names = metric_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) EXPECT_EQ(find_metric(name)->name, name);
  EXPECT_EQ(find_metric("speed"), nullptr);
}

}  // namespace
}  // namespace rightsize::decisions
