// What queueing theory says in closed form: references for the simulator's tests, and bounds that spare the search a
// simulation. Every function wants a stable queue (load below 1).
#pragma once

#include "sim/simulate.h"

namespace rightsize::sim {

// M/M/1: mean time in the system, 1 / (service rate - arrival rate).
Seconds mm1_mean_sojourn(RequestsPerSecond arrivals, Seconds mean_service);
// M/M/1: time in the system is exponential, so its quantile is -ln(1-q) times the mean.
Seconds mm1_sojourn_quantile(RequestsPerSecond arrivals, Seconds mean_service, double q);
// M/D/1 (Pollaczek-Khinchine): mean wait = load * service / (2 (1 - load)).
Seconds md1_mean_wait(RequestsPerSecond arrivals, Seconds service);
// M/D/c (Crommelin 1932): mean wait as a series over Poisson tails; exact to 1e-9.
Seconds mdc_mean_wait(RequestsPerSecond arrivals, Seconds service, int servers);

// No setting of this server can have a lower value of the statistic. Infinite at or above capacity. The mean is bounded
// by batch service (enough throughput needs large batches, whose time their requests wait out), and without batching by
// M/D/1. A quantile is bounded by the shortest batch time.
Seconds latency_lower_bound(const Server& server, const ArrivalProcess& arrivals, Statistic statistic);

}  // namespace rightsize::sim
