// The fields of a plan's power, energy and carbon dioxide.
#pragma once

#include "plan/plan.h"
#include "report/fields.h"

namespace rightsize::app {

const report::Fields<plan::Plan>& energy_fields();
// A plan in a list of cost against time against energy.
const report::Fields<plan::Plan>& trade_off_fields();

// The power, energy and carbon dioxide of a plan in words, and what its power cap changes; empty if its power is
// unknown.
std::string energy_sentence(const plan::Request& request, const plan::Plan& plan);

// Where energy decides: how much the plan uses, and the next GPU.
std::string energy_verdict(const plan::Recommendation& found);

}  // namespace rightsize::app
