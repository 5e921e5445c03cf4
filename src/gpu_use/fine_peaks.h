// The activity of one GPU at the resolution of its readings, in about two kilobytes: minutes for a day, five minutes
// for a week. The sum over the replicas of a workload then shows how many GPUs they needed at the same moment; summing
// the maxima of longer steps would combine peaks that never coincided.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/usage_units.h"

namespace rightsize::gpu_use {

class FinePeaks {
 public:
  // A reading of the activity metric with this rank; lower ranks are better evidence and replace worse ones.
  void add(int rank, TimePoint time, double activity) {
    if (rank != rank_ || !(time >= from_ && time < until_)) find(rank, time);
    if (rank != rank_) return;
    const auto value = static_cast<std::uint8_t>(std::min(activity, 1.0) * kFull + 0.5);
    std::uint8_t& peak = peaks_[at_];
    peak = peak == kNone ? value : std::max(peak, value);
  }

  bool empty() const { return peaks_.empty(); }
  Seconds width() const { return width_; }

  // The summed activity per bin from `since` on, in bins that hold a reading of each GPU if all are read every
  // `interval`. Without a reading, a GPU counts with its last one; before its first and after its last, with 0.
  static std::vector<double> sum(std::span<const FinePeaks* const> gpus, TimePoint since, Seconds interval);

 private:
  static constexpr std::size_t kMostBins = 2100;
  static constexpr double kFull = 250;
  static constexpr std::uint8_t kNone = 255;

  void find(int rank, TimePoint time);
  void widen();
  std::int64_t index_of(TimePoint time) const;

  std::vector<std::uint8_t> peaks_;  // the highest reading of each bin, or kNone
  std::int64_t origin_ = 0;          // of the first bin, in bins since 1970
  std::size_t at_ = 0;               // the bin of the last reading, which spans [from_, until_)
  TimePoint from_, until_;
  Seconds width_ = seconds(1);
  int rank_ = 100;
};

}  // namespace rightsize::gpu_use
