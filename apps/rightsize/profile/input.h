// The flags of `rightsize profile`, and what the user says about the work.
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
  std::string replay, record, catalog, duration, step_time;
  JobFlags job;  // what runs, where the user says it; its GPU is the one watched
  PriceFlag price;
  unsigned pid = 0;
  double hertz = 10;
  const FlagSet* all = nullptr;

  bool live() const { return replay.empty(); }
  bool text() const { return all->given("--format").empty() || all->given("--format") == "text"; }
};

// Whether the flags go together.
Result<> check(const ProfileFlags& flags);

// What the user says about the work, where it is known.
struct KnownWork {
  diagnose::KnownJob job;
  std::string described;        // "Training llama-2-7b in bf16 with adamw, batch 8 x 2048 tokens"
  std::optional<Seconds> step;  // measured: of an optimizer step, an output token, a batch
};
// Nothing where no model is named. Settings of a job without its model, and a measured step of nobody knows what, say
// nothing: they are refused. The constants must outlive what is returned.
Checked<std::optional<KnownWork>> known_work(const ProfileFlags& flags, const perf::Constants& constants);

}  // namespace rightsize::app
