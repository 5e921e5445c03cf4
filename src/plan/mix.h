// Several kinds of machines behind one router: useful if whole machines of one kind leave capacity unused, or if some
// requests run cheaper on another kind.
#pragma once

#include <vector>

#include "plan/candidates.h"

namespace rightsize::plan {

struct MixChoice {
  const PricedOption* kind = nullptr;  // its option's number of machines does not apply
  int machines = 0;
  double share = 0;  // of all requests
};

// The cheapest whole numbers of machines that carry every request size at its rate; empty if one kind alone costs at
// most 5 % more. `kinds` must be confirmed by simulation; the mix itself is not. After Griggs et al. 2024 (Melange),
// with whole machines and their prices.
std::vector<MixChoice> cheapest_mix(const Request& request, const std::vector<PricedOption>& kinds);

}  // namespace rightsize::plan
