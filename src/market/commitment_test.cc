#include "market/commitment.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::market {
namespace {

constexpr double kYearHours = in_hours(kYear);

// A year of a known future by definition: in every hour, the cheapest remaining capacity.
double year_by_hand(const Demand& demand, double scale, double price, const CommitmentPrices& p, double committed) {
  double total = 0;
  for (const double gpus : demand.gpus) {
    double left = std::max(0.0, gpus * scale - committed);
    if (p.spot && *p.spot < p.on_demand) {
      const double on_spot = std::min(left, gpus * scale * demand.interruptible);
      total += on_spot * *p.spot * price;
      left -= on_spot;
    }
    total += left * p.on_demand * price;
  }
  return total * kYearHours / static_cast<double>(demand.gpus.size());
}

double mix_by_hand(const Demand& demand, const CommitmentPrices& p, const std::vector<Future>& futures,
                   const CommitmentMix& mix, const std::vector<double>& amounts) {
  double total = 0, weight = 0;
  for (const Future& future : futures) weight += future.probability;
  for (const Future& future : futures) {
    double cost = year_by_hand(demand, future.demand[0], future.prices[0], p, mix.one_year + mix.three_years);
    cost += p.one_year.value_or(0) * mix.one_year * kYearHours;
    cost += p.three_years.value_or(0) * mix.three_years * kYearHours * kPlanYears;
    for (int year = 1; year < kPlanYears; ++year) {
      double best = INFINITY;
      for (const double more : amounts) {
        if (more > 0 && !p.one_year) continue;
        best = std::min(best,
                        p.one_year.value_or(0) * future.prices[year] * more * kYearHours +
                            year_by_hand(demand, future.demand[year], future.prices[year], p, mix.three_years + more));
      }
      cost += best;
    }
    total += future.probability / weight * cost;
  }
  return total;
}

// Eight GPUs always, eight more half of the time. On demand $4, committed $2.50: the eight that always run are
// committed, the others do not run enough (break-even is 62.5 %).
TEST(Commitment, CommitsToGpusThatRunLongerThanBreakEven) {
  const Demand demand{{8, 16}, 0};
  const CommitmentPlanner planner(demand, {4, {}, 2.5, {}}, {{"as now"}});
  EXPECT_DOUBLE_EQ(break_even_use(2.5, 4), 0.625);
  EXPECT_DOUBLE_EQ(planner.best().one_year, 8);
  EXPECT_DOUBLE_EQ(planner.best().three_years, 0);
  // 8 x 2.5 always, 8 x 4 half of the time, three years.
  EXPECT_NEAR(planner.cost({8, 0}).total, 3 * kYearHours * (8 * 2.5 + 0.5 * 8 * 4), 1e-3);
  EXPECT_DOUBLE_EQ(planner.cost({8, 0}).first_year_used, 1);
  EXPECT_DOUBLE_EQ(planner.cost({8, 0}).first_year_covered, 8 / 12.0);
  // At $1.90, all sixteen pay off: the others run half of the time.
  EXPECT_DOUBLE_EQ(CommitmentPlanner(demand, {4, {}, 1.9, {}}, {{"as now"}}).best().one_year, 16);
}

TEST(Commitment, SpotTakesInterruptibleWorkFirst) {
  const Demand demand{{10}, 0.4};
  // Spot at $1 beats a year at $2: only the six that may not be interrupted are committed.
  EXPECT_DOUBLE_EQ(CommitmentPlanner(demand, {4, 1, 2, {}}, {{"as now"}}).best().one_year, 6);
  EXPECT_DOUBLE_EQ(CommitmentPlanner(demand, {4, 3, 2, {}}, {{"as now"}}).best().one_year, 10);
}

TEST(Commitment, AFallOfDemandOrPricesCostsRegret) {
  const Demand demand{{8}, 0};
  const CommitmentPlanner planner(demand, {4, {}, 2.5, 1.8}, {{"as now"}});
  const CommitmentMix mix = planner.best();
  EXPECT_DOUBLE_EQ(mix.three_years, 8);
  const Future half{"half", 1, {0.5, 0.5, 0.5}, {1, 1, 1}};
  // Four GPUs at $1.80 are idle for three years.
  EXPECT_NEAR(planner.regret(mix, half), 4 * 1.8 * 3 * kYearHours, 1e-3);
  EXPECT_DOUBLE_EQ(planner.regret(mix, {"as now"}), 0);
  // With four purchases, the fall is noticed after the first, and less is lost.
  EXPECT_LT(planner.laddered_cost(mix, 4, half), CommitmentPlanner(demand, {4, {}, 2.5, 1.8}, {half}).cost(mix).total);
  EXPECT_GT(planner.laddered_cost(mix, 4, {"as now"}), planner.cost(mix).total);
}

RC_GTEST_PROP(Commitment, NoOtherMixIsCheaper, ()) {
  Demand demand;
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) demand.gpus.push_back(*rc::gen::inRange(0, 7));
  demand.interruptible = *rc::gen::element(0.0, 0.5, 1.0);
  CommitmentPrices prices;
  prices.on_demand = *rc::gen::inRange(1, 40) / 10.0;
  if (*rc::gen::arbitrary<bool>()) prices.spot = *rc::gen::inRange(1, 40) / 10.0;
  if (*rc::gen::arbitrary<bool>()) prices.one_year = *rc::gen::inRange(1, 40) / 10.0;
  if (*rc::gen::arbitrary<bool>()) prices.three_years = *rc::gen::inRange(1, 40) / 10.0;
  std::vector<Future> futures;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    Future future;
    future.probability = *rc::gen::inRange(1, 5);
    for (int year = 0; year < kPlanYears; ++year) {
      future.demand[year] = *rc::gen::element(0.0, 0.5, 1.0, 2.0);
      future.prices[year] = *rc::gen::element(0.5, 1.0, 1.5);
    }
    futures.push_back(future);
  }
  // Demands are whole or half numbers (quarters if halves are interruptible), so corners are among these amounts.
  std::vector<double> amounts;
  for (int i = 0; i <= 28; ++i) amounts.push_back(i / 2.0);
  const CommitmentPlanner planner(demand, prices, futures);
  const CommitmentMix best = planner.best();
  double least = INFINITY;
  for (const double one : amounts) {
    if (one > 0 && !prices.one_year) continue;
    for (const double three : amounts) {
      if (three > 0 && !prices.three_years) continue;
      least = std::min(least, planner.cost({one, three}).total);
    }
  }
  RC_ASSERT(planner.cost(best).total <= least + 1e-6 * (1 + least));
  std::vector<double> fine;
  for (int i = 0; i <= 56; ++i) fine.push_back(i / 4.0);
  const double by_hand = mix_by_hand(demand, prices, futures, best, fine);
  RC_ASSERT(std::fabs(planner.cost(best).total - by_hand) <= 1e-6 * (1 + by_hand));
}

TEST(Payment, WithoutInterestTheTimeOfPaymentDoesNotMatter) {
  EXPECT_DOUBLE_EQ(paid_monthly({"all upfront", 1, 2.5}, 3, 0), 2.5);
}

TEST(Payment, AllUpfrontForThreeYearsAtEightPercentMustSaveAnEighth) {
  EXPECT_NEAR(paid_monthly({"all upfront", 1, 1}, 3, 0.08), 1.125, 0.001);
}

RC_GTEST_PROP(Payment, TheCheapestHasTheLowestPresentValue, ()) {
  const double interest = *rc::gen::inRange(0, 30) / 100.0;
  const int years = *rc::gen::element(1, 3);
  std::vector<Payment> payments;
  for (double upfront : {0.0, 0.5, 1.0}) payments.push_back({"", upfront, 1 + *rc::gen::inRange(0, 100) / 100.0});
  // Twelve payments per year, each at mid-month.
  const auto present_value = [&](const Payment& p) {
    double sum = p.upfront * years;
    for (int month = 0; month < 12 * years; ++month)
      sum += (1 - p.upfront) / 12 * std::exp(-interest * (month + 0.5) / 12);
    return p.usd_per_gpu_hour * sum;
  };
  const Payment& chosen = cheapest_payment(payments, years, interest);
  for (const Payment& other : payments) RC_ASSERT(present_value(chosen) <= present_value(other) * 1.0001);
}

}  // namespace
}  // namespace rightsize::market
