// Reads the traffic of a service: varying lengths, recorded traffic, rates by hour.
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

// Takes the distribution of the lengths out of the settings `isl` and `osl`; the mean stays there for the
// job.
struct Lengths {
  std::optional<capacity::Length> isl = {}, osl = {};
};
Errors take_lengths(std::vector<model::Setting>& job_settings, Lengths& lengths);
// Sets how far lengths vary, without mix and trace: as given, else as in public traces.
void set_lengths(Request& request, const Lengths& lengths);

// "1024:256=0.7,8192:512=0.3": tokens in and out of each request size and its share; shares are normalized.
Result<std::vector<capacity::RequestSize>> parse_mix(const std::string& text);

// Times and tokens of requests (for the columns, see sim::parse_trace()). Fails on a trace without tokens or without a
// rate.
Checked<std::shared_ptr<const sim::Trace>> read_trace(const std::string& file);

// Columns hour (from 0) and rate ("20/s", or requests per second): 24 rows of a day or 168 of a week. In requests per
// second.
Checked<std::vector<double>> read_rate_profile(const std::string& file);

}  // namespace rightsize::plan
