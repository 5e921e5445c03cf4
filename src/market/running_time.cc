#include "market/running_time.h"

#include <algorithm>
#include <cmath>

namespace rightsize::market {
namespace {

// Interruptions of the whole job per second: any one machine or GPU stops it.
double interruption_rate(catalog::Purchase purchase, int machines, int gpus, const Assumptions& a) {
  const double taken_back = purchase == catalog::Purchase::kSpot ? a.spot_interruptions_per_hour * machines : 0;
  return (taken_back + a.failures_per_gpu_hour * gpus) / 3600.0;
}

}  // namespace

std::optional<RunningTime> running_time(Seconds work, Bytes checkpoint, catalog::Purchase purchase, int machines,
                                        int gpus, const Assumptions& a) {
  RunningTime time{work, a.startup, {}, {}, {}};
  const double rate = interruption_rate(purchase, machines, gpus, a);
  if (!(rate > 0) || !(work > Seconds{})) return time;
  const double save = std::max(1.0, in_seconds(checkpoint / a.checkpoint_rate));
  const double most =
      checkpoint > Bytes{} ? std::min(in_seconds(work), in_seconds(a.checkpoint_every)) : in_seconds(work);
  const double interval = std::min(std::sqrt(2 * save / rate), std::max(save, most));
  const double saving = save / interval, redoing = rate * (interval / 2 + in_seconds(a.restart));
  const double useful = 1 - saving - redoing;
  constexpr double kHopeless = 0.1;
  if (useful < kHopeless) return std::nullopt;
  time.saving = work * (saving / useful);
  time.redoing = work * (redoing / useful);
  if (checkpoint > Bytes{}) time.interval = seconds(interval);
  return time;
}

Usd side_costs(Seconds total, const Assumptions& a) {
  constexpr double kGigabyte = 1e9;
  const double months = total / kMonth;
  return usd(in_bytes(a.storage) / kGigabyte * a.storage_usd_per_gb_month * months +
             in_bytes(a.egress) / kGigabyte * a.egress_usd_per_gb);
}

}  // namespace rightsize::market
