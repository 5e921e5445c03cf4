// What arrives at a service, as a user describes it: lengths that vary, recorded traffic, rates by hour.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "plan/request.h"
#include "serving/service.h"
#include "sim/arrivals.h"

namespace rightsize::plan {

// "1k,p95=8k": half of all requests are shorter than the first, one in twenty longer than the second. Also p90, p99.
Result<serving::LengthSpread> parse_spread(const std::string& text);

// Lengths that vary, taken out of the settings `isl` and `osl`; what is left there is the median, which the job reads.
struct Spreads {
  std::optional<serving::LengthSpread> isl = {}, osl = {};
  bool given() const { return isl || osl; }
};
Errors take_spreads(std::vector<model::Setting>& job_settings, Spreads& spreads);
// As the sizes of the request's work.
void set_spread(Request& request, const Spreads& spreads);

// "1024:256=0.7,8192:512=0.3": tokens in and out of each size of request, with its share; shares are made to sum to 1.
Result<std::vector<serving::RequestSize>> parse_mix(const std::string& text);

// Times and tokens of requests (sim::parse_trace() has the columns). Fails on a trace without tokens or too short to
// have a rate.
Checked<std::shared_ptr<const sim::Trace>> read_trace(const std::string& file);

// Columns hour (from 0) and rate ("20/s", or a number a second): 24 rows of a day or 168 of a week. Requests per
// second.
Checked<std::vector<double>> read_rate_profile(const std::string& file);

}  // namespace rightsize::plan
