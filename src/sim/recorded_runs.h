// Requests as load generators record them: aiperf's profile_export.jsonl and GuideLLM's benchmarks.json.
//
//   {"metadata": {"request_start_ns": 1759813207532900363, ...}, "metrics": {"input_sequence_length": {"value": 550},
//   ...}}
//   {"benchmarks": [{"requests": {"successful": [{"start_time": 1.7e9, "prompt_tokens": 550, "output_tokens": 9}]}}]}
//
// Failed and cancelled requests and warm-ups are left out; requests are sorted by their start.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "sim/arrivals.h"

namespace rightsize::sim {

// Whether a text is such a record, by its beginning.
bool is_recorded_run(std::string_view beginning);
Checked<Trace> read_recorded_run(const std::string& file, ByteSource& source, std::string_view beginning);

}  // namespace rightsize::sim
