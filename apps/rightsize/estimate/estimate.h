// The input of `rightsize estimate`, for the command and for whoever asks often.
#pragma once

#include <string>

#include "rightsize/input/speed_input.h"

namespace rightsize::app {

struct EstimateFlags {
  JobFlags job;
  std::string catalog, machine, network, rate, sweep, slot_wait = "no";
  bool roofline = false;
};

// A setting by its name without dashes, as on the command line: "rate", "batch". Names nobody knows are refused when
// the input is read.
void set(EstimateFlags& flags, const std::string& name, std::string value);

// Everything an estimate needs. `job` stands for flags.job. The catalogue must outlive what is returned.
Checked<SpeedInput> read_input(const catalog::Catalog& catalog, const perf::Constants& constants,
                               const EstimateFlags& flags, const JobFlags& job);

// --rate and --slot-wait, into an input whose job is read.
void set_rate(EstimateFlags& flags, std::string text);
Result<> read_load(const EstimateFlags& flags, SpeedInput& input);

}  // namespace rightsize::app
