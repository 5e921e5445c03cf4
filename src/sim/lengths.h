// The lengths of synthetic requests: a mean and its variation.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/quantiles.h"

namespace rightsize::sim {

// Prompts and outputs vary independently.
struct RequestShape {
  double size = 1, output = 1;  // mean tokens
  bool exponential = false;     // both have an exponential distribution
  // Log-normal otherwise: the coefficient of variation; 0: all have the mean length.
  double size_variation = 0, output_variation = 0;
  double longest = 0;  // prompt and output together, limited by the model's context; 0: no limit
  double cached = 0;   // mean prompt tokens found in the prefix cache; formulas exclude them; below `size`

  auto operator<=>(const RequestShape&) const = default;

  bool varies() const { return exponential || size_variation > 0 || output_variation > 0; }
  // Mean tokens that a running sequence has in the cache, halfway through its output. Long outputs run longer, so they
  // are overrepresented among the running sequences.
  double mean_context() const {
    const double variation = exponential ? 1 : output_variation;
    return size + output * (1 + variation * variation) / 2;
  }
  // Tokens of the prompt and of the output at a percentile.
  double size_at(Statistic at) const;
  double output_at(Statistic at) const;
  // The last entries of the tables below; the mean if lengths do not vary.
  std::int32_t longest_size() const;
  std::int32_t longest_output() const;
};

// Ascending, equally likely lengths that represent the distribution and have exactly that mean (up to rounding to whole
// tokens). Neighbours differ by only 1 % at p95, so percentiles of TTFT change smoothly; the longest is at p99.95.
// Lengths above `most` (0: no limit) are cut to it, and the others grow to preserve the mean.
inline constexpr int kLengths = 1024;
std::vector<std::int32_t> length_table(double mean, double variation, double most = 0);
std::vector<std::int32_t> size_table(const RequestShape& shape);
std::vector<std::int32_t> output_table(const RequestShape& shape);

// Mean and variation of log-normal lengths with the given median and a higher percentile (0-1).
struct LengthMean {
  double mean = 0, variation = 0;
};
LengthMean mean_of_spread(double median, double high, double percentile);
// The median of log-normal lengths.
double median_of(double mean, double variation);

}  // namespace rightsize::sim
