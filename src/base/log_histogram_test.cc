#include "base/log_histogram.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize {
namespace {

using Nanoseconds = LogHistogram<8, true, std::uint64_t>;

TEST(LogHistogram, AnEmptyHistogramIsZeroAndSmallValuesAreExact) {
  Nanoseconds h;
  EXPECT_EQ(h.quantile(0.5), 0);
  for (int i = 1; i <= 100; ++i) h.add(i);
  EXPECT_EQ(h.quantile(0.5), 50);
  EXPECT_EQ(h.quantile(0.99), 99);
  EXPECT_EQ(h.quantile(1), 100);
  h.add(-5);  // counts as 0
  EXPECT_EQ(h.quantile(0), 0);
}

RC_GTEST_PROP(LogHistogram, QuantilesAreWithinTheStatedErrorOfSortedValues, ()) {
  const auto raw =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(rc::gen::arbitrary<std::uint64_t>()));
  Nanoseconds h;
  std::vector<std::int64_t> values;
  for (std::uint64_t v : raw) values.push_back(static_cast<std::int64_t>(v >> (1 + v % 40)));
  for (std::int64_t v : values) h.add_whole(v);
  std::sort(values.begin(), values.end());
  for (double q : {0.1, 0.5, 0.9, 0.99}) {
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(values.size()))));
    const double exact = static_cast<double>(values[rank - 1]);
    RC_ASSERT(std::fabs(h.quantile(q) - exact) <= exact * Nanoseconds::kRelativeError + 1);
  }
}

TEST(LogHistogram, TakeMovesAllValues) {
  Nanoseconds a, b;
  for (int i = 0; i < 1000; ++i) (i % 2 ? a : b).add(i * 1000);
  a.take(b);
  EXPECT_EQ(a.count(), 1000u);
  EXPECT_EQ(b.count(), 0u);
  EXPECT_NEAR(a.quantile(0.5), 500e3, 500e3 * Nanoseconds::kRelativeError);
}

RC_GTEST_PROP(LogHistogram, QuantilesOfFractionsAreWithinTheStatedError, ()) {
  const auto raw =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>()));
  LogHistogram<6> h;
  std::vector<double> values;
  for (std::uint32_t v : raw) values.push_back(std::ldexp(v, -static_cast<int>(v % 60)));  // from 1e-18 to 4e9
  for (double v : values) h.add(v);
  std::sort(values.begin(), values.end());
  for (double q : {0.1, 0.5, 0.95}) {
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(values.size()))));
    const double exact = values[rank - 1];
    RC_ASSERT(std::fabs(h.quantile(q) - exact) <= exact * LogHistogram<6>::kRelativeError);
  }
}

RC_GTEST_PROP(LogHistogram, AWholeNumberHasTheBucketOfTheEqualDouble, (std::uint32_t raw, std::uint8_t shift)) {
  const std::int64_t value = static_cast<std::int64_t>(raw) << (shift % 21);  // exact in a double
  Nanoseconds a, b;
  a.add_whole(value);
  b.add(static_cast<double>(value));
  RC_ASSERT(a.quantile(0.5) == b.quantile(0.5));
}

TEST(LogHistogram, AClearedHistogramCanBeReused) {
  LogHistogram<7> h;
  h.add(0);
  h.add(1e-9);
  h.add(1e12);
  h.clear();
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.quantile(0.5), 0);
  h.add(3);
  EXPECT_NEAR(h.quantile(0.5), 3, 3 / 128.0);
}

}  // namespace
}  // namespace rightsize
