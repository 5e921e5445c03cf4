// The simulator of a batching server: arrivals + batch times + a policy -> latencies. The room's front door.
//
//   ServiceTimes times = tabulate(TableTime(rows, true), 32);
//   Server server{.gpus = {{times}}, .batching = {.max_batch = 32, .max_delay = to_sim_time(milliseconds(5))}};
//   LatencyProfile profile = *simulate(server, Poisson{requests_per_s(1000)}, {.requests = 200'000, .seed = 1});
//
// Discrete events in whole nanoseconds; the same seed gives the same result on every machine. Memory does not depend on
// the number of requests. The run begins empty and ends when the last request has left, so that the sum of all
// latencies equals the time integral of the number of requests present (Little's law, to the nanosecond).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/arrivals.h"
#include "sim/batch_time.h"
#include "sim/dynamic_batching.h"
#include "sim/quantiles.h"

namespace rightsize::sim {

// One GPU with its own waiting line (one replica of the server). Executors are Triton's model instances: each runs one
// batch at a time. `overlap` says how far they hinder one another: with k busy, each runs at 1 / (1 + (k-1)(1-overlap))
// of its speed, so 0 shares the GPU evenly and 1 is as good as separate GPUs. `count`: so many that are alike.
struct GpuReplica {
  ServiceTimes times = {};
  int executors = 1;
  double overlap = 0;
  int count = 1;
};

// Replicas may differ. A request goes to the one with the least work waiting and running, in time to serve it; of
// equals to any (router.h).
struct Server {
  std::vector<GpuReplica> gpus = {};
  DynamicBatchConfig batching = {};
  QueuePolicy queue = {};
  std::vector<double> priorities = {};  // share of requests of each level, the first served first; empty: one level
};

struct RunLength {
  std::uint64_t requests = 200'000;  // a trace may end earlier
  std::uint64_t seed = 1;
  // When above 0: stop as soon as the 95 % interval of `watched` is within this share of it.
  double tight_enough = 0;
  Statistic watched = Statistic::kP99;
};

struct LatencyProfile {
  std::uint64_t requests = 0;  // that arrived
  std::uint64_t completed = 0, rejected = 0, batches = 0;
  int largest_batch = 0;         // items; of dynamic batching
  StatisticValues latency{};     // nanoseconds, of completed requests
  Intervals interval;            // 95 %; NaN for a short run
  double longest = 0;            // nanoseconds, of all completed requests
  double mean_batch = 0;         // items
  double utilization = 0;        // share of executor time that is busy
  SimTime elapsed = 0;           // simulated
  std::int64_t latency_sum = 0;  // over all requests, those rejected until they were
  std::int64_t presence = 0;     // time integral of the number of requests present; equals latency_sum
  bool tight = false;            // stopped because the interval was tight enough
};

// Requests (items) the server can do when every batch is as large as allowed. At or above it the queue grows
// without end.
RequestsPerSecond capacity(const Server& server);
// Whether it falls behind for good: the rate is at or above capacity and no limit or timeout sheds requests.
bool overloads(const Server& server, const ArrivalProcess& arrivals);

// A run that can be looked at and gone on with. Looking changes nothing of what is seen later.
class BatchRun {
 public:
  // `warm_up`: so many requests find a server that is emptier than it will be, and are not counted.
  BatchRun(const Server& server, const ArrivalProcess& arrivals, std::uint64_t seed, std::uint64_t warm_up = 0);
  BatchRun(BatchRun&&) noexcept;
  ~BatchRun();

  // Goes on until so many requests have arrived in all; those on their way are not completed yet. Where a trace ends
  // before, until its last request has left.
  LatencyProfile until(std::uint64_t requests);
  // And until the last of them has left. Nothing more can be asked then.
  LatencyProfile to_the_end(const RunLength& length);

  class Engine;

 private:
  std::unique_ptr<Engine> engine_;
};

// Nothing where the arrivals overload the server: such a run has no steady state and is not begun.
std::optional<LatencyProfile> simulate(const Server& server, const ArrivalProcess& arrivals, const RunLength& length);

// The same without the check, for overload on purpose. Ends because the number of requests does.
LatencyProfile simulate_anyway(const Server& server, const ArrivalProcess& arrivals, const RunLength& length);

}  // namespace rightsize::sim
