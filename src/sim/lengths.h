// How long requests are: a mean, and how far lengths vary about it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/quantiles.h"

namespace rightsize::sim {

// Token counts of synthetic requests. Prompts and answers vary independently of each other.
struct RequestShape {
  double size = 1, output = 1;  // mean tokens
  bool exponential = false;     // both, around the mean
  // Log-normal: standard deviation over mean; 0: all are alike.
  double size_variation = 0, output_variation = 0;
  double longest = 0;  // prompt and answer together, as the model's window has it; 0: no limit

  bool varies() const { return exponential || size_variation > 0 || output_variation > 0; }
  // Mean tokens of a running sequence in the cache, half way through its answer. Long answers run for longer: of those
  // that run at any moment they are more than their share.
  double mean_context() const {
    const double variation = exponential ? 1 : output_variation;
    return size + output * (1 + variation * variation) / 2;
  }
  // Tokens of the prompt, of the answer, at a percentile.
  double size_at(Statistic at) const;
  double output_at(Statistic at) const;
  // Of the table below; the mean itself where lengths do not vary.
  std::int32_t longest_size() const;
  std::int32_t longest_output() const;
};

// Lengths of equal share that stand for all, ascending, with exactly that mean (as far as whole tokens allow). So many
// that at p95 the next is a percent longer, and a percentile of TTFT moves smoothly; the longest is at p99.95. Those
// over `most` (0: no limit) are cut to it and the others made longer.
inline constexpr int kLengths = 1024;
std::vector<std::int32_t> length_table(double mean, double variation, double most = 0);
// The tables of a shape.
std::vector<std::int32_t> size_table(const RequestShape& shape);
std::vector<std::int32_t> output_table(const RequestShape& shape);

// Log-normal lengths of a median and a higher percentile (a share): their mean and their variation.
struct LengthMean {
  double mean = 0, variation = 0;
};
LengthMean mean_of_spread(double median, double high, double percentile);
// The median of log-normal lengths.
double median_of(double mean, double variation);

}  // namespace rightsize::sim
