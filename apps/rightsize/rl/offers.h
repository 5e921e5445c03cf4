// What a reinforcement learning job would cost with one limit or setting changed.
#pragma once

#include <string>
#include <vector>

#include "report/fields.h"
#include "rl/search.h"

namespace rightsize::app {

// The best plan under a change of the request.
struct RlOffer {
  std::string what, flags, provider, gpu;
  int gpus = 0;
  Seconds time;
  Usd cost;
};

// Other regions, other providers, spot machines, no reference model: those that cost less than `first`.
std::vector<RlOffer> rl_offers(const rl::RlRequest& request, const rl::RlPlan& first, const market::PriceBook& book,
                               const perf::Constants& constants);

const report::Fields<RlOffer>& rl_offer_fields();

}  // namespace rightsize::app
