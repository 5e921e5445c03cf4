// The stages of the fit: data/measurements/stages.csv, one stage per row. This code does not depend on the meaning of a
// constant, so a new constant or capability is a new row and needs no code.
//
//   stage       its name
//   capability  its name in docs/accuracy.md
//   target      stacks/STACK, or efficiency/*/KERNEL (each GPU that has that row, separately); empty: only scored
//   files       of data/measurements, separated by |
//   where       column=text;column!=text;column>=number;...   which rows; a text that ends in * matches its beginning
//   metrics     metric:size|...   and the expected error of one row, as a share
//   constants   name:prior:spread[:low:high]|...   spread of the logarithm; units as in the cell of the constant
//   widths      constant:metric[:which]|...   constants that hold the 80 % quantile of |log error| with the model left
//               out, for rows bound by the host, by the device, or selected by a rule as in `where`
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
  bool host = false, device = false;  // only rows bound by the host, or only the other rows
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

// Whether a row meets every rule.
bool matches(const MeasuredRow& row, const std::vector<std::pair<std::string, std::string>>& rules);

// The rows of a stage that the model can estimate today, for one GPU if `gpu` is given.
using Rows = std::vector<const MeasuredRow*>;
Rows rows_of(const Stage& stage, const Measurements& measurements, const perf::Constants& constants,
             const std::string& gpu = "");

// One measured value compared with the model.
struct Outcome {
  const MeasuredRow* row = nullptr;
  std::string metric;
  double log_error = 0;  // log(predicted / measured) of a time
  bool inside = false;   // of the stated 80 % interval
  bool host = false;     // bound by the host
};
using Outcomes = std::vector<Outcome>;
Outcomes evaluate(const Stage& stage, const Rows& rows, const perf::Constants& constants);

// One stage for one owner (a GPU or a stack): its constants by name.
std::vector<ConstantName> names_of(const Stage& stage, const std::string& owner);

// The table with the stage's constants of this owner fitted to these rows. The fit starts at the priors; with
// `from_here` also at the values of the table, and the better result is used.
Checked<ConstantTable> fit_stage(const Stage& stage, const std::string& owner, const Rows& rows,
                                 const ConstantTable& table, bool from_here);

// Each row, predicted by a fit without its group: the model, the GPU, or one of five samples of shapes.
enum class LeaveOut { kModel, kGpu, kSample };
Checked<Outcomes> leave_out(const Stage& stage, const std::string& owner, const Rows& rows, const ConstantTable& table,
                            LeaveOut kind);
// Whether there are at least two groups.
bool can_leave_out(const Rows& rows, LeaveOut kind);

}  // namespace rightsize::fit
