// The exact model of plan_slices(): how many GPUs of each type get which layout.
//
//   SliceModel model(types, useful_layouts(kinds, types), 1);
//   for (const UnitKind& kind : kinds) model.add_units(kind.allowed, kind.units.size());
//   Result<GpuCounts> counts = model.solve({});
//
// GPUs with the same layout and units with the same needs are counted, not numbered, so the size of the model depends
// on the number of GPU types and of different needs, not on the number of workloads.
#pragma once

#include <limits>
#include <vector>

#include "mig/plan.h"
#include "solve/mip.h"

namespace rightsize::mig {

// [type][position in plain_profiles()]: whether a unit may go into that slice.
using Allowed = std::vector<std::vector<bool>>;

// Units that may go into the same slices.
struct UnitKind {
  Allowed allowed;
  std::vector<std::size_t> units;
};

// [type][layout][position in plain_profiles()]: how many of that slice.
using LayoutsByType = std::vector<std::vector<std::vector<int>>>;

// The maximal layouts of every type.
LayoutsByType maximal_layouts(const std::vector<GpuType>& types);

// The maximal layouts worth considering: a layout is dropped if another layout, of a GPU that costs no more, has an
// equal or better slice for each of its slices. This keeps the optimum and about 12 of 28 layouts.
LayoutsByType useful_layouts(const std::vector<UnitKind>& kinds, const std::vector<GpuType>& types);

// The search effort.
struct SolverEffort {
  int nodes = 2'000;                                         // of the search tree
  Seconds limit = seconds(60);                               // in case the nodes take long
  double ceiling = std::numeric_limits<double>::infinity();  // only cheaper answers are useful
};

struct GpuCounts {
  bool solved = false, proved = false, out_of_time = false;
  double cost = 0, bound = 0;          // GpuType::usd_per_hour() of all GPUs; no answer costs less than the bound
  std::vector<std::vector<int>> gpus;  // [type][layout]

  std::vector<std::size_t> by_type() const;
};

class SliceModel {
 public:
  // At least `least_gpus` GPUs are used.
  SliceModel(const std::vector<GpuType>& types, LayoutsByType layouts, std::size_t least_gpus);

  // Units that take a slice each.
  void add_units(const Allowed& allowed, std::size_t number);
  // Units that may share slices; `need`: [type][resource] of one. They may be split, so the answer is a bound.
  void add_sharers(const Allowed& allowed, std::size_t number, const std::vector<std::vector<double>>& need);
  // Some type must have more GPUs than this.
  void exclude(const std::vector<std::size_t>& gpus_by_type);

  Result<GpuCounts> solve(const SolverEffort& effort) const;
  // A bound without a search.
  Result<double> relaxed_bound() const;
  // [kind in the order added][type][position in plain_profiles()]: how many units take which slices of these GPUs.
  Result<std::vector<std::vector<std::vector<int>>>> slices_taken(const GpuCounts& counts) const;

 private:
  const std::vector<GpuType>& types_;
  LayoutsByType layouts_;
  solve::Model model_;
  std::vector<std::vector<int>> supply_;                    // [type][position]: row, taken - offered <= 0
  std::vector<std::vector<int>> gpu_columns_;               // [type][layout]
  std::vector<std::vector<std::vector<int>>> taken_;        // [kind][type][position]: column, -1 where not allowed
  std::vector<std::vector<std::vector<int>>> shared_rows_;  // [type][position][resource]; empty without sharers
};

}  // namespace rightsize::mig
