// Where the samples of a profile come from: a file, or the GPUs while a command or process runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/observer.h"
#include "rightsize/profile/input.h"

namespace rightsize::app {

// How the samples came to be: read from a file, or taken while a command ran.
struct ProfileSource {
  std::string name;    // file, "command", "process 123"
  std::string format;  // "recording", "NVML with GPM"
  std::uint64_t lines = 0, refused = 0;
  Errors reasons;
  std::optional<Seconds> sampler;  // processor time the sampling took
  std::optional<Seconds> wall;
  std::vector<std::string> notes;
  std::optional<int> exit_status;  // of the command
  std::string command;
};

// What was observed, and on which of the observer's GPUs the work was seen.
struct Watched {
  ProfileSource source;
  std::vector<bool> used;
};

// Fills the observer, and the file of --record where one is asked for.
Result<Watched> replay(const ProfileFlags& flags, diagnose::Observer& observer);
Result<Watched> watch(const ProfileFlags& flags, diagnose::Observer& observer);

}  // namespace rightsize::app
