// The chosen policies as files for the tools that run them.
#pragma once

#include <map>
#include <string>

#include "rightsize/autoscale/report.h"

namespace rightsize::app {

// The tools of --emit: keda, hpa, variantautoscaling, dynamo, knative, skyserve.
Result<> check_scaling_tools(const std::vector<std::string>& tools);

// One file per tool, from the best simulated policy of its kind; a note if none was simulated.
Result<std::map<std::string, std::string>> scaling_files(const AutoscaleAnswer& answer);

}  // namespace rightsize::app
