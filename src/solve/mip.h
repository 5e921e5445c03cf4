// Linear and mixed-integer programs, solved by COIN-OR (Clp and CBC). Knows nothing of what the numbers mean.
//
//   Model model;                                          // minimise
//   int x = model.add_column(3.0, 0, kInfinity, true);    // cost, bounds, whole
//   int r = model.add_row(4, kInfinity);                  // 4 <= row
//   model.add_entry(r, x, 2.0);
//   Solution s = solve(model, {});                        // s.status, s.values, s.bound
//
// Deterministic: the same model gives the same answer, unless the seconds run out (Solution::out_of_time). CBC's own
// output is silenced.
#pragma once

#include <limits>
#include <vector>

namespace rightsize::solve {

inline constexpr double kInfinity = std::numeric_limits<double>::max();

class Model {
 public:
  // The index of the new column or row.
  int add_column(double cost, double lower, double upper, bool whole);
  int add_row(double lower, double upper);
  // Entries may come in any order; two for the same place add up.
  void add_entry(int row, int column, double value);

  struct Column {
    double cost = 0, lower = 0, upper = 0;
    bool whole = false;
  };
  struct Row {
    double lower = 0, upper = 0;
  };
  struct Entry {
    int row = 0, column = 0;
    double value = 0;
  };
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<Entry> entries_;
};

struct Limits {
  int nodes = 20'000;         // of the search tree; then the best answer so far is returned with its bound
  double seconds = 60;        // of wall time, in case nodes take long: what is answered then depends on the machine
  double relative_gap = 0;    // good enough when within this share of the bound
  std::vector<double> start;  // a feasible answer to begin from, one value a column; empty for none
};

enum class Status {
  kOptimal,     // proved
  kFeasible,    // a limit was met first: `bound` says how far the answer may be from the best
  kInfeasible,  // proved: no answer satisfies the rows
  kUnknown,     // a limit was met before any answer was found; `bound` still holds
};

struct Solution {
  Status status = Status::kUnknown;
  double objective = 0;
  double bound = 0;            // no answer can cost less
  std::vector<double> values;  // one a column; whole columns are exactly whole. Empty without an answer
  bool out_of_time = false;    // the seconds ended the search, not its nodes: another run may answer otherwise
};

// The cheapest answer of the mixed-integer program.
Solution solve(const Model& model, const Limits& limits);

struct LinearSolution {
  Status status = Status::kUnknown;  // kOptimal, kInfeasible or kUnknown
  double objective = 0;
  std::vector<double> values;  // one a column
  std::vector<double> prices;  // one a row: what one more unit of it would change the objective by
};

// The linear relaxation: whole columns may be fractions.
LinearSolution solve_relaxation(const Model& model);

}  // namespace rightsize::solve
