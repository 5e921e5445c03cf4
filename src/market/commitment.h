// How much to commit to: the mix of on-demand, spot, one-year and three-year capacity with the least expected cost.
//
//   const CommitmentPlanner planner({{8, 8, 12, 4}}, {.on_demand = 4, .one_year = 2.6}, {Future{"as now"}});
//   planner.best().one_year;          // GPUs
//   planner.cost(planner.best()).total;
//
// Demand is the number of GPUs in use, hour by hour, over a typical year. A commitment of c GPUs is paid all year;
// demand above it is bought on demand, and its interruptible part on spot. A year therefore costs p c + sum over hours
// of v (d - c)+, a convex function with corners at the demands. Its minimum is at a corner (the newsvendor's quantile).
//
// Three years are planned. Futures describe demand and list prices, each with a probability. One-year commitments for
// the second and third year are bought when the future is known, at its prices; those for the first year and all
// three-year ones are bought now. commitment_test.cc compares the answer with a search over every mix. Prices are
// dollars per GPU-hour, costs are dollars.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"

namespace rightsize::market {

inline constexpr int kPlanYears = 3;

// Dollars per GPU-hour; empty if a term is not offered.
struct CommitmentPrices {
  double on_demand = 0;
  std::optional<double> spot = {};  // the likely cost, including repeated work
  std::optional<double> one_year = {};
  std::optional<double> three_years = {};
};

// Factors on demand and on the prices of later purchases.
struct Future {
  std::string name;
  double probability = 1;
  double demand[kPlanYears] = {1, 1, 1};
  double prices[kPlanYears] = {1, 1, 1};
};

struct Demand {
  std::vector<double> gpus;         // in use, one number per hour (or any equal step) of the history
  double interruptible = 0;         // share of it, 0-1, that may run on spot
  std::vector<double> shares = {};  // of the year, one per entry of `gpus`; empty: equal
};

struct CommitmentMix {
  double one_year = 0, three_years = 0;  // GPUs, bought now
};

// The cost of a mix, in dollars for all GPUs.
struct MixCost {
  double total = 0;               // expected, kPlanYears years
  double first_year = 0;          // expected
  double first_year_used = 0;     // share of the committed GPU-hours of the first year that demand uses; 1 without any
  double first_year_covered = 0;  // share of the first year's demand that commitments carry
};

class CommitmentPlanner {
 public:
  // Needs at least one hour of demand and one future; probabilities are relative to their sum.
  CommitmentPlanner(const Demand& demand, CommitmentPrices prices, std::vector<Future> futures);

  // The mix with the lowest expected cost; among equals, the one with the smallest commitment.
  CommitmentMix best() const;
  MixCost cost(const CommitmentMix& mix) const;
  // Expected cost without any commitment, now or later.
  double uncommitted() const;
  // How much more the mix costs in this future than the best mix for it.
  double regret(const CommitmentMix& mix, const Future& future) const;
  // Cost in this future when the commitments are bought in `parts` equal parts over the first year. If demand falls
  // below today's, only the first part is bought.
  double laddered_cost(const CommitmentMix& mix, int parts, const Future& future) const;

 private:
  // The sum of weight x (at - c)+ over all hours of a year, as a function of c.
  class Hinges {
   public:
    Hinges(const Demand& demand, double scale, double on_demand, std::optional<double> spot);
    double cost(double c) const;               // per year
    double slope(double c) const;              // just above c: savings per year of one more GPU
    double best(double price_per_year) const;  // the smallest c at which another GPU saves no more than it costs
    double used(double c) const;               // GPU-years of c that demand uses
    double demanded() const { return demanded_; }
    std::span<const double> corners() const { return corners_; }

   private:
    std::vector<double> corners_;          // ascending
    std::vector<double> weight_, moment_;  // sums over corners from here up: weight, weight x corner
    std::vector<double> levels_;           // demands ascending
    std::vector<double> below_, beyond_;   // by level: GPU-years of lower demands; share of the year at this or more
    double demanded_ = 0;
  };

  double later_cost(double three_years, std::size_t future, int year) const;
  double first_year_price(double gpus, double price) const;
  Hinges hinges(const Future& future, int year) const;

  Demand demand_;
  CommitmentPrices prices_;
  std::vector<Future> futures_;
  double weight_ = 0;                       // of all futures together
  std::vector<std::vector<Hinges>> years_;  // by future, year
};

// Use above which a commitment at this price is cheaper than paying on demand.
double break_even_use(double committed, double on_demand);

// A way to pay for a commitment. Money paid upfront costs interest.
struct Payment {
  std::string name;             // "monthly", "half upfront", "all upfront"
  double upfront = 0;           // share of the bill paid at the start, 0-1
  double usd_per_gpu_hour = 0;  // the whole bill over the hours of the term
};

// The equivalent monthly price for a company with a cost of capital of `interest` per year (0.08).
double paid_monthly(const Payment& payment, int years, double interest);

// The cheapest by that measure; among equals, the one with less upfront. `payments` is not empty.
const Payment& cheapest_payment(const std::vector<Payment>& payments, int years, double interest);

}  // namespace rightsize::market
