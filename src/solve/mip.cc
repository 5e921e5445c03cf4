#include "solve/mip.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

#include "base/memory_limit.h"
#include "solve/coin.h"

namespace rightsize::solve {

int Model::add_column(double cost, double lower, double upper, bool whole) {
  columns_.push_back({cost, lower, upper, whole});
  return static_cast<int>(columns_.size()) - 1;
}

int Model::add_row(double lower, double upper) {
  rows_.push_back({lower, upper});
  return static_cast<int>(rows_.size()) - 1;
}

void Model::add_entry(int row, int column, double value) {
  if (value != 0) entries_.push_back({row, column, value});
}

namespace {

// The model as both libraries want it: the matrix column by column.
struct Packed {
  std::vector<int> starts, rows;
  std::vector<double> values, cost, column_lower, column_upper, row_lower, row_upper;

  explicit Packed(const Model& model) {
    std::vector<Model::Entry> entries = model.entries();
    std::sort(entries.begin(), entries.end(), [](const Model::Entry& a, const Model::Entry& b) {
      return a.column != b.column ? a.column < b.column : a.row < b.row;
    });
    std::size_t at = 0;
    for (std::size_t column = 0; column < model.columns().size(); ++column) {
      starts.push_back(static_cast<int>(rows.size()));
      for (; at < entries.size() && entries[at].column == static_cast<int>(column); ++at) {
        const bool again = static_cast<int>(rows.size()) > starts.back() && rows.back() == entries[at].row;
        if (again) {
          values.back() += entries[at].value;
        } else {
          rows.push_back(entries[at].row);
          values.push_back(entries[at].value);
        }
      }
      cost.push_back(model.columns()[column].cost);
      column_lower.push_back(model.columns()[column].lower);
      column_upper.push_back(model.columns()[column].upper);
    }
    starts.push_back(static_cast<int>(rows.size()));
    for (const Model::Row& row : model.rows()) {
      row_lower.push_back(row.lower);
      row_upper.push_back(row.upper);
    }
  }
};

std::vector<double> copy_of(const double* values, std::size_t count) {
  return values == nullptr ? std::vector<double>{} : std::vector<double>(values, values + count);
}

double cost_of(const Model& model, const std::vector<double>& values) {
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += model.columns()[i].cost * values[i];
  return total;
}

// An answer without columns or rows needs no solver, and CBC does not like to be asked.
Solution trivial(const Model& model) {
  Solution solution{Status::kOptimal, 0, 0, {}, false};
  for (const Model::Column& column : model.columns())
    solution.values.push_back(column.cost < 0 ? column.upper : column.lower);
  for (const Model::Row& row : model.rows()) {
    if (row.lower > 0 || row.upper < 0) return {Status::kInfeasible, 0, 0, {}, false};
  }
  solution.objective = solution.bound = cost_of(model, solution.values);
  return solution;
}

// What CBC and Clp take for models of ours, their code included. Where memory is not had, CBC does not fail but ends
// the program.
constexpr std::size_t kRoom = 128 << 20, kRelaxationRoom = 48 << 20;

void require(std::size_t room) {
  if (!has_memory(room)) throw std::bad_alloc();
}

using CbcModel = std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)>;

CbcModel make_cbc(const Model& model, const Limits& limits) {
  CbcModel cbc(coin().Cbc_newModel(), [](Cbc_Model* m) { coin().Cbc_deleteModel(m); });
  Packed packed(model);
  coin().Cbc_loadProblem(cbc.get(), static_cast<int>(model.columns().size()), static_cast<int>(model.rows().size()),
                         packed.starts.data(), packed.rows.data(), packed.values.data(), packed.column_lower.data(),
                         packed.column_upper.data(), packed.cost.data(), packed.row_lower.data(),
                         packed.row_upper.data());
  for (std::size_t i = 0; i < model.columns().size(); ++i) {
    if (model.columns()[i].whole) coin().Cbc_setInteger(cbc.get(), static_cast<int>(i));
  }
  coin().Cbc_setLogLevel(cbc.get(), 0);
  coin().Cbc_setParameter(cbc.get(), "log", "0");
  coin().Cbc_setParameter(cbc.get(), "threads", "0");
  coin().Cbc_setParameter(cbc.get(), "timeMode", "elapsed");
  coin().Cbc_setMaximumNodes(cbc.get(), limits.nodes);
  coin().Cbc_setMaximumSeconds(cbc.get(), limits.seconds);
  coin().Cbc_setAllowableFractionGap(cbc.get(), limits.relative_gap);
  if (limits.start.size() == model.columns().size()) {
    std::vector<int> index(limits.start.size());
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int>(i);
    coin().Cbc_setMIPStartI(cbc.get(), static_cast<int>(index.size()), index.data(), limits.start.data());
  }
  return cbc;
}

}  // namespace

Solution solve(const Model& model, const Limits& limits) {
  if (model.columns().empty() || model.entries().empty()) return trivial(model);
  require(kRoom);
  CbcModel cbc = make_cbc(model, limits);
  const auto began = std::chrono::steady_clock::now();
  coin().Cbc_solve(cbc.get());
  Solution solution;
  if (coin().Cbc_isProvenInfeasible(cbc.get()) != 0) return {Status::kInfeasible, 0, 0, {}, false};
  solution.out_of_time =
      coin().Cbc_isProvenOptimal(cbc.get()) == 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > limits.seconds;
  solution.bound = coin().Cbc_getBestPossibleObjValue(cbc.get());
  solution.values = copy_of(coin().Cbc_bestSolution(cbc.get()), model.columns().size());
  if (solution.values.empty()) return solution;
  for (std::size_t i = 0; i < solution.values.size(); ++i) {
    if (model.columns()[i].whole) solution.values[i] = std::round(solution.values[i]);
  }
  solution.objective = cost_of(model, solution.values);
  solution.status = coin().Cbc_isProvenOptimal(cbc.get()) != 0 ? Status::kOptimal : Status::kFeasible;
  // Proved within the gap asked for: with a gap of nothing the answer itself is the bound.
  if (solution.status == Status::kOptimal && limits.relative_gap == 0) solution.bound = solution.objective;
  solution.bound = std::min(solution.bound, solution.objective);
  return solution;
}

LinearSolution solve_relaxation(const Model& model) {
  LinearSolution solution;
  if (model.columns().empty() || model.entries().empty()) {
    Solution simple = trivial(model);
    return {simple.status, simple.objective, simple.values, std::vector<double>(model.rows().size(), 0.0)};
  }
  require(kRelaxationRoom);
  std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> clp(coin().Clp_newModel(),
                                                           [](Clp_Simplex* m) { coin().Clp_deleteModel(m); });
  coin().Clp_setLogLevel(clp.get(), 0);
  Packed packed(model);
  coin().Clp_loadProblem(clp.get(), static_cast<int>(model.columns().size()), static_cast<int>(model.rows().size()),
                         packed.starts.data(), packed.rows.data(), packed.values.data(), packed.column_lower.data(),
                         packed.column_upper.data(), packed.cost.data(), packed.row_lower.data(),
                         packed.row_upper.data());
  coin().Clp_primal(clp.get(), 0);
  const int status = coin().Clp_status(clp.get());
  solution.status = status == 0 ? Status::kOptimal : status == 1 ? Status::kInfeasible : Status::kUnknown;
  if (solution.status != Status::kOptimal) return solution;
  solution.objective = coin().Clp_objectiveValue(clp.get());
  solution.values = copy_of(coin().Clp_primalColumnSolution(clp.get()), model.columns().size());
  solution.prices = copy_of(coin().Clp_dualRowSolution(clp.get()), model.rows().size());
  return solution;
}

}  // namespace rightsize::solve
