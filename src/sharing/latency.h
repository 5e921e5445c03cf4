// The distribution of a request's time: a fixed part, delays that happen or not, and the wait in its queue.
#pragma once

#include <vector>

namespace rightsize::sharing {

class RequestTime {
 public:
  explicit RequestTime(double seconds) : fixed_(seconds) {}

  // A delay that occurs with this probability, independently of the others.
  void add(double probability, double seconds);

  double mean() const;
  double variance() const;
  // A quantile of the time including the wait, if the server is busy for this share of the time; infinite for `busy` >=
  // 1. P(wait > t) = busy exp(-2 (1 - busy) t / s), where s is the mean square of the server's request times divided by
  // their mean (Kingman's exponential tail, exact in heavy traffic). `size` is s; 0: all requests are like this one.
  double quantile(double share, double busy, double size = 0) const;

 private:
  struct Delay {
    double probability, seconds;
  };
  std::vector<Delay> rounded_sums() const;

  double fixed_;
  std::vector<Delay> delays_;
};

}  // namespace rightsize::sharing
