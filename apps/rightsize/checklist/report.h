// The steps of a checklist as a report.
#pragma once

#include "rightsize/checklist/steps.h"
#include "rightsize/command.h"

namespace rightsize::app {

report::Report checklist_report(const std::string& title, const std::vector<Step>& steps);

}  // namespace rightsize::app
