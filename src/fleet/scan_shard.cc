#include "fleet/scan_shard.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "fleet/part_tally.h"
#include "fleet/shard_series.h"

namespace rightsize::fleet {
namespace {

using Done = Answered<bool>;  // true
using Place = ShardSeries::Place;

constexpr double kMostMoments = 20'000;  // of one series in one question; VictoriaMetrics refuses 30,000

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

// Asks about one shard, and keeps what is answered by GPU.
class ShardScan {
 public:
  ShardScan(PrometheusClient& client, const Shard& shard, const ShardFrame& frame)
      : client_(client), shard_(shard), frame_(frame), series_(frame.names) {}

  Answered<ShardAnswer> run() {
    RIGHTSIZE_TRY([[maybe_unused]] const bool found, discover(client_, shard_, frame_, series_));
    ShardAnswer answer;
    for (const std::string& value : shard_.values) {
      if (!series_.heard.contains(value)) answer.silent.push_back(value);
    }
    for (const GpuClass& similar : classes_of(series_, shard_)) {
      RIGHTSIZE_TRY([[maybe_unused]] const bool done, ask(similar.grain, similar.gpus));
      for (const std::string& key : similar.gpus) {
        for (GpuUse& use : account(series_.gpus.at(key), frame_.axis, similar.grain, frame_.idle)) {
          answer.gpus.push_back(std::move(use));
        }
      }
    }
    return answer;
  }

 private:
  Seconds window() const { return frame_.axis.until() - frame_.axis.from; }

  std::string select(const MetricSource& source) const { return selector(source.name, frame_.matchers, asked_); }

  // A question about every cell, put in pieces of time the server can bear.
  template <class Take>
  Done ask_cells(const std::string& query, Seconds step, const Take& take) {
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
    auto ask = [&] { return client_.range(query, axis.begin_of(begin + 1), axis.begin_of(end), axis.width); };
    Answered<std::vector<RangeRow>> rows = ask();
    if (rows && rows->empty()) rows = ask();
    if (!rows && rows.error().too_much && end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      RIGHTSIZE_TRY([[maybe_unused]] const bool first, ask_piece(query, begin, middle, take));
      return ask_piece(query, middle, end, take);
    }
    if (!rows) return tl::make_unexpected(std::move(rows).error());
    for (const RangeRow& row : *rows) {
      const Place place = series_.place_of(row.labels, wanted_);
      if (place.gpu == nullptr) continue;
      for (const telemetry::Point& point : row.points) {
        const double cell = std::round((point.time - axis.from) / axis.width) - 1;
        if (cell >= 0 && cell < static_cast<double>(axis.count))
          take(place, static_cast<std::size_t>(cell), point.value);
      }
    }
    return true;
  }

  // One number per series. An empty answer may have been lost on its way: it is asked for once more.
  Answered<std::vector<VectorRow>> ask_once(const std::string& query) {
    Answered<std::vector<VectorRow>> rows = client_.instant(query, frame_.axis.until());
    if (rows && rows->empty()) rows = client_.instant(query, frame_.axis.until());
    return rows;
  }

  // Moments into one of the cells of a GPU, a part or an owner; several rows of the same are one another's copies.
  template <class Find, class Expects>
  Done ask_moments(const std::string& query, const Grain& grain, const Find& find, const Expects& expects,
                   bool required = true) {
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
    if (!required) return true;
    // In a cluster an answer can be lost without a word: what is missing would be taken for hours not used.
    return tl::make_unexpected(QueryError{
        unreadable("the server has readings of a GPU and answers a question about them with nothing, twice"), false});
  }
  template <class Expects>
  Done ask_gpus(const std::string& inner, const Grain& grain, Cells GpuCells::*cells, const Expects& expects,
                bool required = true) {
    return ask_moments(
        over_moments(OfMoments::kCount, inner, frame_.axis.width, grain.step), grain,
        [&](const Place& p) { return &(p.gpu->*cells); }, expects, required);
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
    return std::any_of(wanted_->begin(), wanted_->end(),
                       [&](const std::string& key) { return test(series_.gpus.at(key)); });
  }

  Done ask_presence(const Grain& grain) {
    const double full = frame_.axis.width / grain.step;
    with_memory_ = false;
    RIGHTSIZE_TRY([[maybe_unused]] const bool active, ask_gpus(present(signs_of_life(), grain.connected, shard_.gpu),
                                                               grain, &GpuCells::present, reports_activity));
    for (const std::string& key : *wanted_) series_.gpus.at(key).active = series_.gpus.at(key).present;
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
      GpuCells& gpu = series_.gpus.at(key);
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
                        over_moments(OfMoments::kCount, present(signs_of_life(), grain.lookback, part),
                                     frame_.axis.width, grain.step),
                        grain, [](const Place& p) { return p.part != nullptr ? &p.part->seen : nullptr; }, always));
      asked_.only = fmt::format("{}{}{}!=\"\"", shard_.only, shard_.only.empty() ? "" : ",", shard_.part.front());
      const std::string instances = present(signs_of_life(), grain.lookback, shard_.gpu);
      asked_.only = shard_.only;
      RIGHTSIZE_TRY([[maybe_unused]] const bool parted, ask_gpus(instances, grain, &GpuCells::partitioned, never));
    }
    const std::string owners = present(signs_of_life(), grain.lookback, owner);
    RIGHTSIZE_TRY([[maybe_unused]] const bool seen,
                  ask_owners(over_moments(OfMoments::kCount, owners, frame_.axis.width, grain.step), grain,
                             &OwnerCells::seen, always));
    if (!any_wanted([&](const GpuCells& gpu) { return has_overlaps(gpu, frame_.axis, grain); })) return true;
    RIGHTSIZE_TRY([[maybe_unused]] const bool shared,
                  ask_cells(over_moments(OfMoments::kSum, shares(owners, part), frame_.axis.width, grain.step),
                            grain.step, [&](const Place& place, std::size_t cell, double value) {
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
    const Seconds width = frame_.axis.width;
    RIGHTSIZE_TRY([[maybe_unused]] const bool known,
                  ask_owners(over_moments(OfMoments::kCount, active, width, grain.step), grain, &OwnerCells::known,
                             [&](const GpuCells& gpu) { return gpu.has_activity && !grain.dirty; }));
    const std::string idle = fmt::format("({} <= bool {})", active, frame_.idle.active_above);
    RIGHTSIZE_TRY([[maybe_unused]] const bool resting,
                  ask_owners(over_moments(OfMoments::kSum, idle, width, grain.step), grain, &OwnerCells::idle,
                             [&](const GpuCells& gpu) { return gpu.has_activity && !grain.dirty; }));
    if (grain.dirty) {
      for (const std::string& key : *wanted_) series_.gpus.at(key).active.clear();
      RIGHTSIZE_TRY([[maybe_unused]] const bool good,
                    ask_gpus(plausible(activity_gauges(), grain.connected, shard_.gpu), grain, &GpuCells::active,
                             reports_activity, false));
    }
    // How often idle and active took turns is for the picture only: once a minute is enough.
    const std::string turns =
        fmt::format("changes({}[{}:{}])", idle, duration_text(std::min(window(), seconds(kMostMoments * 60))),
                    duration_text(seconds(60)));
    if (Answered<std::vector<VectorRow>> rows = ask_once(turns)) {
      for (const VectorRow& row : *rows) {
        if (PartCells* part = series_.place_of(row.labels, wanted_).part) part->changes += row.value;
      }
    }
    return true;
  }

  Done ask_curve(Metric metric, const MetricSource& source, const Grain& grain) {
    const LabelList owner = joined(joined(shard_.gpu, shard_.part), shard_.owner);
    const double most = kind_of(metric).most;
    const Seconds width = frame_.axis.width;
    // Good values one by one where there are others; else what the server can say of a cell at once.
    const std::string good = activity({{select(source), source.scale, most}}, grain, owner);
    const std::string mean = grain.dirty ? over_moments(OfMoments::kMean, good, width, grain.step)
                                         : over_time("avg_over_time", select(source), width);
    const std::string largest = grain.dirty ? over_moments(OfMoments::kMax, good, width, grain.step)
                                            : over_time("max_over_time", select(source), width);
    const double scale = grain.dirty ? 1 : source.scale;
    const Seconds step = grain.dirty ? grain.step : width;
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
      RIGHTSIZE_TRY(const std::vector<VectorRow> rows, ask_once(over_time(function, select(source), window())));
      for (const VectorRow& row : rows) {
        const Place place = series_.place_of(row.labels, wanted_);
        const double value = row.value * source.scale;
        if (place.owner == nullptr || value < 0 || value > kind_of(metric).most) continue;
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
                    ask_once(over_time(fmt::format("quantile_over_time({}, ", share), select(source), window())));
      std::map<const PartCells*, double> weights;
      for (const VectorRow& row : rows) {
        const Place place = series_.place_of(row.labels, wanted_);
        const double value = row.value * source.scale;
        if (place.owner == nullptr || value < 0 || value > telemetry::kMostShare) continue;
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
  ShardSeries series_;
  Shard asked_;                                    // the part of the shard that is asked about now
  const std::set<std::string>* wanted_ = nullptr;  // the GPUs of it; null: all
  bool with_memory_ = false;
};

}  // namespace

Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame) {
  return ShardScan(client, shard, frame).run();
}

}  // namespace rightsize::fleet
