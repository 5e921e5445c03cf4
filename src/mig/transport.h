// How many units of each kind go into each sort of slice, when the slices are given.
#pragma once

#include <vector>

namespace rightsize::mig {

// Units that may go into the same slices.
struct UnitKind {
  std::vector<std::vector<bool>> allowed;  // [type][position in plain_profiles()]
  std::vector<std::size_t> units;
};

// [kind][type][position in plain_profiles()]: every unit of every kind in one of `slices` ([type][position], how many
// there are), small slices first. Where there are too few, those that found none are missing.
std::vector<std::vector<std::vector<int>>> share_out(const std::vector<UnitKind>& kinds,
                                                     const std::vector<std::vector<int>>& slices);

}  // namespace rightsize::mig
