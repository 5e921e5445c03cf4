// The normal distribution's quantiles.
#pragma once

namespace rightsize {

// The quantile of the standard normal distribution at a share in (0, 1).
double normal_quantile(double share);

}  // namespace rightsize
