// Tests after every sample whether the long-run mean is where it was predicted to be.
//
// The interval around the mean is a confidence sequence: with probability 1 - alpha it contains the true mean at every
// sample size simultaneously, so stopping early does not bias it. It is the inversion of the t-test e-process for
// samples from a normal distribution of unknown mean and variance: the Bayes factor of an effect size (mean / standard
// deviation) drawn from N(0, 1) against a given mean, under the right Haar prior on the variance,
//   B = (1+n)^(-1/2) * ((1 + t^2/(n-1)) / (1 + t^2/((n-1)(1+n))))^(n/2),
// is a martingale if the given mean is the true one, and by Ville's inequality reaches 1/alpha with probability at most
// alpha. (T. L. Lai, Ann. Statist. 4, 1976; Perez-Ortiz, Lardy, de Heide, Gruenwald, arXiv:2208.07610; H. Wang, A.
// Ramdas, arXiv:2310.03722.) Speeds and times are tested as logarithms, where errors are factors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rightsize::decisions {

inline constexpr double kAlpha = 0.05;

// Half the width of the interval after `count` samples with this standard deviation; infinite for too few samples
// (below five at alpha 5 %).
double half_width(std::int64_t count, double deviation, double alpha = kAlpha);

struct ConfidenceSequence {
  std::int64_t count = 0;
  double mean = 0, deviation = 0;  // of the samples' logarithms
  double low = 0, high = 0;        // the interval, back in the samples' unit; 0 and infinity while it is unbounded
  double typical = 0;              // the geometric mean
};
// Samples must be above zero; others are left out.
ConfidenceSequence sequence_of(std::span<const double> samples, double alpha = kAlpha);

// Total number of samples that would distinguish the mean from a value `distance` away (in logarithms), if the trend
// continues. Empty: more than a million.
std::optional<std::int64_t> samples_to_tell(double deviation, double distance, double alpha = kAlpha);

// Peaks are judged by the maximum: after this many samples below the limit, fewer than one in ten is above it (alpha 5
// %).
inline constexpr std::int64_t kEnoughPeaks = 29;  // 0.9^29 < 0.05

}  // namespace rightsize::decisions
