#include "sim/lengths.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/arrivals.h"

namespace rightsize::sim {
namespace {

double mean_of(const std::vector<std::int32_t>& table) {
  return std::accumulate(table.begin(), table.end(), 0.0) / static_cast<double>(table.size());
}

RC_GTEST_PROP(Lengths, TheTableHasTheRequestedMeanAndStaysWithinItsLimit, ()) {
  const double mean = *rc::gen::inRange(50, 20'000);
  const double variation = *rc::gen::inRange(0, 250) / 100.0;
  const double most = *rc::gen::element(0, 2, 5, 50) * mean;
  const std::vector<std::int32_t> table = length_table(mean, variation, most);
  RC_ASSERT(std::abs(mean_of(table) / mean - 1) < 0.01);
  RC_ASSERT(std::is_sorted(table.begin(), table.end()));
  if (most > 0) RC_ASSERT(table.back() <= most + 0.5);
}

// The p95 must not jump when a few more prompts of one length wait.
RC_GTEST_PROP(Lengths, NeighboursAtP95AreWithinTwoPercent, ()) {
  const double variation = *rc::gen::inRange(5, 200) / 100.0;
  const std::vector<std::int32_t> table = length_table(20'000, variation);
  const std::size_t at = table.size() * 95 / 100;
  RC_ASSERT(table[at + 1] <= table[at] * 1.02);
}

TEST(Lengths, MedianAndPercentileAreThoseGiven) {
  const LengthMean spread = mean_of_spread(1000, 8000, 0.95);
  const std::vector<std::int32_t> table = length_table(spread.mean, spread.variation);
  EXPECT_NEAR(table[kLengths / 2], 1000, 60);
  EXPECT_LT(table[static_cast<std::size_t>(0.94 * kLengths)], 8500);
  EXPECT_GT(table[static_cast<std::size_t>(0.97 * kLengths)], 8000);
  EXPECT_NEAR(median_of(spread.mean, spread.variation), 1000, 1e-6);
}

// Prompt and answer of any request fit the window together.
TEST(Lengths, StayWithinTheWindow) {
  const RequestShape shape{.size = 3000, .output = 500, .size_variation = 1, .output_variation = 1, .longest = 4096};
  EXPECT_LE(shape.longest_size() + shape.longest_output(), 4096);
  std::vector<Arrival> block(5'000);
  open_stream(Poisson{requests_per_s(1)}, 3, shape)->fill(block);
  double sum = 0;
  for (const Arrival& a : block) {
    EXPECT_LE(a.size + a.output, 4096);
    sum += a.size;
  }
  EXPECT_NEAR(sum / 5'000, 3000, 60);
}

// Exponentially distributed answers keep twice as much in the cache, because long answers run longer.
TEST(Lengths, LongAnswersTakeALargerShareOfTheCache) {
  EXPECT_EQ((RequestShape{.size = 100, .output = 200}.mean_context()), 200);
  EXPECT_EQ((RequestShape{.size = 100, .output = 200, .output_variation = 1}.mean_context()), 300);
}

}  // namespace
}  // namespace rightsize::sim
