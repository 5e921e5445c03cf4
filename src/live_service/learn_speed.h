// What a running service teaches the speed model: its own times per token and per prompt, hour by hour, as
// `rightsize calibrate` would learn them from a file.
#pragma once

#include <optional>

#include "live_service/description.h"
#include "live_service/served_model.h"
#include "perf/calibration/calibration.h"

namespace rightsize::live_service {

struct LearnedSpeed {
  perf::Constants constants;           // with what was learned
  Seconds measured_tpot;               // mean over the window
  Seconds prior_tpot, corrected_tpot;  // of the model for the same load, before and after
  perf::Interval prior_interval, corrected_interval;
  perf::Calibration factors;
  int rows = 0;  // hours it was learned from

  double factor() const { return corrected_tpot / prior_tpot; }
};

// The stack whose constants an engine's speed is predicted with. TGI and gateways have none of their own.
model::Stack stack_of(Engine engine);

// The job a service runs: mean lengths, its format and split; `concurrency` as many as run together.
model::Job job_of(const ServiceReading& reading, const Description& description, const ServedModel& model,
                  double concurrency);

// Fails with the reason where the GPU is not known, no time per token was published or the model does not fit there.
Result<LearnedSpeed> learn_speed(const ServiceReading& reading, const Description& description,
                                 const ServedModel& model, const perf::Constants& constants);

}  // namespace rightsize::live_service
