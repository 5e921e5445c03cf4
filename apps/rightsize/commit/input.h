// What `rightsize commit` is asked: usage, prices and what may happen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "market/payment.h"
#include "market/price_book.h"
#include "rightsize/command.h"
#include "rightsize/commit/usage.h"

namespace rightsize::app {

constexpr const char* kOwnPrices = "yours";  // in the place of a provider

struct CommitFlags {
  std::string usage, base, gpu, provider, region, catalog;
  std::string on_demand, spot, one_year, three_years;
  std::vector<std::string> futures;
  double spot_share = 0;
  double growth = 0, interest = 0.08;
  int step = 1, ladder = 4;
  bool community = false;
};
void add_commit_flags(FlagSet& command, CommitFlags& flags);

// A plan at one provider.
struct CommitPlan {
  std::string provider;
  market::CommitmentPrices prices;                     // as if paid by the month
  std::vector<market::Payment> one_year, three_years;  // the ways to pay for them
  std::vector<std::string> sources;                    // of each price, for the report
  bool may_lead = true;                                // its on-demand price is one to act on
  market::CommitmentMix mix;
  market::MixCost cost, without;                // with the mix; all on demand and spot
  std::optional<market::Offer> on_demand = {};  // whose price it is
  std::vector<market::Draw> draws = {};         // of the mix's cost, from what is committed already

  double new_money() const { return cost.total - in_usd(market::sum_of(draws)); }
};

Result<> check(const CommitFlags& flags);
Checked<Usage> usage_of(const CommitFlags& flags);
// Those of --future, or the usual ones, with demand that grows as asked.
Result<std::vector<market::Future>> futures_of(const CommitFlags& flags);
// A provider each, with its prices and nothing decided. Without a GPU, the user's own prices.
Result<std::vector<CommitPlan>> candidates(const CommitFlags& flags, const market::PriceBook& book,
                                           const catalog::Gpu* gpu);

}  // namespace rightsize::app
