// What running a job on bought machines costs beside the work itself: starting up, saving, being interrupted and doing
// work again; and what machines of one's own cost by the hour.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

// Judgements a user can overrule; each has a flag. Sources: docs/recommend.md#assumptions.
struct Assumptions {
  Seconds startup = hours(10.0 / 60);         // from order to first step: image, weights, compilation
  Seconds restart = hours(10.0 / 60);         // after an interruption
  double spot_interruptions_per_hour = 0.05;  // of one spot machine
  double failures_per_gpu_hour = 2e-5;        // of any hardware
  BytesPerSecond checkpoint_rate = gb_per_s(1);
  Bytes storage;  // kept for the length of the job
  double storage_usd_per_gb_month = 0.08;
  Bytes egress;  // moved out once
  double egress_usd_per_gb = 0.09;
};

// Where the hours of a job go. `total` is what is paid for.
struct RunningTime {
  Seconds work, startup, saving, redoing;
  Seconds total() const { return work + startup + saving + redoing; }
};

// Machines fail or are taken back at rate f; work is saved every t = sqrt(2 C / f), with C the time of a save, which
// loses the least (Young 1974): C / t of the time goes into saving, f (t / 2 + restart) into doing again. Nothing when
// interruptions come faster than work can be saved.
std::optional<RunningTime> running_time(Seconds work, Bytes checkpoint, catalog::Purchase purchase, int machines,
                                        int gpus, const Assumptions& assumptions);

// Storage and egress of a job of this length.
Usd side_costs(Seconds total, const Assumptions& assumptions);

// Machines of one's own: bought once, written off over years, fed with power.
struct OwnHardware {
  std::string gpu;
  int gpus = 8;       // of one machine
  int machines = 1;   // at most so many
  Usd price;          // of one machine
  double years = 4;   // until it is worth nothing
  double busy = 0.7;  // share of those years it works
  double usd_per_kwh = 0.12;
  double power_usage_effectiveness = 1.3;  // cooling and distribution on top
  Watts host_power = watts(1500);          // CPUs, memory, fans, network cards of one machine
};

// Price over the hours it works, plus power at the GPUs' design power. Nothing where the catalogue does not know it.
std::optional<UsdPerSecond> hourly_cost(const OwnHardware& own, const catalog::Gpu& gpu);

// Under which a machine of one's own stands in the catalogue.
inline constexpr const char* kOwnProvider = "own";
std::string own_instance(const OwnHardware& own);

// Adds the machine and its price to the catalogue, so that it competes with what can be bought.
Result<> add_own_hardware(catalog::Catalog& catalog, const OwnHardware& own);

}  // namespace rightsize::market
