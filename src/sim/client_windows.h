// The clients of ServeGen (github.com/alibaba/ServeGen, README "Data Structure", read 2026-11-18): rates over time,
// from which requests are drawn.
//
//   chunk-1-trace.csv      0,22.46,1.81,Gamma,0.305,0.146     every ten minutes, without a header: start in seconds,
//                                                             requests per second, coefficient of variation of the
//                                                             times between requests, their distribution, its shape
//                                                             and scale
//   chunk-1-dataset.json   {"0": {"input_tokens": "{110: 0.25, 200: 0.75}", "output_tokens": "{50: 1.0}"}}
//                                                             shares of lengths, by start
//
// The recorded rate counts: each row has its number of requests, and the distribution only spreads them.
#pragma once

#include <string>
#include <string_view>

#include "sim/arrivals.h"

namespace rightsize::sim {

// Whether a table is of this kind, by its first line.
bool is_client_windows(std::string_view first_line);
// Times are those of the rows. `lengths`: the text of the file with lengths; empty: they are unknown.
Checked<Trace> draw_client(const std::string& file, std::string_view text, const std::string& lengths);
// "chunk-1-trace.csv" -> "chunk-1-dataset.json"; empty for other names.
std::string lengths_file_of(const std::string& file);
// The requests of some clients in the order of time, from 0 on.
Trace merged(const std::string& file, std::vector<Trace> clients);

}  // namespace rightsize::sim
