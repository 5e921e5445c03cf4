// A workload file to begin with: what was said, and as comments what else could be.
#pragma once

#include <string>
#include <vector>

#include "plan/read_request.h"

namespace rightsize::plan {

// The text of a file that read_workload_file() reads back as exactly these settings. Settings that suit the work (by
// its job, and items for offline work) but were not given stand there as comments with the values they take and what
// they mean. Values may be any text of one line.
std::string write_workload_file(const std::vector<model::Setting>& settings);

}  // namespace rightsize::plan
