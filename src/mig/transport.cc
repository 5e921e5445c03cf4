#include "mig/transport.h"

#include <cmath>

#include "solve/mip.h"

namespace rightsize::mig {

// A transport problem: kinds are the sources, sorts of slice the sinks. Its corners are whole numbers (the matrix is
// totally unimodular), so that the linear program's answer is one. A unit with a place is worth more than any number of
// places that could be smaller.
std::vector<std::vector<std::vector<int>>> share_out(const std::vector<UnitKind>& kinds,
                                                     const std::vector<std::vector<int>>& slices) {
  solve::Model model;
  std::vector<std::vector<int>> sinks(slices.size());
  int sorts = 0;
  for (std::size_t t = 0; t < slices.size(); ++t) {
    for (int available : slices[t]) sinks[t].push_back(model.add_row(0, available)), ++sorts;
  }
  const double placed = sorts * static_cast<double>(kinds.size() + 1) + 1;
  std::vector<std::vector<std::vector<int>>> columns(kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const int source = model.add_row(0, static_cast<double>(kinds[k].units.size()));
    columns[k].resize(slices.size());
    for (std::size_t t = 0; t < slices.size(); ++t) {
      for (std::size_t p = 0; p < slices[t].size(); ++p) {
        const bool open = kinds[k].allowed[t][p] && slices[t][p] > 0;
        columns[k][t].push_back(open ? model.add_column(static_cast<double>(p) - placed, 0, solve::kInfinity, false)
                                     : -1);
        if (!open) continue;
        model.add_entry(source, columns[k][t].back(), 1);
        model.add_entry(sinks[t][p], columns[k][t].back(), 1);
      }
    }
  }
  const std::vector<double> values = solve::solve_relaxation(model).values;
  for (auto& of_kind : columns) {
    for (auto& of_type : of_kind) {
      for (int& column : of_type)
        column = column < 0 ? 0 : static_cast<int>(std::lround(values[static_cast<std::size_t>(column)]));
    }
  }
  return columns;
}

}  // namespace rightsize::mig
