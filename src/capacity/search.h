// The cheapest of many configurations, and how latency falls with money: bounds throw out most, short simulations rank
// the rest, long ones confirm with confidence intervals.
#pragma once

#include <vector>

#include "capacity/planner.h"

namespace rightsize::capacity {

struct SearchOptions {
  std::uint64_t screening_requests = 4'000;
  std::uint64_t confirming_requests = 200'000;  // at most; stops when tight enough
  double tight_enough = 0.02;
  unsigned threads = 2;
};

struct SearchResult {
  std::optional<Assessment> best;       // the cheapest that keeps every SLO
  std::optional<Assessment> unbatched;  // the cheapest that does with one request at a time
  std::vector<Assessment> frontier;     // ascending price, falling latency; within the SLOs and beyond
  std::size_t considered = 0, unstable = 0, bounded = 0, simulated = 0, confirmed = 0;
};

// Deterministic: neither threads nor the clock change the answer. The service has at least one SLO.
SearchResult search(const Planner& planner, const std::vector<Configuration>& configurations,
                    const SearchOptions& options = {}, std::uint64_t seed = 1);

// Whether a configuration serves one request at a time.
bool is_unbatched(const Planner& planner, const Configuration& configuration);

}  // namespace rightsize::capacity
