// Changes of GPU requests as a comment on a pull request, a table and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "manifests/compare.h"
#include "report/report.h"
#include "rightsize/diff/fit.h"

namespace rightsize::app {

struct DiffTotals {
  UsdPerSecond before, after;
  std::size_t changes = 0, unpriced = 0, misfits = 0;
  bool jobs_all_month = false;  // a job was counted as if it ran all month

  UsdPerSecond change() const { return after - before; }
};

struct DiffResult {
  std::vector<manifests::Change> changes;  // that differ
  std::vector<std::string> notes;
  std::size_t requests = 0;  // found in the new files
  DiffTotals totals;
  std::optional<UsdPerSecond> fail_over;
  bool passed = true;
};

DiffTotals totals_of(const std::vector<manifests::Change>& changes);
report::Report diff_report(const DiffResult& result);

}  // namespace rightsize::app
