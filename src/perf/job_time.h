// The time of any job as one number, to compare settings and GPUs. It comes from the same estimates as everywhere else.
#pragma once

#include "perf/constants/sustained_rates.h"
#include "perf/perf.h"

namespace rightsize::perf {

struct JobTime {
  Seconds step;         // an optimizer step, one token of every running request (TPOT), or a batch
  Seconds unit;         // GPU time per trained sequence or image, generated token, or sample
  PowerEstimate power;  // of each GPU meanwhile
  Basis basis;          // of the estimate: of the GPU and of the software on it
};

// Assumes full concurrency, whether or not it fits in memory. Fails if the job cannot run, or if the settings are not
// modelled (copies to host memory).
Result<JobTime> job_time(const Constants& constants, const model::ModelShape& model, const model::Job& job,
                         const catalog::Gpu& gpu);

// The same on a GPU with a given speed, e.g. with a power cap.
Result<JobTime> job_time(const Constants& constants, const ModelWork& work, const model::Job& job,
                         const GpuSpeed& speed, const Cluster& cluster);

// How many times longer this job takes on `to` than on `from`, as one factor for every resource. The job is known, so
// no counters are needed to find its bottleneck.
Result<Slowdown> job_slowdown(const Constants& constants, const model::ModelShape& model, const model::Job& job,
                              const SustainedRates& from, const SustainedRates& to);

}  // namespace rightsize::perf
