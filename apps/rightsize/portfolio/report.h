// The report of `rightsize portfolio`.
#pragma once

#include <vector>

#include "portfolio/moves.h"
#include "portfolio/optimum.h"
#include "portfolio/reservations.h"
#include "rightsize/command.h"
#include "rightsize/input/electricity.h"

namespace rightsize::app {

// The packing of a cluster's pods, compared with two simple rules.
struct PackedCluster {
  std::size_t pods = 0, nodes = 0;
  double gpus = 0;
  solve::ClusterPacking packed, best_fit, least_fragmentation;
};

// A plan and everything its report needs.
struct PlannedPortfolio {
  const portfolio::CostModel& file;   // as in the file
  const portfolio::CostModel& costs;  // as planned: small models may share a GPU in groups
  const portfolio::Optimum& optimum;
  std::vector<portfolio::ShadowPrice> shadow_prices;
  std::vector<portfolio::Purchase> purchases = {};
  std::optional<portfolio::ReservationPlan> range = {};
  std::optional<PackedCluster> cluster = {};
  Electricity electricity = {};

  const portfolio::Organisation& organisation() const { return costs.organisation(); }
};

// The report of a file with a cluster but without workloads.
report::Report cluster_report(const PackedCluster& cluster);

report::Report portfolio_report(const PlannedPortfolio& planned);

// The report if every plan breaks a limit. `relaxed` is the optimum without quotas; it shows what is missing.
Outcome no_portfolio(const portfolio::CostModel& costs, const portfolio::Optimum& optimum,
                     const portfolio::Optimum& relaxed);

}  // namespace rightsize::app
