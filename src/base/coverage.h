// How many of a set of items random draws reach.
#pragma once

#include <algorithm>
#include <cmath>

namespace rightsize {

// The share of items that at least one of `draws` draws reaches, if a draw reaches an item with probability `chance` on
// average. Popularity follows a gamma distribution of shape `evenness`, so an item with a mean of x visits is missed
// with probability (1 + x / evenness)^-evenness (a negative binomial). Evenness 0: all items are equally popular.
inline double share_reached(double chance, double draws, double evenness) {
  if (!(evenness > 0)) return 1 - std::pow(1 - chance, draws);
  const double visits = -std::log1p(-std::min(chance, 0.999)) * draws;
  return 1 - std::pow(1 + visits / evenness, -evenness);
}

}  // namespace rightsize
