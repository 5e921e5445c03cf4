// The part of a recorded trace that a service is sized for.
//
// A recording of a day has its busiest hour somewhere. Replicas are chosen to meet the SLOs in that hour; the whole
// recording is then replayed to verify the choice.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/arrivals.h"

namespace rightsize::capacity {

// The densest stretch of `most` requests within the busiest hour (by tokens), preceded by a few minutes of requests as
// warm-up. The trace itself if it is not longer than that.
std::shared_ptr<const sim::Trace> busiest_part(const std::shared_ptr<const sim::Trace>& trace, std::uint64_t most);

// The same part for every caller with the same trace, which lets planners share simulations.
std::shared_ptr<const sim::Trace> busiest_part_of(const sim::ArrivalProcess& arrivals, std::uint64_t most);

// Whether arrivals are a recording (with an exact replay) rather than generated.
bool is_recorded(const sim::ArrivalProcess& arrivals);

}  // namespace rightsize::capacity
