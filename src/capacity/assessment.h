// A configuration of replicas behind one router, and what a simulation found it to deliver.
#pragma once

#include <cstdint>
#include <vector>

#include "capacity/service.h"
#include "sim/simulate.h"

namespace rightsize::capacity {

// Alike replicas of a configuration.
struct Group {
  std::size_t replica = 0;  // index into the planner's replicas
  int count = 1;

  bool operator==(const Group&) const = default;
};

// Replicas behind one router, and the limits their servers run with.
struct Configuration {
  std::vector<Group> groups;
  sim::DynamicBatchConfig batching = {};  // batches
  int executors = 1;                      // batches: model instances on each GPU
  sim::ContinuousConfig engine = {};      // tokens
  double price = 0;                       // of all replicas, in whatever unit they are compared by

  int replicas() const;
};

// What a configuration delivers under a service's load.
struct Assessment {
  Configuration configuration;
  sim::LatencyProfile profile;          // whole requests
  sim::StatisticValues ttft{}, tpot{};  // tokens only; nanoseconds
  sim::Intervals ttft_interval, tpot_interval;
  std::vector<sim::ContinuousProfile::Kind> kinds = {};  // of a mix: sizes of request, each of which keeps the SLOs
  std::uint64_t steps = 0, preemptions = 0;
  double output_tokens_per_second = 0;
  double capacity = 0;  // requests a second at most, batches as full as limits and cache allow
  double load = 0;      // arrivals over capacity; 0 for a trace without a rate
  double busy = 0;      // share of time with work on the GPU, in the long run: the empty start and end are left out

  // Of a mix of sizes: of the size that waits longest.
  Seconds value(Quantity quantity, Statistic at) const;
  Seconds value(const Slo& slo) const { return value(slo.quantity, slo.at); }
  // The ends of the 95 % interval and half of what lies between them; NaN when the run was short.
  Seconds low(const Slo& slo) const;
  Seconds high(const Slo& slo) const;
  Seconds half_width(const Slo& slo) const { return (high(slo) - low(slo)) * 0.5; }
  double rejected_share() const;
  // The worst value over its limit; 0 without SLOs.
  double excess(const Service& service) const;
  // The same by the lower ends of what was seen: few answers make a tail that jumps.
  double least_excess(const Service& service) const;
  // And by the upper ends, which must lie within the limits.
  double most_excess(const Service& service) const;
  // Every SLO with the upper end of its interval, and not too many turned away.
  bool keeps(const Service& service) const;
};

// Whether the value of each SLO is known to this share of itself.
bool is_tight(const Assessment& a, const Service& service, double share);
// Known so well that a longer run is not worth its time: what keeps a limit only just is then refused, because the
// upper end of its interval lies beyond.
inline constexpr double kWellKnown = 0.03;

// What a run allows to say of all SLOs.
enum class Verdict { kKept, kBroken, kOpen };
Verdict verdict(const Assessment& a, const Service& service);

}  // namespace rightsize::capacity
