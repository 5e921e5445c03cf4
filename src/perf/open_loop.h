// Mean latencies of a served engine in steady state: the only analytic queueing model in the program.
//
// `estimate --rate` evaluates it on the detailed step model (perf/stacks/serve_queue.cc), the capacity planner on the
// simulator's linear fit of that model (capacity/screen.cc). A property test bounds the difference to the simulator
// (capacity/screen_test.cc).
#pragma once

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace rightsize::perf {

// Mean wait in an M/G/1 queue (Pollaczek and Khinchine); `variation` is the coefficient of variation of the service
// time.
inline Seconds mg1_wait(Seconds service, double utilization, double variation = 0) {
  return service * (utilization * (1 + variation * variation) / (2 * (1 - utilization)));
}

// The batch between 1 and `most`, where the increasing function `served` is `served_most`, at which it reaches `rate`:
// the Illinois method in logarithms (Dowell and Jarratt 1971, BIT 11), to a few parts in ten thousand.
template <typename Served>
double batch_that_serves(const Served& served, double rate, double most, double served_most) {
  double low = 0, high = std::log(most);
  double below = std::log(served(1.0) / rate), above = std::log(served_most / rate);
  if (below >= 0) return 1;
  int side = 0;
  for (int i = 0; i < 16 && high - low > 3e-4; ++i) {
    const double at = high - above * (high - low) / (above - below);
    const double value = std::log(served(std::exp(at)) / rate);
    if (std::abs(value) < 1e-4) return std::exp(at);
    if (value < 0) {
      low = at, below = value;
      if (side < 0) above /= 2;
      side = -1;
    } else {
      high = at, above = value;
      if (side > 0) below /= 2;
      side = 1;
    }
  }
  return std::exp(high);
}

// Requests that arrive independently at one replica.
struct OpenLoad {
  double rate = 0;           // requests per second
  double most_running = 1;   // limit on running requests
  double output = 1;         // mean output tokens
  Seconds prompt;            // mean time to process a prompt
  double other_station = 0;  // utilization of any other resource that every request uses
};

struct OpenLoop {
  double running = 0;      // mean number of running requests
  double utilization = 0;  // of the busiest resource
  bool stable = true;      // false: the queue grows without bound
  Seconds queue;           // mean wait behind other prompts
};

// `latency_at(running)` returns an object with the mean `ttft` and `tpot` while that many requests run, without
// queueing. Little's law gives the number of running requests: the rate times their time in the system. Poisson
// arrivals make a new prompt wait for others as in an M/G/1 queue.
template <typename LatencyAt>
OpenLoop open_loop(const LatencyAt& latency_at, const OpenLoad& load) {
  const auto served = [&](double running) {
    const auto l = latency_at(running);
    return running / in_seconds(l.ttft + l.tpot * load.output);
  };
  OpenLoop loop;
  const double busy = load.rate * in_seconds(load.prompt), most = served(load.most_running);
  loop.utilization = std::max({load.rate / most, busy, load.other_station});
  loop.stable = loop.utilization < 1;
  loop.running = loop.stable ? batch_that_serves(served, load.rate, load.most_running, most) : load.most_running;
  if (loop.stable) loop.queue = mg1_wait(load.prompt, busy);
  return loop;
}

}  // namespace rightsize::perf
