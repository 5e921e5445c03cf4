// What arrives at a service, as a user describes it: lengths that vary, recorded traffic, rates by hour.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capacity/service.h"
#include "model/job.h"
#include "plan/request.h"
#include "sim/arrivals.h"

namespace rightsize::plan {

// How long requests are, taken out of the settings `isl` and `osl`; what is left there is the mean, which the job
// reads.
struct Lengths {
  std::optional<capacity::Length> isl = {}, osl = {};
};
Errors take_lengths(std::vector<model::Setting>& job_settings, Lengths& lengths);
// How far they vary, where neither a mix nor a trace says it: as given, else as usual.
void set_lengths(Request& request, const Lengths& lengths);

// "1024:256=0.7,8192:512=0.3": tokens in and out of each size of request, with its share; shares are made to sum to 1.
Result<std::vector<capacity::RequestSize>> parse_mix(const std::string& text);

// Times and tokens of requests (sim::parse_trace() has the columns). Fails on a trace without tokens or too short to
// have a rate.
Checked<std::shared_ptr<const sim::Trace>> read_trace(const std::string& file);

// Columns hour (from 0) and rate ("20/s", or a number a second): 24 rows of a day or 168 of a week. Requests per
// second.
Checked<std::vector<double>> read_rate_profile(const std::string& file);

}  // namespace rightsize::plan
