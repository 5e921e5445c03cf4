// Power caps of plans, and the trade-off between cost, time and energy. Internal to this module.
#pragma once

#include <vector>

#include "plan/candidates.h"

namespace rightsize::plan {

// Caps the classes as the request says: all at one cap, or with --power-cap best every class once more at each of 90 %
// to 50 % of its GPU's limit, so that the search compares them.
void cap_classes(const Request& request, std::vector<MachineClass>& classes);

// The same GPU at the same clock, so that estimates can be shared.
bool same_speed(const MachineClass& a, const MachineClass& b);

// The candidates that no other beats in cost, time and energy at once, cheapest first, at most `most`: where there are
// more, those within a few percent of another are left out. Candidates of unknown power are not compared.
std::vector<PricedOption> trade_off(const Request& request, std::vector<PricedOption> candidates, std::size_t most);

}  // namespace rightsize::plan
