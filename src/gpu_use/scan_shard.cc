#include "gpu_use/scan_shard.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "gpu_use/part_tally.h"

namespace rightsize::gpu_use {
namespace {

std::string part_name(const Device& device) { return device.mig_id.empty() ? "" : instance_name(device); }

// The series of a shard's GPUs, their intervals, and the GPU of each row of an answer.
class ShardSeries {
 public:
  // The names must outlive this object.
  explicit ShardSeries(const telemetry::NameMap& names) : names_(names) {}

  struct Place {
    GpuCells* gpu = nullptr;
    PartCells* part = nullptr;
    OwnerCells* owner = nullptr;
    Device device;
  };
  // Answers grouped by fewer labels than a series has refer to a whole GPU or part; the other pointers are then null.
  // All are null for GPUs that are unknown or not in `wanted` (null: all GPUs are wanted).
  Place place_of(const telemetry::Labels& labels, const std::set<std::string>* wanted);

  // Registers a series and its number of readings.
  void add(Metric metric, const VectorRow& row, const std::string& shard_label);

  std::map<std::string, GpuCells> gpus;  // by Device::key() of the whole GPU
  std::set<std::string> heard;           // values of the shard's label that have series

 private:
  using Readings = std::map<std::pair<Owner, std::string>, double>;  // by owner and host

  const telemetry::NameMap& names_;
  std::map<std::tuple<const GpuCells*, const PartCells*, Metric>, Readings> readings_;
};

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

// GPUs with about the same interval that need the same queries.
struct GpuClass {
  Grain grain;
  std::set<std::string> gpus;  // keys of ShardSeries::gpus
};

Seconds rounded_up(Seconds time, Seconds unit) { return std::ceil(time / unit) * unit; }

// About as many moments as readings, within bounds.
Grain grain_for(Seconds interval, Seconds longest, bool dirty) {
  Grain grain;
  grain.dirty = dirty;
  for (double step : {15.0, 20.0, 30.0, 60.0}) {
    if (interval >= seconds(step)) grain.step = seconds(step);
  }
  grain.connected = std::max(grain.connected, rounded_up(gap_limit(interval), seconds(60)));
  // One and a half intervals: a slightly late reading must not leave a gap.
  grain.lookback =
      std::min(grain.connected, std::max(rounded_up(1.5 * std::max(interval, longest), seconds(1)), 1.5 * grain.step));
  return grain;
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
    // GPUs can be queried individually only if a single label identifies them.
    const Grain grain =
        by_gpu ? grain_for(gpu.interval, gpu.longest_interval, gpu.dirty) : grain_for(shortest, longest, any_dirty);
    const auto [at, added] =
        index.try_emplace({grain.step, grain.lookback, grain.dirty, by_gpu && gpu.is_partitioned()}, classes.size());
    if (added) classes.push_back({grain, {}});
    classes[at->second].gpus.insert(key);
  }
  return classes;
}

using Place = ShardSeries::Place;

constexpr double kMostMoments = 20'000;  // of one series in one question; VictoriaMetrics refuses 30,000

// Clocks, temperatures and counters do not influence any verdict.
bool is_useful(Metric metric) {
  constexpr Metric kIgnored[] = {Metric::kEnergy,      Metric::kSmClock,  Metric::kMemoryClock,
                                 Metric::kTemperature, Metric::kThrottle, Metric::kPowerLimit};
  return std::ranges::find(kIgnored, metric) == std::end(kIgnored);
}

Cells* cells_at(const Place& place, Cells GpuCells::*cells) { return &(place.gpu->*cells); }
Cells* cells_at(const Place& place, Cells PartCells::*cells) {
  return place.part != nullptr ? &(place.part->*cells) : nullptr;
}
Cells* cells_at(const Place& place, Cells OwnerCells::*cells) {
  return place.owner != nullptr ? &(place.owner->*cells) : nullptr;
}

// Calls `ask` again if the answer is empty: in a cluster an answer can be lost without an error.
template <class Ask>
auto ask_twice(const Ask& ask) {
  auto rows = ask();
  if (rows && rows->empty()) rows = ask();
  return rows;
}

double weight_of(const OwnerCells& owner) {
  double all = 0;
  for (float seen : owner.seen) all += static_cast<double>(seen);
  return std::max(all, 1e-3);
}

// Queries one shard and stores the answers per GPU.
class ShardScan {
 public:
  ShardScan(PrometheusClient& client, const Shard& shard, const ShardFrame& frame)
      : client_(client), shard_(shard), frame_(frame), series_(frame.options.names) {}

  Answered<ShardAnswer> run() {
    for (const auto& [metric, source] : frame_.sources) {
      if (is_activity(metric) || metric == Metric::kMemoryUsed) RIGHTSIZE_CHECK(discover(metric, source));
    }
    ShardAnswer answer;
    for (const std::string& value : shard_.values) {
      if (!series_.heard.contains(value)) answer.silent.push_back(value);
    }
    for (const GpuClass& similar : classes_of(series_, shard_)) {
      grain_ = similar.grain;
      wanted_ = &similar.gpus;
      RIGHTSIZE_CHECK(ask_all());
      ask_fine_peaks();
      for (const std::string& key : similar.gpus) {
        for (GpuUse& use : account(series_.gpus.at(key), frame_.axis, grain_, frame_.options.idle)) {
          if (use.device.mig_id.empty()) use.fine = series_.gpus.at(key).fine;
          answer.gpus.push_back(std::move(use));
        }
      }
    }
    return answer;
  }

 private:
  using Expects = bool (*)(const GpuCells&);  // whether an answer about this GPU must exist
  static bool always(const GpuCells&) { return true; }
  static bool never(const GpuCells&) { return false; }
  static bool reports_activity(const GpuCells& gpu) { return gpu.has_activity; }

  // Which series there are, how often they are read, and whether some of their values are impossible.
  Answered<> discover(Metric metric, const MetricSource& source) {
    const std::string series = selector(source.name, frame_.options.matchers, shard_);
    RIGHTSIZE_TRY(const std::vector<VectorRow> counts, ask_window(over_time("count_over_time", series, window())));
    RIGHTSIZE_CHECK(check_identity(counts));
    for (const VectorRow& row : counts) series_.add(metric, row, shard_.label);
    if (counts.empty()) return {};
    const bool all_known =
        std::ranges::all_of(series_.gpus, [](const auto& gpu) { return gpu.second.interval > Seconds{}; });
    if (is_activity(metric) || !all_known) RIGHTSIZE_CHECK(find_intervals(series, counts));
    return find_impossible(metric, source, series, counts);
  }

  // Detects series of one GPU that differ in an unknown label and have too many readings to be consecutive.
  Answered<> check_identity(const std::vector<VectorRow>& counts) const {
    constexpr double kOverlap = 1.2;
    double most = 0;
    for (const VectorRow& row : counts) most = std::max(most, row.value);
    std::map<std::string, std::vector<std::pair<telemetry::Labels, double>>> known;
    for (const VectorRow& row : counts) {
      const Device device = telemetry::device_of(row.labels, frame_.options.names);
      if (!device.uuid.empty()) continue;
      const telemetry::Labels labels = telemetry::distinguishing_labels(device, frame_.options.names);
      auto& others = known[whole_key(device) + part_name(device)];
      for (const auto& [other, readings] : others) {
        const std::vector<std::string> names = telemetry::differing(labels, other);
        if (names.empty() || readings + row.value <= kOverlap * most) continue;
        telemetry::IdentityConflict conflict{.device = device.key(), .series = 2};
        for (const std::string& name : names) conflict.labels[name] = {labels.at(name), other.at(name)};
        return tl::make_unexpected(QueryError{conflict.error(), false});
      }
      others.emplace_back(labels, row.value);
    }
    return {};
  }

  // Intervals follow from the number of readings in ten minutes, in the slowest quarter of the time. Short series count
  // only for the shortest interval, because they do not fill ten minutes.
  Answered<> find_intervals(const std::string& series, const std::vector<VectorRow>& counts) {
    constexpr Seconds kLasting = hours(3);
    std::map<telemetry::Labels, double> readings;
    for (const VectorRow& row : counts) readings[row.labels] = row.value;
    RIGHTSIZE_TRY(const std::vector<VectorRow> rows,
                  ask_window(fmt::format("quantile_over_time(0.25, count_over_time({}[10m])[{}:10m])", series,
                                         duration_text(window()))));
    for (const VectorRow& row : rows) {
      GpuCells* gpu = series_.place_of(row.labels, nullptr).gpu;
      if (gpu == nullptr || row.value <= 0) continue;
      const Seconds interval = frame_.options.interval.value_or(seconds(600 / row.value));
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
    for (const VectorRow& row : counts) missing[series_.place_of(row.labels, nullptr).gpu] += 2;
    for (const bool is_largest : {true, false}) {
      RIGHTSIZE_TRY(const std::vector<VectorRow> rows, ask_window(is_largest ? largest : smallest));
      for (const VectorRow& row : rows) {
        const ShardSeries::Place place = series_.place_of(row.labels, nullptr);
        if (place.owner == nullptr) continue;
        --missing[place.gpu];
        const double value = row.value * source.scale;
        if (value > kind_of(metric).most || value < 0) {
          place.gpu->dirty = true;
        } else if (is_largest && is_activity(metric)) {
          const int row_of_metric = kind_of(metric).row;
          if (row_of_metric < place.owner->peak_row) {
            place.owner->peak = 0;
            place.owner->peak_row = row_of_metric;
          }
          if (row_of_metric == place.owner->peak_row) place.owner->peak = std::max(place.owner->peak, value);
        } else if (is_largest) {
          place.owner->memory_peak = std::max(place.owner->memory_peak, bytes(value));
        }
      }
    }
    for (auto& [key, gpu] : series_.gpus) gpu.dirty = gpu.dirty || (missing.contains(&gpu) && missing[&gpu] > 0);
    return {};
  }

  // Queries the GPUs of one class.
  Answered<> ask_all() {
    asked_ = shard_;
    if (shard_.gpu.size() == 1 && shard_.gpu.front() == shard_.label) {
      asked_.values = {wanted_->begin(), wanted_->end()};
    }
    RIGHTSIZE_CHECK(ask_presence());
    RIGHTSIZE_CHECK(ask_ownership());
    RIGHTSIZE_CHECK(ask_activity());
    for (const auto& [metric, source] : frame_.sources) {
      if (!is_useful(metric)) continue;
      Answered<> answered = kind_of(metric).row >= 0 ? ask_curve(metric, source) : ask_mean(metric, source);
      if (answered) answered = ask_quantiles(metric, source);
      if (!answered && (answered.error().too_much || is_activity(metric))) return answered;
    }
    return {};
  }

  Answered<> ask_presence() {
    const double full = frame_.axis.width / grain_.step;
    with_memory_ = false;
    auto readings_within = [&](Seconds range) { return present(signs_of_life(), range, shard_.gpu); };
    RIGHTSIZE_CHECK(ask_moments(readings_within(grain_.connected), &GpuCells::present, reports_activity));
    for (const std::string& key : *wanted_) series_.gpus.at(key).active = series_.gpus.at(key).present;
    auto incomplete = [&](const GpuCells& gpu) {
      return gpu.present.empty() ||
             std::ranges::any_of(gpu.present, [&](float m) { return static_cast<double>(m) < full; });
    };
    if (frame_.sources.contains(Metric::kMemoryUsed) && any_wanted(incomplete)) {
      with_memory_ = true;
      RIGHTSIZE_CHECK(ask_moments(readings_within(grain_.connected), &GpuCells::present, always));
    }
    if (!any_wanted([&](const GpuCells& gpu) { return has_breaks(gpu, frame_.axis, grain_); })) return {};
    // A lookback that is one step longer adds one moment after every stretch that ended.
    RIGHTSIZE_CHECK(ask_moments(readings_within(grain_.connected + grain_.step), &GpuCells::ends, always));
    for (const std::string& key : *wanted_) {
      GpuCells& gpu = series_.gpus.at(key);
      gpu.ends.resize(frame_.axis.count, 0);
      gpu.present.resize(frame_.axis.count, 0);
      for (std::size_t i = 0; i < frame_.axis.count; ++i) gpu.ends[i] = std::max(0.0F, gpu.ends[i] - gpu.present[i]);
    }
    return {};
  }

  Answered<> ask_ownership() {
    const LabelList part = joined(shard_.gpu, shard_.part);
    if (any_wanted([](const GpuCells& gpu) { return gpu.is_partitioned(); })) {
      RIGHTSIZE_CHECK(ask_moments(seen_by(shard_.gpu), &GpuCells::seen, always));
      RIGHTSIZE_CHECK(ask_moments(seen_by(part), &PartCells::seen, always));
      asked_.only = fmt::format("{}{}{}!=\"\"", shard_.only, shard_.only.empty() ? "" : ",", shard_.part.front());
      const std::string instances = seen_by(shard_.gpu);
      asked_.only = shard_.only;
      RIGHTSIZE_CHECK(ask_moments(instances, &GpuCells::partitioned, never));
    }
    const std::string owners = seen_by(owner_labels());
    RIGHTSIZE_CHECK(ask_moments(owners, &OwnerCells::seen, always));
    if (!any_wanted([&](const GpuCells& gpu) { return has_overlaps(gpu, frame_.axis, grain_); })) return {};
    const std::string query = over_moments(OfMoments::kSum, shares(owners, part), frame_.axis.width, grain_.step);
    return ask_steps(query, grain_.step, [&](const Place& place, std::size_t step, double value) {
      if (place.owner == nullptr) return;
      place.gpu->is_shared = true;
      place.owner->share.resize(frame_.axis.count, 0);
      place.owner->share[step] = static_cast<float>(value);
    });
  }

  Answered<> ask_activity() {
    const std::string active = activity(activity_gauges(), grain_, owner_labels());
    const std::string idle = fmt::format("({} <= bool {})", active, frame_.options.idle.active_above);
    const Expects expects = grain_.dirty ? never : reports_activity;
    RIGHTSIZE_CHECK(ask_moments(active, &OwnerCells::known, expects));
    RIGHTSIZE_CHECK(ask_moments(idle, &OwnerCells::idle, expects, OfMoments::kSum));
    if (grain_.dirty) {
      for (const std::string& key : *wanted_) series_.gpus.at(key).active.clear();
      RIGHTSIZE_CHECK(
          ask_moments(plausible(activity_gauges(), grain_.connected, shard_.gpu), &GpuCells::active, never));
    }
    // Changes between idle and active are only displayed, so one sample per minute is enough.
    const std::string changes =
        fmt::format("changes({}[{}:{}])", idle, duration_text(std::min(window(), seconds(kMostMoments * 60))),
                    duration_text(seconds(60)));
    if (Answered<std::vector<VectorRow>> rows = ask_window(changes)) {
      for (const VectorRow& row : *rows) {
        if (PartCells* part = series_.place_of(row.labels, wanted_).part) part->changes += row.value;
      }
    }
    return {};
  }

  Answered<> ask_curve(Metric metric, const MetricSource& source) {
    const double most = kind_of(metric).most;
    const Seconds width = frame_.axis.width;
    // Impossible values are filtered out one by one. Without any, the server aggregates the readings of a step at once.
    const std::string good = activity({{select(source), source.scale, most}}, grain_, owner_labels());
    const double scale = grain_.dirty ? 1 : source.scale;
    auto ask = [&](OfMoments of_moments, const char* of_readings, auto take) {
      const std::string query = grain_.dirty ? over_moments(of_moments, good, width, grain_.step)
                                             : over_time(of_readings, select(source), width);
      return ask_steps(query, grain_.dirty ? grain_.step : width,
                       [&](const Place& place, std::size_t step, double value) {
                         if (place.owner == nullptr || value * scale > most) return;
                         CellCurve& curve = place.part->curves[metric];
                         for (Cells* cells : {&curve.sum, &curve.weight, &curve.max})
                           cells->resize(frame_.axis.count, 0);
                         take(curve, place, step, static_cast<float>(value * scale));
                       });
    };
    RIGHTSIZE_CHECK(
        ask(OfMoments::kMean, "avg_over_time", [](CellCurve& curve, const Place& place, std::size_t step, float value) {
          const Cells& seen = place.owner->seen;
          const float weight = std::max(step < seen.size() ? seen[step] : 0, 1e-3F);
          curve.sum[step] += value * weight;
          curve.weight[step] += weight;
        }));
    return ask(OfMoments::kMax, "max_over_time", [](CellCurve& curve, const Place&, std::size_t step, float value) {
      curve.max[step] = std::max(curve.max[step], value);
    });
  }

  // The highest activity in bins as short as the readings allow. It makes it possible to add up the replicas of a
  // workload at the same moment, as with files. Without an answer, the maxima of the steps are an upper bound.
  void ask_fine_peaks() {
    constexpr double kMostBins = 2000;
    const Seconds bin = std::min(frame_.axis.width, step_at_least(std::max(grain_.step, window() / kMostBins)));
    const auto lacks_peaks = [](const GpuCells& gpu) {
      const auto whole = gpu.parts.find("");
      return whole != gpu.parts.end() && gpu.has_activity && gpu.fine.empty() &&
             std::ranges::any_of(whole->second.owners, [](const auto& owner) { return !owner.first.workload.empty(); });
    };
    for (const Metric metric : kActivityMetrics) {
      const auto source = frame_.sources.find(metric);
      if (source == frame_.sources.end() || !any_wanted(lacks_peaks)) continue;
      (void)ask_bins(metric, source->second, bin, frame_.axis.from, frame_.axis.until());
    }
  }

  Answered<> ask_bins(Metric metric, const MetricSource& source, Seconds bin, TimePoint from, TimePoint until) {
    const std::string query = over_time("max_over_time", select(source), bin);
    const Answered<std::vector<RangeRow>> rows = client_.range(query, from + bin, until, bin);
    if (!rows && rows.error().too_much && until - from > 2 * bin) {
      const TimePoint middle = from + bin * std::floor((until - from) / bin / 2);
      RIGHTSIZE_CHECK(ask_bins(metric, source, bin, from, middle));
      return ask_bins(metric, source, bin, middle, until);
    }
    if (!rows) return tl::make_unexpected(rows.error());
    for (const RangeRow& row : *rows) {
      const Place place = series_.place_of(row.labels, wanted_);
      if (place.gpu == nullptr || !place.device.mig_id.empty()) continue;
      for (const telemetry::Point& point : row.points) {
        const double value = point.value * source.scale;
        // A bin ends at the time of its answer.
        if (value >= 0 && value <= kind_of(metric).most)
          place.gpu->fine.add(kind_of(metric).row, point.time - 0.5 * bin, value);
      }
    }
    return {};
  }

  // Mean and maximum of a descriptive metric over the whole window.
  Answered<> ask_mean(Metric metric, const MetricSource& source) {
    RIGHTSIZE_CHECK(
        ask_statistic(metric, source, "avg_over_time", [](MetricUse& use, double mean, double) { use.mean = mean; }));
    return ask_statistic(metric, source, "max_over_time",
                         [](MetricUse& use, double, double largest) { use.max = largest; });
  }

  Answered<> ask_quantiles(Metric metric, const MetricSource& source) {
    if (is_activity(metric)) {
      RIGHTSIZE_CHECK(ask_statistic(metric, source, "quantile_over_time(0.5, ",
                                    [](MetricUse& use, double mean, double) { use.p50 = mean; }));
    }
    if (!is_activity(metric) && metric != Metric::kTensorActive && metric != Metric::kDramActive) return {};
    return ask_statistic(
        metric, source, "quantile_over_time(0.95, ", [](MetricUse& use, double mean, double) { use.p95 = mean; },
        is_activity(metric));
  }

  // One number per series over the whole window. Calls set(use, mean, largest) per part, over its owners. The quantile
  // of a mixture lies between those of its parts; their mean, weighted by time, is close enough for a verdict.
  template <class Set>
  Answered<> ask_statistic(Metric metric, const MetricSource& source, const char* function, const Set& set,
                           bool owners_p95 = false) {
    struct Sum {
      double value = 0, weight = 0, largest = 0;
    };
    std::map<PartCells*, Sum> sums;
    RIGHTSIZE_TRY(const std::vector<VectorRow> rows, ask_window(over_time(function, select(source), window())));
    for (const VectorRow& row : rows) {
      const Place place = series_.place_of(row.labels, wanted_);
      const double value = row.value * source.scale;
      if (place.owner == nullptr || value < 0 || value > kind_of(metric).most) continue;
      Sum& sum = sums[place.part];
      const double weight = weight_of(*place.owner);
      sum = {sum.value + value * weight, sum.weight + weight, std::max(sum.largest, value)};
      if (owners_p95) place.owner->p95 = std::max(place.owner->p95.value_or(0), value);
    }
    for (const auto& [part, sum] : sums) {
      set(part->metrics[metric], sum.value / sum.weight, sum.largest);
    }
    return {};
  }

  Answered<std::vector<VectorRow>> ask_window(const std::string& query) {
    auto once = [&] { return client_.instant(query, frame_.axis.until()); };
    return series_.gpus.empty() ? once() : ask_twice(once);
  }

  // Moments per step of a GPU, a part or an owner. Several rows for the same one are copies of each other.
  template <class Level>
  Answered<> ask_moments(const std::string& inner, Cells Level::*into, Expects expects,
                         OfMoments what = OfMoments::kCount) {
    const std::string query = over_moments(what, inner, frame_.axis.width, grain_.step);
    for (int attempt = 1; attempt <= 2; ++attempt) {
      std::set<const GpuCells*> answered;
      RIGHTSIZE_CHECK(ask_steps(query, grain_.step, [&](const Place& place, std::size_t step, double value) {
        answered.insert(place.gpu);
        Cells* cells = cells_at(place, into);
        if (cells == nullptr) return;
        cells->resize(frame_.axis.count, 0);
        (*cells)[step] = std::max((*cells)[step], static_cast<float>(value));
      }));
      if (!any_wanted([&](const GpuCells& gpu) { return expects(gpu) && !answered.contains(&gpu); })) return {};
    }
    // Otherwise hours with an answer lost in a cluster would count as unused.
    return tl::make_unexpected(QueryError{
        unreadable("the server has readings of a GPU but returned no result for them in two attempts"), false});
  }

  // A query about every step, split into periods that the server can handle.
  template <class Take>
  Answered<> ask_steps(const std::string& query, Seconds step, const Take& take) {
    const double moments = frame_.axis.width / step;
    const auto piece = static_cast<std::size_t>(std::max(1.0, std::floor(kMostMoments / moments)));
    for (std::size_t begin = 0; begin < frame_.axis.count; begin += piece) {
      RIGHTSIZE_CHECK(ask_piece(query, begin, std::min(begin + piece, frame_.axis.count), take));
    }
    return {};
  }

  template <class Take>
  Answered<> ask_piece(const std::string& query, std::size_t begin, std::size_t end, const Take& take) {
    const StepAxis& axis = frame_.axis;
    Answered<std::vector<RangeRow>> rows =
        ask_twice([&] { return client_.range(query, axis.begin_of(begin + 1), axis.begin_of(end), axis.width); });
    if (!rows && rows.error().too_much && end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      RIGHTSIZE_CHECK(ask_piece(query, begin, middle, take));
      return ask_piece(query, middle, end, take);
    }
    if (!rows) return tl::make_unexpected(std::move(rows).error());
    for (const RangeRow& row : *rows) {
      const Place place = series_.place_of(row.labels, wanted_);
      if (place.gpu == nullptr) continue;
      for (const telemetry::Point& point : row.points) {
        const double step = std::round((point.time - axis.from) / axis.width) - 1;
        if (step >= 0 && step < static_cast<double>(axis.count)) {
          take(place, static_cast<std::size_t>(step), point.value);
        }
      }
    }
    return {};
  }

  Seconds window() const { return frame_.axis.until() - frame_.axis.from; }
  std::string select(const MetricSource& source) const {
    return selector(source.name, frame_.options.matchers, asked_);
  }
  std::string seen_by(const LabelList& labels) const { return present(signs_of_life(), grain_.lookback, labels); }
  LabelList owner_labels() const { return joined(joined(shard_.gpu, shard_.part), shard_.owner); }

  std::vector<Gauge> activity_gauges() const {
    std::vector<Gauge> gauges;
    for (Metric metric : kActivityMetrics) {
      const auto source = frame_.sources.find(metric);
      if (source != frame_.sources.end()) gauges.push_back({select(source->second), source->second.scale});
    }
    return gauges;
  }

  // The readings that show presence: activity alone if it is complete, otherwise memory too.
  std::vector<std::string> signs_of_life() const {
    std::vector<std::string> selectors;
    for (const Gauge& gauge : activity_gauges()) selectors.push_back(gauge.selector);
    const auto memory = frame_.sources.find(Metric::kMemoryUsed);
    if (with_memory_ && memory != frame_.sources.end()) selectors.push_back(select(memory->second));
    return selectors;
  }

  template <class Test>
  bool any_wanted(const Test& test) const {
    return std::ranges::any_of(*wanted_, [&](const std::string& key) { return test(series_.gpus.at(key)); });
  }

  PrometheusClient& client_;
  const Shard& shard_;
  const ShardFrame& frame_;
  ShardSeries series_;
  Grain grain_;                                    // of the current class of GPUs
  Shard asked_;                                    // the part of the shard that holds them
  const std::set<std::string>* wanted_ = nullptr;  // their keys
  bool with_memory_ = false;
};

}  // namespace

Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame) {
  return ShardScan(client, shard, frame).run();
}

}  // namespace rightsize::gpu_use
