// The tables of `make fit` and `make validate`.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scores.h"

namespace rightsize::fit {

// One capability and metric: with the constants as they are, with its model left out of the fit, with its GPU left out.
struct Validated {
  std::string capability, metric;
  Score as_is, no_model, no_gpu;
  int refused = 0;                                     // rows the program cannot express
  std::map<std::string, std::array<Score, 3>> models;  // the same three scores of each model
};

// Every stage with the constants of `table`; with `refit` also the left-out fits, which take minutes.
Checked<std::vector<Validated>> validate(const std::vector<Stage>& stages, const Measurements& measurements,
                                         const ConstantTable& table, bool refit);

std::string as_text(const std::vector<Validated>& rows, bool by_model = false);
std::string as_markdown(const std::vector<Validated>& rows);
// Shares, not percents: capability, metric, n, mean, median, inside.
std::string as_csv(const std::vector<Validated>& rows);

// What fitting one stage for one owner came to. `taken` where the refit, on rows it did not see, beats the constants as
// they were on all of them.
struct Fitted {
  std::string stage, owner;
  int rows = 0;
  Score before, refit, left_out;
  bool taken = false;
};

// Fits every stage in turn, each on top of the last, and changes `table` where the refit is better (or `take_all`).
Checked<std::vector<Fitted>> fit_all(const std::vector<Stage>& stages, const Measurements& measurements,
                                     ConstantTable& table, bool take_all, const std::string& date);

std::string as_text(const std::vector<Fitted>& rows);

// Every measured value with the error of its estimate in percent of a time: stage, metric, error, inside the interval,
// and the row's own cells. With `unseen` each error is that of a fit which never saw the row's model, or its GPU.
Checked<std::string> each_row(const std::vector<Stage>& stages, const Measurements& measurements,
                              const ConstantTable& table, std::optional<LeaveOut> unseen);

// Which runs every stack was fitted on, as rows of data/stacks.csv.
std::string measured_rows(const std::vector<Stage>& stages, const Measurements& measurements,
                          const perf::Constants& constants);

}  // namespace rightsize::fit
