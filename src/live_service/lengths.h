// Request lengths for the simulation, from a histogram with few buckets.
#pragma once

#include <vector>

#include "base/random.h"
#include "live_service/histogram.h"

namespace rightsize::live_service {

// Between two bounds, the logarithm of a length is linear in the normal score, which is exact for log-normal lengths;
// the outer lines extend beyond the first and last bound. Lengths are then scaled to the measured mean. Without a
// histogram: log-normal around the mean with `usual_variation` (capacity::usual_variation()).
class RequestLengths {
 public:
  RequestLengths(const Histogram* histogram, double mean, double usual_variation);

  double draw(Random& random) const;
  // The length that this share of all lengths is at or below.
  double quantile(double share) const;
  bool assumed() const { return assumed_; }

 private:
  void follow(const Histogram& histogram);

  bool assumed_ = true;
  std::vector<double> at_;  // lengths at the shares 0.5 / n, 1.5 / n ...
};

}  // namespace rightsize::live_service
