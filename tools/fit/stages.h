// The stages of the fit: data/measurements/stages.csv, one stage per row. This code does not depend on the meaning of a
// constant, so a new constant or capability is a new row and needs no code.
//
//   stage       its name
//   capability  under which docs/accuracy.md reports it
//   target      stacks/STACK, efficiency/GPU/KERNEL or efficiency/*/KERNEL (every chip or link that has that row); if
//               empty, the stage is only scored
//   files       of data/measurements, separated by |
//   where       column=text;column!=text;column>=number;...   which rows; a text that ends in * matches its beginning
//   metrics     metric:size|...   and the error (a share) that is expected of one row; metric:size:rule, after its
//   metric,
//               of the rows that a rule as in `where` picks: a campaign that did not publish its lengths counts less
//   constants   name:prior:spread[:low:high]|...   spread is of the logarithm; units as in the constant's own cell;
//               name* is one constant for all chips, and they are then fitted together
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
  bool shared = false;                              // one value for all chips
};
struct StageMetric {
  std::string name;
  double size = 0.1;
  std::vector<std::pair<std::pair<std::string, std::string>, double>> of_rows = {};  // rule and size of some rows
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

  bool of_kernels() const { return files.front().starts_with("kernels-"); }
  bool in_efficiency() const { return target.starts_with("efficiency/"); }
  std::string kernel() const { return target.substr(target.rfind('/') + 1); }
  bool joint() const;  // some constants are shared
};

Checked<std::vector<Stage>> read_stages(const std::string& root);

// Whether a row meets every rule.
bool matches(const MeasuredRow& row, const std::vector<std::pair<std::string, std::string>>& rules);

// The rows of a stage that the model can estimate today, of one chip or link where `owner` names one.
using Rows = std::vector<const MeasuredRow*>;
Rows rows_of(const Stage& stage, const Measurements& measurements, const perf::Constants& constants,
             const std::string& owner = "");

// One measured value compared with the model.
struct Outcome {
  const MeasuredRow* row = nullptr;
  std::string metric;
  double log_error = 0;  // log(predicted / measured) of a time
  bool inside = false;   // of the stated 80 % interval
  bool host = false;     // bound by the host
};
using Outcomes = std::vector<Outcome>;
// The error that is expected of this outcome.
double size_of(const Stage& stage, const Outcome& outcome);
Outcomes evaluate(const Stage& stage, const Rows& rows, const perf::Constants& constants);

// All chips of a joint fit.
inline constexpr const char* kAllChips = "all chips";

// What a stage's constants belong to: a stack, a chip, a link, or all chips together.
std::vector<std::string> owners_of(const Stage& stage, const ConstantTable& table);

// One stage of one owner: the places of its constants, each with the stage's rules for it.
struct NamedConstant {
  ConstantName name;
  const StageConstant* constant;
};
std::vector<NamedConstant> names_of(const Stage& stage, const std::string& owner, const ConstantTable& table);

// The table with the stage's constants of this owner fitted to these rows. The fit starts at the priors; with
// `from_here` also at the values of the table, and the better result is used.
Checked<ConstantTable> fit_stage(const Stage& stage, const std::string& owner, const Rows& rows,
                                 const ConstantTable& table, bool from_here);

// Each row predicted by a fit that never saw its group: the model, the GPU, the campaign, or one of five samples of
// shapes.
enum class LeaveOut { kModel, kGpu, kCampaign, kSample };
Checked<Outcomes> leave_out(const Stage& stage, const std::string& owner, const Rows& rows, const ConstantTable& table,
                            LeaveOut kind);
// Whether there are at least two groups.
bool can_leave_out(const Rows& rows, LeaveOut kind);

}  // namespace rightsize::fit
