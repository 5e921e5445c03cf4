// What commands that ask for speeds share: the facts, and everything an estimate needs, read once.
#pragma once

#include "perf/calibration/measured_runs.h"
#include "rightsize/input/job_flags.h"

namespace rightsize::app {

// The catalogue and the constants of the speed model, both with the overlay of --catalog.
struct Facts {
  catalog::Catalog catalog;
  perf::Constants constants;
};
Checked<Facts> open_facts(const std::string& catalog_flag);

// One estimate of any kind; the member that applies is set.
struct SpeedEstimate {
  std::optional<perf::TrainEstimate> train;
  std::optional<perf::ServeEstimate> serve;
  std::optional<perf::BatchEstimate> batch;
  perf::MeasuredRuns measured = {};
};

struct SpeedInput {
  model::ModelShape model;
  model::Job job;
  const catalog::Gpu* gpu = nullptr;
  perf::ModelWork work;
  perf::GpuSpeed speed;
  perf::Cluster cluster;
  RequestsPerSecond rate;  // open loop; zero: closed
};

// The speed model for this run: the built-in constants and those of the overlay the user named with --catalog.
Checked<perf::Constants> open_constants(const std::string& catalog_flag);

// The estimate, or why the job cannot run so.
Result<SpeedEstimate> estimate_speed(const perf::Constants& constants, const SpeedInput& input);

}  // namespace rightsize::app
