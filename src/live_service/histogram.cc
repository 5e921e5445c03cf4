#include "live_service/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rightsize::live_service {

Histogram::Histogram(std::vector<double> bounds, std::vector<double> cumulative, double sum)
    : bounds_(std::move(bounds)), cumulative_(std::move(cumulative)), sum_(sum) {
  for (std::size_t i = 1; i < cumulative_.size(); ++i) cumulative_[i] = std::max(cumulative_[i], cumulative_[i - 1]);
}

Histogram::Histogram(const std::map<double, double>& buckets, double sum) : sum_(sum) {
  if (buckets.empty() || !std::isinf(buckets.rbegin()->first)) return;
  for (const auto& [bound, count] : buckets) {
    if (std::isfinite(bound)) bounds_.push_back(bound);
    cumulative_.push_back(cumulative_.empty() ? count : std::max(count, cumulative_.back()));
  }
}

std::optional<double> Histogram::mean() const {
  if (empty()) return std::nullopt;
  return sum_ / count();
}

std::optional<Quantile> Histogram::quantile(double share) const {
  if (empty()) return std::nullopt;
  const double wanted = share * count();
  const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end(), wanted * (1 - 1e-12));
  const auto i = static_cast<std::size_t>(std::min(found, cumulative_.end() - 1) - cumulative_.begin());
  const double low = i > 0 && i - 1 < bounds_.size() ? bounds_[i - 1] : 0;
  const double end = i < bounds_.size() ? bounds_[i] : likely_end();
  const double below = i > 0 ? cumulative_[i - 1] : 0, inside = cumulative_[i] - below;
  const double part = inside > 0 ? std::clamp((wanted - below) / inside, 0.0, 1.0) : 1;
  return Quantile{low + (end - low) * part, low, i < bounds_.size() ? end : std::numeric_limits<double>::infinity()};
}

double Histogram::likely_end() const {
  const std::vector<double> inside = counts();
  const double last = bounds_.empty() ? 0 : bounds_.back();
  if (!(inside.back() > 0)) return last;
  double rest = sum_;
  for (std::size_t i = 0; i < bounds_.size(); ++i) rest -= inside[i] * (bounds_[i] + (i > 0 ? bounds_[i - 1] : 0)) / 2;
  return std::max(last, 2 * rest / inside.back() - last);
}

Quantile Histogram::share_over(double limit) const {
  if (empty()) return {};
  const double slack = limit * 1e-9;  // a bound read from text may differ in the last digit
  const auto above =
      static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), limit - slack) - bounds_.begin());
  const double total = count();
  if (above == bounds_.size())
    return {0.5 * (1 - cumulative_[above - (above > 0)] / total), 0,
            1 - (above > 0 ? cumulative_[above - 1] / total : 0)};
  const double at_least = 1 - cumulative_[above] / total;
  if (bounds_[above] <= limit + slack) return {at_least, at_least, at_least};
  const double low_bound = above > 0 ? bounds_[above - 1] : 0;
  const double at_most = 1 - (above > 0 ? cumulative_[above - 1] / total : 0);
  const double part = (limit - low_bound) / (bounds_[above] - low_bound);
  return {at_most + (at_least - at_most) * part, at_least, at_most};
}

std::vector<double> Histogram::counts() const {
  std::vector<double> counts = cumulative_;
  for (std::size_t i = counts.size(); i-- > 1;) counts[i] -= counts[i - 1];
  return counts;
}

}  // namespace rightsize::live_service
