// Refuses unknown settings and settings of another kind of work.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace rightsize::plan {

// `settings` are those that are not of the request; they must be settings of the job.
void check_names(const std::vector<model::Setting>& settings, Errors& errors);

// Whether some settings belong only to serving and none to training, so that "job: serve" can be left out.
bool speaks_of_serving(const std::vector<model::Setting>& settings);

// Refuses settings of the other kind of work, such as an SLO of a training job.
void check_kind(const std::vector<model::Setting>& settings, model::JobKind kind, Errors& errors);

}  // namespace rightsize::plan
