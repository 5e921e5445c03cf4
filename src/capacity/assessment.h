// A configuration of replicas behind one router, and its simulated performance.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "capacity/service.h"
#include "sim/simulate.h"

namespace rightsize::capacity {

// Identical replicas of a configuration.
struct ReplicaGroup {
  std::size_t replica = 0;  // index into the planner's replicas
  int count = 1;

  auto operator<=>(const ReplicaGroup&) const = default;
};

// Replicas behind one router, and the limits their servers run with.
struct Configuration {
  std::vector<ReplicaGroup> groups;
  sim::DynamicBatchConfig batching = {};  // batch models
  int executors = 1;                      // batch models: model instances on each GPU
  int together = 1;                       // replicas that a failure takes at once: those of a machine
  sim::ContinuousConfig engine = {};      // language models
  double price = 0;                       // of all replicas, in any unit that compares them

  int replicas() const;
};

// The performance of a configuration under a service's load.
struct Assessment {
  Configuration configuration;
  sim::LatencyProfile profile;
  double capacity = 0;  // requests per second with batches as large as limits and cache allow
  double load = 0;      // arrival rate over capacity; 0 for a trace without a rate
  bool replay = false;  // of a recording: percentiles are exact; intervals are for other days
  double busy = 0;      // long-run share of time with work on the GPU, without the empty start and end of the run
  // By quantity: the upper ends that met the SLOs, the larger of two runs; 0 without an SLO.
  std::array<Seconds, 3> confirmed = {};

  // In a mix of request sizes, the value of the slowest size.
  Seconds value(Quantity quantity, Statistic at) const;
  Seconds value(const Slo& slo) const { return value(slo.quantity, slo.at); }
  // What decided about the SLO on this quantity; without one, its value.
  Seconds tested(Quantity quantity, Statistic at) const;
  // The ends of the 95 % confidence interval, NaN after a short run.
  Seconds low(const Slo& slo) const;
  Seconds high(const Slo& slo) const;
  Seconds half_width(const Slo& slo) const { return (high(slo) - low(slo)) * 0.5; }
  double rejected_share() const;
  // The value moved by this many distances to the end of its interval: 1 gives the upper end, -1 the lower end. An
  // unknown interval has no width.
  Seconds moved(const Slo& slo, double widths) const;
  // The largest ratio of a moved value to its limit, 0 without SLOs.
  double excess(const Service& service, double widths = 0) const;
  // With a prefix cache: whether the load, given the hits of the run, is within the service's limits, even after the
  // loss of a replica. Without one, Planner::bound() has checked that.
  bool within_load(const Service& service) const;
  // Whether every SLO holds with the upper end of its interval, and not too many requests are rejected.
  bool keeps(const Service& service) const;
  // Records the upper ends of this run and of another one with the same configuration.
  void confirm(const Service& service, const Assessment& other);
  // Whether the half width of every interval is at most this share of its value.
  bool is_tight(const Service& service, double share) const;
};

}  // namespace rightsize::capacity
