#include "solve/mip.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>

#include <Cbc_C_Interface.h>
#include <Clp_C_Interface.h>
#include <fmt/format.h>

#include "base/lazy_library.h"
#include "base/memory_limit.h"

namespace rightsize::solve {

int Model::add_column(double cost, double lower, double upper, bool integer) {
  columns_.push_back({cost, lower, upper, integer});
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

struct Cbc : LazyLibrary {
  Cbc() : LazyLibrary("libCbcSolver.so.3") {}
  RIGHTSIZE_SYMBOL(Cbc_, bestSolution);
  RIGHTSIZE_SYMBOL(Cbc_, deleteModel);
  RIGHTSIZE_SYMBOL(Cbc_, getBestPossibleObjValue);
  RIGHTSIZE_SYMBOL(Cbc_, isProvenInfeasible);
  RIGHTSIZE_SYMBOL(Cbc_, isProvenOptimal);
  RIGHTSIZE_SYMBOL(Cbc_, loadProblem);
  RIGHTSIZE_SYMBOL(Cbc_, newModel);
  RIGHTSIZE_SYMBOL(Cbc_, setAllowableFractionGap);
  RIGHTSIZE_SYMBOL(Cbc_, setCutoff);
  RIGHTSIZE_SYMBOL(Cbc_, setInteger);
  RIGHTSIZE_SYMBOL(Cbc_, setLogLevel);
  RIGHTSIZE_SYMBOL(Cbc_, setMaximumNodes);
  RIGHTSIZE_SYMBOL(Cbc_, setMaximumSeconds);
  RIGHTSIZE_SYMBOL(Cbc_, setParameter);
  RIGHTSIZE_SYMBOL(Cbc_, solve);
  RIGHTSIZE_SYMBOL(Cbc_, status);
};

struct Clp : LazyLibrary {
  Clp() : LazyLibrary("libClp.so.1") {}
  RIGHTSIZE_SYMBOL(Clp_, deleteModel);
  RIGHTSIZE_SYMBOL(Clp_, dualRowSolution);
  RIGHTSIZE_SYMBOL(Clp_, loadProblem);
  RIGHTSIZE_SYMBOL(Clp_, newModel);
  RIGHTSIZE_SYMBOL(Clp_, objectiveValue);
  RIGHTSIZE_SYMBOL(Clp_, primal);
  RIGHTSIZE_SYMBOL(Clp_, primalColumnSolution);
  RIGHTSIZE_SYMBOL(Clp_, setLogLevel);
  RIGHTSIZE_SYMBOL(Clp_, status);
};

const Cbc& cbc() {
  static const Cbc kLibrary;
  return kLibrary;
}
const Clp& clp() {
  static const Clp kLibrary;
  return kLibrary;
}

// The model in the form of both libraries: the matrix column by column.
struct Packed {
  std::vector<int> starts, rows;
  std::vector<double> values, cost, column_lower, column_upper, row_lower, row_upper;

  explicit Packed(const Model& model) {
    std::vector<Model::Entry> entries = model.entries();
    std::ranges::sort(entries, [](const Model::Entry& a, const Model::Entry& b) {
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

  // Loads it into CBC or Clp; their functions have the same arguments.
  template <class Library, class Solver>
  void load_into(const Library& library, Solver* solver) const {
    library.loadProblem(solver, static_cast<int>(cost.size()), static_cast<int>(row_lower.size()), starts.data(),
                        rows.data(), values.data(), column_lower.data(), column_upper.data(), cost.data(),
                        row_lower.data(), row_upper.data());
  }
};

std::vector<double> copy_of(const double* values, std::size_t count) {
  return values == nullptr ? std::vector<double>{} : std::vector<double>(values, values + count);
}

double cost_of(const Model& model, const std::vector<double>& values) {
  return std::transform_reduce(values.begin(), values.end(), model.columns().begin(), 0.0, std::plus<>(),
                               [](double value, const Model::Column& column) { return value * column.cost; });
}

// Without entries every column is independent: no solver is needed, and CBC cannot load such a model.
Solution trivial(const Model& model) {
  Solution solution{Status::kOptimal, 0, 0, {}, {}, false};
  for (const Model::Column& column : model.columns())
    solution.values.push_back(column.cost < 0 ? column.upper : column.lower);
  solution.duals.assign(model.rows().size(), 0);
  for (const Model::Row& row : model.rows()) {
    if (row.lower > 0 || row.upper < 0) return {Status::kInfeasible, 0, 0, {}, {}, false};
  }
  solution.objective = solution.bound = cost_of(model, solution.values);
  return solution;
}

Result<> check_coefficients(const Model& model) {
  const auto good = [](double value) { return std::abs(value) <= kLargestCoefficient; };  // false for NaN
  const auto good_bounds = [&](double lower, double upper) {
    return (good(lower) || lower == -kInfinity) && (good(upper) || upper == kInfinity) && lower <= upper;
  };
  const auto refuse = [](const char* what, double value) {
    return fail(bad_input(fmt::format("{} of {} cannot be optimized", what, value))
                    .with_hint(fmt::format("numbers must be finite and at most {:g}", kLargestCoefficient)));
  };
  for (const Model::Column& column : model.columns()) {
    if (!good(column.cost)) return refuse("a cost", column.cost);
    if (!good_bounds(column.lower, column.upper)) return refuse("a limit", column.upper);
  }
  for (const Model::Row& row : model.rows()) {
    if (!good_bounds(row.lower, row.upper)) return refuse("a limit", row.upper);
  }
  for (const Model::Entry& entry : model.entries()) {
    if (!good(entry.value)) return refuse("a coefficient", entry.value);
  }
  return {};
}

// If memory runs out, CBC and Clp end the process instead of failing, so the available memory is checked first.
Result<> check_ready(const Model& model, const LazyLibrary& library, std::size_t memory) {
  if (Result<> checked = check_coefficients(model); !checked) return checked;
  if (!library.loaded()) return library.loaded();
  if (has_memory(memory)) return {};
  return fail(unreadable("not enough memory for the solver")
                  .with_hint("check 'ulimit -v' and the memory limit of the container"));
}

}  // namespace

Result<Solution> solve(const Model& model, const SolverLimits& limits) {
  constexpr std::size_t kMemory = 128 << 20;  // what CBC needs for our models, including its code
  if (Result<> ready = check_ready(model, cbc(), kMemory); !ready) return fail(std::move(ready).error());
  if (model.columns().empty() || model.entries().empty()) return trivial(model);
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> solver(cbc().newModel(),
                                                                [](Cbc_Model* m) { cbc().deleteModel(m); });
  Packed(model).load_into(cbc(), solver.get());
  for (std::size_t i = 0; i < model.columns().size(); ++i) {
    if (model.columns()[i].integer) cbc().setInteger(solver.get(), static_cast<int>(i));
  }
  cbc().setLogLevel(solver.get(), 0);
  cbc().setParameter(solver.get(), "log", "0");
  cbc().setParameter(solver.get(), "threads", "0");
  cbc().setParameter(solver.get(), "timeMode", "elapsed");
  cbc().setMaximumNodes(solver.get(), limits.nodes);
  cbc().setMaximumSeconds(solver.get(), limits.seconds);
  cbc().setAllowableFractionGap(solver.get(), limits.relative_gap);
  if (limits.cutoff < kInfinity) cbc().setCutoff(solver.get(), limits.cutoff);
  const auto began = std::chrono::steady_clock::now();
  cbc().solve(solver.get());
  const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  // CBC also reports "infeasible" if the time limit ended the search without an answer.
  const bool finished = taken < limits.seconds && cbc().status(solver.get()) == 0;
  if (cbc().isProvenInfeasible(solver.get()) != 0 && finished)
    return Solution{Status::kInfeasible, 0, 0, {}, {}, false};
  const bool proved = cbc().isProvenOptimal(solver.get()) != 0;
  Solution solution;
  solution.out_of_time = !proved && taken > limits.seconds;
  solution.bound = cbc().getBestPossibleObjValue(solver.get());
  solution.values = copy_of(cbc().bestSolution(solver.get()), model.columns().size());
  if (solution.values.empty()) return solution;
  for (std::size_t i = 0; i < solution.values.size(); ++i) {
    if (model.columns()[i].integer) solution.values[i] = std::round(solution.values[i]);
  }
  solution.objective = cost_of(model, solution.values);
  solution.status = proved ? Status::kOptimal : Status::kFeasible;
  // Without an allowed gap, an answer that is proved optimal is its own bound.
  if (proved && limits.relative_gap == 0) solution.bound = solution.objective;
  solution.bound = std::min(solution.bound, solution.objective);
  return solution;
}

Result<Solution> solve_relaxation(const Model& model) {
  constexpr std::size_t kMemory = 48 << 20;
  if (Result<> ready = check_ready(model, clp(), kMemory); !ready) return fail(std::move(ready).error());
  if (model.columns().empty() || model.entries().empty()) return trivial(model);
  const std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> solver(clp().newModel(),
                                                                    [](Clp_Simplex* m) { clp().deleteModel(m); });
  clp().setLogLevel(solver.get(), 0);
  Packed(model).load_into(clp(), solver.get());
  clp().primal(solver.get(), 0);
  const int status = clp().status(solver.get());
  Solution solution;
  solution.status = status == 0 ? Status::kOptimal : status == 1 ? Status::kInfeasible : Status::kUnknown;
  if (solution.status != Status::kOptimal) return solution;
  solution.objective = solution.bound = clp().objectiveValue(solver.get());
  solution.values = copy_of(clp().primalColumnSolution(solver.get()), model.columns().size());
  solution.duals = copy_of(clp().dualRowSolution(solver.get()), model.rows().size());
  return solution;
}

}  // namespace rightsize::solve
