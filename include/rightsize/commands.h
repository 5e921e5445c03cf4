// Any command of the program: call("prices", {{"gpu", "h100-sxm"}}), call("mig", {{"gpu", "h100-sxm"}, {"list-layouts",
// true}}).
#pragma once

#include <string>
#include <vector>

#include <rightsize/answer.h>
#include <rightsize/document.h>
#include <rightsize/settings.h>

namespace rightsize::v1 {

// `arguments` are words without a flag: a workload file, or "spot" in `prices spot`.
Answer<Report> call(const std::string& command, const Settings& settings = {},
                    const std::vector<std::string>& arguments = {});

// The names that `rightsize --help` lists.
std::vector<std::string> commands();

// "0.2.0"
std::string version();

}  // namespace rightsize::v1
