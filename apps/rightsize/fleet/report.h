// A fleet's analysis for people and for scripts. All sentences of the command stand in report.cc.
#pragma once

#include "rightsize/fleet/read.h"

namespace rightsize::app {

report::Report fleet_report(const FleetResult& result, std::size_t top);
report::Json fleet_document(const FleetResult& result);   // of that report
report::Json fleet_timelines(const FleetResult& result);  // what each GPU did over time: --timeline

std::string next_step(diagnose::Verdict verdict);  // for waste that no action takes away
std::string time_text(TimePoint time);             // "2026-01-03T08:30Z"

}  // namespace rightsize::app
