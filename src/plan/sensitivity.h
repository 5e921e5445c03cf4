// What would make a service faster: the limit that it uses most, with a GPU that has more arithmetic or more bandwidth.
#pragma once

#include "plan/search.h"

namespace rightsize::plan {

// The formulas for separate workers need the number of requests in flight, which the simulation has counted.
Result<perf::ServeEstimate> estimate_service(const perf::Constants& constants, const perf::ModelWork& work,
                                             const Request& request, const Deployment& d, const MachineClass& machines);

// How much shorter the tightest limit becomes, as a share of it, with `kFaster` times the FLOP/s and with as much more
// bandwidth: TTFT, TPOT, latency or the load of the replicas; without limits the time per output token.
struct Sensitivity {
  double arithmetic = 0, memory = 0;
};
inline constexpr double kFaster = 1.2;
Sensitivity sensitivity_of(const perf::Constants& constants, const perf::ModelWork& work, const Request& request,
                           const Deployment& d, const MachineClass& machines);

}  // namespace rightsize::plan
