// Speed estimates as sentences, tables and JSON.
#pragma once

#include "rightsize/input/speed_input.h"

namespace rightsize::app {

// Headline, parts, notes and the JSON document of one estimate.
report::Report report_of(const SpeedInput& input, const SpeedEstimate& estimate);

// A job that cannot run as asked.
report::Report infeasible_report(const SpeedInput& input, const Error& reason);

// The JSON documents of these reports alone. Of a loop's hundred thousand estimates people read the numbers: kNumbers
// leaves out lists and objects.
enum class Detail { kNumbers, kAll };
Json document_of(const SpeedInput& input, const SpeedEstimate& estimate, Detail detail = Detail::kAll);
Json infeasible_document(const SpeedInput& input, const Error& reason);

// Where the operations of the job stand under the GPU's roofline.
void add_roofline(report::Report& report, const SpeedInput& input);

// One row for each value of a swept setting.
struct SweepRow {
  std::string value;
  Result<SpeedEstimate> estimate;
};
void add_sweep(report::Report& report, const std::string& setting, const std::vector<SweepRow>& rows);

}  // namespace rightsize::app
