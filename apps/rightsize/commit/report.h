// The report of `rightsize commit`.
#pragma once

#include "rightsize/commit/input.h"

namespace rightsize::app {

// `plans` have their mixes, best first.
report::Report commit_report(const std::vector<CommitPlan>& plans, const CommitFlags& flags, const DemandHistory& usage,
                             const market::Demand& demand, const std::vector<market::Future>& futures,
                             const catalog::Catalog& catalog);

// The document if there is no plan.
report::Json empty_commit_document();

}  // namespace rightsize::app
