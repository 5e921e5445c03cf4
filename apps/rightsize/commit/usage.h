// How many GPUs run over time: from a table, a fleet report or a stated number.
#pragma once

#include <string>

#include "base/result.h"
#include "market/commitment.h"

namespace rightsize::app {

struct Usage {
  std::vector<double> gpus;  // in use, at equal steps
  std::string source;        // for the report
};

// A CSV with a column gpus (in use, one row per step), or gpu_hours with one row per `hour` or `date`; or the JSON of
// `rightsize fleet`, whose GPU-hours are spread evenly over its window.
Checked<Usage> read_usage(const std::string& path);

// "8": eight all the time. "8,peak=20,share=0.3": twenty during 30 % of the time.
Result<Usage> parse_base(const std::string& text);

}  // namespace rightsize::app
