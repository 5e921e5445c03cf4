// Running on machines that may be taken back: how often to save, how long it takes, what it costs, and when to leave.
//
// Interruptions of the whole job come at M hours apart on average (one machine's rate times the machines; any machine
// lost stops all). Saving takes d, starting again r. Work is saved every t, Daly's higher-order optimum (2006, eq. 37):
//   t = sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18M) - d        for d < 2M, else M
// and the job takes M e^(r/M) (e^((t+d)/M) - 1) work / t on average, if interruptions come independently of each other
// (spot markets bunch them: the tail is longer than said here). Cost is that time at the price as it will be
// (PriceOutlook): a distribution drawn from both.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "market/price_outlook.h"

namespace rightsize::market {

struct SpotJob {
  Seconds work;  // without any interruption
  int machines = 1;
  Seconds save;     // one checkpoint
  Seconds restart;  // from being taken back to working again elsewhere
};

struct SpotTerms {
  UsdPerMachineSecond low, likely, high;         // of one machine: PriceOutlook's
  std::optional<UsdPerMachineSecond> on_demand;  // of the same machine, to fall back to
  double interruptions_per_hour = 0;             // of one machine
};

struct SpotPlan {
  Seconds interval;                      // between checkpoints
  Seconds time;                          // expected, of the whole job
  double interruptions;                  // expected
  Usd low, mean, high;                   // 10th percentile, mean, 90th percentile
  std::optional<Usd> on_demand;          // the same work there, without interruptions
  std::optional<double> chance_cheaper;  // than on-demand
  // A spot price above this is not worth staying for: the work that is left, what moving does again included, costs
  // less on demand.
  std::optional<UsdPerMachineSecond> leave_above;
};

// Nothing when interruptions come faster than work can be saved. The same seed gives the same answer everywhere.
std::optional<SpotPlan> plan_spot(const SpotJob& job, const SpotTerms& terms, std::uint64_t seed = 1);

// Daly's interval for a save of this length where interruptions are so far apart.
Seconds checkpoint_interval(Seconds save, Seconds between_interruptions);

// The rate that has this share of machines interrupted within a month, as the AWS spot advisor states it.
double interruptions_per_hour(double share_a_month);

}  // namespace rightsize::market
