#include "sim/least_of.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize::sim {
namespace {

// Few values, so that many are equal.
TEST(LeastOf, IsWhereTheFirstOfTheSmallestStands) {
  Random random(5);
  for (std::size_t count : {1U, 2U, 3U, 7U, 8U, 29U}) {
    LeastOf<std::int64_t> least(count, 4);
    std::vector<std::int64_t> values(count, 4);
    for (int i = 0; i < 2000; ++i) {
      const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
      values[at] = static_cast<std::int64_t>(random.uniform() * 9);
      least.set(at, values[at]);
      const auto expected = std::min_element(values.begin(), values.end());
      ASSERT_EQ(least.place(), static_cast<std::size_t>(expected - values.begin()));
      ASSERT_EQ(least.least(), *expected);
      ASSERT_EQ(least[at], values[at]);
    }
  }
}

}  // namespace
}  // namespace rightsize::sim
