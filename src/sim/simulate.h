// The simulator of a batching server: computes latencies from arrivals, batch times and a policy. Start reading here.
//
//   ServiceTimes times = tabulate(TableTime(rows, true), 32);
//   Server server{.gpus = {{times}}, .batching = {.max_batch = 32, .max_delay = to_sim_time(milliseconds(5))}};
//   LatencyProfile profile = *simulate(server, Poisson{requests_per_s(1000)}, {.requests = 200'000, .seed = 1});
//
// Discrete events in whole nanoseconds; the same seed gives the same result on every machine. Memory use does not
// depend on the number of requests. A run begins empty and ends when the last request has left, so the sum of all
// latencies equals the time integral of the number of requests in the system (Little's law, to the nanosecond).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/batch_time.h"
#include "sim/dynamic_batching.h"
#include "sim/run.h"

namespace rightsize::sim {

// `count` identical GPUs, each with its own queue. Executors are Triton's model instances: each runs one batch at a
// time. With k of them busy, each runs at 1 / (1 + (k-1)(1-overlap)) of its speed: overlap 0 shares the GPU evenly, 1
// is as good as separate GPUs.
struct GpuPool {
  ServiceTimes times = {};
  int executors = 1;
  double overlap = 0;
  int count = 1;

  RequestsPerSecond capacity(int max_batch) const;
};

// Pools may differ. A request goes to the GPU with the least outstanding work, measured in time; ties are broken at
// random (router.h).
struct Server {
  std::vector<GpuPool> gpus = {};
  DynamicBatchConfig batching = {};
  QueuePolicy queue = {};
  std::vector<double> priorities = {};  // share of requests per level, highest first; empty: one level
};

// Throughput with every batch as large as allowed. At or above this rate the queue grows without bound.
RequestsPerSecond capacity(const Server& server);
// Whether the rate is at or above capacity and no queue limit or timeout sheds requests.
bool overloads(const Server& server, const ArrivalProcess& arrivals);

std::unique_ptr<Run> start_run(const Server& server, const ArrivalProcess& arrivals, std::uint64_t seed,
                               std::uint64_t warm_up = 0);

// Empty if the arrivals overload the server: such a run has no steady state.
std::optional<LatencyProfile> simulate(const Server& server, const ArrivalProcess& arrivals, const RunLength& length);

}  // namespace rightsize::sim
