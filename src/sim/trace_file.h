// Traces of any size: only their requests are kept.
#pragma once

#include "sim/arrivals.h"

namespace rightsize::sim {

// parse_trace() of a file, plain, gzip or zstd; "-" is standard input. `block_tokens`: the tokens in a recorded block
// hash; usually 512, or 16 in texts.
Checked<Trace> read_trace_file(const std::string& file, std::optional<std::int32_t> block_tokens = {});

}  // namespace rightsize::sim
