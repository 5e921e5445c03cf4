// Finds GPU requests in the files of other tools.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "manifests/request.h"

namespace rightsize::manifests {

// Whether a file may hold requests, judging by its name: YAML, Terraform, scripts.
bool may_hold_requests(std::string_view path);

// Files by path, in UTF-8 or UTF-16. Files of other kinds are skipped; Terraform files of one folder are read together.
Found read_files(const std::map<std::string, std::string>& texts);

}  // namespace rightsize::manifests
