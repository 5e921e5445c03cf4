// The input of `rightsize commit`: usage, prices and scenarios.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "market/commitment.h"
#include "market/price_book.h"
#include "rightsize/command.h"

namespace rightsize::app {

constexpr const char* kOwnPrices = "yours";  // instead of a provider

// How many GPUs run over time.
struct DemandHistory {
  std::vector<double> gpus;  // in use, at equal steps
  std::string source;        // for the report
};

struct CommitFlags {
  std::string usage, base, gpu, provider, region, purchase, catalog, one_year, three_years;
  std::optional<double> on_demand, spot;  // dollars per GPU-hour
  std::vector<std::string> futures;
  std::optional<double> discount;  // of the on-demand price
  std::string term_years;          // 1 or 3; empty: as --purchase says
  int years = market::kPlanYears;  // that are planned; with_terms() sets it
  int hours_per_day = 24;
  double spot_share = 0;
  double growth = 0, interest = 0.08;
  std::optional<int> step;  // GPUs; nothing: those of one machine
  int ladder = 4;
  bool community = false;
};
void add_commit_flags(FlagSet& command, CommitFlags& flags);

// A plan at one provider. All its terms are of one machine in one region: a one-year price in Iowa says nothing about
// what on-demand costs in Virginia.
struct CommitPlan {
  std::string provider;
  std::string instance, region;  // empty: the user's own prices
  int machine_gpus = 1;
  market::CommitmentPrices prices;                     // as if paid by the month
  std::vector<market::Payment> one_year, three_years;  // the ways to pay for them
  std::vector<std::string> sources;                    // of each price, for the report
  bool may_lead = true;                                // its on-demand price is recent and confirmed
  market::CommitmentMix mix;
  market::MixCost cost;                         // with the mix
  int years = market::kPlanYears;               // that the costs cover
  double uncommitted = 0;                       // dollars without any commitment, now or later
  std::optional<market::Offer> on_demand = {};  // whose price it is
  std::vector<market::Draw> draws = {};         // of the mix's cost, from what is committed already

  double expected() const { return cost_over(cost); }
  double cost_over(const market::MixCost& mixed) const { return years == 1 ? mixed.first_year : mixed.total; }
  double new_money() const { return expected() - in_usd(market::sum_of(draws)); }
};

// The years to plan, from --years or the terms of --purchase; --discount as the price of that term.
CommitFlags with_terms(CommitFlags flags);

Result<> check(const CommitFlags& flags);
Checked<DemandHistory> usage_of(const CommitFlags& flags);
// The scenarios of --future, or the default ones, with --growth applied.
Result<std::vector<market::Future>> futures_of(const CommitFlags& flags);
// One entry per provider, machine and region with its prices, nothing decided yet; the user's own prices where they are
// complete or no GPU is given.
Result<std::vector<CommitPlan>> candidates(const CommitFlags& flags, const market::PriceBook& book,
                                           const catalog::Gpu* gpu);

}  // namespace rightsize::app
