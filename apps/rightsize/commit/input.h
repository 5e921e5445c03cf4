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
  int years = market::kPlanYears;  // years to plan; set by with_terms()
  int hours_per_day = 24;
  std::optional<double> busy_share;  // of the time, for the GPUs of --base
  double spot_share = 0;
  double growth = 0, interest = 0.08;
  std::optional<int> step;  // GPUs; empty: those of one machine
  int ladder = 4;
  bool community = false;
};
void add_commit_flags(FlagSet& command, CommitFlags& flags);

// A plan at one provider. All its terms are for one machine in one region: a one-year price in Iowa says nothing about
// on-demand in Virginia.
struct CommitPlan {
  std::string provider;
  std::string instance, region;  // empty: the user's own prices
  int machine_gpus = 1;
  market::CommitmentPrices prices;                     // as if paid by the month
  std::vector<market::Payment> one_year, three_years;  // the ways to pay for them
  std::vector<std::string> sources;                    // of each price, for the report
  bool may_lead = true;                                // the on-demand price is recent and confirmed
  bool has_terms = false;                              // the provider has a commitment price, also for other machines
  market::CommitmentMix mix;
  market::MixCost cost;                         // with the mix
  int years = market::kPlanYears;               // years that the costs cover
  double uncommitted = 0;                       // dollars if nothing is ever committed
  std::optional<market::Offer> on_demand = {};  // the offer with that price
  std::vector<market::Draw> draws = {};         // draws on existing commitments

  bool has_term() const { return prices.one_year || prices.three_years; }
  double expected() const { return cost_over(cost); }
  double cost_over(const market::MixCost& mixed) const { return years == 1 ? mixed.first_year : mixed.total; }
  double new_money() const { return expected() - in_usd(market::sum_of(draws)); }
};

// Sets the years to plan from --years or --purchase, and turns --discount into the price of that term.
CommitFlags with_terms(CommitFlags flags);

Result<> check(const CommitFlags& flags);
Checked<DemandHistory> usage_of(const CommitFlags& flags);
// The scenarios of --future, or the default ones, with --growth applied.
Result<std::vector<market::Future>> futures_of(const CommitFlags& flags);
// One undecided plan with its prices per provider, machine and region; only the user's own prices if they are complete
// or no GPU is given.
Result<std::vector<CommitPlan>> candidates(const CommitFlags& flags, const market::PriceBook& book,
                                           const catalog::Gpu* gpu);

}  // namespace rightsize::app
