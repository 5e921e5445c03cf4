// The memory of each phase of reinforcement learning as sentences, a table and JSON.
#pragma once

#include "rightsize/rl/rl_input.h"

namespace rightsize::app {

// `rightsize memory --job rl`: everything from the flags to the report.
Checked<Outcome> memory_rl(const JobFlags& job, const RlFlags& flags, const catalog::Catalog& catalog);

}  // namespace rightsize::app
