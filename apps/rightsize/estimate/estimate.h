// The input of `rightsize estimate`, for the command and for Estimator.
#pragma once

#include <string>

#include "rightsize/input/electricity.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/rl/rl_input.h"

namespace rightsize::app {

struct EstimateFlags {
  JobFlags job;
  RlFlags rl;
  std::string catalog, machine, network, rate, power_cap, sweep, slot_wait = "no", sessions, trace, routing, tokens,
                                                                 per;
  bool roofline = false;
  ElectricityFlags electricity;
};

// Sets a flag by its name without dashes: "rate", "batch". Unknown names are refused when the input is read.
void set(EstimateFlags& flags, const std::string& name, std::string value);

// Everything an estimate needs; `job` is used instead of flags.job. The catalogue must outlive the result.
Checked<SpeedInput> read_input(const catalog::Catalog& catalog, const perf::Constants& constants,
                               const EstimateFlags& flags, const JobFlags& job);

// Applies --rate and --slot-wait; `input` must already have its job. Without a load, --max-batch is the load.
Result<> read_load(const EstimateFlags& flags, const JobFlags& job, SpeedInput& input);

// Applies --sessions and --trace: they give the arrival rate, the request lengths and, by simulation, the prefix-cache
// hits.
Result<> read_sessions(const perf::Constants& constants, const EstimateFlags& flags, const JobFlags& job,
                       SpeedInput& input);

}  // namespace rightsize::app
