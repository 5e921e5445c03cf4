// A fleet's analysis for people and for scripts.
#pragma once

#include "rightsize/fleet/read.h"

namespace rightsize::app {

// `top`: rows of each table shown as text.
report::Report fleet_report(const FleetResult& result, std::size_t top);
report::Json fleet_document(const FleetResult& result);

std::string next_step(diagnose::Verdict verdict);  // for waste that no action removes
std::string time_text(TimePoint time);             // "2026-01-03T08:30Z"

}  // namespace rightsize::app
