// The flags of `rightsize profile`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/project.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {

struct ProfileFlags {
  std::vector<std::string> command;
  std::string replay, record, catalog;
  std::optional<Seconds> duration;
  std::optional<Seconds> step_time;  // of an optimizer step, an output token or a batch
  JobFlags job;                      // the job, if the user describes it, on the observed GPU
  PriceFlag price;
  unsigned pid = 0;
  double hertz = 10;
  std::size_t top = 10;
  const FlagSet* all = nullptr;

  bool live() const { return replay.empty(); }
  bool text() const { return all->given("--format").empty() || all->given("--format") == "text"; }
};

// Whether the flags can be combined.
Result<> check(const ProfileFlags& flags);

// The job as the user described it.
struct KnownWork {
  diagnose::KnownJob job;
  std::string described;        // "Training llama-2-7b in bf16 with adamw, batch 8 x 2048 tokens"
  std::optional<Seconds> step;  // measured time of an optimizer step, an output token or a batch
};
// Empty without a model; settings of a job and --step-time are then errors. The constants must outlive the result.
Checked<std::optional<KnownWork>> known_work(const ProfileFlags& flags, const perf::Constants& constants);

}  // namespace rightsize::app
