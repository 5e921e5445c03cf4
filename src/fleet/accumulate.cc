#include "fleet/accumulate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "base/units.h"
#include "fleet/part_tally.h"

namespace rightsize::fleet {
namespace {

constexpr Seconds kClockOff = kYear;               // a larger difference means a wrong clock
constexpr Seconds kLoneReading = seconds(30);      // if no series has two readings
constexpr TimePoint kLatest = unix_seconds(1e11);  // the year 5138: later times are not in seconds

// Adds readings of one metric of one series, and looks up once what they have in common.
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
    if (part_.was_idle[row] >= 0 && (part_.was_idle[row] == 1) != idle) ++part_.changes[row];
    part_.was_idle[row] = idle ? 1 : 0;
    owner_.weight[row] += weight;
    if (idle) owner_.idle[row] += weight;
    owner_.activity_peak = std::max(owner_.activity_peak, value);
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
  Cell* cell_ = nullptr;  // of the times in reach_
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

}  // namespace

struct UseAccumulator::State {
  AccumulateOptions options;
  static constexpr std::size_t kTogether = 8;
  struct Handle {
    int part = -1;
    std::size_t series = 0;
    std::vector<telemetry::Sample> waiting = {};
  };
  std::vector<Handle> handles;
  std::unordered_map<std::uint64_t, int> by_identity;
  std::unordered_map<std::string, int> by_key;
  std::vector<std::unique_ptr<PartTally>> parts;
  std::size_t readings = 0, refused = 0, left_out = 0;

  static std::size_t owner_of_part(PartTally& part, const Owner& owner) {
    for (std::size_t i = 0; i < part.owners.size(); ++i) {
      if (part.owners[i].owner == owner) return i;
    }
    part.owners.emplace_back();
    part.owners.back().owner = owner;
    return part.owners.size() - 1;
  }

  Handle open(const Device& device) {
    auto [found, is_new] = by_key.try_emplace(device.key() + " " + device.mig_profile, -1);
    if (is_new) {
      if (parts.size() < options.most_gpus) {
        found->second = static_cast<int>(parts.size());
        parts.push_back(std::make_unique<PartTally>());
        parts.back()->device = device;
      } else {
        ++left_out;
      }
    }
    if (found->second < 0) return {};
    PartTally& part = *parts[static_cast<std::size_t>(found->second)];
    if (part.device.name.empty()) part.device.name = device.name;
    if (part.device.host.empty()) part.device.host = device.host;
    part.device.labels.insert(device.labels.begin(), device.labels.end());
    part.series.emplace_back();
    part.series.back().owner = owner_of_part(part, owner_of(device));
    return {found->second, part.series.size() - 1, {}};
  }

  void add_waiting(Handle& handle) {
    if (handle.waiting.empty()) return;
    PartTally& part = *parts[static_cast<std::size_t>(handle.part)];
    SeriesTally& series = part.series[handle.series];
    std::uint32_t metrics = 0;
    std::array<std::optional<TimePoint>, kTogether> times;
    for (std::size_t i = 0; i < handle.waiting.size(); ++i) {
      times[i] = taken(part, handle.waiting[i].time);
      if (!times[i]) continue;
      series.present.add(*times[i]);
      metrics |= handle.waiting[i].present();
    }
    for (; metrics != 0; metrics &= metrics - 1) {
      const auto metric = static_cast<Metric>(std::countr_zero(metrics));
      Adder adder(options.idle, part, series, metric);
      for (std::size_t i = 0; i < handle.waiting.size(); ++i) {
        const std::optional<double> value = handle.waiting[i].get(metric);
        if (times[i] && value) adder.add(*times[i], *value) ? ++readings : ++part.dropped;
      }
    }
    handle.waiting.clear();
  }
  void add_all_waiting() {
    for (Handle& handle : handles) {
      if (handle.part >= 0) add_waiting(handle);
    }
  }

  // The time to count, or nothing for an impossible time or one outside the window. A clock that jumps by more than a
  // year within one GPU's readings was set: later readings are appended to the earlier ones.
  std::optional<TimePoint> taken(PartTally& part, TimePoint time) {
    if (options.window && !(time >= options.window->from && time < options.window->until)) return std::nullopt;
    if (!(time >= TimePoint{}) || time > kLatest) {
      ++refused;
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

  Seconds usual_interval() const {
    std::vector<Seconds> intervals;
    for (const std::unique_ptr<PartTally>& part : parts) {
      for (const SeriesTally& series : part->series) {
        if (const Seconds own = series.present.usual_interval(); own > Seconds{}) intervals.push_back(own);
      }
    }
    if (intervals.empty()) return options.interval.value_or(kLoneReading);
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return *middle;
  }
};

UseAccumulator::UseAccumulator(AccumulateOptions options) : state_(std::make_unique<State>()) {
  state_->options = options;
}
UseAccumulator::~UseAccumulator() = default;

int UseAccumulator::open(const Device& device) {
  auto [found, is_new] = state_->by_identity.try_emplace(identity_of(device), 0);
  if (is_new) {
    found->second = static_cast<int>(state_->handles.size());
    state_->handles.push_back(state_->open(device));
  }
  return found->second;
}

// The lines of a log alternate between all GPUs, whose tallies do not fit into the cache, so a few samples of a GPU are
// collected and added together, metric by metric.
void UseAccumulator::add(int device, const telemetry::Sample& sample) {
  State::Handle& handle = state_->handles[static_cast<std::size_t>(device)];
  if (handle.part < 0) return;
  handle.waiting.push_back(sample);
  if (handle.waiting.size() == State::kTogether) state_->add_waiting(handle);
}

void UseAccumulator::add(int device, Metric metric, TimePoint time, double value) {
  const telemetry::Point point{time, value};
  add_points(device, metric, {&point, 1});
}

void UseAccumulator::add_points(int device, Metric metric, std::span<const telemetry::Point> points) {
  State::Handle& handle = state_->handles[static_cast<std::size_t>(device)];
  if (handle.part < 0) return;
  state_->add_waiting(handle);
  PartTally& part = *state_->parts[static_cast<std::size_t>(handle.part)];
  SeriesTally& series = part.series[handle.series];
  Adder adder(state_->options.idle, part, series, metric);
  for (const telemetry::Point& point : points) {
    const std::optional<TimePoint> time = state_->taken(part, point.time);
    if (!time) continue;
    series.present.add(*time);
    adder.add(*time, point.value) ? ++state_->readings : ++part.dropped;
  }
}

void UseAccumulator::add_unusable(int device, Metric, TimePoint time) {
  State::Handle& handle = state_->handles[static_cast<std::size_t>(device)];
  if (handle.part < 0) return;
  state_->add_waiting(handle);
  PartTally& part = *state_->parts[static_cast<std::size_t>(handle.part)];
  const std::optional<TimePoint> taken = state_->taken(part, time);
  if (!taken) return;
  part.series[handle.series].present.add(*taken);
  ++part.dropped;
}

std::size_t UseAccumulator::readings() const {
  state_->add_all_waiting();
  return state_->readings;
}
std::size_t UseAccumulator::refused() const {
  state_->add_all_waiting();
  return state_->refused;
}
std::size_t UseAccumulator::gpus_left_out() const { return state_->left_out; }

std::vector<GpuUse> UseAccumulator::finish() {
  state_->add_all_waiting();
  state_->handles = {};
  const Seconds fallback = state_->usual_interval();
  // MIG instances belong to the GPU they are part of.
  std::unordered_map<std::string, std::size_t> physical;
  std::vector<std::vector<PartTally*>> groups;
  for (const std::unique_ptr<PartTally>& part : state_->parts) {
    Device whole = part->device;
    whole.mig_id.clear();
    const auto [found, is_new] = physical.try_emplace(whole.key(), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(part.get());
  }
  std::vector<GpuUse> gpus;
  for (const std::vector<PartTally*>& parts : groups) {
    std::vector<GpuUse> rows = account(parts, state_->options.idle, fallback);
    const bool jumped = std::any_of(parts.begin(), parts.end(), [](const PartTally* p) { return p->jumped; });
    for (GpuUse& row : rows) {
      if (jumped) row.clock_off = parts.front()->shift;
      gpus.push_back(std::move(row));
    }
    for (PartTally* part : parts) *part = PartTally{};  // its memory is needed for the rows
  }
  correct_clocks(gpus);
  sort_by_place(gpus);
  state_->parts.clear();
  state_->handles.clear();
  state_->by_key.clear();
  state_->by_identity.clear();
  return gpus;
}

}  // namespace rightsize::fleet
