// A decision about autoscaling and what a running service's metrics say about it.
#pragma once

#include <vector>

#include "decisions/evidence.h"
#include "live_service/description.h"

namespace rightsize::app {

// Whether the decision predicts the share of requests over the SLO.
bool is_scaling(const decisions::Decision& decision);

// The share of requests over the decision's limits, and GPU-hours per day, over the whole window. A share is the
// largest of those over one limit: histograms do not say which requests exceed several. What is unpublished is missing.
std::vector<decisions::MeasuredValue> measured_scaling(const decisions::Decision& decision,
                                                       const live_service::ServiceReading& reading,
                                                       const std::string& source);

// The service of a decision: the only one, or the one whose name contains that of the workload; nullptr: neither.
const live_service::ServiceReading* service_of(const decisions::Decision& decision,
                                               const std::vector<live_service::ServiceReading>& services);

}  // namespace rightsize::app
