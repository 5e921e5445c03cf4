// The tables of `make fit` and `make validate`.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scores.h"

namespace rightsize::fit {

// One capability and metric: with the current constants, and with its model, its GPU or its campaign left out of the
// fit.
struct Validated {
  std::string capability, metric;
  Score as_is, no_model, no_gpu, no_campaign;
  int refused = 0;                                     // rows the program cannot express
  std::map<std::string, std::array<Score, 3>> models;  // the same three scores of each model
};

// Scores every stage with the constants of `table`; with `refit` also the left-out fits, which take minutes.
Checked<std::vector<Validated>> validate(const std::vector<Stage>& stages, const Measurements& measurements,
                                         const ConstantTable& table, bool refit);

std::string as_text(const std::vector<Validated>& rows, bool by_model = false);
std::string as_markdown(const std::vector<Validated>& rows);
// As shares, not percent: capability, metric, n, mean, median, inside.
std::string as_csv(const std::vector<Validated>& rows);

// The result of fitting one stage for one owner. `taken` if the refit is better on rows it did not see than the old
// constants are on all rows.
struct Fitted {
  std::string stage, owner;
  int rows = 0;
  Score before, refit, left_out;
  bool taken = false;
};

// Fits the stages one after the other, each with the results of the previous ones, and changes `table` if the refit is
// better (or with `take_all`).
Checked<std::vector<Fitted>> fit_all(const std::vector<Stage>& stages, const Measurements& measurements,
                                     ConstantTable& table, bool take_all, const std::string& date);

std::string as_text(const std::vector<Fitted>& rows);

// Every measured value with the error of its estimate in percent of a time: stage, metric, error, inside the interval,
// and the cells of the row. With `unseen`, each error comes from a fit without the model, or the GPU, of the row.
Checked<std::string> each_row(const std::vector<Stage>& stages, const Measurements& measurements,
                              const ConstantTable& table, std::optional<LeaveOut> unseen);

// The runs to which every stack was fitted, as rows of data/stacks.csv.
std::string measured_rows(const std::vector<Stage>& stages, const Measurements& measurements,
                          const perf::Constants& constants);

}  // namespace rightsize::fit
