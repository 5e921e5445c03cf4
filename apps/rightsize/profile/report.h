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
  std::optional<Seconds> sampler;  // processor time the sampling took
  std::optional<Seconds> wall;
  std::vector<std::string> notes;
  std::optional<int> exit_status;  // of the command
  std::string command;
};

// What the user says about the work, where it is known.
struct KnownWork {
  diagnose::KnownJob job;
  std::string described;        // "Training llama-2-7b in bf16 with adamw, batch 8 x 2048 tokens"
  std::optional<Seconds> step;  // measured: of an optimizer step, an output token, a batch
};

// `known`: nothing when only the counters tell what ran.
report::Report profile_report(const std::vector<diagnose::GpuProfile>& gpus, const ProfileSource& source,
                              const perf::SpeedTable& speeds, const market::PriceBook& prices, const KnownWork* known);

}  // namespace rightsize::app
