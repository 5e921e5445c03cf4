// Several kinds of machines behind one router, where whole machines of one kind would leave capacity unused or where
// some requests run cheaper elsewhere.
#pragma once

#include <vector>

#include "plan/candidates.h"

namespace rightsize::plan {

struct MixChoice {
  const PricedOption* kind = nullptr;  // the number of machines of its option does not apply
  int machines = 0;
  double share = 0;  // of all requests
};

// The cheapest whole numbers of machines that carry every request size at its rate; empty when one kind alone is within
// 5 %. `kinds` must be confirmed; the mix itself is not. After Griggs et al. 2024 (Melange), with whole machines and
// their prices.
std::vector<MixChoice> cheapest_mix(const Request& request, const std::vector<PricedOption>& kinds);

}  // namespace rightsize::plan
