// What `rightsize batch` says.
#pragma once

#include <vector>

#include "capacity/search.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {

struct LoadPoint {
  double rate = 0;  // requests a second
  sim::StatisticValues latency{};
};

// One configuration under its load, with the latency at other loads.
Outcome assessed_outcome(const BatchInput& input, const capacity::Assessment& run, const std::vector<LoadPoint>& curve,
                         double wall_seconds);
// The load is more than the server can do: said, not simulated; exit code 2.
Outcome unstable_outcome(const BatchInput& input, const capacity::Configuration& configuration, double capacity);
Outcome searched_outcome(const BatchInput& input, const capacity::SearchResult& found, double wall_seconds);

}  // namespace rightsize::app
