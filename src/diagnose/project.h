// The same work on every other GPU: speed, interval and cost.
//
// perf knows how fast each GPU is. A diagnosis knows where the time went on the observed GPU; each part of it is scaled
// by perf's factor for that resource, so that a projection and an estimate of the same work agree. Number formats that
// only the other GPU supports are not considered, and time spent in the host or the network stays the same.
//
//   const perf::SpeedTable speeds(catalog, constants);                        // once
//   std::vector<Projection> others = project({&summary, &diagnosis, h200}, speeds, &prices);
//   auto there = speed_on(watched_work(summary, diagnosis), *speeds.find(*h200), *speeds.find(*l4));
#pragma once

#include <optional>
#include <vector>

#include "diagnose/diagnose.h"
#include "market/price_book.h"
#include "perf/job_time.h"

namespace rightsize::diagnose {

// What the counters say about a workload on another GPU.
struct WatchedWork {
  TimeShares shares;
  catalog::NumberFormat format = catalog::NumberFormat::kBf16;  // the pipes worked in
  bool paced = false;  // requests arrive at their own pace (underused, bursty): faster hardware only waits more
};
WatchedWork watched_work(const Summary& summary, const Diagnosis& diagnosis);

// Speed relative to the observed GPU, with an 80 % interval.
struct SpeedElsewhere {
  double low = 1, likely = 1, high = 1;
  double busy = 0, busy_high = 0;              // share of the time it would be busy: likely, and at the slow end
  perf::Basis basis = perf::Basis::kMeasured;  // the weaker of the two GPUs'
};

// From perf's factors for the two GPUs, or for the job if it is known (perf::job_slowdown).
SpeedElsewhere speed_on(const WatchedWork& work, const perf::Slowdown& slow);

// Exactly 1 on the same GPU. Not set if perf does not know the arithmetic rate of one of them.
std::optional<SpeedElsewhere> speed_on(const WatchedWork& work, const perf::SustainedRates& from,
                                       const perf::SustainedRates& to);

// Whether a GPU may be offered in place of another: of the same vendor, whose software the work runs on, and no GeForce
// card for a data-centre GPU, because its driver's licence excludes data centres.
bool may_replace(const catalog::Gpu& other, const catalog::Gpu& now);

struct Projection {
  const catalog::Gpu* gpu = nullptr;
  SpeedElsewhere speed;
  bool fits = true;      // the memory in use
  bool replaces = true;  // may_replace()
  // Work that arrives at its own pace: the busiest readings on the other GPU at the slow end of the interval; 1 is
  // full.
  std::optional<double> load_p95, load_peak;
  bool keeps_up = true;  // p95 below kFull, and latency at p95 and at the peak within kMostSlowdown
  static constexpr double kFull = 0.85, kMostSlowdown = 3;
  std::optional<market::GpuQuote> price;  // the user's own, else the cheapest on-demand offer, if any
  std::optional<double> cost;             // of the same work, relative to the observed GPU
};

// The job, if the user describes it: its estimates then show what the time is made of, and the counters how much of it
// is waiting. The correction of the estimate by a measurement is the same on all GPUs and cancels out.
struct KnownJob {
  const perf::Constants* constants = nullptr;
  model::ModelShape model;
  model::Job job;
};

struct ProjectionInput {
  const Summary* summary = nullptr;
  const Diagnosis* diagnosis = nullptr;
  const catalog::Gpu* gpu = nullptr;  // the one it ran on
  const KnownJob* known = nullptr;    // null: counters alone
};

// Every other GPU with known rates, the cheapest for the work first; those that cannot replace it, that do not keep up
// at p95, with too little memory or without a price come last. For work that arrives at its own pace, a GPU is as fast
// as this one as long as it keeps up, and the cost is that of the hour. `prices` may be null.
std::vector<Projection> project(const ProjectionInput& input, const perf::SpeedTable& speeds,
                                const market::PriceBook* prices);

}  // namespace rightsize::diagnose
