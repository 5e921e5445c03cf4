// The normal distribution's quantiles.
#pragma once

namespace rightsize {

// The value a share (0 to 1, both excluded) of a standard normal is below.
double normal_quantile(double share);

}  // namespace rightsize
