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

// ---- The scalers of LLM platforms, which make_scaler() uses ----

// Knative's autoscaler (KPA): the mean of the requests in flight over a stable window, every 2 s. While the mean over a
// short window calls for `panic` times the ready replicas, that window decides, and nothing is removed until a stable
// window has passed. At most half of the replicas are removed at a time; to zero after the grace period.
std::unique_ptr<Scaler> make_knative(const Policy& policy);

// Dynamo's planner in its throughput mode: predicts the requests of the next interval and divides by the capacity of a
// replica within the SLO.
std::unique_ptr<Scaler> make_dynamo(const Policy& policy);

// llm-d's variant autoscaler on saturation: adds a replica if the unsaturated replicas have little spare cache or queue
// on average and none is starting; removes one if the others would keep enough spare capacity.
std::unique_ptr<Scaler> make_variant(const Policy& policy);

// SkyServe on requests per second over the last minute; a change must be wanted during the whole delay.
std::unique_ptr<Scaler> make_skyserve(const Policy& policy);

// ---- Prediction ----

// The requests of the next interval from those of earlier ones, the latest last. Never negative.
double last_value(const std::vector<double>& counts);
// Damped trend of the differences over the last hour or so, as ARIMA(1,1,0) fits it by least squares.
double trend(const std::vector<double>& counts);
// The interval one season ago, scaled by the ratio of the last intervals to theirs; the trend during the first season.
double seasonal(const std::vector<double>& counts, std::size_t season);

}  // namespace rightsize::autoscale
