#include "live_service/lengths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/normal.h"
#include "sim/lengths.h"

namespace rightsize::live_service {
namespace {

constexpr std::size_t kPoints = 1024;

// Normal scores of kPoints equal shares.
const std::array<double, kPoints>& scores() {
  static const std::array<double, kPoints> all = [] {
    std::array<double, kPoints> found{};
    for (std::size_t i = 0; i < kPoints; ++i) found[i] = normal_quantile((static_cast<double>(i) + 0.5) / kPoints);
    return found;
  }();
  return all;
}

struct Knot {
  double score, length;  // normal score of a share, logarithm of the length there
};

// The bounds with values on both sides.
std::vector<Knot> knots_of(const Histogram& histogram) {
  std::vector<Knot> knots;
  const std::vector<double> counts = histogram.counts();
  double below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += counts[i];
    const double share = below / histogram.count();
    if (counts[i] <= 0 || share >= 1 || !(histogram.bounds()[i] > 0)) continue;
    knots.push_back({normal_quantile(share), std::log(histogram.bounds()[i])});
  }
  return knots;
}

}  // namespace

RequestLengths::RequestLengths(const Histogram* histogram, double mean, double usual_variation) {
  if (histogram == nullptr || histogram->empty()) {
    const std::vector<std::int32_t> usual = sim::length_table(mean, usual_variation);
    at_.assign(usual.begin(), usual.end());
    return;
  }
  assumed_ = false;
  follow(*histogram);
  const double drawn = std::accumulate(at_.begin(), at_.end(), 0.0) / kPoints;
  const double scale = drawn > 0 ? mean / drawn : 1;
  for (double& length : at_) length = std::max(1.0, length * scale);
}

void RequestLengths::follow(const Histogram& histogram) {
  const std::vector<Knot> knots = knots_of(histogram);
  // With one or two buckets only, lengths are spread evenly inside them.
  if (knots.size() < 2) {
    for (std::size_t i = 0; i < kPoints; ++i)
      at_.push_back(histogram.quantile((static_cast<double>(i) + 0.5) / kPoints)->value);
    return;
  }
  // No length is above a bound with all values below it, and few are far above the last bound.
  const std::vector<double> counts = histogram.counts();
  double most = 4 * histogram.bounds().back(), below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += counts[i];
    if (below >= histogram.count()) {
      most = histogram.bounds()[i];
      break;
    }
  }
  for (const double score : scores()) {
    auto above = std::find_if(knots.begin(), knots.end(), [&](const Knot& k) { return k.score >= score; });
    above = std::clamp(above, knots.begin() + 1, knots.end() - 1);
    const Knot &a = *(above - 1), &b = *above;
    const double line = a.length + (b.length - a.length) * (score - a.score) / (b.score - a.score);
    at_.push_back(std::min(most, std::exp(line)));
  }
}

double RequestLengths::quantile(double share) const {
  if (at_.size() == 1) return at_.front();
  const double points = static_cast<double>(at_.size());
  const double at = std::clamp(share * points - 0.5, 0.0, points - 1);
  const auto i = std::min(static_cast<std::size_t>(at), at_.size() - 2);
  return at_[i] + (at_[i + 1] - at_[i]) * (at - static_cast<double>(i));
}

double RequestLengths::draw(Random& random) const { return quantile(random.uniform()); }

}  // namespace rightsize::live_service
