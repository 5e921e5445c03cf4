// The report of `rightsize batch`.
#pragma once

#include <vector>

#include "capacity/search.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {

struct LoadPoint {
  double rate = 0;  // requests per second
  sim::StatisticValues latency{};
};

// One configuration under its load, with the latency at other loads.
Outcome assessed_outcome(const BatchInput& input, const capacity::Assessment& run, const std::vector<LoadPoint>& curve,
                         Seconds wall);
// The load exceeds the capacity, so nothing was simulated; exit code 2.
Outcome overloaded_outcome(const BatchInput& input, const capacity::Configuration& configuration, double capacity);
Outcome searched_outcome(const BatchInput& input, const capacity::SearchResult& found, Seconds wall);

}  // namespace rightsize::app
