#include "fleet/shard_series.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fleet/part_tally.h"

namespace rightsize::fleet {
namespace {

std::string whole_key(Device device) {
  device.mig_id.clear();
  return device.key();
}

std::string part_name(const Device& device) { return device.mig_id.empty() ? "" : instance_name(device); }

}  // namespace

ShardSeries::Place ShardSeries::place_of(const telemetry::Labels& labels, const std::set<std::string>* wanted) {
  Place place;
  place.device = telemetry::device_of(labels, names_);
  const std::string key = whole_key(place.device);
  const auto gpu = gpus.find(key);
  if (gpu == gpus.end() || (wanted != nullptr && !wanted->contains(key))) return place;
  place.gpu = &gpu->second;
  const auto part = place.gpu->parts.find(part_name(place.device));
  if (part == place.gpu->parts.end()) return place;
  place.part = &part->second;
  const auto owner = place.part->owners.find(owner_of(place.device));
  if (owner != place.part->owners.end()) place.owner = &owner->second;
  return place;
}

void ShardSeries::add(Metric metric, const VectorRow& row, const std::string& shard_label) {
  const Device found = telemetry::device_of(row.labels, names_);
  gpus[whole_key(found)].parts[part_name(found)].owners[owner_of(found)];
  const Place place = place_of(row.labels, nullptr);
  if (const auto value = row.labels.find(shard_label); value != row.labels.end()) heard.insert(value->second);
  Device& device = place.part->device;
  if (device.labels.empty()) device = place.device;
  if (device.host.empty()) device.host = place.device.host;
  device.labels.insert(place.device.labels.begin(), place.device.labels.end());
  // Two series with the same owner are copies: replicas of the server, or two scrape jobs.
  Readings& by_owner = readings_[std::tuple(place.gpu, place.part, metric)];
  double& readings = by_owner[{owner_of(place.device), place.device.host}];
  if (readings > 0) place.gpu->duplicated = true;
  if (is_activity(metric)) place.gpu->has_activity = true;
  readings = std::max(readings, row.value);
  double all = 0;
  for (const auto& [who, count] : by_owner) all += count;
  place.gpu->readings = std::max(place.gpu->readings, all);
}

namespace {

class Discovery {
 public:
  Discovery(PrometheusClient& client, const Shard& shard, const ShardFrame& frame, ShardSeries& into)
      : client_(client), shard_(shard), frame_(frame), into_(into) {}

  Answered<> look_at(Metric metric, const MetricSource& source) {
    const std::string series = selector(source.name, frame_.matchers, shard_);
    RIGHTSIZE_TRY(const std::vector<VectorRow> counts, ask(over_time("count_over_time", series, window())));
    for (const VectorRow& row : counts) into_.add(metric, row, shard_.label);
    if (counts.empty()) return {};
    const bool all_known = std::all_of(into_.gpus.begin(), into_.gpus.end(),
                                       [](const auto& gpu) { return gpu.second.interval > Seconds{}; });
    if (is_activity(metric) || !all_known) RIGHTSIZE_CHECK(find_intervals(series, counts));
    return find_impossible(metric, source, series, counts);
  }

 private:
  Seconds window() const { return frame_.axis.until() - frame_.axis.from; }
  Answered<std::vector<VectorRow>> ask(const std::string& query) {
    auto once = [&] { return client_.instant(query, frame_.axis.until()); };
    return into_.gpus.empty() ? once() : ask_twice(once);
  }

  // From the number of readings in ten minutes, in the slowest quarter of the time. Series of a few minutes count for
  // the shortest interval only, because they do not fill ten minutes.
  Answered<> find_intervals(const std::string& series, const std::vector<VectorRow>& counts) {
    constexpr Seconds kLasting = hours(3);
    std::map<telemetry::Labels, double> readings;
    for (const VectorRow& row : counts) readings[row.labels] = row.value;
    RIGHTSIZE_TRY(const std::vector<VectorRow> rows,
                  ask(fmt::format("quantile_over_time(0.25, count_over_time({}[10m])[{}:10m])", series,
                                  duration_text(window()))));
    for (const VectorRow& row : rows) {
      GpuCells* gpu = into_.place_of(row.labels, nullptr).gpu;
      if (gpu == nullptr || row.value <= 0) continue;
      const Seconds interval = frame_.interval.value_or(seconds(600 / row.value));
      gpu->interval = gpu->interval > Seconds{} ? std::min(gpu->interval, interval) : interval;
      if (readings[row.labels] * interval >= kLasting)
        gpu->longest_interval = std::max(gpu->longest_interval, interval);
    }
    return {};
  }

  // Values out of bounds show in the largest and the smallest. A NaN makes the mean NaN, and such rows are missing.
  Answered<> find_impossible(Metric metric, const MetricSource& source, const std::string& series,
                             const std::vector<VectorRow>& counts) {
    const std::string largest = over_time("max_over_time", series, window());
    const std::string smallest = fmt::format("{} + 0 * {}", over_time("min_over_time", series, window()),
                                             over_time("avg_over_time", series, window()));
    std::map<const GpuCells*, int> missing;
    for (const VectorRow& row : counts) missing[into_.place_of(row.labels, nullptr).gpu] += 2;
    for (const bool is_largest : {true, false}) {
      RIGHTSIZE_TRY(const std::vector<VectorRow> rows, ask(is_largest ? largest : smallest));
      for (const VectorRow& row : rows) {
        const ShardSeries::Place place = into_.place_of(row.labels, nullptr);
        if (place.owner == nullptr) continue;
        --missing[place.gpu];
        const double value = row.value * source.scale;
        if (value > kind_of(metric).most || value < 0) {
          place.gpu->dirty = true;
        } else if (is_largest && is_activity(metric)) {
          place.owner->peak = std::max(place.owner->peak, value);
        } else if (is_largest) {
          place.owner->memory_peak = std::max(place.owner->memory_peak, bytes(value));
        }
      }
    }
    for (auto& [key, gpu] : into_.gpus) gpu.dirty = gpu.dirty || (missing.contains(&gpu) && missing[&gpu] > 0);
    return {};
  }

  PrometheusClient& client_;
  const Shard& shard_;
  const ShardFrame& frame_;
  ShardSeries& into_;
};

Seconds rounded_up(Seconds time, Seconds unit) { return std::ceil(time / unit) * unit; }

// As many moments as readings, within bounds.
Grain grain_for(Seconds interval, Seconds longest, bool dirty) {
  Grain grain;
  grain.dirty = dirty;
  for (double step : {15.0, 20.0, 30.0, 60.0}) {
    if (interval >= seconds(step)) grain.step = seconds(step);
  }
  grain.connected = std::max(grain.connected, rounded_up(gap_limit(interval), seconds(60)));
  // Half an interval longer than one, so that a reading that is slightly late leaves no gap.
  grain.lookback =
      std::min(grain.connected, std::max(rounded_up(1.5 * std::max(interval, longest), seconds(1)), 1.5 * grain.step));
  return grain;
}

}  // namespace

Answered<> discover(PrometheusClient& client, const Shard& shard, const ShardFrame& frame, ShardSeries& into) {
  Discovery discovery(client, shard, frame, into);
  for (const auto& [metric, source] : frame.sources) {
    if (!is_activity(metric) && metric != Metric::kMemoryUsed) continue;
    RIGHTSIZE_CHECK(discovery.look_at(metric, source));
  }
  return {};
}

std::vector<GpuClass> classes_of(ShardSeries& series, const Shard& shard) {
  const bool by_gpu = shard.gpu.size() == 1 && shard.gpu.front() == shard.label;
  Seconds shortest, longest;
  bool any_dirty = false;
  for (auto& [key, gpu] : series.gpus) {
    if (gpu.interval <= Seconds{}) gpu.interval = seconds(60);
    shortest = shortest > Seconds{} ? std::min(shortest, gpu.interval) : gpu.interval;
    longest = std::max(longest, gpu.longest_interval);
    any_dirty = any_dirty || gpu.dirty;
  }
  std::vector<GpuClass> classes;
  std::map<std::tuple<Seconds, Seconds, bool, bool>, std::size_t> index;
  for (const auto& [key, gpu] : series.gpus) {
    // GPUs can only be asked about one by one if a single label identifies them.
    const Grain grain =
        by_gpu ? grain_for(gpu.interval, gpu.longest_interval, gpu.dirty) : grain_for(shortest, longest, any_dirty);
    const auto [at, added] =
        index.try_emplace({grain.step, grain.lookback, grain.dirty, by_gpu && gpu.is_partitioned()}, classes.size());
    if (added) classes.push_back({grain, {}});
    classes[at->second].gpus.insert(key);
  }
  return classes;
}

}  // namespace rightsize::fleet
