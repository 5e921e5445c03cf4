#include "base/random.h"

#include <cmath>
#include <numbers>

namespace rightsize {

// 256 layers of equal area under e^-x. x[0] is the width that the lowest layer would have as a rectangle.
Random::Tables::Tables() : x{}, y{} {
  constexpr double kArea = 0.0039496598225815571993;
  x[0] = kArea / std::exp(-kTail);
  x[1] = kTail;
  for (std::size_t i = 2; i < 256; ++i) x[i] = -std::log(kArea / x[i - 1] + std::exp(-x[i - 1]));
  x[256] = 0;
  for (std::size_t i = 0; i <= 256; ++i) y[i] = std::exp(-x[i]);
}

const Random::Tables Random::kTables;

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

// The distribution is memoryless, so the part beyond the lowest layer is exponential too.
double Random::tail() { return -std::log1p(-uniform()); }

bool Random::in_wedge(std::size_t layer, double x) {
  return kTables.y[layer] + uniform() * (kTables.y[layer + 1] - kTables.y[layer]) < std::exp(-x);
}

}  // namespace rightsize
