// What `rightsize profile` prints.
#pragma once

#include <string>
#include <vector>

#include "diagnose/observer.h"
#include "diagnose/project.h"
#include "rightsize/command.h"
#include "telemetry/read.h"

namespace rightsize::app {

// How the samples came to be: read from a file, or taken while a command ran.
struct ProfileSource {
  std::string name;    // file, "command", "process 123"
  std::string format;  // "recording", "NVML with GPM"
  std::uint64_t lines = 0, refused = 0;
  Errors reasons;
  std::optional<double> sampler_seconds;  // processor time the sampling took
  std::optional<double> wall_seconds;
  std::vector<std::string> notes;
  std::optional<int> exit_status;  // of the command
  std::string command;
};

report::Report profile_report(const std::vector<diagnose::GpuProfile>& gpus, const ProfileSource& source,
                              const market::PriceBook& prices);

}  // namespace rightsize::app
