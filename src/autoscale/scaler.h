// A running policy: what it observes, when it decides and how many replicas it wants.
#pragma once

#include <memory>
#include <vector>

#include "autoscale/policy.h"

namespace rightsize::autoscale {

// One ready replica as a metrics server sees it.
struct ReplicaLoad {
  double cache_use = 0;  // 0-1
  double waiting = 0;    // requests
};

// The service at the moment of a decision.
struct Seen {
  SimTime now = 0;
  double in_flight = 0;  // requests sent and not answered, at replicas and at the router
  double waiting = 0;    // of those, not started
  double cache_use = 0;  // summed over replicas
  double arrived = 0;    // requests since the start
  int wanted = 0;        // replicas that are starting or ready
  int ready = 0;
  std::vector<ReplicaLoad> loads = {};  // of ready replicas, for policies that need them
};

class Scaler {
 public:
  virtual ~Scaler() = default;
  // When it decides next; kNever: not again.
  virtual SimTime next() const = 0;
  // The replicas it wants from now on. Called at the time of next(), which then advances.
  virtual int decide(const Seen& seen) = 0;
  virtual bool needs_loads() const { return false; }
};

std::unique_ptr<Scaler> make_scaler(const Policy& policy);

// Replicas of a plan at a time: the larger of the slots now and `lead` from now.
int planned(const Policy& policy, SimTime now);

}  // namespace rightsize::autoscale
