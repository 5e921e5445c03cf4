#include "gpu_use/fine_peaks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu_use/use.h"

namespace rightsize::gpu_use {

std::int64_t FinePeaks::index_of(TimePoint time) const {
  return static_cast<std::int64_t>(std::floor(time.since_epoch() / width_));
}

void FinePeaks::widen() {
  const Seconds wider = wider_step(width_);
  const auto factor = static_cast<std::int64_t>(std::llround(wider / width_));
  const std::int64_t first = origin_ / factor;
  std::vector<std::uint8_t> merged(static_cast<std::size_t>((origin_ + std::ssize(peaks_) - 1) / factor - first + 1),
                                   kNone);
  for (std::int64_t i = 0; i < std::ssize(peaks_); ++i) {
    std::uint8_t& to = merged[static_cast<std::size_t>((origin_ + i) / factor - first)];
    const std::uint8_t from = peaks_[static_cast<std::size_t>(i)];
    if (from != kNone) to = to == kNone ? from : std::max(to, from);
  }
  peaks_ = std::move(merged);
  origin_ = first;
  width_ = wider;
}

// Selects the bin of this time.
void FinePeaks::find(int rank, TimePoint time) {
  if (rank > rank_) return;
  if (rank < rank_) {
    *this = {};
    rank_ = rank;
  }
  if (peaks_.empty()) {
    origin_ = index_of(time);
    peaks_.assign(1, kNone);
  }
  std::int64_t index = index_of(time);
  while (std::max(origin_ + std::ssize(peaks_) - 1, index) - std::min(origin_, index) >=
         static_cast<std::int64_t>(kMostBins)) {
    widen();
    index = index_of(time);
  }
  if (index < origin_) {
    peaks_.insert(peaks_.begin(), static_cast<std::size_t>(origin_ - index), kNone);
    origin_ = index;
  }
  at_ = static_cast<std::size_t>(index - origin_);
  if (at_ >= peaks_.size()) peaks_.resize(at_ + 1, kNone);
  from_ = TimePoint(static_cast<double>(index) * width_);
  until_ = from_ + width_;
}

std::vector<double> FinePeaks::sum(std::span<const FinePeaks* const> gpus, TimePoint since, Seconds interval) {
  Seconds width = step_at_least(0.9 * interval);  // late readings occasionally leave a bin empty
  for (const FinePeaks* gpu : gpus) width = std::max(width, gpu->width_);
  std::vector<FinePeaks> same;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = first;
  for (const FinePeaks* gpu : gpus) {
    if (gpu->empty()) continue;
    FinePeaks& wide = same.emplace_back(*gpu);
    while (wide.width_ < width) wide.widen();
    const std::int64_t end = wide.origin_ + std::ssize(wide.peaks_);
    last = same.size() == 1 ? end : std::max(last, end);
    first = std::min(first, wide.origin_);
  }
  if (same.empty()) return {};
  first = std::max(first, same.front().index_of(since));
  std::vector<double> sums(static_cast<std::size_t>(std::max<std::int64_t>(0, last - first)), 0.0);
  for (const FinePeaks& gpu : same) {
    std::uint8_t last_known = 0;
    for (std::int64_t i = 0; i < std::ssize(gpu.peaks_); ++i) {
      const std::uint8_t peak = gpu.peaks_[static_cast<std::size_t>(i)];
      if (peak != kNone) last_known = peak;
      if (gpu.origin_ + i >= first) sums[static_cast<std::size_t>(gpu.origin_ + i - first)] += last_known / kFull;
    }
  }
  return sums;
}

}  // namespace rightsize::gpu_use
