#include "mig/slice_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace rightsize::mig {

using solve::kInfinity;

namespace {

// One layout of one type, slice by slice.
struct Cut {
  std::size_t type = 0;
  std::vector<int> counts;
  std::vector<std::size_t> slices;  // positions in plain_profiles()
};

// Whether every kind that may use slice `p` of type `t` may use slice `q` of type `u`.
bool as_good(const std::vector<UnitKind>& kinds, std::size_t t, std::size_t p, std::size_t u, std::size_t q) {
  return std::ranges::all_of(kinds, [&](const UnitKind& kind) { return !kind.allowed[t][p] || kind.allowed[u][q]; });
}

// Whether `b` has a slice as good for every slice of `a`, each used once: bipartite matching by augmenting paths.
bool covers(const std::vector<UnitKind>& kinds, const Cut& a, const Cut& b) {
  std::vector<int> owner(b.slices.size(), -1);
  std::vector<bool> tried;
  const std::function<bool(std::size_t)> match = [&](std::size_t slice) {
    for (std::size_t k = 0; k < b.slices.size(); ++k) {
      if (tried[k] || !as_good(kinds, a.type, a.slices[slice], b.type, b.slices[k])) continue;
      tried[k] = true;
      if (owner[k] >= 0 && !match(static_cast<std::size_t>(owner[k]))) continue;
      owner[k] = static_cast<int>(slice);
      return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < a.slices.size(); ++i) {
    const bool used =
        std::ranges::any_of(kinds, [&](const UnitKind& kind) { return kind.allowed[a.type][a.slices[i]]; });
    tried.assign(b.slices.size(), false);
    if (used && !match(i)) return false;
  }
  return true;
}

}  // namespace

LayoutsByType maximal_layouts(const std::vector<GpuType>& types) {
  LayoutsByType layouts;
  for (const GpuType& type : types) {
    layouts.emplace_back();
    for (const SliceSet& combination : type.geometry->combinations()) {
      if (combination.maximal) layouts.back().push_back(combination.counts);
    }
  }
  return layouts;
}

LayoutsByType useful_layouts(const std::vector<UnitKind>& kinds, const std::vector<GpuType>& types) {
  std::vector<Cut> kept;
  const auto beats = [&](const Cut& b, const Cut& a) {
    return types[b.type].usd_per_hour() <= types[a.type].usd_per_hour() && covers(kinds, a, b);
  };
  const LayoutsByType all = maximal_layouts(types);
  for (std::size_t t = 0; t < all.size(); ++t) {
    for (const std::vector<int>& counts : all[t]) {
      Cut cut{t, counts, {}};
      for (std::size_t p = 0; p < counts.size(); ++p)
        cut.slices.insert(cut.slices.end(), static_cast<std::size_t>(counts[p]), p);
      // If two cover each other, the first stays: every dropped layout is covered by one that stays.
      if (std::ranges::any_of(kept, [&](const Cut& other) { return beats(other, cut); })) continue;
      std::erase_if(kept, [&](const Cut& other) { return beats(cut, other); });
      kept.push_back(std::move(cut));
    }
  }
  LayoutsByType layouts(types.size());
  for (Cut& cut : kept) layouts[cut.type].push_back(std::move(cut.counts));
  return layouts;
}

std::vector<std::size_t> GpuCounts::by_type() const {
  std::vector<std::size_t> totals;
  for (const std::vector<int>& of_type : gpus)
    totals.push_back(static_cast<std::size_t>(std::accumulate(of_type.begin(), of_type.end(), 0)));
  return totals;
}

SliceModel::SliceModel(const std::vector<GpuType>& types, LayoutsByType layouts, std::size_t least_gpus)
    : types_(types), layouts_(std::move(layouts)) {
  const int total = least_gpus > 1 ? model_.add_row(static_cast<double>(least_gpus), kInfinity) : -1;
  for (std::size_t t = 0; t < types.size(); ++t) {
    supply_.emplace_back(types[t].geometry->plain_profiles().size());
    for (int& row : supply_.back()) row = model_.add_row(-kInfinity, 0);
    gpu_columns_.emplace_back();
    for (const std::vector<int>& layout : layouts_[t]) {
      const int column = model_.add_column(types[t].usd_per_hour(), 0, kInfinity, true);
      gpu_columns_.back().push_back(column);
      if (total >= 0) model_.add_entry(total, column, 1);
      for (std::size_t p = 0; p < layout.size(); ++p) model_.add_entry(supply_[t][p], column, -layout[p]);
    }
  }
}

// Units may be split between slices here: for an integer number of slices an integer assignment always exists (it is a
// transport problem), so the search does not need to find one.
void SliceModel::add_units(const Allowed& allowed, std::size_t number) {
  const auto all = static_cast<double>(number);
  const int placed = model_.add_row(all, all);
  taken_.emplace_back();
  for (std::size_t t = 0; t < types_.size(); ++t) {
    taken_.back().emplace_back(allowed[t].size(), -1);
    for (std::size_t p = 0; p < allowed[t].size(); ++p) {
      if (!allowed[t][p]) continue;
      const int column = taken_.back()[t][p] = model_.add_column(0, 0, all, false);
      model_.add_entry(placed, column, 1);
      model_.add_entry(supply_[t][p], column, 1);
    }
  }
}

void SliceModel::add_sharers(const Allowed& allowed, std::size_t number, const std::vector<std::vector<double>>& need) {
  if (shared_rows_.empty()) {
    for (std::size_t t = 0; t < types_.size(); ++t) {
      shared_rows_.emplace_back();
      for (std::size_t p = 0; p < supply_[t].size(); ++p) {
        const int shared = model_.add_column(0, 0, kInfinity, false);
        model_.add_entry(supply_[t][p], shared, 1);
        shared_rows_.back().emplace_back();
        for (double amount : capacity_of(*types_[t].geometry, types_[t].geometry->plain_profiles()[p]).amounts()) {
          shared_rows_.back().back().push_back(model_.add_row(-kInfinity, 0));
          model_.add_entry(shared_rows_.back().back().back(), shared, -amount);
        }
      }
    }
  }
  const int placed = model_.add_row(static_cast<double>(number), static_cast<double>(number));
  for (std::size_t t = 0; t < types_.size(); ++t) {
    for (std::size_t p = 0; p < allowed[t].size(); ++p) {
      if (!allowed[t][p]) continue;
      const int column = model_.add_column(0, 0, kInfinity, false);
      model_.add_entry(placed, column, 1);
      for (std::size_t d = 0; d < need[t].size(); ++d) model_.add_entry(shared_rows_[t][p][d], column, need[t][d]);
    }
  }
}

void SliceModel::exclude(const std::vector<std::size_t>& gpus_by_type) {
  const int any = model_.add_row(1, kInfinity);
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const int more = model_.add_column(0, 0, 1, true);  // 1: more GPUs of this type
    model_.add_entry(any, more, 1);
    const int row = model_.add_row(0, kInfinity);
    model_.add_entry(row, more, -static_cast<double>(gpus_by_type[t] + 1));
    for (int column : gpu_columns_[t]) model_.add_entry(row, column, 1);
  }
}

Result<GpuCounts> SliceModel::solve(const SolverEffort& effort) const {
  solve::SolverLimits limits;
  limits.nodes = effort.nodes;
  limits.seconds = in_seconds(effort.limit);
  RIGHTSIZE_TRY(const solve::Solution solution, solve::solve(model_, limits));
  GpuCounts counts;
  counts.bound = solution.bound;
  counts.out_of_time = solution.out_of_time;
  counts.solved = !solution.values.empty();
  counts.proved = solution.status == solve::Status::kOptimal;
  if (!counts.solved) return counts;
  counts.cost = solution.objective;
  for (const std::vector<int>& columns : gpu_columns_) {
    counts.gpus.emplace_back();
    for (int column : columns)
      counts.gpus.back().push_back(static_cast<int>(solution.values[static_cast<std::size_t>(column)]));
  }
  return counts;
}

// If all GPUs have one price, costs are multiples of it, and the bound is rounded up to a multiple.
Result<double> SliceModel::relaxed_bound() const {
  RIGHTSIZE_TRY(const solve::Solution relaxed, solve::solve_relaxation(model_));
  if (relaxed.status != solve::Status::kOptimal) return 0;
  const double bound = relaxed.objective * (1 - 1e-9), price = types_[0].usd_per_hour();
  const bool one_price = std::ranges::all_of(types_, [&](const GpuType& type) { return type.usd_per_hour() == price; });
  return one_price && price > 0 ? std::ceil(bound / price - 1e-6) * price : bound;
}

// With the GPUs fixed, the corners of the linear program are integers (its matrix is totally unimodular). Small slices
// are preferred.
Result<std::vector<std::vector<std::vector<int>>>> SliceModel::slices_taken(const GpuCounts& counts) const {
  solve::Model fixed = model_;
  for (std::size_t t = 0; t < gpu_columns_.size(); ++t) {
    for (std::size_t l = 0; l < gpu_columns_[t].size(); ++l) {
      solve::Model::Column& column = fixed.column(gpu_columns_[t][l]);
      column.cost = 0;
      column.lower = column.upper = counts.gpus[t][l];
    }
  }
  for (const auto& of_kind : taken_) {
    for (const std::vector<int>& of_type : of_kind) {
      for (std::size_t p = 0; p < of_type.size(); ++p) {
        if (of_type[p] >= 0) fixed.column(of_type[p]).cost = static_cast<double>(p);
      }
    }
  }
  RIGHTSIZE_TRY(const solve::Solution solution, solve::solve_relaxation(fixed));
  auto taken = taken_;
  for (auto& of_kind : taken) {
    for (std::vector<int>& of_type : of_kind) {
      for (int& column : of_type) {
        const bool used = column >= 0 && !solution.values.empty();
        column = used ? static_cast<int>(std::lround(solution.values[static_cast<std::size_t>(column)])) : 0;
      }
    }
  }
  return taken;
}

}  // namespace rightsize::mig
