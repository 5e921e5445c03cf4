// Putting items that need several resources at once into the cheapest set of bins (vector bin packing).
//
// A resource is any number that adds up: memory, compute, bandwidth, or each of these at every hour of a day; packing
// jobs whose peaks do not meet is the same problem with more dimensions. Items of one `apart` group never share a bin.
//
//   Packing p = pack(items, bins, {});
//   p.cost, p.bound       // what it costs, and what no packing can cost less than
//
// Small instances (Options::exact_items) are solved by column generation: a bin's content is a column, so bins that
// look alike are never told apart and the symmetry of the assignment model does not arise. Large ones are packed by
// first-fit and best-fill orders, with the bound of the linear relaxation.
#pragma once

#include <cstddef>
#include <vector>

namespace rightsize::solve {

struct Item {
  // By bin type: what the item takes of each resource there; an empty row means it cannot go into that type.
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
  double bound = 0;          // no packing costs less
  bool out_of_time = false;  // the seconds ran out first: another run may answer otherwise

  bool proved() const { return cost <= bound * (1 + 1e-9) + 1e-9; }
  double gap() const { return bound > 0 ? cost / bound - 1 : 0; }
};

struct Options {
  std::size_t exact_items = 300;  // up to so many, column generation
  int rounds = 400;               // of it; then the best so far is returned with its bound
  int nodes = 2'000;              // of each search tree in it
  double seconds = 60;            // in case these take long: what is answered then depends on the machine
};

Packing pack(const std::vector<Item>& items, const std::vector<BinType>& bins, const Options& options);

}  // namespace rightsize::solve
