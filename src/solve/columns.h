// Column generation for pack(): every column is the content of one bin (Gilmore and Gomory, 1961).
#pragma once

#include <vector>

#include "solve/packing.h"

namespace rightsize::solve {

// Improves `packing` (a feasible one) and raises its bound: the linear master over contents is solved with contents
// priced in by a multi-dimensional knapsack, its value is a bound (Farley's when the rounds end first), and the whole
// master over the contents found gives the answer.
void improve_by_columns(const std::vector<Item>& items, const std::vector<BinType>& bins,
                        const std::vector<std::size_t>& chosen, const Options& options, Packing& packing);

// Where every bin costs the same, a cost is a multiple of it: the next one up. Else the bound itself.
double round_up_to_costs(double bound, const std::vector<BinType>& bins);

}  // namespace rightsize::solve
