// The same work on every other GPU: how fast, how sure, and at what cost.
//
// How fast a GPU does what is perf's knowledge. What is known here is where the time went on the GPU that was watched:
// each part of it grows by perf's factor for that resource, so that a projection and an estimate of the same work
// agree. Nothing is known of formats the other GPU would allow; time the host or the network took is taken as it was.
//
//   const perf::SpeedTable speeds(catalog, constants);                        // once
//   for (const Projection& p : project({&summary, &diagnosis, h200}, speeds, offers)) ...
//   auto there = speed_on(watched_work(summary, diagnosis), *speeds.find(*h200), *speeds.find(*l4));
#pragma once

#include <optional>
#include <vector>

#include "diagnose/diagnose.h"
#include "market/price_book.h"
#include "perf/job_time.h"

namespace rightsize::diagnose {

// What the counters say of a workload, as far as another GPU is concerned.
struct WatchedWork {
  TimeShares shares;
  catalog::NumberFormat format = catalog::NumberFormat::kBf16;  // the pipes worked in
  bool paced = false;  // it arrives at its own pace (underused, bursty): faster hardware only waits more
};
WatchedWork watched_work(const Summary& summary, const Diagnosis& diagnosis);

// Work done in the same time, against the GPU that was watched: 1 is as fast. 80 % of the truth is within low and high.
struct SpeedElsewhere {
  double low = 1, likely = 1, high = 1;
  double busy = 0, busy_high = 0;              // share of the time it would run something: likely, and at the slow end
  perf::Basis basis = perf::Basis::kMeasured;  // of the less known of the two GPUs
};

// From perf's factors: those of the two GPUs, or of the job itself where it is known (perf::job_slowdown).
SpeedElsewhere speed_on(const WatchedWork& work, const perf::Slowdown& slow);

// Exactly 1 on the same GPU. Nothing where perf does not know the arithmetic of one of them.
std::optional<SpeedElsewhere> speed_on(const WatchedWork& work, const perf::SustainedRates& from,
                                       const perf::SustainedRates& to);

struct Projection {
  const catalog::Gpu* gpu = nullptr;
  SpeedElsewhere speed;
  bool fits = true;                       // the memory that was seen
  std::optional<market::GpuQuote> price;  // the user's, else the cheapest on demand; empty where nobody sells it
  std::optional<double> cost;             // of the same work, against this GPU's price
};

// What runs, where the user says it: its estimates then say what it is made of, and the counters how much of the time
// it waited. What was measured corrects the model by the same factor everywhere, so that it cancels in a speed.
struct KnownJob {
  const perf::Constants* constants = nullptr;
  model::ModelShape model;
  model::Job job;
};

struct ProjectionInput {
  const Summary* summary = nullptr;
  const Diagnosis* diagnosis = nullptr;
  const catalog::Gpu* gpu = nullptr;  // the one it ran on
  const KnownJob* known = nullptr;    // nothing: by the counters alone
};

// Every other GPU of the table with known rates, cheapest for the work first; those whose memory is too small, or that
// have no price, come last. When work arrives at its own pace, a GPU is as fast as this one as long as it keeps up, and
// the cost is that of the hour. Without `prices` nothing is priced.
std::vector<Projection> project(const ProjectionInput& input, const perf::SpeedTable& speeds,
                                const market::PriceBook* prices);

}  // namespace rightsize::diagnose
