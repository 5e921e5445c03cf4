// A histogram of a metrics server: how many values are at or below each bound, and what that leaves open.
#pragma once

#include <optional>
#include <vector>

namespace rightsize::live_service {

// A figure and the ends of the bucket it lies in; `high` is infinite above the last bound.
struct Quantile {
  double value = 0, low = 0, high = 0;
};

class Histogram {
 public:
  Histogram() = default;
  // Bounds ascend; `cumulative` has one entry more, for what is above the last bound. Counts that fall (servers
  // estimate, and replicas may have different buckets) are raised to the one before.
  Histogram(std::vector<double> bounds, std::vector<double> cumulative, double sum);

  bool empty() const { return !(count() > 0); }
  double count() const { return cumulative_.empty() ? 0 : cumulative_.back(); }
  double sum() const { return sum_; }
  std::optional<double> mean() const;

  // The value a share of all is at or below, by a straight line inside its bucket; above the last bound, that bound.
  // Nothing when empty.
  std::optional<Quantile> quantile(double share) const;

  // The share of values above a limit: likely, and at least and at most by the bounds around it.
  Quantile share_over(double limit) const;

  const std::vector<double>& bounds() const { return bounds_; }
  // Of each bucket, the last of them above the last bound; adds up to count().
  std::vector<double> counts() const;

 private:
  std::vector<double> bounds_, cumulative_;
  double sum_ = 0;
};

}  // namespace rightsize::live_service
