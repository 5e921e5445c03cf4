// Small models: workloads that may share a GPU with others (`small:` in the file).
#pragma once

#include "perf/constants/sustained_rates.h"
#include "portfolio/organisation.h"

namespace rightsize::portfolio {

// Gives each small model its dedicated GPUs and its smallest slices in every pool as options. Fails if one fits
// nowhere.
Checked<> add_small_options(Organisation& organisation, const perf::SpeedTable& speeds);

// The same organisation with small models in groups that share a GPU: the cheapest groups at on-demand prices
// (sharing/sharing.h), each as one workload with `members`, in any pool with a GPU that meets all their limits. Models
// that are better alone stay as they are. Empty if sharing helps none. Models in a group have the same regions and
// blocks.
Result<std::optional<Organisation>> with_shared_gpus(const Organisation& organisation, const perf::SpeedTable& speeds);

}  // namespace rightsize::portfolio
