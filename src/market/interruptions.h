// The time and cost of a job on machines that fail or are preempted.
//
//   const InterruptibleJob job{hours(100), seconds(84), catalog::Purchase::kSpot, 8, 64};
//   std::optional<RunningTime> time = running_time(job, assumptions);
//
// Interruptions of the whole job are independent, with a mean time M between them: any preempted machine and any failed
// GPU stops the job. A checkpoint takes d, a restart r. Work is saved every t, Daly's higher-order optimum (2006, eq.
// 37):
//   t = sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18M) - d        for d < 2M, else M
// and at least every `checkpoint_every`. The job then takes M e^(r/M) (e^((t+d)/M) - 1) work / t on average.
// Interruptions on spot markets are clustered, so the real tail is longer than in this model.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "catalog/catalog.h"
#include "market/price_outlook.h"

namespace rightsize::market {

// Assumptions a user can replace; each has a flag. Sources: docs/recommend.md#assumptions.
struct JobAssumptions {
  Seconds startup = hours(10.0 / 60);                   // from the order to the first step: machine, image, weights
  Seconds restart = hours(10.0 / 60);                   // after an interruption
  double spot_interruptions_per_hour = 0.05;            // of one spot machine
  double failures_per_gpu_hour = 2e-5;                  // of any hardware
  BytesPerSecond checkpoint_rate = gb_per_s(1);         // of one machine that writes
  std::optional<BytesPerSecond> checkpoint_total = {};  // of all machines together, if the user gave it
  // Applies even if machines rarely fail: bugs and bad data also end a run, and must not cost a day of work.
  Seconds checkpoint_every = hours(4);
  std::optional<Bytes> storage;  // held for the length of the job; empty: the checkpoints that it keeps
  double storage_usd_per_gb_month = 0.08;
  Bytes egress;  // moved out once
  double egress_usd_per_gb = 0.09;
};

// The time to save one checkpoint. Checkpoints are sharded: each of the `writers`, one per machine, writes its part.
Seconds save_time(Bytes checkpoint, const JobAssumptions& assumptions, int writers = 1);

struct InterruptibleJob {
  Seconds work;  // without interruptions
  Seconds save;  // one checkpoint; zero: small parts, nothing to save
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  int machines = 1;
  int gpus = 1;              // of all machines
  bool starts_over = false;  // an interruption loses all work: there is no storage to save it in
  Seconds window = {};       // it runs for this long at a time, then stops; zero: in one piece
};

// How the hours of a job are spent; `total` is paid for. All are expected values.
struct RunningTime {
  Seconds work, startup, saving, redoing;
  Seconds interval = {};     // of work between two checkpoints; zero: there are none
  double interruptions = 0;  // of the whole job
  Seconds total() const { return work + startup + saving + redoing; }
};

// Empty if interruptions are so frequent, or windows so short, that less than a tenth of the time is work. Every window
// begins with a start-up and ends with a checkpoint.
std::optional<RunningTime> running_time(const InterruptibleJob& job, const JobAssumptions& assumptions);

// Expected time per time of work, saved every `interval`: the equation above.
double time_per_work(Seconds interval, Seconds save, Seconds restart, Seconds between_interruptions);

// Daly's interval for a save of this length between interruptions this far apart.
Seconds checkpoint_interval(Seconds save, Seconds between_interruptions);

// The cost of a job on spot machines, and of the same job on demand.
struct SpotCost {
  RunningTime time;
  Usd low, mean, high;                   // 10th percentile, mean, 90th percentile
  std::optional<Usd> on_demand;          // the same job there, with its own failures
  std::optional<double> chance_cheaper;  // probability of costing less than on demand
  // Above this spot price the rest of the job costs less on demand, including the work that moving repeats.
  std::optional<UsdPerMachineSecond> leave_above;
};

// `price` is the outlook of one spot machine, `on_demand` the price of the same machine on demand. The distribution
// covers the length of the job and the price; its mean is the expected time at the likely price. Runs in bounded time
// for any length and rate: long jobs use the normal limit instead of drawing every interruption.
std::optional<SpotCost> spot_cost(InterruptibleJob job, const PriceOutlook& price,
                                  std::optional<UsdPerMachineSecond> on_demand, const JobAssumptions& assumptions,
                                  std::uint64_t seed = 1);

// How far ahead prices are predicted for a job before its length is known.
inline constexpr Seconds kJobOutlook = hours(24);

// The rate at which this share of machines is interrupted within a month, as the AWS spot advisor states it.
double interruptions_per_hour(double share_per_month);

// Storage and egress of a job of this length that keeps checkpoints of this size.
Usd side_costs(Seconds total, Bytes kept, const JobAssumptions& assumptions);

}  // namespace rightsize::market
