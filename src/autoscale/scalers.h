// The scalers of LLM platforms. Internal to the module; scaler.h makes them.
#pragma once

#include <memory>

#include "autoscale/scaler.h"

namespace rightsize::autoscale {

// Knative's autoscaler (KPA): the mean of the requests in flight over a stable window, every 2 s. While the mean over a
// short window asks for `panic` times the ready replicas, that one decides, and nothing is removed until a stable
// window later. At most half of the replicas are removed at a time; to zero after the grace period.
std::unique_ptr<Scaler> make_knative(const Policy& policy);

// Dynamo's planner in its throughput mode: predicts the requests of the next interval and divides by what a replica
// takes within the SLO.
std::unique_ptr<Scaler> make_dynamo(const Policy& policy);

// llm-d's variant autoscaler on saturation: a replica is added if the replicas that are not saturated have little room
// on average in cache or queue, and none is starting; one is removed if the others would keep enough room.
std::unique_ptr<Scaler> make_variant(const Policy& policy);

// SkyServe on requests per second over the last minute; a change must be asked for during the whole delay.
std::unique_ptr<Scaler> make_skyserve(const Policy& policy);

// ---- Prediction ----

// The requests of the next interval from those of earlier ones, the latest last. Never negative.
double last_value(const std::vector<double>& counts);
// Damped trend of the differences over the last hour or so, as ARIMA(1,1,0) fits it by least squares.
double trend(const std::vector<double>& counts);
// The interval one season ago, scaled by how the last intervals compare with theirs; the trend during the first season.
double seasonal(const std::vector<double>& counts, std::size_t season);

}  // namespace rightsize::autoscale
