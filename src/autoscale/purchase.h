// The cost of replicas with a committed base and the rest on demand or spot.
#pragma once

#include "autoscale/cluster.h"

namespace rightsize::autoscale {

// Dollars per GPU-hour; empty: no price.
struct HourlyPrices {
  std::optional<double> on_demand = {}, spot = {}, one_year = {};
};

struct Purchase {
  int committed = 0;  // replicas
  bool spot = false;  // the rest is spot
  double committed_usd = 0, elastic_usd = 0;
  double on_demand_usd = 0;  // all of it on demand

  double usd() const { return committed_usd + elastic_usd; }
};

// The cheapest purchase: a replica is committed if it runs for enough of the time, assuming that the run repeats for
// the whole term. Empty without an on-demand price.
std::optional<Purchase> cheapest_purchase(const ScalingRun& run, int gpus_per_replica, const HourlyPrices& prices);

}  // namespace rightsize::autoscale
