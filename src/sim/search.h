// The cheapest way to keep a latency promise: every combination of GPU type, replicas, batch, delay and instances;
// closed forms throw out most, short simulations rank the rest, long ones confirm with confidence intervals.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/closed_form.h"
#include "sim/continuous_batching.h"
#include "sim/simulate.h"

namespace rightsize::sim {

// What is promised: a statistic of the latency, or the 99th percentile of the time to the first token (TTFT) or per
// token after it (TPOT).
enum class Metric { kMean, kP50, kP90, kP95, kP99, kTtft, kTpot };
std::string_view name_of(Metric metric);
struct Promise {
  Metric metric = Metric::kP99;
  SimTime limit = 0;
  double most_rejected = 0.001;  // share of requests a limit or timeout may turn away
};
// "p99=100ms"; a wrong name gets a suggestion.
Result<Promise> parse_promise(std::string_view text);

// One setting. `max_batch` is max_sequences for continuous batching; the fields that do not apply stay as they are.
struct Candidate {
  std::size_t offer = 0;  // index into the offers
  int replicas = 1, max_batch = 1, executors = 1;
  SimTime delay = 0;
  std::int64_t token_budget = 0;
  double usd_per_hour = 0;  // of all replicas
  // A second kind behind the same router, where it is cheaper.
  std::size_t other_offer = 0;
  int other_replicas = 0;

  int all_replicas() const { return replicas + other_replicas; }
};

struct Assessed {
  Candidate candidate;
  double value = 0;       // of the promised metric, nanoseconds
  double half_width = 0;  // of its 95 % interval; NaN when the run was short
  LatencyProfile profile;
  StatisticValues ttft{}, tpot{};  // continuous batching only
  double rejected_share() const {
    return profile.requests > 0 ? static_cast<double>(profile.rejected) / static_cast<double>(profile.requests) : 0;
  }
  bool meets(const Promise& promise) const {
    return rejected_share() <= promise.most_rejected &&
           value + (half_width == half_width ? half_width : 0) <= static_cast<double>(promise.limit);
  }
};

// What the search asks about a setting. Implementations are called from several threads at once.
class SearchProblem {
 public:
  virtual ~SearchProblem() = default;
  // A value no run can go below; infinite when the load is too much for the setting.
  virtual double lower_bound(const Candidate& candidate) const = 0;
  virtual std::optional<Assessed> assess(const Candidate& candidate, const RunLength& length) const = 0;
};

class DynamicProblem : public SearchProblem {
 public:
  // `times` are per offer, up to the largest batch any candidate has; `queue` and `priorities` hold for all of them.
  DynamicProblem(std::vector<ServiceTimes> times, double overlap, ArrivalProcess arrivals, Promise promise,
                 QueuePolicy queue = {}, std::vector<double> priorities = {})
      : times_(std::move(times)),
        overlap_(overlap),
        arrivals_(std::move(arrivals)),
        promise_(promise),
        queue_(queue),
        priorities_(std::move(priorities)) {}
  double lower_bound(const Candidate& candidate) const override;
  std::optional<Assessed> assess(const Candidate& candidate, const RunLength& length) const override;
  Server server_of(const Candidate& candidate) const;

 private:
  std::vector<ServiceTimes> times_;
  double overlap_;
  ArrivalProcess arrivals_;
  Promise promise_;
  QueuePolicy queue_;
  std::vector<double> priorities_;
};

class ContinuousProblem : public SearchProblem {
 public:
  ContinuousProblem(std::vector<StepCost> costs, ContinuousConfig config, RequestShape shape, ArrivalProcess arrivals,
                    Promise promise)
      : costs_(std::move(costs)), config_(config), shape_(shape), arrivals_(std::move(arrivals)), promise_(promise) {}
  double lower_bound(const Candidate& candidate) const override;
  std::optional<Assessed> assess(const Candidate& candidate, const RunLength& length) const override;
  ContinuousServer server_of(const Candidate& candidate) const;

 private:
  std::vector<StepCost> costs_;
  ContinuousConfig config_;
  RequestShape shape_;
  ArrivalProcess arrivals_;
  Promise promise_;
};

struct SearchOptions {
  std::uint64_t seed = 1;
  std::uint64_t screening_requests = 4'000;
  std::uint64_t confirming_requests = 200'000;  // at most; stops when tight enough
  double tight_enough = 0.02;
  unsigned threads = 2;
};

struct SearchResult {
  std::optional<Assessed> best;       // the cheapest that keeps the promise
  std::optional<Assessed> unbatched;  // the cheapest that keeps it with batches of one
  std::vector<Assessed> frontier;     // ascending cost, falling latency; both sides of the promise
  std::size_t considered = 0, unstable = 0, bounded = 0, simulated = 0, confirmed = 0;
};

// Deterministic: neither threads nor the clock change the answer.
SearchResult search(const SearchProblem& problem, std::vector<Candidate> candidates, const Promise& promise,
                    const SearchOptions& options);

}  // namespace rightsize::sim
