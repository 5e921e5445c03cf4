#include "gpu_use/accumulate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "base/units.h"
#include "gpu_use/part_tally.h"

namespace rightsize::gpu_use {
namespace {

constexpr Seconds kClockOff = kYear;               // a larger difference means a wrong clock
constexpr Seconds kLoneReading = seconds(30);      // if no series has two readings
constexpr TimePoint kLatest = unix_seconds(1e11);  // the year 5138: later times are not in seconds

// Adds readings of one metric of one series, and looks up their common data once.
class Adder {
 public:
  Adder(const IdleRule& rule, PartTally& part, SeriesTally& series, Metric metric)
      : rule_(rule),
        part_(part),
        series_(series),
        owner_(part.owners[series.owner]),
        kind_(kind_of(metric)),
        slot_(part.tallies[static_cast<std::size_t>(metric)]),
        activity_(kind_.row >= 0 && kind_.row < static_cast<int>(kActivityRows)) {}

  // False if the value is impossible.
  bool add(TimePoint time, double value) {
    if (!(value >= 0) || value > kind_.most) return false;
    if (!slot_) slot_ = std::make_unique<Tally>();
    Tally& tally = *slot_;
    if (tally.count > 0 && tally.previous == time) return true;  // the same reading from a second series
    const Seconds weight = tally.add(time, value);
    if (kind_.share) tally.histogram[bucket(value, kBuckets)] += static_cast<float>(in_seconds(weight));
    if (kind_.row >= 0) add_to_curve(time, value, weight);
    return true;
  }

 private:
  static std::size_t bucket(double share, std::size_t buckets) {
    return std::min(buckets - 1, static_cast<std::size_t>(share * static_cast<double>(buckets)));
  }

  void add_to_curve(TimePoint time, double value, Seconds weight) {
    const bool idle = activity_ && value <= rule_.active_above;
    const auto row = static_cast<std::size_t>(kind_.row);
    if (!(time >= reach_.from && time < reach_.until)) cell_ = &part_.curves.cell(row, time, reach_);
    cell_->add(value, idle);
    if (row == kMemoryRow) owner_.memory_peak = std::max(owner_.memory_peak, bytes(value));
    if (!activity_) return;
    series_.known[row].add(time);
    part_.fine.add(kind_.row, time, value);
    if (part_.was_idle[row] >= 0 && (part_.was_idle[row] == 1) != idle) ++part_.changes[row];
    part_.was_idle[row] = idle ? 1 : 0;
    owner_.weight[row] += weight;
    if (idle) owner_.idle[row] += weight;
    owner_.activity_peak[row] = std::max(owner_.activity_peak[row], value);
    if (!owner_.histogram[row]) owner_.histogram[row] = std::make_unique<std::array<float, kOwnerBuckets>>();
    (*owner_.histogram[row])[bucket(value, kOwnerBuckets)] += static_cast<float>(in_seconds(weight));
  }

  const IdleRule& rule_;
  PartTally& part_;
  SeriesTally& series_;
  OwnerTally& owner_;
  const MetricKind kind_;
  std::unique_ptr<Tally>& slot_;
  const bool activity_;
  CurveCell* cell_ = nullptr;  // of the times in reach_
  TimeSpan reach_;
};

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;  // FNV-1a
  return (hash ^ 0xffU) * 1099511628211ULL;
}

// Identifies a series in 64 bits; a text per series would take most of the memory.
std::uint64_t identity_of(const Device& device) {
  std::uint64_t hash = mix(1469598103934665603ULL, device.key());
  hash = mix(mix(hash, device.mig_profile), device.host);
  for (const auto& [name, value] : device.labels) hash = mix(mix(hash, name), value);
  return hash;
}

constexpr std::size_t kTogether = 8;  // samples of a series that are added at once

std::size_t owner_in(PartTally& part, const Owner& owner) {
  const auto known = std::ranges::find(part.owners, owner, &OwnerTally::owner);
  if (known != part.owners.end()) return static_cast<std::size_t>(known - part.owners.begin());
  part.owners.emplace_back().owner = owner;
  return part.owners.size() - 1;
}

// The last series belongs to the set with these labels.
void add_label_set(PartTally& part, telemetry::Labels labels) {
  constexpr std::size_t kMostSets = 4096;
  auto known = std::ranges::find(part.label_sets, labels, &LabelSet::labels);
  if (known == part.label_sets.end()) {
    if (part.label_sets.size() >= kMostSets) return;
    known = part.label_sets.insert(known, {std::move(labels), {}});
  }
  known->series.push_back(part.series.size() - 1);
}

}  // namespace

UseAccumulator::UseAccumulator(AccumulateOptions options) : options_(std::move(options)) {}
UseAccumulator::~UseAccumulator() = default;

int UseAccumulator::open(const Device& device) {
  auto [found, is_new] = by_identity_.try_emplace(identity_of(device), static_cast<int>(series_.size()));
  if (is_new) series_.push_back(open_series(device));
  return found->second;
}

UseAccumulator::Series UseAccumulator::open_series(const Device& device) {
  auto [found, is_new] = by_key_.try_emplace(device.key() + " " + device.mig_profile, nullptr);
  if (is_new && parts_.size() < options_.most_gpus) {
    found->second = parts_.emplace_back(std::make_unique<PartTally>()).get();
    found->second->device = device;
    limit_curves();
  } else if (is_new) {
    ++left_out_;
  }
  PartTally* part = found->second;
  if (part == nullptr) return {};
  if (part->device.name.empty()) part->device.name = device.name;
  if (part->device.host.empty()) part->device.host = device.host;
  part->device.labels.insert(device.labels.begin(), device.labels.end());
  part->series.emplace_back().owner = owner_in(*part, owner_of(device));
  if (device.uuid.empty()) add_label_set(*part, telemetry::distinguishing_labels(device, options_.names));
  return {part, part->series.size() - 1};
}

// 10,000 GPUs with a day of readings take less than 300 MB.
void UseAccumulator::limit_curves() {
  constexpr std::size_t kMany = 3'000;
  if (parts_.size() < kMany) return;
  if (parts_.size() > kMany) return parts_.back()->curves.limit(CurveRows::kFewerSteps);
  for (const std::unique_ptr<PartTally>& part : parts_) part->curves.limit(CurveRows::kFewerSteps);
}

// The time to count; empty for an impossible time or one outside the window. If a clock jumps by more than a year
// within one GPU's readings, it was reset: later readings are appended to the earlier ones.
std::optional<TimePoint> UseAccumulator::taken(PartTally& part, TimePoint time) {
  if (options_.window && !(time >= options_.window->from && time < options_.window->until)) return std::nullopt;
  if (!(time >= TimePoint{}) || time > kLatest) {
    ++refused_;
    return std::nullopt;
  }
  TimePoint shifted = time + part.shift;
  const bool jumps = shifted - part.newest > kClockOff || part.newest - shifted > kClockOff;
  if (part.newest > TimePoint{} && jumps) {
    part.shift = part.newest + seconds(60) - time;
    part.jumped = true;
    shifted = time + part.shift;
  }
  part.newest = shifted;
  return shifted;
}

// The lines of a log alternate between all GPUs, and their tallies do not fit into the cache. So a few samples of a GPU
// are collected and added together, metric by metric.
void UseAccumulator::add(int device, const telemetry::Sample& sample) {
  Series& series = series_[static_cast<std::size_t>(device)];
  if (series.part == nullptr) return;
  series.waiting.push_back(sample);
  if (series.waiting.size() == kTogether) add_waiting(series);
}

void UseAccumulator::add_waiting(Series& from) {
  if (from.waiting.empty()) return;
  PartTally& part = *from.part;
  SeriesTally& series = part.series[from.number];
  std::uint32_t metrics = 0;
  std::array<std::optional<TimePoint>, kTogether> times;
  for (std::size_t i = 0; i < from.waiting.size(); ++i) {
    times[i] = taken(part, from.waiting[i].time);
    if (!times[i]) continue;
    series.present.add(*times[i]);
    metrics |= from.waiting[i].present();
  }
  series.metrics |= metrics;
  for (; metrics != 0; metrics &= metrics - 1) {
    const auto metric = static_cast<Metric>(std::countr_zero(metrics));
    Adder adder(options_.idle, part, series, metric);
    for (std::size_t i = 0; i < from.waiting.size(); ++i) {
      const std::optional<double> value = from.waiting[i].get(metric);
      if (times[i] && value) adder.add(*times[i], *value) ? ++readings_ : ++part.dropped;
    }
  }
  from.waiting.clear();
}

void UseAccumulator::add_all_waiting() {
  for (Series& series : series_) add_waiting(series);
}

void UseAccumulator::add_points(int device, Metric metric, std::span<const telemetry::Point> points) {
  Series& from = series_[static_cast<std::size_t>(device)];
  if (from.part == nullptr) return;
  add_waiting(from);
  SeriesTally& series = from.part->series[from.number];
  series.metrics |= 1U << static_cast<unsigned>(metric);
  Adder adder(options_.idle, *from.part, series, metric);
  for (const telemetry::Point& point : points) {
    const std::optional<TimePoint> time = taken(*from.part, point.time);
    if (!time) continue;
    series.present.add(*time);
    adder.add(*time, point.value) ? ++readings_ : ++from.part->dropped;
  }
}

std::size_t UseAccumulator::readings() {
  add_all_waiting();
  return readings_;
}

std::size_t UseAccumulator::refused() {
  add_all_waiting();
  return refused_;
}

Seconds UseAccumulator::usual_interval() const {
  std::vector<Seconds> intervals;
  for (const std::unique_ptr<PartTally>& part : parts_) {
    for (const SeriesTally& series : part->series) {
      if (const Seconds own = series.present.usual_interval(); own > Seconds{}) intervals.push_back(own);
    }
  }
  return intervals.empty() ? options_.interval.value_or(kLoneReading) : median(std::move(intervals));
}

Result<> UseAccumulator::identity() {
  add_all_waiting();
  const Seconds fallback = usual_interval();
  for (const std::unique_ptr<PartTally>& part : parts_) {
    if (const auto conflict = conflict_in(*part, fallback)) return fail(conflict->error());
  }
  return {};
}

std::vector<GpuUse> UseAccumulator::finish() {
  add_all_waiting();
  series_ = {};
  const Seconds fallback = usual_interval();
  // MIG instances belong to the GPU they are part of.
  std::unordered_map<std::string, std::size_t> physical;
  std::vector<std::vector<PartTally*>> groups;
  for (const std::unique_ptr<PartTally>& part : parts_) {
    const auto [found, is_new] = physical.try_emplace(whole_key(part->device), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(part.get());
  }
  std::vector<GpuUse> gpus;
  for (const std::vector<PartTally*>& parts : groups) {
    const bool jumped = std::ranges::any_of(parts, &PartTally::jumped);
    for (GpuUse& row : account(parts, options_.idle, fallback)) {
      if (jumped) row.clock_off = parts.front()->shift;
      gpus.push_back(std::move(row));
    }
    for (PartTally* part : parts) *part = PartTally{};  // free its memory for the rows
  }
  correct_clocks(gpus);
  sort_by_place(gpus);
  parts_.clear();
  by_key_.clear();
  by_identity_.clear();
  return gpus;
}

}  // namespace rightsize::gpu_use
