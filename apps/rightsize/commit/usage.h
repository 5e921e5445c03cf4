// How many GPUs run over time, from what a user has: a table, a fleet report, or a stated base.
#pragma once

#include <string>

#include "base/result.h"
#include "market/commitment.h"

namespace rightsize::app {

struct Usage {
  std::vector<double> gpus;  // in use, at equal steps
  std::string said;          // where it comes from, for the report
};

// A CSV with a column gpus (in use, one row a step), or gpu_hours of rows that are one `hour` or one `date` each; or
// the JSON of `rightsize fleet`, whose GPU-hours are taken as even over its window.
Checked<Usage> read_usage(const std::string& path);

// "8": eight all the time. "8,peak=20,share=0.3": twenty during 30 % of the time.
Result<Usage> parse_base(const std::string& text);

}  // namespace rightsize::app
