#include "base/normal.h"

#include <cmath>

namespace rightsize {

double normal_quantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace rightsize
