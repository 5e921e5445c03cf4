// Input of the commands that estimate speeds: the facts, and everything else an estimate needs.
#pragma once

#include "perf/constants/measured_runs.h"
#include "rightsize/input/energy.h"
#include "rightsize/input/facts.h"
#include "rightsize/input/job_flags.h"

namespace rightsize::app {

// One estimate of any kind; the member that applies is set.
struct SpeedEstimate {
  std::optional<perf::TrainEstimate> train;
  std::optional<perf::ServeEstimate> serve;
  std::optional<perf::BatchEstimate> batch;
  perf::MeasuredRuns measured = {};
  std::optional<Watts> power_cap = {};  // of each GPU
  double capped_time = 1;               // time with the cap divided by time without it
};

struct SpeedInput {
  model::ModelShape model;
  model::Job job;
  const catalog::Gpu* gpu = nullptr;
  perf::ModelWork work;
  perf::GpuSpeed speed;
  perf::Cluster cluster;
  RequestsPerSecond rate;       // of an open loop; 0: closed loop
  bool find_power_cap = false;  // the cap with the least energy per unit of work
};

// The estimate, or the reason why the job cannot run.
Result<SpeedEstimate> estimate_speed(const perf::Constants& constants, const SpeedInput& input);

// Empty if the GPU's power is unknown. Electricity is not set.
std::optional<JobEnergy> energy_of(const SpeedInput& input, const SpeedEstimate& estimate);

}  // namespace rightsize::app
