// Several kinds of machines behind one router, where whole machines of one kind would leave capacity unused or where
// some requests run cheaper elsewhere.
#pragma once

#include <vector>

#include "plan/candidates.h"

namespace rightsize::plan {

struct MixChoice {
  const PricedOption* kind = nullptr;  // its option's number of machines is not the mix's
  int machines = 0;
  double share = 0;  // of all requests
};

// The cheapest whole numbers of machines that take every size of request at its rate; empty when one kind alone is as
// cheap to within 5 %. Which machines are options must be confirmed; the mix itself is not. After Griggs et al. 2024
// (Melange), with whole machines and prices of whole machines.
std::vector<MixChoice> cheapest_mix(const Request& request, const std::vector<PricedOption>& kinds);

}  // namespace rightsize::plan
