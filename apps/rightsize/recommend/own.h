// The user's own machines beside a plan that does not use them.
#pragma once

#include <string>

#include "plan/plan.h"

namespace rightsize::app {

// What they would cost, or what they lack and the change that makes them work; empty where a plan uses them.
std::string own_sentence(const plan::Request& request, const plan::Recommendation& found);

}  // namespace rightsize::app
