// The fields of a plan's power, energy and carbon dioxide.
#pragma once

#include "plan/plan.h"
#include "report/fields.h"

namespace rightsize::app {

const report::Fields<plan::Plan>& energy_fields();
// A plan in the trade-off between cost, time and energy.
const report::Fields<plan::Plan>& trade_off_fields();

// The power, energy and carbon dioxide of a plan in words, and the effect of its power cap; empty if its power is
// unknown.
std::string energy_sentence(const plan::Request& request, const plan::Plan& plan);

// If energy decides: how much the plan and the next GPU use.
std::string energy_verdict(const plan::Recommendation& found);

}  // namespace rightsize::app
