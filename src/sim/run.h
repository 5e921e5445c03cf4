// A simulation in progress: feeds arrivals to a simulated server and measures its requests.
//
//   std::unique_ptr<Run> run = start_run(server, Poisson{requests_per_s(20)}, seed, 1'000);
//   LatencyProfile soon = run->until(8'000);     // measured so far
//   LatencyProfile later = run->until(64'000);   // the same run, continued
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/arrivals.h"
#include "sim/quantiles.h"

namespace rightsize::sim {

struct RunLength {
  std::uint64_t requests = 200'000;  // a trace may end earlier
  std::uint64_t seed = 1;
};

// Times are nanoseconds. TTFT, TPOT, preemptions and tokens exist for continuous batching only.
struct LatencyProfile {
  std::uint64_t requests = 0;  // arrived
  std::uint64_t completed = 0, rejected = 0;
  std::uint64_t batches = 0;  // or steps of continuous batching
  std::uint64_t preemptions = 0;
  int largest_batch = 0;      // items, or sequences on a replica, warm-up included
  double mean_batch = 0;      // items, or sequences in a step
  StatisticValues latency{};  // end to end, of completed requests
  StatisticValues ttft{};     // time to first token
  StatisticValues tpot{};     // time per output token after the first
  Intervals interval, ttft_interval, tpot_interval;
  struct Kind {
    StatisticValues ttft{}, tpot{};
  };
  std::vector<Kind> kinds = {};  // by Arrival::kind, from 1
  TokensPerSecond output_rate;
  // Tokens of prompts that a prefix cache looked up, found in GPU memory, and loaded from the lower tier.
  std::uint64_t prompt_tokens = 0, hit_tokens = 0, loaded_tokens = 0;
  double longest = 0;            // latency of the slowest completed request
  double utilization = 0;        // share of executor time that is busy
  SimTime elapsed = 0;           // simulated time
  std::int64_t latency_sum = 0;  // over all requests; a rejected one counts until it was rejected
  std::int64_t presence = 0;     // time integral of the number of requests in the system; equals latency_sum

  // The share of prompt tokens that were not computed; empty without a prefix cache.
  std::optional<double> prefix_hit() const {
    if (prompt_tokens == 0) return std::nullopt;
    return static_cast<double>(hit_tokens + loaded_tokens) / static_cast<double>(prompt_tokens);
  }
};

class Run {
 public:
  // The first `warm_up` requests find the server emptier than it will be and are not measured.
  Run(const ArrivalProcess& arrivals, const RequestShape& shape, std::uint64_t seed, std::uint64_t warm_up)
      : warm_up_(warm_up), stream_(open_stream(arrivals, seed, shape)) {}
  virtual ~Run() = default;

  // Continues until this many requests have arrived in total, warm-up included. Requests in flight are measured up to
  // their current state. If a trace ends first, the run continues until its last request has completed.
  LatencyProfile until(std::uint64_t requests);
  // The same, and then lets every request complete. Ends the run.
  LatencyProfile to_the_end(std::uint64_t requests);

 protected:
  // Lets up to this many requests arrive and returns how many did; fewer: there are no more.
  virtual std::size_t feed(std::size_t wanted);

 private:
  virtual void arrive(std::span<const Arrival> arrivals) = 0;
  virtual void advance(SimTime until) = 0;  // handles every event up to and including that time
  virtual void start_measuring() = 0;       // discards the measurements so far
  virtual LatencyProfile measured() const = 0;

  std::uint64_t warm_up_, seen_ = 0;
  std::unique_ptr<ArrivalStream> stream_;
  bool ended_ = false;
};

}  // namespace rightsize::sim
