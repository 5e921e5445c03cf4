// The tallies of one GPU or MIG instance while files are read: about 20 kB, for any number of readings in any order.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu_use/coverage.h"
#include "gpu_use/use.h"

namespace rightsize::gpu_use {

inline constexpr std::size_t kBuckets = 64;       // of a histogram of shares
inline constexpr std::size_t kOwnerBuckets = 32;  // the same for one owner
inline constexpr std::size_t kRows = 5;           // metrics with a curve over time:
inline constexpr std::size_t kActivityRows = 3;   // those of kActivityMetrics, in their order,
inline constexpr std::size_t kDramRow = 3, kMemoryRow = 4;

// The range of a metric, and the curve it belongs to.
struct MetricKind {
  double most = 0;     // larger values are blanks or errors of the exporter
  int row = -1;        // of the curves; -1: none
  bool share = false;  // 0-1
};
const MetricKind& kind_of(Metric metric);

// One step of one curve. When a count reaches 2^16, all sums are halved, which preserves the means.
struct CurveCell {
  float sum = 0, max = 0;
  std::uint16_t count = 0, idle = 0;

  void add(double value, bool is_idle) {
    if (count == std::numeric_limits<std::uint16_t>::max()) halve();
    sum += static_cast<float>(value);
    max = count == 0 ? static_cast<float>(value) : std::max(max, static_cast<float>(value));
    ++count;
    idle = static_cast<std::uint16_t>(idle + (is_idle ? 1 : 0));
  }
  void halve();
  void merge(CurveCell other);
  float mean() const { return sum / static_cast<float>(count); }
  double idle_share() const { return static_cast<double>(idle) / static_cast<double>(count); }
};

// A quantile of shares from equal buckets of 0 to 1: the middle of the bucket in which it falls, at most `most`.
double quantile_of(std::span<const float> histogram, double share, double most);

// All readings of one metric, each weighted by the time since the one before, because intervals may change.
struct Tally {
  std::uint64_t count = 0;
  double max = 0;
  TimePoint previous;
  double sum = 0;                           // of readings with a known duration, times their seconds
  Seconds weight;                           // ... and their duration
  double loose_sum = 0;                     // of other readings: the first, after a break, or out of order
  std::uint64_t loose = 0;                  // how many
  Seconds interval;                         // the last interval between readings in order; 0: none yet
  std::array<float, kBuckets> histogram{};  // of shares

  // Returns the duration of the reading.
  Seconds add(TimePoint time, double value) {
    const Seconds gap = time - previous;
    previous = time;
    max = count == 0 || value > max ? value : max;
    ++count;
    if (count > 1 && gap > Seconds{} && gap <= kInOrder) {
      interval = gap;
      sum += value * in_seconds(gap);
      weight += gap;
      return gap;
    }
    loose_sum += value;
    ++loose;
    return interval > Seconds{} ? interval : kInOrder / 5;
  }
  // The mean time between readings in order; 0 if there are none.
  Seconds usual_interval() const { return count > loose ? weight / static_cast<double>(count - loose) : Seconds{}; }
  double mean() const;

  static constexpr Seconds kInOrder = seconds(300);
};

// The curves of one device: at most kMostSteps steps of equal width; when more are needed, neighbours are merged.
class CurveRows {
 public:
  // Half-hours for a week, five minutes for a day, as for a server (scan.cc). Most of the memory goes here.
  static constexpr std::size_t kMostSteps = 340;
  // Quarters of an hour for a day, in fleets of thousands.
  static constexpr std::size_t kFewerSteps = 110;
  void limit(std::size_t steps) {
    most_ = steps;
    while (steps_ > most_) coarsen();
  }

  // The cell of a row for a moment, and the time it spans.
  CurveCell& cell(std::size_t row, TimePoint time, TimeSpan& reach);
  void coarsen();
  std::size_t steps() const { return steps_; }
  Seconds width() const { return width_; }
  TimePoint begin_of(std::size_t step) const {
    return TimePoint(static_cast<double>(origin_ + static_cast<std::int64_t>(step)) * width_);
  }
  // Null for a step without readings.
  const CurveCell* at(std::size_t row, std::size_t step) const;
  // The step that holds a time within the curves.
  std::size_t step_of(TimePoint time) const;

 private:
  std::int64_t index_of(TimePoint time) const;
  std::size_t find_step(TimePoint time);
  void extend_front(std::size_t by);

  std::array<std::vector<CurveCell>, kRows> rows_;
  std::int64_t origin_ = 0;  // of the first step, in steps since 1970
  std::size_t steps_ = 0, most_ = kMostSteps;
  Seconds width_ = seconds(1);
};

// One owner's readings of activity, by time.
struct OwnerTally {
  Owner owner;
  std::array<Seconds, kActivityRows> weight{}, idle{};
  std::array<std::unique_ptr<std::array<float, kOwnerBuckets>>, kActivityRows> histogram;
  std::array<double, kActivityRows> activity_peak{};
  Bytes memory_peak;
};

// One series, identified by its labels.
struct SeriesTally {
  std::size_t owner = 0;
  std::uint32_t metrics = 0;                  // bit i: it has readings of metric i
  Coverage present;                           // readings of anything
  std::array<Coverage, kActivityRows> known;  // readings of activity
};

// Series of one device with the same telemetry::distinguishing_labels().
struct LabelSet {
  telemetry::Labels labels;
  std::vector<std::size_t> series;  // of PartTally::series
};

struct PartTally {
  Device device;
  std::vector<LabelSet> label_sets;  // empty for a device with a unique ID
  std::array<std::unique_ptr<Tally>, telemetry::kMetrics> tallies;
  CurveRows curves;
  FinePeaks fine;
  std::array<std::uint64_t, kActivityRows> changes{};
  std::array<signed char, kActivityRows> was_idle{-1, -1, -1};
  std::vector<OwnerTally> owners;
  std::vector<SeriesTally> series;
  std::uint64_t dropped = 0;
  Seconds shift;     // added to times after its clock jumped
  TimePoint newest;  // the last time, shifted; 0: none yet
  bool jumped = false;
};

// Two sets of series that differ in a label and report the same metric at the same time: they may be different GPUs.
std::optional<telemetry::IdentityConflict> conflict_in(const PartTally& part, Seconds fallback);

// The rows of one physical GPU: itself while it was not partitioned, each MIG instance, and the free part with the
// layouts. `parts` are those of one GPU; `fallback` is the duration of a single reading.
std::vector<GpuUse> account(const std::vector<PartTally*>& parts, const IdleRule& rule, Seconds fallback);

}  // namespace rightsize::gpu_use
