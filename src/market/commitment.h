// How much to commit to: the mix of on-demand, spot, one-year and three-year capacity that costs least in expectation.
//
// Demand is how many GPUs run, hour by hour, over a typical year (a history, scaled). A commitment of c GPUs is paid
// all year, used or not; what demand has above it is bought on demand, the part that may be interrupted on spot. So a
// year costs p c + sum over hours of v (d - c)+, a convex function with corners at the demands: its least is at a
// corner and is found exactly (the newsvendor's quantile), no search and no rounding but to what may be bought.
//
// Three years are planned. Futures say how demand and list prices go, each with its probability. One-year commitments
// of the second and third year are bought when the future is known, at its prices; those of the first and all
// three-year ones now. commitment_test.cc checks the answer against trying every mix.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"

namespace rightsize::market {

inline constexpr int kPlanYears = 3;

// Prices of one GPU for an hour, in dollars. Nothing: not offered.
struct CommitmentPrices {
  double on_demand = 0;
  std::optional<double> spot = {};  // as it will likely cost, work done again included
  std::optional<double> one_year = {};
  std::optional<double> three_years = {};
};

// How the years may go: factors on the demand and on what is bought later at list prices.
struct Future {
  std::string name;
  double probability = 1;
  double demand[kPlanYears] = {1, 1, 1};
  double prices[kPlanYears] = {1, 1, 1};
};

struct Demand {
  std::vector<double> gpus;  // in use, one number an hour (or any equal step) of the history
  double interruptible = 0;  // share of it, 0-1, that may run on spot
};

struct CommitmentMix {
  double one_year = 0, three_years = 0;  // GPUs, bought now
};

// What a mix costs; dollars of all GPUs over the years.
struct MixCost {
  double total = 0;               // expected, kPlanYears years
  double first_year = 0;          // expected
  double first_year_used = 0;     // share of the committed GPU-hours of the first year that demand uses; 1 without any
  double first_year_covered = 0;  // share of the first year's demand that commitments carry
};

class CommitmentPlanner {
 public:
  // Demand holds at least one hour, futures at least one; probabilities are taken relative to their sum.
  CommitmentPlanner(Demand demand, CommitmentPrices prices, std::vector<Future> futures);

  // The mix of least expected cost; of equals the one that commits least.
  CommitmentMix best() const;
  MixCost cost(const CommitmentMix& mix) const;
  // One future, certain: what the mix then costs more than the best mix for it would have.
  double regret(const CommitmentMix& mix, const Future& future) const;
  // Expected cost where the first year's and the three-year commitments are bought in so many equal parts over the
  // first year; a part is not bought any more when the future is `fallen`.
  double laddered_cost(const CommitmentMix& mix, int parts, const Future& future) const;

 private:
  // sum of weight x (at - c)+ over all hours of a year, by c.
  class Hinges {
   public:
    Hinges(const Demand& demand, double scale, double on_demand, std::optional<double> spot);
    double cost(double c) const;               // a year
    double slope(double c) const;              // of it, just above c: what one GPU more saves a year
    double best(double price_per_year) const;  // the least c at which another GPU saves no more than it costs
    double used(double c) const;               // GPU-years of c that demand uses
    double demanded() const { return demanded_; }
    std::span<const double> corners() const { return corners_; }

   private:
    std::vector<double> corners_;          // ascending
    std::vector<double> weight_, moment_;  // sums over corners from here up: weight, weight x corner
    std::vector<double> sorted_;           // demands ascending, and the sum of those below
    std::vector<double> below_;
    double demanded_ = 0;
  };

  double later_cost(double three_years, const Future& future, int year) const;
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

}  // namespace rightsize::market
