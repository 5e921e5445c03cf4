// Power caps of plans, and the trade-off between cost, time and energy. Internal to this module.
#pragma once

#include <vector>

#include "plan/candidates.h"

namespace rightsize::plan {

// Caps the classes as requested: all at one cap or, with --power-cap best, adds copies of every class at 90 % to 50 %
// of its GPU's limit for the search to compare.
void cap_classes(const Request& request, std::vector<MachineClass>& classes);

// Whether both have the same GPU at the same clock and can share estimates.
bool same_speed(const MachineClass& a, const MachineClass& b);

// The candidates that no other beats in cost, time and energy at once, cheapest first, at most `most`: if there are
// more, those within a few percent of another are dropped. Candidates of unknown power are not compared.
std::vector<PricedOption> trade_off(const Request& request, std::vector<PricedOption> candidates, std::size_t most);

}  // namespace rightsize::plan
