// The same work on every other GPU: speed and interval.
//
// perf knows how fast each GPU is. A diagnosis knows how the time was spent on the observed GPU. Each part is scaled by
// perf's factor for that resource, so a projection and an estimate of the same work agree. Number formats that only the
// other GPU supports are not considered, and time spent in the host or the network stays the same.
//
//   const perf::SpeedTable speeds(catalog, constants);                        // once
//   std::vector<Projection> others = project({&summary, &diagnosis, h200}, speeds);
//   auto there = speed_on(watched_work(summary, diagnosis), *speeds.find(*h200), *speeds.find(*l4));
#pragma once

#include <optional>
#include <vector>

#include "diagnose/diagnose.h"
#include "perf/job_time.h"

namespace rightsize::diagnose {

// The facts from the counters that determine the speed on another GPU.
struct WatchedWork {
  TimeShares shares;
  catalog::NumberFormat format = catalog::NumberFormat::kBf16;  // the format that the pipes worked in
  bool paced = false;  // requests arrive at their own pace (underused, bursty): faster hardware only waits more
};
WatchedWork watched_work(const Summary& summary, const Diagnosis& diagnosis);

// Speed relative to the observed GPU, with an 80 % interval.
struct SpeedElsewhere {
  double low = 1, likely = 1, high = 1;
  double busy = 0, busy_high = 0;              // share of the time it would be busy: likely, and at the slow end
  double growth = 1;                           // factor of the active time at the slow end
  double active = 1, active_high = 1;          // speed while it works: likely, and at the fast end; 1 / growth is the low
  perf::Basis basis = perf::Basis::kMeasured;  // the weaker of the two GPUs'
};

// From perf's factors for the two GPUs, or for the job if it is known (perf::job_slowdown).
SpeedElsewhere speed_on(const WatchedWork& work, const perf::Slowdown& slow);

// Exactly 1 on the same GPU. Not set if perf does not know the arithmetic rate of one of them.
std::optional<SpeedElsewhere> speed_on(const WatchedWork& work, const perf::SustainedRates& from,
                                       const perf::SustainedRates& to);

// Whether a GPU may be offered in place of another: it must be of the same vendor, because the work uses the vendor's
// software, and not a GeForce card for a data-centre GPU, because the driver's licence excludes data centres.
bool may_replace(const catalog::Gpu& other, const catalog::Gpu& now);

struct Projection {
  const catalog::Gpu* gpu = nullptr;
  SpeedElsewhere speed;
  perf::Slowdown slow;  // by resource
};

// The job, if the user describes it: its estimates then show the parts of the time, and the counters how much of it is
// waiting. The correction of the estimate by a measurement is the same on all GPUs and cancels out.
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

// Every other GPU with known rates. For work that arrives at its own pace, a GPU is as fast as this one as long as it
// keeps up. fleet/alternatives.h adds memory, load and prices.
std::vector<Projection> project(const ProjectionInput& input, const perf::SpeedTable& speeds);

}  // namespace rightsize::diagnose
