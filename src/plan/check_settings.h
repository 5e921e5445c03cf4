// Settings that are no settings, or not of this kind of work: refused, never ignored.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace rightsize::plan {

// `settings` without those of the request itself: what is left must be of the job.
void check_names(const std::vector<model::Setting>& settings, Errors& errors);

// Whether some are of serving alone and none of training: who gives a rate need not say "job: serve".
bool speaks_of_serving(const std::vector<model::Setting>& settings);

// What is said of the other kind of work alone, such as an SLO of a training job.
void check_kind(const std::vector<model::Setting>& settings, model::JobKind kind, Errors& errors);

}  // namespace rightsize::plan
