#include "sim/lengths.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/normal.h"

namespace rightsize::sim {
namespace {

constexpr double kMostTokens = 1e9;

// The standard normal deviate at the middle of each equally likely class.
const std::vector<double>& deviations() {
  static const std::vector<double> kAll = [] {
    std::vector<double> all;
    for (int i = 0; i < kLengths; ++i) all.push_back(normal_quantile((i + 0.5) / kLengths));
    return all;
  }();
  return kAll;
}

double sigma_of(double variation) { return std::sqrt(std::log1p(variation * variation)); }

std::int32_t whole(double tokens) { return static_cast<std::int32_t>(std::clamp(tokens + 0.5, 1.0, kMostTokens)); }

// The context window is split between prompt and output in proportion to their means.
double most_of(const RequestShape& shape, double mean) {
  return shape.longest > 0 ? std::floor(shape.longest * mean / (shape.size + shape.output)) : 0;
}

// Called often by searches, so computed without the table. The table differs only if a limit truncates lengths.
double length_at(double mean, double variation, bool exponential, double most, Statistic at) {
  constexpr double kShares[] = {0, 0.5, 0.9, 0.95, 0.99};
  static const double kDeviations[] = {0, 0, normal_quantile(0.9), normal_quantile(0.95), normal_quantile(0.99)};
  if (at == Statistic::kMean || !(exponential || variation > 0)) return mean;
  const auto index = static_cast<std::size_t>(at);
  const double length = exponential ? -mean * std::log1p(-kShares[index])
                                    : median_of(mean, variation) * std::exp(sigma_of(variation) * kDeviations[index]);
  return most > 0 ? std::min(length, std::max(most, mean)) : length;
}

}  // namespace

std::vector<std::int32_t> length_table(double mean, double variation, double most) {
  if (!(variation > 0) || (most > 0 && most <= mean)) return {whole(mean)};
  std::vector<double> lengths;
  for (double z : deviations()) lengths.push_back(std::exp(sigma_of(variation) * z));
  // Cuts the longest one by one, rescaling the others, until the first `uncut` are below the limit.
  const double limit = most > 0 ? most : kMostTokens;
  double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0), scale = mean * kLengths / sum;
  for (int uncut = kLengths; uncut > 1 && scale * lengths[static_cast<std::size_t>(uncut) - 1] > limit;) {
    sum -= lengths[static_cast<std::size_t>(--uncut)];
    scale = (mean * kLengths - limit * (kLengths - uncut)) / sum;
  }
  std::vector<std::int32_t> table;
  for (double length : lengths) table.push_back(whole(std::min(scale * length, limit)));
  return table;
}

std::vector<std::int32_t> size_table(const RequestShape& shape) {
  return length_table(shape.size, shape.size_variation, most_of(shape, shape.size));
}
std::vector<std::int32_t> output_table(const RequestShape& shape) {
  return length_table(shape.output, shape.output_variation, most_of(shape, shape.output));
}

double RequestShape::size_at(Statistic at) const {
  return length_at(size, size_variation, exponential, most_of(*this, size), at);
}
double RequestShape::output_at(Statistic at) const {
  return length_at(output, output_variation, exponential, most_of(*this, output), at);
}
std::int32_t RequestShape::longest_size() const { return size_table(*this).back(); }
std::int32_t RequestShape::longest_output() const { return output_table(*this).back(); }

LengthMean mean_of_spread(double median, double high, double percentile) {
  const double sigma = std::log(high / median) / normal_quantile(percentile);
  return {median * std::exp(sigma * sigma / 2), std::sqrt(std::expm1(sigma * sigma))};
}

double median_of(double mean, double variation) {
  const double sigma = sigma_of(variation);
  return mean * std::exp(-sigma * sigma / 2);
}

}  // namespace rightsize::sim
