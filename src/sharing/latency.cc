#include "sharing/latency.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rightsize::sharing {

void RequestTime::add(double probability, double seconds) {
  if (probability > 0 && seconds > 0) delays_.push_back({std::min(1.0, probability), seconds});
}

double RequestTime::mean() const {
  double sum = fixed_;
  for (const Delay& d : delays_) sum += d.probability * d.seconds;
  return sum;
}

double RequestTime::variance() const {
  double sum = 0;
  for (const Delay& d : delays_) sum += d.probability * (1 - d.probability) * d.seconds * d.seconds;
  return sum;
}

// The distribution of the sum of delays on a grid, rounded up.
std::vector<RequestTime::Delay> RequestTime::rounded_sums() const {
  constexpr std::size_t kSteps = 400;
  double most = 0;
  for (const Delay& d : delays_) most += d.seconds;
  if (most == 0) return {{1, 0}};
  const double step = most / kSteps;
  std::vector<double> at(kSteps + delays_.size() + 1, 0);
  at[0] = 1;
  std::size_t last = 0;
  for (const Delay& d : delays_) {
    const auto moved = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(d.seconds / step - 1e-9)));
    for (std::size_t i = last + 1; i-- > 0;) {
      at[std::min(at.size() - 1, i + moved)] += at[i] * d.probability;
      at[i] *= 1 - d.probability;
    }
    last = std::min(at.size() - 1, last + moved);
  }
  std::vector<Delay> sums;
  for (std::size_t i = 0; i <= last; ++i) {
    if (at[i] > 0) sums.push_back({at[i], static_cast<double>(i) * step});
  }
  return sums;
}

double RequestTime::quantile(double share, double busy, double size) const {
  if (busy >= 1) return std::numeric_limits<double>::infinity();
  const std::vector<Delay> sums = rounded_sums();
  if (size == 0 && mean() > 0) size = mean() + variance() / mean();
  const double decay = size > 0 ? 2 * (1 - busy) / size : std::numeric_limits<double>::infinity();
  const auto later_than = [&](double t) {
    double sum = 0;
    for (const Delay& s : sums) {
      const double wait = t - fixed_ - s.seconds;
      sum += s.probability * (wait < 0 ? 1 : busy * std::exp(-decay * wait));
    }
    return sum;
  };
  const double most_wait = busy > 0 ? std::max(0.0, std::log(busy / (1 - share)) / decay) : 0;
  double low = 0, high = fixed_ + sums.back().seconds + most_wait;
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings && high > low * (1 + 1e-6); ++i) {
    const double middle = (low + high) / 2;
    (later_than(middle) > 1 - share ? low : high) = middle;
  }
  return high;
}

}  // namespace rightsize::sharing
