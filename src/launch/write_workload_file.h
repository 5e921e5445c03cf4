// Writes a first workload file: the given settings, and the others as comments.
#pragma once

#include <string>
#include <vector>

#include "plan/read_request.h"

namespace rightsize::launch {

// read_workload_file() reads the text back as exactly these settings. Settings that apply to the work (by its job, and
// items for offline work) but were not given are comments with their values and meaning. Values may be any text of one
// line.
std::string write_workload_file(const std::vector<model::Setting>& settings);

}  // namespace rightsize::launch
