// The time of a job as one number, for comparing settings and GPUs, whatever kind of job it is: from the same estimates
// everybody else sees.
#pragma once

#include "perf/kernels/sustained_rates.h"
#include "perf/perf.h"

namespace rightsize::perf {

struct JobTime {
  Seconds step;  // an optimizer step, a token of every running request (TPOT), a batch
  Seconds unit;  // of one GPU: a sequence or image trained, a token generated, a sample
};

// At the job's full concurrency, whether or not it fits the memory. Fails where the job cannot run so, and where the
// estimate would leave out what the settings are about (copies to host memory).
Result<JobTime> job_time(const Constants& constants, const model::ModelShape& model, const model::Job& job,
                         const catalog::Gpu& gpu);

// How many times longer this job takes on `to` than on `from`: one factor for every resource. Where the counters of a
// workload would have to tell what it is made of, its estimate says it.
Result<Slowdown> job_slowdown(const Constants& constants, const model::ModelShape& model, const model::Job& job,
                              const SustainedRates& from, const SustainedRates& to);

}  // namespace rightsize::perf
