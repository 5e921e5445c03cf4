// Calibrates the speed model with the service's own times per token and per prompt, hour by hour, as `rightsize
// calibrate` does from a file.
#pragma once

#include <optional>

#include "calibration/calibration.h"
#include "live_service/description.h"
#include "live_service/served_model.h"
#include "perf/perf.h"

namespace rightsize::live_service {

struct LearnedSpeed {
  perf::Constants constants;           // including the calibration
  Seconds measured_tpot;               // mean over the window
  Seconds prior_tpot, corrected_tpot;  // predictions for the same load before and after
  perf::Interval prior_interval, corrected_interval;
  perf::Calibration factors;
  int rows = 0;  // measurements used
  // Estimates for the mean load while requests run; not set: the GPU's power limit is unknown.
  std::optional<Watts> gpu_power;
  std::optional<Joules> energy_per_token;  // of all GPUs of a replica, per output token

  double factor() const { return corrected_tpot / prior_tpot; }
};

// The stack with the speed constants of an engine. TGI and gateways use vLLM's.
model::Stack stack_of(Engine engine);

// The job of a service: mean lengths, precision, tensor parallelism and `concurrency` running requests.
model::Job job_of(const ServiceReading& reading, const Description& description, const ServedModel& model,
                  double concurrency);

// Fails with the reason if the GPU is unknown, no time per token is published, or the model does not fit.
Result<LearnedSpeed> learn_speed(const ServiceReading& reading, const Description& description,
                                 const ServedModel& model, const perf::Constants& constants);

}  // namespace rightsize::live_service
