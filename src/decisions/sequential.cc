#include "decisions/sequential.h"

#include <cmath>
#include <limits>

namespace rightsize::decisions {

double half_width(std::int64_t count, double deviation, double alpha) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (count < 2) return kInfinite;
  const auto n = static_cast<double>(count);
  const double r = 1 + n;
  const double k = std::pow(std::sqrt(r) / alpha, 2 / n);
  if (k >= r) return kInfinite;
  const double t_squared = (k - 1) / (1 - k / r);  // over n - 1
  return deviation / std::sqrt(n) * std::sqrt((n - 1) * t_squared);
}

ConfidenceSequence sequence_of(std::span<const double> samples, double alpha) {
  ConfidenceSequence s;
  double squares = 0;
  for (const double sample : samples) {
    if (!(sample > 0) || !std::isfinite(sample)) continue;
    ++s.count;
    const double value = std::log(sample), off = value - s.mean;
    s.mean += off / static_cast<double>(s.count);
    squares += off * (value - s.mean);
  }
  if (s.count > 1) s.deviation = std::sqrt(squares / static_cast<double>(s.count - 1));
  const double half = half_width(s.count, s.deviation, alpha);
  s.typical = s.count == 0 ? 0 : std::exp(s.mean);
  s.low = std::isfinite(half) ? std::exp(s.mean - half) : 0;
  s.high = std::isfinite(half) ? std::exp(s.mean + half) : std::numeric_limits<double>::infinity();
  return s;
}

std::optional<std::int64_t> samples_to_tell(double deviation, double distance, double alpha) {
  constexpr std::int64_t kMost = 1'000'000;
  if (!(distance > 0) || half_width(kMost, deviation, alpha) > distance) return std::nullopt;
  std::int64_t low = 2, high = kMost;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (half_width(middle, deviation, alpha) <= distance)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace rightsize::decisions
