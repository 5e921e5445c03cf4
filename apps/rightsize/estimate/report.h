// Speed estimates as sentences, tables and JSON.
#pragma once

#include <string_view>
#include <variant>

#include "rightsize/input/speed_input.h"

namespace rightsize::app {

// Headline, parts, notes and the JSON document of one estimate.
report::Report report_of(const SpeedInput& input, const SpeedEstimate& estimate);

// A job that cannot run as asked.
report::Report infeasible_report(const SpeedInput& input, const Error& reason);

// The JSON documents of these reports alone.
Json document_of(const SpeedInput& input, const SpeedEstimate& estimate);
Json infeasible_document(const SpeedInput& input, const Error& reason);

// Takes the members of a document in their order. Of a loop's hundred thousand estimates people read the numbers: they
// go from the estimate to the caller's own form, without a Json between.
class Members {
 public:
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string_view>;

  Members() = default;
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  virtual ~Members() = default;
  virtual void add(std::string_view name, Value value) = 0;
  // Lists and objects; where it gives nullptr they are left out.
  virtual Json* whole() { return nullptr; }
};
void write_members(const SpeedInput& input, const SpeedEstimate& estimate, Members& members);

// Where the operations of the job stand under the GPU's roofline.
void add_roofline(report::Report& report, const SpeedInput& input);

// One row for each value of a swept setting.
struct SweepRow {
  std::string value;
  Result<SpeedEstimate> estimate;
};
void add_sweep(report::Report& report, const std::string& setting, const std::vector<SweepRow>& rows);

}  // namespace rightsize::app
