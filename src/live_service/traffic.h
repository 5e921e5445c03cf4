// The busiest time of a service as a trace of requests for the simulator.
#pragma once

#include <memory>

#include "live_service/description.h"
#include "live_service/reading.h"
#include "sim/arrivals.h"

namespace rightsize::live_service {

// The same service with other traffic.
struct WhatIf {
  double traffic = 1;       // factor on the request rate
  double isl = 1, osl = 1;  // factors on prompt and output lengths
  bool other_model = false;

  bool as_it_is() const { return traffic == 1 && isl == 1 && osl == 1 && !other_model; }
};

struct PeakTraffic {
  std::shared_ptr<const sim::Trace> trace;
  double requests_per_second = 0;  // mean over the trace
  double isl = 0, osl = 0;         // mean tokens per request; prompts without cached prefixes
  bool lengths_assumed = false;    // no histogram; capacity::usual_variation() is used
};

// The busiest clock hour and, if it is a different one, the hour of the busiest five minutes. Each step has as many
// requests as finished in that step of the reading, at random times; lengths are drawn from the histograms and scaled
// to the measured mean. Sparse traffic is repeated and dense traffic is cut to its densest stretch, because percentiles
// need thousands of requests and tens of thousands add nothing. Empty if the service has no requests or no lengths.
std::optional<PeakTraffic> peak_traffic(const ServiceReading& reading, const Description& description,
                                        const WhatIf& what_if = {}, std::uint64_t seed = 1);

}  // namespace rightsize::live_service
