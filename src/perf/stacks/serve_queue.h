// How requests share a replica: what each waits for, in closed and open loops and with separate workers. Not for
// callers.
#pragma once

#include "perf/stacks/serve_replica.h"

namespace rightsize::perf {

struct Latency {
  Seconds ttft, tpot;
  Step step;
};

// With `running` requests that decode together and `waiting` ones in the queue of a closed loop, whose first prompts
// all come at once.
Latency latency_at(const Replica& r, const Prefill& prefill, double running, double waiting);

// The same of requests that arrive by themselves; whatever they wait for is open_loop()'s.
Latency arriving_at(const Replica& r, const Prefill& prefill, double running);

// Requests that arrive by themselves.
struct OpenLoop {
  double running = 0;
  double utilization = 0;
  bool stable = true;
  Seconds queue;
};
OpenLoop open_loop(const Replica& r, const Prefill& prefill, double rate);

// Separate workers for prompts and answers, `requests` in flight over all of them.
struct Separate {
  Latency latency;
  double running = 0;  // on one decode worker
  double requests_per_second = 0;
  bool full = false;  // the decode workers take no more
};
Separate separate_workers(const Replica& decode, const Prefill& prefill, const model::Disaggregated& workers,
                          double requests, Seconds transfer);

// The cache of one prompt, moved over the links of a machine or the network.
Seconds transfer_time(const Replica& decode, const model::Disaggregated& workers);

}  // namespace rightsize::perf
