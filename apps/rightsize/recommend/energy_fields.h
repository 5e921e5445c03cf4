// Plans compared by energy.
#pragma once

#include "rightsize/input/energy.h"

namespace rightsize::app {

// A plan in the trade-off between cost, time and energy.
const report::Fields<plan::Plan>& trade_off_fields();

// If energy decides: how much the plan and the next GPU use.
std::string energy_verdict(const plan::Recommendation& found);

}  // namespace rightsize::app
