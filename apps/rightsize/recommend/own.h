// Compares the user's own machines with a plan that does not use them.
#pragma once

#include <string>

#include "plan/plan.h"

namespace rightsize::app {

// The index of the plan that the answer names first: the user's machines if their electricity costs less than the best
// plan, otherwise that one.
std::size_t named_first(const plan::Recommendation& found);

// What the own machines would cost, or why they do not work and the change that would help; empty if a plan uses them.
std::string own_sentence(const plan::Request& request, const plan::Recommendation& found);

}  // namespace rightsize::app
