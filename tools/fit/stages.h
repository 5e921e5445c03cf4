// What is fitted on what: data/measurements/stages.csv, one stage a row. Nothing here knows a constant's meaning, so a
// new constant or capability is a row there and no code.
//
//   stage       its name
//   capability  under which docs/accuracy.md reports it
//   target      stacks/STACK, or efficiency/*/KERNEL (each GPU that has that row, by itself); empty: only scored
//   files       of data/measurements, separated by |
//   where       column=text;column!=text;column>=number;...   which rows; a text that ends in * matches its beginning
//   metrics     metric:size|...   and the error (a share) that is expected of one row
//   constants   name:prior:spread[:low:high]|...   spread is of the logarithm; units as in the constant's own cell
//   widths      constant:metric[:which]|...   those that hold the 80 % of |log error| with the model left out, of rows
//               bound by the host, by the device, or that a rule as in `where` picks
#pragma once

#include <map>
#include <string>
#include <vector>

#include "constant_table.h"
#include "least_squares.h"
#include "measured.h"

namespace rightsize::fit {

struct StageConstant {
  std::string name;
  double prior = 1, spread = 1, low = 0, high = 0;  // high 0: no bounds
};
struct StageMetric {
  std::string name;
  double size = 0.1;
};
struct StageWidth {
  std::string name, metric;
  bool host = false, device = false;  // only rows bound by the host, or only the others
  std::vector<std::pair<std::string, std::string>> where;
};

struct Stage {
  std::string name, capability, target;
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> where;
  std::vector<StageMetric> metrics;
  std::vector<StageConstant> constants;
  std::vector<StageWidth> widths;

  bool of_kernels() const { return target.starts_with("efficiency/") || files.front().starts_with("kernels-"); }
};

Checked<std::vector<Stage>> read_stages(const std::string& root);

// Whether a row keeps every rule.
bool matches(const MeasuredRow& row, const std::vector<std::pair<std::string, std::string>>& rules);

// The rows of a stage that the model can estimate today, of one GPU where `gpu` is given.
using Rows = std::vector<const MeasuredRow*>;
Rows rows_of(const Stage& stage, const Measurements& measurements, const perf::Constants& constants,
             const std::string& gpu = "");

// One measured value against the model.
struct Outcome {
  const MeasuredRow* row = nullptr;
  std::string metric;
  double log_error = 0;  // log(predicted / measured) of a time
  bool inside = false;   // of the stated 80 % interval
  bool host = false;     // bound by the host
};
using Outcomes = std::vector<Outcome>;
Outcomes evaluate(const Stage& stage, const Rows& rows, const perf::Constants& constants);

// One stage of one owner (a GPU or a stack): its constants by name.
std::vector<ConstantName> names_of(const Stage& stage, const std::string& owner);

// The table with the stage's constants of this owner fitted on these rows. Starts at the priors; `from_here` also at
// the table's own values, and the better end wins.
Checked<ConstantTable> fit_stage(const Stage& stage, const std::string& owner, const Rows& rows,
                                 const ConstantTable& table, bool from_here);

// Each row predicted by a fit that never saw its group: the model, the GPU, or one of five samples of shapes.
enum class LeaveOut { kModel, kGpu, kSample };
Checked<Outcomes> leave_out(const Stage& stage, const std::string& owner, const Rows& rows, const ConstantTable& table,
                            LeaveOut kind);
// Whether there are two groups at least.
bool can_leave_out(const Rows& rows, LeaveOut kind);

}  // namespace rightsize::fit
