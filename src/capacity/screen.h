// Formulas that screen before anything is simulated: means of a queue in balance, and what an idle replica takes. They
// decide what is looked at first, never what is shown.
#pragma once

#include "capacity/replica.h"
#include "capacity/service.h"

namespace rightsize::capacity {

// The least an SLO's statistic can be: a replica that does nothing else, a prompt as long as its percentile. Of a trace
// nothing is assumed about lengths.
Seconds unloaded(const Service& service, const Replica& replica, const Slo& slo);

// Sequences that run at once on a replica at a rate (requests a second), by Little's law.
double running_at(const Service& service, const Replica& replica, const sim::ContinuousConfig& engine, double rate);

// The rate up to which means stay within the SLOs and the load within max_load; 0: not even an idle replica keeps them.
// `lengths` instead of the service's, where one size of request is of interest.
double screened_rate(const Service& service, const Replica& replica, const sim::RequestShape& lengths);
double screened_rate(const Service& service, const Replica& replica);

// Mean time of a whole request at a rate.
Seconds screened_latency(const Service& service, const Replica& replica, double rate);

}  // namespace rightsize::capacity
