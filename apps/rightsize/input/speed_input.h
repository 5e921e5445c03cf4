// Input of the commands that estimate speeds: the facts, and everything else an estimate needs.
#pragma once

#include "perf/calibration/measured_runs.h"
#include "rightsize/input/facts.h"
#include "rightsize/input/job_flags.h"

namespace rightsize::app {

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

// The estimate, or the reason why the job cannot run.
Result<SpeedEstimate> estimate_speed(const perf::Constants& constants, const SpeedInput& input);

}  // namespace rightsize::app
