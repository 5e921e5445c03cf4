// Several kinds of machines behind one router, where whole machines of one kind would leave capacity unused or where
// some requests run cheaper elsewhere.
#pragma once

#include <vector>

#include "plan/candidates.h"

namespace rightsize::plan {

struct MixChoice {
  const Candidate* kind = nullptr;  // its option's number of machines is not the mix's
  int machines = 0;
  double share = 0;  // of all requests
};

// The cheapest whole numbers of machines that take every size of request at its rate; empty when one kind alone is as
// cheap. After Griggs et al. 2024 (Melange), with whole machines and prices of whole machines.
std::vector<MixChoice> cheapest_mix(const Request& request, const std::vector<Candidate>& kinds);

}  // namespace rightsize::plan
