// A histogram from a metrics server: counts of values at or below each bound, and the uncertainty they leave.
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace rightsize::live_service {

// A value and the ends of its bucket; `high` is infinite above the last bound.
struct Quantile {
  double value = 0, low = 0, high = 0;
};

class Histogram {
 public:
  Histogram() = default;
  // Ascending bounds; `cumulative` has one more entry, for values above the last bound. Descending counts (servers
  // extrapolate, and replicas may have different buckets) are raised to the previous one.
  Histogram(std::vector<double> bounds, std::vector<double> cumulative, double sum);
  // Cumulative counts by upper bound. Empty without a bucket for infinity.
  Histogram(const std::map<double, double>& buckets, double sum);

  bool empty() const { return !(count() > 0); }
  double count() const { return cumulative_.empty() ? 0 : cumulative_.back(); }
  double sum() const { return sum_; }
  std::optional<double> mean() const;

  // The value that this share of all values is at or below, interpolated inside its bucket. The bucket above the last
  // bound ends where the mean of its values is right for the sum; without a usable sum, the value is that bound. Empty
  // if the histogram is.
  std::optional<Quantile> quantile(double share) const;

  // The share of values above a limit: the likely one, and the range that the bounds around the limit leave.
  Quantile share_over(double limit) const;

  const std::vector<double>& bounds() const { return bounds_; }
  // Values in each bucket, including the one above the last bound.
  std::vector<double> counts() const;

 private:
  // Where the bucket above the last bound ends, if its values are spread evenly. That bound if the sum cannot tell.
  double likely_end() const;

  std::vector<double> bounds_, cumulative_;
  double sum_ = 0;
};

}  // namespace rightsize::live_service
