// A plan as configuration of its framework, and as files that start it on its machines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rl/search.h"

namespace rightsize::rl {

// Whether the framework's file runs the algorithm of the job.
bool is_written(const RlJob& job);

// The names that file_for() accepts: the framework of the plan, and the tools that start it.
std::vector<std::string_view> file_names(Framework framework);

// Values that only the user knows are written as REPLACE-BY-NAME. Fails for unknown names, for the configuration of
// another framework, for an algorithm that the framework's file does not run, and if SkyPilot does not offer the
// machines.
Result<std::string> file_for(std::string_view name, const RlRequest& request, const RlPlan& plan);

}  // namespace rightsize::rl
