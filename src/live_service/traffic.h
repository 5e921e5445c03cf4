// A service's own traffic for the simulator: its busiest time as requests, with their lengths.
#pragma once

#include <memory>

#include "live_service/description.h"
#include "live_service/reading.h"
#include "sim/arrivals.h"

namespace rightsize::live_service {

// What if: the same service with other traffic.
struct WhatIf {
  double traffic = 1;       // times as many requests
  double isl = 1, osl = 1;  // times as long prompts and answers
  bool other_model = false;

  bool as_it_is() const { return traffic == 1 && isl == 1 && osl == 1 && !other_model; }
};

struct PeakTraffic {
  std::shared_ptr<const sim::Trace> trace;
  double requests_per_second = 0;  // mean over the trace
  double isl = 0, osl = 0;         // mean tokens of its requests; prompts without what the prefix cache holds
  bool lengths_assumed = false;    // no histogram: as far apart as usual (capacity::usual_variation)
};

// The busiest clock hour and, where it is another one, the hour of the busiest five minutes. Each step of the reading
// has as many requests as ended in it, at random times inside it; lengths are drawn from the histograms, evenly inside
// a bucket, then scaled to the measured mean. Short traffic is drawn several times over, very dense traffic is cut to
// its densest stretch: percentiles need thousands of requests, and more than tens of thousands tell nothing new.
// Nothing where the service has no requests or no lengths.
std::optional<PeakTraffic> peak_traffic(const ServiceReading& reading, const Description& description,
                                        const WhatIf& what_if = {}, std::uint64_t seed = 1);

}  // namespace rightsize::live_service
