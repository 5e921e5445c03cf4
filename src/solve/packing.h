// Puts items that need several resources at once into the cheapest set of bins (vector bin packing).
//
// A resource is any additive number: memory, compute, bandwidth, or each of these at every hour of a day. Items of one
// `apart` group never share a bin.
//
//   Result<Packing> packing = pack(items, bins);
//   double possible_saving = packing->cost - packing->bound;  // no packing costs less than the bound
//
// A heuristic (the best of several first-fit and best-fill orders) with a lower bound: the linear relaxation, tightened
// by dual feasible functions, which is exact for most instances of up to a hundred items.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"

namespace rightsize::solve {

struct Item {
  // By bin type: the item's need of each resource; an empty row means that it cannot go into that type.
  std::vector<std::vector<double>> need;
  int apart = -1;  // items with the same number (0 or more) never share a bin
};

struct BinType {
  double cost = 0;  // of one, more than 0
  std::vector<double> capacity;
  std::size_t most_items = 0;  // in one bin; 0: as many as fit
};

struct Bin {
  std::size_t type = 0;
  std::vector<std::size_t> items;  // their indices, ascending
};

struct Packing {
  std::vector<Bin> bins;
  std::vector<std::size_t> unplaceable;  // items that fit no bin even alone; the rest is packed without them
  double cost = 0;
  double bound = 0;  // no packing costs less

  bool proved() const { return cost <= bound * (1 + 1e-9) + 1e-9; }
  double gap() const { return bound > 0 ? cost / bound - 1 : 0; }
};

Result<Packing> pack(const std::vector<Item>& items, const std::vector<BinType>& bins);

}  // namespace rightsize::solve
