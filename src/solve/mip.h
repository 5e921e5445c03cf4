// Linear and mixed-integer programs, solved by COIN-OR's Clp and CBC.
//
//   Model model;                                          // minimise
//   int x = model.add_column(3.0, 0, kInfinity, true);    // cost, bounds, integer
//   int r = model.add_row(4, kInfinity);                  // 4 <= row
//   model.add_entry(r, x, 2.0);
//   Result<Solution> s = solve(model, {});                // s->status, s->values, s->bound
//
// Deterministic: the same model gives the same answer unless the time limit is reached (Solution::out_of_time).
#pragma once

#include <limits>
#include <vector>

#include "base/result.h"

namespace rightsize::solve {

inline constexpr double kInfinity = std::numeric_limits<double>::max();
// Costs and coefficients must be finite and at most this: from 1e25 on, Clp aborts the process instead of failing.
inline constexpr double kLargestCoefficient = 1e15;

class Model {
 public:
  struct Column {
    double cost = 0, lower = 0, upper = 0;
    bool integer = false;
  };
  struct Row {
    double lower = 0, upper = 0;
  };
  struct Entry {
    int row = 0, column = 0;
    double value = 0;
  };

  // The index of the new column or row.
  int add_column(double cost, double lower, double upper, bool integer);
  int add_row(double lower, double upper);
  // Entries may come in any order; two at the same place add up.
  void add_entry(int row, int column, double value);

  Column& column(int index) { return columns_[static_cast<std::size_t>(index)]; }
  Row& row(int index) { return rows_[static_cast<std::size_t>(index)]; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<Entry> entries_;
};

struct SolverLimits {
  int nodes = 20'000;       // of the search tree; then the best answer so far is returned with its bound
  double seconds = 60;      // of wall time; if it is reached, the answer depends on the machine
  double relative_gap = 0;  // stop when within this share of the bound
  // Only answers below this are wanted; if there is none, the model counts as infeasible. (A known answer cannot be
  // passed instead: CBC 2.10 confuses its columns in models that it simplifies.)
  double cutoff = kInfinity;
};

enum class Status {
  kOptimal,     // proved
  kFeasible,    // a limit was reached first: `bound` limits how far the answer may be from the optimum
  kInfeasible,  // proved: no answer satisfies the rows
  kUnknown,     // a limit was reached before any answer was found; `bound` still holds
};

struct Solution {
  Status status = Status::kUnknown;
  double objective = 0;
  double bound = 0;            // no answer can cost less
  std::vector<double> values;  // one per column; integer columns are exactly integer. Empty without an answer
  std::vector<double> duals;   // from solve_relaxation(): one per row, the cost of one more unit of its limit
  bool out_of_time = false;    // the time limit ended the search, not the nodes
};

// The cheapest answer. Both functions fail with kBadInput on a coefficient out of range, and with kUnreadableSource if
// the solver cannot be loaded or there is too little memory for it.
Result<Solution> solve(const Model& model, const SolverLimits& limits);

// The linear relaxation, in which integer columns may be fractions: kOptimal, kInfeasible or kUnknown.
Result<Solution> solve_relaxation(const Model& model);

}  // namespace rightsize::solve
