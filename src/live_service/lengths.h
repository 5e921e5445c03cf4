// Token counts to simulate with, from a histogram that only says how many lie in each bucket.
#pragma once

#include <vector>

#include "base/random.h"
#include "live_service/histogram.h"

namespace rightsize::live_service {

// Between two bounds the logarithm of a length is a straight line of the normal score, which is exact where lengths are
// log-normal; what lies below the first and above the last bound goes on with the line beside it. All lengths are then
// scaled so that their mean is the measured one. Without a histogram: log-normal about the mean, as far apart as
// `usual_variation` says (capacity::usual_variation()).
class Lengths {
 public:
  Lengths(const Histogram* histogram, double mean, double usual_variation);

  double draw(Random& random) const;
  // The length a share of all is at or below.
  double quantile(double share) const;
  bool assumed() const { return assumed_; }

 private:
  void follow(const Histogram& histogram);

  bool assumed_ = true;
  std::vector<double> at_;  // lengths at shares 0.5 / n, 1.5 / n ...
};

}  // namespace rightsize::live_service
