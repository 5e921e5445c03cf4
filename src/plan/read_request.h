// From settings, given as flags or in a workload file, to a Request.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "model/job.h"
#include "plan/request.h"

namespace rightsize::plan {

// The names of every setting of a request: its own, then those of its job.
const std::vector<std::string>& request_settings();

// The meaning of a setting in a request, in which token counts may vary.
std::string meaning_of(std::string_view setting);

// The request, or every mistake at once: unknown names and values with suggestions, missing or contradictory amounts of
// work, limits out of range. Settings of the job that the search may choose (method, precision, recompute, batch, tp,
// pp, zero) take lists.
Checked<Request> read_request(const std::vector<model::Setting>& settings, const catalog::Catalog& catalog);

// A workload file (docs/recommend.md#workload-files): one mapping of settings, or `workloads:` with a list of them over
// common ones in `defaults:`. Returns the settings of each workload, with their places.
Checked<std::vector<std::vector<model::Setting>>> read_workload_file(const std::string& file, std::string text);

}  // namespace rightsize::plan
