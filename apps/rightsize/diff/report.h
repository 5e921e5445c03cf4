// Changes of GPU requests as a comment on a pull request, a table and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "manifests/compare.h"
#include "perf/constants/sustained_rates.h"
#include "report/report.h"
#include "rightsize/diff/fit.h"

namespace rightsize::app {

// The cost of the same work after a change of the GPU type, relative to before: 0.8 means 20 % cheaper.
struct WorkCost {
  std::string model = "llama-3.1-8b";  // of the estimates, if the file does not name one
  double compute = 1, memory = 1;      // if compute-bound (training); if bandwidth-bound (decoding)
  perf::Basis basis = perf::Basis::kSpecification;
};

struct DiffRow {
  manifests::RequestChange change;
  std::optional<ModelFit> fit = {};   // of the new version
  std::optional<WorkCost> work = {};  // if the GPU type changes

  const manifests::Side& newest() const { return change.after ? *change.after : *change.before; }
  // Empty if a side has no price.
  std::optional<UsdPerSecond> difference() const;
};

struct DiffResult {
  std::vector<DiffRow> rows = {};
  std::vector<std::string> notes = {};
  std::size_t requests = 0;  // found in the new files
  std::optional<UsdPerSecond> fail_over = {};
  bool strict = false;

  // Set by add_up().
  UsdPerSecond before = {}, after = {};
  std::size_t unpriced = 0, misfits = 0;
  bool jobs_all_month = false;  // a job was counted as if it ran all month

  UsdPerSecond change() const { return after - before; }
  // Whether any part of the change has a price.
  bool priced() const { return unpriced < rows.size() || rows.empty(); }
  bool over_limit() const { return fail_over && change() > *fail_over; }
  bool incomplete() const { return unpriced > 0 || misfits > 0 || !notes.empty(); }
  bool passed() const { return !over_limit() && !(strict && incomplete()); }
};

void add_up(DiffResult& result, const perf::Constants& constants);
report::Report diff_report(const DiffResult& result);

}  // namespace rightsize::app
