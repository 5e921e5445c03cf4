// Measures a decision about autoscaling with the metrics of a running service.
#pragma once

#include <vector>

#include "decisions/evidence.h"
#include "live_service/description.h"

namespace rightsize::app {

// Whether the decision predicts the share of requests over the SLO.
bool is_scaling(const decisions::Decision& decision);

// The share of requests over the decision's limits, and GPU-hours per day, over the whole window. With several limits,
// the share is the largest over any one of them: histograms do not show which requests exceed more than one. Metrics
// that the service does not publish are omitted.
std::vector<decisions::MeasuredValue> measured_scaling(const decisions::Decision& decision,
                                                       const live_service::ServiceReading& reading,
                                                       const std::string& source);

// The service of a decision: the only one, or the one with the workload's name in its name; otherwise nullptr.
const live_service::ServiceReading* service_of(const decisions::Decision& decision,
                                               const std::vector<live_service::ServiceReading>& services);

}  // namespace rightsize::app
