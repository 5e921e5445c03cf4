#include "sim/min_tree.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize::sim {
namespace {

// Few distinct values give many ties.
TEST(MinTree, FindsTheFirstOfTheSmallest) {
  Random random(5);
  for (std::size_t count : {1U, 2U, 3U, 7U, 8U, 29U}) {
    MinTree<std::int64_t> tree(count, 4);
    std::vector<std::int64_t> values(count, 4);
    for (int i = 0; i < 2000; ++i) {
      const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
      values[at] = static_cast<std::int64_t>(random.uniform() * 9);
      tree.set(at, values[at]);
      const auto expected = std::min_element(values.begin(), values.end());
      ASSERT_EQ(tree.position(), static_cast<std::size_t>(expected - values.begin()));
      ASSERT_EQ(tree.min(), *expected);
      ASSERT_EQ(tree[at], values[at]);
    }
  }
}

}  // namespace
}  // namespace rightsize::sim
