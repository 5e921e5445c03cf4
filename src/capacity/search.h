// The cheapest of many configurations, and latency as a function of cost: bounds exclude most, short simulations rank
// the rest, long ones confirm with confidence intervals.
#pragma once

#include <vector>

#include "capacity/planner.h"

namespace rightsize::capacity {

struct SearchOptions {
  std::uint64_t screening_requests = 4'000;
  std::uint64_t confirming_requests = 200'000;  // at most; a run stops once its intervals are tight
  double tight_enough = 0.02;                   // half width of every SLO's interval, as a share of its value
  unsigned threads = 2;
};

struct ConfigurationSearch {
  std::optional<Assessment> best;       // the cheapest that meets every SLO
  std::optional<Assessment> unbatched;  // the cheapest that does so with one request at a time
  std::vector<Assessment> frontier;     // ascending price, descending latency; within the SLOs or not
  std::size_t considered = 0, unstable = 0, bounded = 0, simulated = 0, confirmed = 0;
};

// Deterministic: the answer does not depend on threads or the clock. The service needs at least one SLO.
ConfigurationSearch search(const Planner& planner, const std::vector<Configuration>& configurations,
                           const SearchOptions& options = {}, std::uint64_t seed = 1);

// Whether a configuration serves one request at a time.
bool is_unbatched(const Planner& planner, const Configuration& configuration);

}  // namespace rightsize::capacity
