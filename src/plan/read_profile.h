// The output of `rightsize profile --format json` as the work of a request.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/request.h"

namespace rightsize::plan {

// The work is `gpu_hours` of the first GPU of the profile; every GPU of its projection does that work at its projected
// speed. Fails on other documents, and on profiles of a GPU that is not in the catalogue.
Checked<Work> read_profile(const std::string& file, std::string text, double gpu_hours);

}  // namespace rightsize::plan
