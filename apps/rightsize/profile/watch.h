// Reads the samples of a profile from a file, or takes them while a command or process runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/observer.h"
#include "gpu_use/accumulate.h"
#include "rightsize/profile/input.h"
#include "telemetry/live.h"

namespace rightsize::app {

struct ProfileSource {
  std::string name;    // file, "command", "process 123"
  std::string format;  // "recording", "NVML with GPM"
  std::uint64_t lines = 0, refused = 0;
  Errors reasons;
  std::optional<Seconds> sampler;  // processor time of the sampling
  std::optional<Seconds> wall;
  std::vector<std::string> notes;
  std::optional<int> exit_status;  // of the command
  std::string command;
};

struct ProfileRun {
  ProfileSource source;
  std::vector<bool> used;  // whether the work ran on each GPU of the observer
};

// The consumers of samples: the diagnosis, and the search for alternatives, as in 'fleet'.
struct ProfileSinks {
  diagnose::Observer observer;
  gpu_use::UseAccumulator use{{}};
};

// The GPUs of this machine. An error names a recording in the current folder, if there is one.
Result<std::unique_ptr<telemetry::LiveSource>> open_gpus();

// Fill the sinks, and the file of --record.
Result<ProfileRun> replay(const ProfileFlags& flags, ProfileSinks& sinks);
Result<ProfileRun> watch(const ProfileFlags& flags, ProfileSinks& sinks);

}  // namespace rightsize::app
