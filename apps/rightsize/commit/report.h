// What `rightsize commit` says.
#pragma once

#include "rightsize/commit/input.h"

namespace rightsize::app {

// `plans` are decided, the one to take first.
report::Report commit_report(const std::vector<CommitPlan>& plans, const CommitFlags& flags, const Usage& usage,
                             const market::Demand& demand, const std::vector<market::Future>& futures);

}  // namespace rightsize::app
