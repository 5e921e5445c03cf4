// Traces of any size: a table is read in parts, and only its requests are kept.
#pragma once

#include "sim/arrivals.h"

namespace rightsize::sim {

// parse_trace() of a file, plain, gzip or zstd; "-" is standard input.
Checked<Trace> read_trace_file(const std::string& file);

}  // namespace rightsize::sim
