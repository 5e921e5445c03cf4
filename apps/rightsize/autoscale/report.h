// The report of `rightsize autoscale`.
#pragma once

#include <map>
#include <vector>

#include "report/fields.h"
#include "rightsize/autoscale/input.h"

namespace rightsize::app {

// The best policy around the busiest time, without and with the loss of the oldest replica.
struct FailureRun {
  Seconds at;
  autoscale::ScalingRun usual, run;
};

// The saving of a shorter start-up, estimated on mean traffic.
struct FasterStart {
  std::string name;
  Seconds startup;
  double saved_share = 0;  // of the GPU-hours
};

struct AutoscaleAnswer {
  const AutoscaleInput& input;
  std::optional<autoscale::Bound> bound = {};  // empty: the load depends on the policy
  std::vector<autoscale::SimulatedPolicy> policies = {};
  std::vector<autoscale::SimulatedPolicy> on_mean_traffic = {};  // instead of `policies`, without latencies
  std::size_t best = 0;  // the cheapest that meets the SLO, else the one with the fewest requests over it
  std::optional<autoscale::PolicySearch> search = {};  // empty: the user named the policies
  std::optional<FailureRun> failure = {};
  std::vector<FasterStart> faster_starts = {};
  std::map<std::string, std::string> files = {};  // by tool
  Seconds wall = {};
};

Outcome autoscale_outcome(const AutoscaleAnswer& answer);
// Reports only the start-up.
Outcome startup_outcome(const AutoscaleInput& input);

// The tools of --emit: keda, hpa, variantautoscaling, dynamo, knative, skyserve.
Result<> check_scaling_tools(const std::vector<std::string>& tools);

// One file per tool, from the best simulated policy of its kind; a note if none was simulated.
Result<std::map<std::string, std::string>> scaling_files(const AutoscaleAnswer& answer);

}  // namespace rightsize::app
