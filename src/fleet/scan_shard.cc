#include "fleet/scan_shard.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace rightsize::fleet {
namespace {

using Done = Answered<bool>;  // true

constexpr double kMostMoments = 20'000;  // of one series in one question; VictoriaMetrics refuses 30,000
constexpr double kMostBytes = 4e12;      // a GPU with more memory is none
constexpr double kConnected = 300;

bool is_activity(Metric metric) {
  return std::find(std::begin(kActivityMetrics), std::end(kActivityMetrics), metric) != std::end(kActivityMetrics);
}

// Clocks, temperatures and counters do not change what a GPU is judged by.
bool is_useful(Metric metric) {
  switch (metric) {
    case Metric::kEnergy:
    case Metric::kSmClock:
    case Metric::kMemoryClock:
    case Metric::kTemperature:
    case Metric::kThrottle:
    case Metric::kPowerLimit:
      return false;
    default:
      return true;
  }
}

bool has_curve(Metric metric) {
  return is_activity(metric) || metric == Metric::kDramActive || metric == Metric::kMemoryUsed;
}

// How often the moments of a class of GPUs are looked at: as often as they are read, within bounds.
Grain grain_for(double interval, bool dirty) {
  Grain grain;
  grain.dirty = dirty;
  for (double step : {15.0, 20.0, 30.0, 60.0}) {
    if (interval >= step) grain.step = step;
  }
  grain.connected = std::max(kConnected, std::ceil(gap_limit(interval) / 60) * 60);
  grain.lookback = std::clamp(std::ceil(1.5 * interval), 2 * grain.step, grain.connected);
  if (interval >= grain.step && interval < 2 * grain.step) grain.lookback = std::ceil(1.5 * interval);
  return grain;
}

// Asks about one shard, and keeps what is answered by GPU.
class ShardScan {
 public:
  ShardScan(PrometheusClient& client, const Shard& shard, const ShardFrame& frame)
      : client_(client), shard_(shard), frame_(frame) {}

  Answered<ShardAnswer> run() {
    for (const auto& [metric, source] : frame_.sources) {
      if (!is_activity(metric) && metric != Metric::kMemoryUsed) continue;
      RIGHTSIZE_TRY([[maybe_unused]] const bool done, discover(metric, source));
    }
    ShardAnswer answer;
    for (const std::string& value : shard_.values) {
      if (!heard_.contains(value)) answer.silent.push_back(value);
    }
    for (auto& [grain, keys] : classes()) {
      RIGHTSIZE_TRY([[maybe_unused]] const bool done, ask(grain, keys));
      for (const std::string& key : keys) {
        for (GpuUse& use : account(gpus_.at(key), frame_.axis, grain, frame_.idle))
          answer.gpus.push_back(std::move(use));
      }
    }
    return answer;
  }

 private:
  // Where a row of an answer belongs.
  struct Place {
    GpuCells* gpu = nullptr;
    PartCells* part = nullptr;
    OwnerCells* owner = nullptr;
    Device device;
  };

  double window() const { return frame_.axis.until() - frame_.axis.from; }

  // Answers grouped by fewer labels than a series has belong to a GPU or a part as a whole: then the rest is null.
  Place place_of(const telemetry::Labels& labels) {
    Place place;
    place.device = telemetry::device_of(labels, frame_.names);
    Device whole = place.device;
    whole.mig_id.clear();
    const std::string key = whole.key();
    const auto gpu = gpus_.find(key);
    if (gpu == gpus_.end() || (wanted_ != nullptr && !wanted_->contains(key))) return place;
    place.gpu = &gpu->second;
    const auto part = place.gpu->parts.find(place.device.mig_id.empty() ? "" : instance_name(place.device));
    if (part == place.gpu->parts.end()) return place;
    place.part = &part->second;
    const auto owner = place.part->owners.find(owner_of(place.device));
    if (owner != place.part->owners.end()) place.owner = &owner->second;
    return place;
  }

  Place new_place(const telemetry::Labels& labels) {
    const Device device = telemetry::device_of(labels, frame_.names);
    Device whole = device;
    whole.mig_id.clear();
    gpus_[whole.key()].parts[device.mig_id.empty() ? "" : instance_name(device)].owners[owner_of(device)];
    return place_of(labels);
  }

  std::string select(const MetricSource& source) const { return selector(source.name, frame_.matchers, asked_); }

  // Which series there are, how often they are read, and whether they have values that cannot be.
  Done discover(Metric metric, const MetricSource& source) {
    asked_ = shard_;
    const std::string series = select(source);
    const double until = frame_.axis.until();
    RIGHTSIZE_TRY(const std::vector<VectorRow> counts,
                  client_.instant(over_time("count_over_time", series, window()), until));
    for (const VectorRow& row : counts) note_series(metric, row);
    if (counts.empty()) return true;
    if (is_activity(metric) || !has_activity()) {
      RIGHTSIZE_TRY(const std::vector<VectorRow> often,
                    client_.instant(fmt::format("quantile_over_time(0.25, count_over_time({}[10m])[{}:10m])", series,
                                                duration_text(window())),
                                    until));
      for (const VectorRow& row : often) {
        GpuCells* gpu = place_of(row.labels).gpu;
        if (gpu == nullptr || row.value <= 0) continue;
        const double interval = frame_.interval > 0 ? frame_.interval : 600 / row.value;
        gpu->interval = gpu->interval > 0 ? std::min(gpu->interval, interval) : interval;
      }
    }
    return find_impossible(metric, source, series, counts.size());
  }

  void note_series(Metric metric, const VectorRow& row) {
    const Place place = new_place(row.labels);
    if (const auto value = row.labels.find(shard_.label); value != row.labels.end()) heard_.insert(value->second);
    Device& device = place.part->device;
    if (device.labels.empty()) device = place.device;
    if (device.host.empty()) device.host = place.device.host;
    device.labels.insert(place.device.labels.begin(), place.device.labels.end());
    // Two series with the same owner say the same thing twice: replicas of the server, or two scrape jobs.
    auto& by_owner = readings_[std::tuple(place.gpu, place.part, metric)];
    double& readings = by_owner[{owner_of(place.device), place.device.host}];
    if (readings > 0) place.gpu->duplicated = true;
    if (is_activity(metric)) place.gpu->has_activity = true;
    readings = std::max(readings, row.value);
    double all = 0;
    for (const auto& [who, count] : by_owner) all += count;
    place.gpu->readings = std::max(place.gpu->readings, all);
  }

  bool has_activity() const {
    return std::all_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu.second.interval > 0; });
  }

  Done find_impossible(Metric metric, const MetricSource& source, const std::string& series, std::size_t rows) {
    const double most = is_activity(metric) ? 1.05 : kMostBytes;
    std::size_t answered = 0;
    for (const char* function : {"max_over_time", "min_over_time"}) {
      RIGHTSIZE_TRY(const std::vector<VectorRow> extremes,
                    client_.instant(over_time(function, series, window()), frame_.axis.until()));
      answered += extremes.size();
      for (const VectorRow& row : extremes) {
        const Place place = place_of(row.labels);
        if (place.gpu == nullptr) continue;
        const double value = row.value * source.scale;
        if (value > most || value < 0) {
          place.gpu->dirty = true;
        } else if (place.owner != nullptr && function[1] == 'a') {
          double& peak = is_activity(metric) ? place.owner->peak : place.owner->memory_peak;
          peak = std::max(peak, value);
        }
      }
    }
    // A series of nothing but NaN has no largest value.
    if (answered < 2 * rows) {
      for (auto& [key, gpu] : gpus_) gpu.dirty = true;
    }
    return true;
  }

  // GPUs that are read about equally often, and alike in what has to be asked, go together.
  std::vector<std::pair<Grain, std::set<std::string>>> classes() {
    std::vector<std::pair<Grain, std::set<std::string>>> found;
    const bool by_gpu = shard_.gpu.size() == 1 && shard_.gpu.front() == shard_.label;
    std::map<std::tuple<double, double, bool, bool>, std::size_t> index;
    double shortest = 0;
    bool any_dirty = false;
    for (auto& [key, gpu] : gpus_) {
      if (gpu.interval <= 0) gpu.interval = 60;
      shortest = shortest > 0 ? std::min(shortest, gpu.interval) : gpu.interval;
      any_dirty = any_dirty || gpu.dirty;
    }
    for (const auto& [key, gpu] : gpus_) {
      // Labels that name more than one GPU cannot be asked about one by one.
      const Grain grain = by_gpu ? grain_for(gpu.interval, gpu.dirty) : grain_for(shortest, any_dirty);
      const auto [at, added] =
          index.try_emplace({grain.step, grain.lookback, grain.dirty, by_gpu && gpu.is_partitioned()}, found.size());
      if (added) found.push_back({grain, {}});
      found[at->second].second.insert(key);
    }
    return found;
  }

  // A question about every cell, put in pieces of time the server can bear.
  template <class Take>
  Done ask_cells(const std::string& query, double step, const Take& take) {
    const double moments = frame_.axis.width / step;
    const auto piece = static_cast<std::size_t>(std::max(1.0, std::floor(kMostMoments / moments)));
    for (std::size_t begin = 0; begin < frame_.axis.count; begin += piece) {
      RIGHTSIZE_TRY([[maybe_unused]] const bool done,
                    ask_piece(query, begin, std::min(begin + piece, frame_.axis.count), take));
    }
    return true;
  }

  template <class Take>
  Done ask_piece(const std::string& query, std::size_t begin, std::size_t end, const Take& take) {
    const CellAxis& axis = frame_.axis;
    auto time = [&](std::size_t cell) { return axis.from + static_cast<double>(cell) * axis.width; };
    Answered<std::vector<RangeRow>> rows = client_.range(query, time(begin + 1), time(end), axis.width);
    if (!rows && rows.error().too_much && end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      RIGHTSIZE_TRY([[maybe_unused]] const bool first, ask_piece(query, begin, middle, take));
      return ask_piece(query, middle, end, take);
    }
    if (!rows) return tl::make_unexpected(std::move(rows).error());
    for (const RangeRow& row : *rows) {
      const Place place = place_of(row.labels);
      if (place.gpu == nullptr) continue;
      for (const telemetry::Point& point : row.points) {
        const double cell = std::round((point.time - axis.from) / axis.width) - 1;
        if (cell >= 0 && cell < static_cast<double>(axis.count))
          take(place, static_cast<std::size_t>(cell), point.value);
      }
    }
    return true;
  }

  // Moments into one of the cells of a GPU, a part or an owner; several rows of the same are one another's copies.
  template <class Find, class Expects>
  Done ask_moments(const std::string& query, const Grain& grain, const Find& find, const Expects& expects) {
    for (int attempt = 1; attempt <= 2; ++attempt) {
      std::set<const GpuCells*> answered;
      RIGHTSIZE_TRY([[maybe_unused]] const bool done,
                    ask_cells(query, grain.step, [&](const Place& place, std::size_t cell, double value) {
                      answered.insert(place.gpu);
                      Cells* cells = find(place);
                      if (cells == nullptr) return;
                      cells->resize(frame_.axis.count, 0);
                      (*cells)[cell] = std::max((*cells)[cell], static_cast<float>(value));
                    }));
      if (!any_wanted([&](const GpuCells& gpu) { return expects(gpu) && !answered.contains(&gpu); })) return true;
    }
    // In a cluster an answer can be lost without a word: what is missing would be taken for hours not used.
    return tl::make_unexpected(QueryError{
        unreadable("the server has readings of a GPU and answers a question about them with nothing, twice"), false});
  }
  template <class Expects>
  Done ask_gpus(const std::string& inner, const Grain& grain, Cells GpuCells::*cells, const Expects& expects) {
    return ask_moments(
        count_moments(inner, frame_.axis.width, grain.step), grain, [&](const Place& p) { return &(p.gpu->*cells); },
        expects);
  }
  template <class Expects>
  Done ask_owners(const std::string& query, const Grain& grain, Cells OwnerCells::*cells, const Expects& expects) {
    return ask_moments(
        query, grain, [&](const Place& p) { return p.owner != nullptr ? &(p.owner->*cells) : nullptr; }, expects);
  }

  static bool always(const GpuCells&) { return true; }
  static bool never(const GpuCells&) { return false; }
  static bool reports_activity(const GpuCells& gpu) { return gpu.has_activity; }

  // The GPUs of one class.
  Done ask(const Grain& grain, const std::set<std::string>& keys) {
    wanted_ = &keys;
    asked_ = shard_;
    if (shard_.gpu.size() == 1 && shard_.gpu.front() == shard_.label) asked_.values = {keys.begin(), keys.end()};
    RIGHTSIZE_TRY([[maybe_unused]] const bool there, ask_presence(grain));
    RIGHTSIZE_TRY([[maybe_unused]] const bool owned, ask_ownership(grain));
    RIGHTSIZE_TRY([[maybe_unused]] const bool active, ask_activity(grain));
    for (const auto& [metric, source] : frame_.sources) {
      if (!is_useful(metric)) continue;
      Done answered = has_curve(metric) ? ask_curve(metric, source, grain) : ask_mean(metric, source);
      if (answered) answered = ask_quantiles(metric, source);
      if (!answered && (answered.error().too_much || is_activity(metric))) return answered;
    }
    wanted_ = nullptr;
    return true;
  }

  std::vector<Gauge> activity_gauges() const {
    std::vector<Gauge> gauges;
    for (Metric metric : kActivityMetrics) {
      const auto source = frame_.sources.find(metric);
      if (source != frame_.sources.end()) gauges.push_back({select(source->second), source->second.scale});
    }
    return gauges;
  }

  // What readings to look for: activity alone where it is complete, memory too where it is not.
  std::vector<std::string> signs_of_life() const {
    std::vector<std::string> selectors;
    for (const Gauge& gauge : activity_gauges()) selectors.push_back(gauge.selector);
    const auto memory = frame_.sources.find(Metric::kMemoryUsed);
    if (with_memory_ && memory != frame_.sources.end()) selectors.push_back(select(memory->second));
    return selectors;
  }

  template <class Test>
  bool any_wanted(const Test& test) const {
    return std::any_of(wanted_->begin(), wanted_->end(), [&](const std::string& key) { return test(gpus_.at(key)); });
  }

  Done ask_presence(const Grain& grain) {
    const double full = frame_.axis.width / grain.step;
    with_memory_ = false;
    RIGHTSIZE_TRY([[maybe_unused]] const bool active, ask_gpus(present(signs_of_life(), grain.connected, shard_.gpu),
                                                               grain, &GpuCells::present, reports_activity));
    for (const std::string& key : *wanted_) gpus_.at(key).active = gpus_.at(key).present;
    auto incomplete = [&](const GpuCells& gpu) {
      return gpu.present.empty() || std::any_of(gpu.present.begin(), gpu.present.end(),
                                                [&](float m) { return static_cast<double>(m) < full; });
    };
    if (frame_.sources.contains(Metric::kMemoryUsed) && any_wanted(incomplete)) {
      with_memory_ = true;
      RIGHTSIZE_TRY([[maybe_unused]] const bool any,
                    ask_gpus(present(signs_of_life(), grain.connected, shard_.gpu), grain, &GpuCells::present, always));
    }
    if (!any_wanted([&](const GpuCells& gpu) { return has_breaks(gpu, frame_.axis, grain); })) return true;
    // Looking back one step further adds one moment behind every stretch that ended.
    RIGHTSIZE_TRY(
        [[maybe_unused]] const bool further,
        ask_gpus(present(signs_of_life(), grain.connected + grain.step, shard_.gpu), grain, &GpuCells::ends, always));
    for (const std::string& key : *wanted_) {
      GpuCells& gpu = gpus_.at(key);
      gpu.ends.resize(frame_.axis.count, 0);
      gpu.present.resize(frame_.axis.count, 0);
      for (std::size_t i = 0; i < frame_.axis.count; ++i) gpu.ends[i] = std::max(0.0F, gpu.ends[i] - gpu.present[i]);
    }
    return true;
  }

  Done ask_ownership(const Grain& grain) {
    const LabelList part = joined(shard_.gpu, shard_.part), owner = joined(part, shard_.owner);
    if (any_wanted([](const GpuCells& gpu) { return gpu.is_partitioned(); })) {
      RIGHTSIZE_TRY([[maybe_unused]] const bool any,
                    ask_gpus(present(signs_of_life(), grain.lookback, shard_.gpu), grain, &GpuCells::seen, always));
      RIGHTSIZE_TRY([[maybe_unused]] const bool each,
                    ask_moments(
                        count_moments(present(signs_of_life(), grain.lookback, part), frame_.axis.width, grain.step),
                        grain, [](const Place& p) { return p.part != nullptr ? &p.part->seen : nullptr; }, always));
      asked_.only = fmt::format("{}{}{}!=\"\"", shard_.only, shard_.only.empty() ? "" : ",", shard_.part.front());
      const std::string instances = present(signs_of_life(), grain.lookback, shard_.gpu);
      asked_.only = shard_.only;
      RIGHTSIZE_TRY([[maybe_unused]] const bool parted, ask_gpus(instances, grain, &GpuCells::partitioned, never));
    }
    const std::string owners = present(signs_of_life(), grain.lookback, owner);
    RIGHTSIZE_TRY([[maybe_unused]] const bool seen,
                  ask_owners(count_moments(owners, frame_.axis.width, grain.step), grain, &OwnerCells::seen, always));
    if (!any_wanted([&](const GpuCells& gpu) { return has_overlaps(gpu, frame_.axis, grain); })) return true;
    RIGHTSIZE_TRY([[maybe_unused]] const bool shared,
                  ask_cells(sum_moments(shares(owners, part), frame_.axis.width, grain.step), grain.step,
                            [&](const Place& place, std::size_t cell, double value) {
                              if (place.owner == nullptr) return;
                              place.gpu->is_shared = true;
                              place.owner->share.resize(frame_.axis.count, 0);
                              place.owner->share[cell] = static_cast<float>(value);
                            }));
    return true;
  }

  Done ask_activity(const Grain& grain) {
    const LabelList owner = joined(joined(shard_.gpu, shard_.part), shard_.owner);
    const std::string active = activity(activity_gauges(), grain, owner);
    const double width = frame_.axis.width;
    RIGHTSIZE_TRY([[maybe_unused]] const bool known,
                  ask_owners(count_moments(active, width, grain.step), grain, &OwnerCells::known,
                             [&](const GpuCells& gpu) { return gpu.has_activity && !grain.dirty; }));
    const std::string idle = fmt::format("({} <= bool {})", active, frame_.idle.active_above);
    RIGHTSIZE_TRY([[maybe_unused]] const bool resting,
                  ask_owners(sum_moments(idle, width, grain.step), grain, &OwnerCells::idle,
                             [&](const GpuCells& gpu) { return gpu.has_activity && !grain.dirty; }));
    if (grain.dirty) {
      for (const std::string& key : *wanted_) gpus_.at(key).active.clear();
      RIGHTSIZE_TRY(
          [[maybe_unused]] const bool good,
          ask_gpus(plausible(activity_gauges(), grain.connected, shard_.gpu), grain, &GpuCells::active, never));
    }
    // How often idle and active took turns is for the picture only: once a minute is enough.
    const std::string turns = fmt::format("changes({}[{}:{}])", idle,
                                          duration_text(std::min(window(), kMostMoments * 60)), duration_text(60));
    if (Answered<std::vector<VectorRow>> rows = client_.instant(turns, frame_.axis.until())) {
      for (const VectorRow& row : *rows) {
        if (PartCells* part = place_of(row.labels).part) part->changes += row.value;
      }
    }
    return true;
  }

  Done ask_curve(Metric metric, const MetricSource& source, const Grain& grain) {
    const LabelList owner = joined(joined(shard_.gpu, shard_.part), shard_.owner);
    const double most = metric == Metric::kMemoryUsed ? kMostBytes : 1.05;
    const double width = frame_.axis.width;
    // Good values one by one where there are others; else what the server can say of a cell at once.
    const std::string good = activity({{select(source), source.scale, most}}, grain, owner);
    const std::string mean =
        grain.dirty ? mean_moments(good, width, grain.step) : over_time("avg_over_time", select(source), width);
    const std::string largest =
        grain.dirty ? max_moments(good, width, grain.step) : over_time("max_over_time", select(source), width);
    const double scale = grain.dirty ? 1 : source.scale, step = grain.dirty ? grain.step : width;
    auto curve_of = [&](const Place& place) -> CellCurve* {
      if (place.owner == nullptr) return nullptr;
      CellCurve& curve = place.part->curves[metric];
      for (Cells* cells : {&curve.sum, &curve.weight, &curve.max}) cells->resize(frame_.axis.count, 0);
      return &curve;
    };
    RIGHTSIZE_TRY([[maybe_unused]] const bool means,
                  ask_cells(mean, step, [&](const Place& place, std::size_t cell, double value) {
                    CellCurve* curve = curve_of(place);
                    if (curve == nullptr || value * scale > most) return;
                    const float seen = cell < place.owner->seen.size() ? place.owner->seen[cell] : 0;
                    const float weight = std::max(seen, 1e-3F);
                    curve->sum[cell] += static_cast<float>(value * scale) * weight;
                    curve->weight[cell] += weight;
                  }));
    return ask_cells(largest, step, [&](const Place& place, std::size_t cell, double value) {
      CellCurve* curve = curve_of(place);
      if (curve != nullptr && value * scale <= most) {
        curve->max[cell] = std::max(curve->max[cell], static_cast<float>(value * scale));
      }
    });
  }

  // Metrics that only describe: one mean and one largest value of the whole window.
  Done ask_mean(Metric metric, const MetricSource& source) {
    for (const char* function : {"avg_over_time", "max_over_time"}) {
      RIGHTSIZE_TRY(const std::vector<VectorRow> rows,
                    client_.instant(over_time(function, select(source), window()), frame_.axis.until()));
      for (const VectorRow& row : rows) {
        const Place place = place_of(row.labels);
        const double value = row.value * source.scale;
        const bool share = metric != Metric::kMemoryTotal && metric != Metric::kPower && metric < Metric::kPcieRx;
        if (place.owner == nullptr || value < 0 || (share && value > 1.05) || value > 1e15) continue;
        take(place, metric, value, function[1] == 'v');
      }
    }
    return true;
  }

  void take(const Place& place, Metric metric, double value, bool is_mean) {
    const auto index = static_cast<std::size_t>(metric);
    std::optional<MetricUse>& use = place.part->metrics[index];
    if (!use) use = MetricUse{};
    if (!is_mean) {
      use->max = std::max(use->max, value);
      return;
    }
    const double before = place.part->weights[index], weight = weight_of(*place.owner);
    use->mean = (use->mean * before + value * weight) / (before + weight);
    place.part->weights[index] = before + weight;
  }

  static double weight_of(const OwnerCells& owner) {
    double all = 0;
    for (float seen : owner.seen) all += static_cast<double>(seen);
    return std::max(all, 1e-3);
  }

  // The quantile of a mixture is between those of its parts; their weighted mean is near enough for a verdict.
  Done ask_quantiles(Metric metric, const MetricSource& source) {
    const bool p50 = is_activity(metric), p95 = p50 || metric == Metric::kTensorActive || metric == Metric::kDramActive;
    for (const double share : {0.5, 0.95}) {
      if (!(share < 0.9 ? p50 : p95)) continue;
      RIGHTSIZE_TRY(const std::vector<VectorRow> rows,
                    client_.instant(over_time(fmt::format("quantile_over_time({}, ", share), select(source), window()),
                                    frame_.axis.until()));
      std::map<const PartCells*, double> weights;
      for (const VectorRow& row : rows) {
        const Place place = place_of(row.labels);
        const double value = row.value * source.scale;
        if (place.owner == nullptr || value < 0 || value > 1.05) continue;
        std::optional<MetricUse>& use = place.part->metrics[static_cast<std::size_t>(metric)];
        if (!use) use = MetricUse{};
        std::optional<double>& quantile = share < 0.9 ? use->p50 : use->p95;
        double& before = weights[place.part];
        const double weight = weight_of(*place.owner);
        quantile = (quantile.value_or(0) * before + value * weight) / (before + weight);
        before += weight;
        if (share > 0.9 && is_activity(metric)) place.owner->p95 = std::max(place.owner->p95.value_or(0), value);
      }
    }
    return true;
  }

  PrometheusClient& client_;
  const Shard& shard_;
  const ShardFrame& frame_;
  std::map<std::string, GpuCells> gpus_;
  std::map<std::tuple<const GpuCells*, const PartCells*, Metric>, std::map<std::pair<Owner, std::string>, double>>
      readings_;
  std::set<std::string> heard_;                    // values of the shard's label in the answers
  Shard asked_;                                    // the part of the shard that is asked about now
  const std::set<std::string>* wanted_ = nullptr;  // the GPUs of it; null: all
  bool with_memory_ = false;
};

}  // namespace

Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame) {
  return ShardScan(client, shard, frame).run();
}

}  // namespace rightsize::fleet
