// What running a job on bought machines costs beside the work itself: starting up, saving, being interrupted and doing
// work again.
#pragma once

#include <optional>

#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

// Judgements a user can overrule; each has a flag. Sources: docs/recommend.md#assumptions.
struct Assumptions {
  Seconds startup = hours(10.0 / 60);         // from order to first step: machine, image, weights
  Seconds restart = hours(10.0 / 60);         // after an interruption
  double spot_interruptions_per_hour = 0.05;  // of one spot machine
  double failures_per_gpu_hour = 2e-5;        // of any hardware
  BytesPerSecond checkpoint_rate = gb_per_s(1);
  // However seldom machines fail: code, data and loss curves go wrong too, and nobody wants to lose a day to them.
  Seconds checkpoint_every = hours(4);
  Bytes storage;  // kept for the length of the job
  double storage_usd_per_gb_month = 0.08;
  Bytes egress;  // moved out once
  double egress_usd_per_gb = 0.09;
};

// Where the hours of a job go. `total` is what is paid for.
struct RunningTime {
  Seconds work, startup, saving, redoing;
  Seconds interval = {};  // of work between two checkpoints; zero: there are none
  Seconds total() const { return work + startup + saving + redoing; }
};

// Machines fail or are taken back at rate f; work is saved every t = sqrt(2 C / f), with C the time of a save, which
// loses the least (Young 1974), and at least every `checkpoint_every` where there is something to save: C / t of the
// time goes into saving, f (t / 2 + restart) into doing again. Nothing when interruptions come faster than work can be
// saved.
std::optional<RunningTime> running_time(Seconds work, Bytes checkpoint, catalog::Purchase purchase, int machines,
                                        int gpus, const Assumptions& assumptions);

// Storage and egress of a job of this length.
Usd side_costs(Seconds total, const Assumptions& assumptions);

}  // namespace rightsize::market
