// The output of --emit.
#pragma once

#include <map>
#include <string>

#include "report/report.h"

namespace rightsize::app {

// Leaves nothing but the files, so that the output can be redirected into one; several are YAML documents of one file.
// The document keeps its facts.
void show_only(const std::map<std::string, std::string>& files, report::Report& report);

}  // namespace rightsize::app
