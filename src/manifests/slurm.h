// Batch scripts of Slurm: what their #SBATCH lines ask for.
#pragma once

#include <string>
#include <string_view>

#include "manifests/request.h"

namespace rightsize::manifests {

// Whether a text is a batch script: it has an #SBATCH line.
bool is_batch_script(std::string_view text);

// --gres, --gpus, --gpus-per-node, --gpus-per-task, --gpus-per-socket with --nodes, --ntasks, --ntasks-per-node,
// --time, --array, --constraint; parts of a heterogeneous job one by one.
Found read_batch_script(const std::string& file, std::string_view text);

// "90", "90:30", "1:30:00", "2-12", "2-12:00:00": minutes, or days and clock. Nothing where it is none of these.
std::optional<Seconds> parse_slurm_time(std::string_view text);

}  // namespace rightsize::manifests
