// How long requests wait while they share one copy of the model: closed loop, open loop (perf/open_loop.h) and separate
// workers. Internal to perf.
#pragma once

#include "perf/open_loop.h"
#include "perf/stacks/serve_replica.h"

namespace rightsize::perf {

struct Latency {
  Seconds ttft, tpot;
  Step step;
  double running = 0;
};

// Decode steps that pass before the scheduler starts on a new request, on average.
double steps_before(const EngineCopy& r, double running);

// A closed loop with `running` requests that decode together and `waiting` ones in the queue.
Latency latency_at(const EngineCopy& r, const Prefill& prefill, double running, double waiting);

// Requests that arrive independently, without the wait that open_loop() adds.
Latency arriving_at(const EngineCopy& r, const Prefill& prefill, double running);

// Requests that arrive independently, at `rate` per second. `last` is the latency that it computed last.
OpenLoop open_loop(const EngineCopy& r, const Prefill& prefill, double rate, Latency& last);

// Separate prefill and decode workers with `requests` in flight over all of them.
struct Separate {
  Latency latency;
  double running = 0;  // on one decode worker
  double requests_per_second = 0;
  bool full = false;  // every decode slot is taken
};
Separate separate_workers(const EngineCopy& decode, const Prefill& prefill, const model::Disaggregated& workers,
                          double requests, Seconds transfer);

// Time to send the cache of one prompt over the links of a machine or the network.
Seconds transfer_time(const EngineCopy& decode, const model::Disaggregated& workers);

}  // namespace rightsize::perf
