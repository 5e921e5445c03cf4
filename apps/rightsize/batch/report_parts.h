// Words and numbers that all reports of `rightsize batch` share.
#pragma once

#include <string>

#include "base/format.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {

inline constexpr const char* kStatisticNames[] = {"mean", "p50", "p90", "p95", "p99"};

inline std::string shown(double ns) { return format_duration(seconds(ns * 1e-9)); }
inline double in_ms(double ns) { return ns * 1e-6; }
inline double in_ms(Seconds time) { return in_milliseconds(time); }
inline std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

report::Json json_of(const sim::StatisticValues& values);
void put_profile(report::Json& document, const BatchInput& input, const capacity::Assessment& run, double wall_seconds);

std::string rate_shown(const BatchInput& input);    // "20 requests/s"
std::string cut_sentence(const BatchInput& input);  // what of a trace is left out; empty: nothing
std::string gpus_shown(const BatchInput& input, const capacity::Configuration& configuration);
int gpu_count(const BatchInput& input, const capacity::Configuration& configuration);
const BatchOffer& first_offer(const BatchInput& input, const capacity::Configuration& configuration);
// Requests that run together at most.
std::int64_t most_together(const BatchInput& input, const capacity::Configuration& configuration);

// Where the times come from, when the speed model made them.
void add_fit(Outcome& outcome, const BatchInput& input);
// What --emit asks for, and for dynamic batching the document's triton_config.
void add_hand_over(Outcome& outcome, const BatchInput& input, const capacity::Configuration& configuration);

}  // namespace rightsize::app
