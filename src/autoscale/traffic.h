// Streams of requests, the same for every policy.
#pragma once

#include "autoscale/cluster.h"

namespace rightsize::autoscale {

// A process of the simulator up to `horizon`. Equal seeds give equal streams.
Traffic replay(const sim::ArrivalProcess& process, const sim::RequestShape& shape, std::uint64_t seed, SimTime horizon);

// Independent requests with a constant rate (per second) within each slot of this width; the slots repeat until
// `horizon`.
Traffic by_slots(std::vector<double> rates, SimTime width, const sim::RequestShape& shape, std::uint64_t seed,
                 SimTime horizon);

// The requests of the same traffic between two times, at those times.
Traffic part(Traffic traffic, SimTime from, SimTime to);

// The demand of a stream per slot: requests and tokens.
struct Demand {
  double requests = 0, prompt_tokens = 0, output_tokens = 0;
};
struct DemandSeries {
  SimTime width = 0;
  std::vector<Demand> slots;
  Demand total = {};

  double mean_prompt() const { return total.requests > 0 ? total.prompt_tokens / total.requests : 0; }
  double mean_output() const { return total.requests > 0 ? total.output_tokens / total.requests : 0; }
};
DemandSeries demand_of(const Traffic& traffic, SimTime width);

// The demand of a day with the same statistics, drawn by slot and not by request: at any rate, a day takes about a
// millisecond. All requests have the mean lengths.
DemandSeries drawn_demand(const sim::Diurnal& process, const sim::RequestShape& shape, std::uint64_t seed,
                          SimTime horizon, SimTime width);

}  // namespace rightsize::autoscale
