#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "solve/mip.h"
#include "solve/packing.h"

namespace rightsize::solve {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// 3x + 5y >= 11 with whole x and y at costs 2 and 3: (2, 1) for 7; the relaxation is y = 2.2 for 6.6.
Model small_model() {
  Model model;
  const int x = model.add_column(2, 0, kInfinity, true), y = model.add_column(3, 0, kInfinity, true);
  const int row = model.add_row(11, kInfinity);
  model.add_entry(row, x, 3);
  model.add_entry(row, y, 5);
  return model;
}

TEST(Mip, FindsTheIntegerOptimumAndItsBound) {
  const Solution solution = *solve(small_model(), {});
  EXPECT_EQ(solution.status, Status::kOptimal);
  EXPECT_THAT(solution.values, ElementsAre(2, 1));
  EXPECT_DOUBLE_EQ(solution.objective, 7);
  EXPECT_DOUBLE_EQ(solution.bound, 7);
}

TEST(Mip, TheRelaxationAllowsFractions) {
  const Solution solution = *solve_relaxation(small_model());
  EXPECT_EQ(solution.status, Status::kOptimal);
  EXPECT_THAT(solution.objective, DoubleNear(6.6, 1e-9));
}

TEST(Mip, InfeasibleModelsAreReported) {
  Model model;
  const int x = model.add_column(1, 0, 1, true);
  model.add_entry(model.add_row(2, kInfinity), x, 1);
  EXPECT_EQ(solve(model, {})->status, Status::kInfeasible);
  EXPECT_EQ(solve_relaxation(model)->status, Status::kInfeasible);
  Model nothing;
  nothing.add_row(1, kInfinity);
  EXPECT_EQ(solve(nothing, {})->status, Status::kInfeasible);
}

// Both solvers answer or refuse for any numbers. Clp itself would abort the process on a cost of 1e25.
RC_GTEST_PROP(Mip, NoCoefficientAbortsTheProcess, ()) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  const auto number = rc::gen::element(0.0, 1.0, -3.5, 1e-300, 1e12, -1e15, 1.0001e15, 1e24, 1e26, -1e300, kInfinity,
                                       -kInfinity, kNan, kInf, -kInf);
  Model model;
  const int columns = *rc::gen::inRange(1, 4), rows = *rc::gen::inRange(1, 4);
  bool good = true;
  auto draw = [&] {
    const double value = *number;
    good = good && std::abs(value) <= kLargestCoefficient;
    return value;
  };
  for (int c = 0; c < columns; ++c) model.add_column(draw(), 0, 10, *rc::gen::arbitrary<bool>());
  for (int r = 0; r < rows; ++r) {
    const int row = model.add_row(1, kInfinity);
    for (int c = 0; c < columns; ++c) model.add_entry(row, c, draw());
  }
  for (const Result<Solution>& answer : {solve(model, {.nodes = 100, .seconds = 2}), solve_relaxation(model)}) {
    RC_ASSERT(answer.has_value() == good);
    if (!answer) RC_ASSERT(answer.error().code == ErrorCode::kBadInput);
  }
}

Item item(std::vector<double> need, int apart = -1) { return {{std::move(need)}, apart}; }

void expect_valid(const Packing& packing, const std::vector<Item>& items, const std::vector<BinType>& bins) {
  std::vector<int> seen(items.size(), 0);
  double cost = 0;
  for (const Bin& bin : packing.bins) {
    cost += bins[bin.type].cost;
    std::vector<double> sum(bins[bin.type].capacity.size(), 0);
    for (std::size_t i : bin.items) {
      ++seen[i];
      ASSERT_FALSE(items[i].need[bin.type].empty());
      for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += items[i].need[bin.type][d];
      for (std::size_t k : bin.items) EXPECT_TRUE(k == i || items[i].apart < 0 || items[i].apart != items[k].apart);
    }
    for (std::size_t d = 0; d < sum.size(); ++d) EXPECT_LE(sum[d], bins[bin.type].capacity[d] * (1 + 1e-6));
    EXPECT_TRUE(bins[bin.type].most_items == 0 || bin.items.size() <= bins[bin.type].most_items);
  }
  for (std::size_t i : packing.unplaceable) ++seen[i];
  EXPECT_THAT(seen, testing::Each(1));
  EXPECT_THAT(packing.cost, DoubleNear(cost, 1e-9));
  EXPECT_LE(packing.bound, packing.cost * (1 + 1e-9));
}

// Every partition of the items, every type for each part.
double brute_force(const std::vector<Item>& items, const std::vector<BinType>& bins) {
  std::vector<std::vector<std::size_t>> parts;
  double best = std::numeric_limits<double>::infinity();
  auto price = [&](const std::vector<std::size_t>& part) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < bins.size(); ++t) {
      bool fits = bins[t].most_items == 0 || part.size() <= bins[t].most_items;
      std::vector<double> sum(bins[t].capacity.size(), 0);
      for (std::size_t i : part) {
        fits = fits && !items[i].need[t].empty();
        for (std::size_t k : part) fits = fits && (k == i || items[i].apart < 0 || items[i].apart != items[k].apart);
        for (std::size_t d = 0; fits && d < sum.size(); ++d) sum[d] += items[i].need[t][d];
      }
      for (std::size_t d = 0; d < sum.size(); ++d) fits = fits && sum[d] <= bins[t].capacity[d] + 1e-9;
      if (fits) least = std::min(least, bins[t].cost);
    }
    return least;
  };
  std::function<void(std::size_t)> place = [&](std::size_t i) {
    if (i == items.size()) {
      double cost = 0;
      for (const auto& part : parts) cost += price(part);
      best = std::min(best, cost);
      return;
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].push_back(i);
      place(i + 1);
      parts[p].pop_back();
    }
    parts.push_back({i});
    place(i + 1);
    parts.pop_back();
  };
  place(0);
  return best;
}

RC_GTEST_PROP(Packing, AgreesWithBruteForce, ()) {
  const auto types = *rc::gen::inRange(1, 3);
  std::vector<BinType> bins;
  for (int t = 0; t < types; ++t) {
    bins.push_back({static_cast<double>(*rc::gen::inRange(2, 9)),
                    {10.0 + 5 * t, 10.0},
                    static_cast<std::size_t>(*rc::gen::inRange(0, 5))});
  }
  std::vector<Item> items;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    Item one;
    const double a = *rc::gen::inRange(1, 10), b = *rc::gen::inRange(0, 10);
    for (int t = 0; t < types; ++t) one.need.push_back({a, b});
    one.apart = *rc::gen::inRange(-3, 2);
    items.push_back(one);
  }
  const Packing packing = *pack(items, bins);
  const double best = brute_force(items, bins);
  expect_valid(packing, items, bins);
  RC_ASSERT(packing.unplaceable.empty());
  RC_ASSERT(packing.bound <= best * (1 + 1e-6));
  RC_ASSERT(packing.cost >= best * (1 - 1e-6));
  if (packing.proved()) RC_ASSERT(packing.cost <= best * (1 + 1e-6));
}

// Two jobs busy by day and two by night: separately they need four GPUs, together two.
TEST(Packing, ItemsWithDisjointPeaksShareABin) {
  const std::vector<Item> items{item({0.9, 0.1}), item({0.9, 0.1}), item({0.1, 0.9}), item({0.1, 0.9})};
  const Packing packing = *pack(items, {{1, {1, 1}, 0}});
  EXPECT_EQ(packing.bins.size(), 2u);
  EXPECT_TRUE(packing.proved());
}

TEST(Packing, DualFeasibleFunctionsImproveTheRelaxation) {
  // Items just over a third fit two to a bin: the plain relaxation gives 0.34 * 9 = 3.06 -> 4 bins, rounding to halves
  // gives 5.
  const std::vector<Item> items(9, item({0.34, 0.0}));
  const Packing packing = *pack(items, {{1, {1, 1}, 0}});
  EXPECT_EQ(packing.bins.size(), 5u);
  EXPECT_TRUE(packing.proved());
}

TEST(Packing, ItemsThatFitNoBinAreNamed) {
  const Packing packing = *pack({item({2.0}), item({0.5})}, {{1, {1}, 0}});
  EXPECT_THAT(packing.unplaceable, ElementsAre(0u));
  EXPECT_EQ(packing.bins.size(), 1u);
}

TEST(Packing, ManyItemsStayNearTheBound) {
  std::vector<Item> items;
  unsigned state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525u + 1013904223u;
    items.push_back(item({0.02 + (state >> 16) % 100 / 250.0, 0.01 + (state >> 8) % 64 / 300.0}));
  }
  const std::vector<BinType> bins{{1, {1, 1}, 0}};
  const Packing packing = *pack(items, bins);
  expect_valid(packing, items, bins);
  EXPECT_LT(packing.gap(), 0.03);
}

}  // namespace
}  // namespace rightsize::solve
