// What `rightsize profile --format json` found, as the work of a request.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/request.h"

namespace rightsize::plan {

// The first GPU of the profile: the work is `gpu_hours` of it, and every GPU it was projected onto does that work at
// its own pace. Fails on other documents, and on profiles of a GPU the catalogue does not know.
Checked<Work> read_profile(const std::string& file, std::string text, double gpu_hours);

}  // namespace rightsize::plan
