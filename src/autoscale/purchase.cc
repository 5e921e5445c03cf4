#include "autoscale/purchase.h"

#include <numeric>

namespace rightsize::autoscale {

std::optional<Purchase> cheapest_purchase(const ScalingRun& run, int gpus_per_replica, const HourlyPrices& prices) {
  if (!prices.on_demand) return std::nullopt;
  Purchase p;
  p.spot = prices.spot && *prices.spot < *prices.on_demand;
  const double elastic = p.spot ? *prices.spot : *prices.on_demand;
  const auto usd = [&](double replica_seconds, double price) {
    return replica_seconds * gpus_per_replica / 3600 * price;
  };
  p.on_demand_usd = usd(run.paid_seconds, *prices.on_demand);
  const double all = std::accumulate(run.seconds_at.begin(), run.seconds_at.end(), 0.0);
  double used = all;  // the time with at least this many replicas
  for (std::size_t n = 1; n < run.seconds_at.size(); ++n) {
    used -= run.seconds_at[n - 1];
    if (prices.one_year && usd(all, *prices.one_year) < usd(used, elastic)) {
      ++p.committed;
      p.committed_usd += usd(all, *prices.one_year);
    } else {
      p.elastic_usd += usd(used, elastic);
    }
  }
  return p;
}

}  // namespace rightsize::autoscale
