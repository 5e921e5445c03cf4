#include "fleet/scan_shard.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "fleet/part_tally.h"
#include "fleet/shard_series.h"

namespace rightsize::fleet {
namespace {

using Place = ShardSeries::Place;

constexpr double kMostMoments = 20'000;  // of one series in one question; VictoriaMetrics refuses 30,000

// Clocks, temperatures and counters do not influence any verdict.
bool is_useful(Metric metric) {
  constexpr Metric kIgnored[] = {Metric::kEnergy,      Metric::kSmClock,  Metric::kMemoryClock,
                                 Metric::kTemperature, Metric::kThrottle, Metric::kPowerLimit};
  return std::find(std::begin(kIgnored), std::end(kIgnored), metric) == std::end(kIgnored);
}

Cells* cells_at(const Place& place, Cells GpuCells::*cells) { return &(place.gpu->*cells); }
Cells* cells_at(const Place& place, Cells PartCells::*cells) {
  return place.part != nullptr ? &(place.part->*cells) : nullptr;
}
Cells* cells_at(const Place& place, Cells OwnerCells::*cells) {
  return place.owner != nullptr ? &(place.owner->*cells) : nullptr;
}

double weight_of(const OwnerCells& owner) {
  double all = 0;
  for (float seen : owner.seen) all += static_cast<double>(seen);
  return std::max(all, 1e-3);
}

// Asks about one shard and keeps the answers per GPU.
class ShardScan {
 public:
  ShardScan(PrometheusClient& client, const Shard& shard, const ShardFrame& frame)
      : client_(client), shard_(shard), frame_(frame), series_(frame.names) {}

  Answered<ShardAnswer> run() {
    RIGHTSIZE_CHECK(discover(client_, shard_, frame_, series_));
    ShardAnswer answer;
    for (const std::string& value : shard_.values) {
      if (!series_.heard.contains(value)) answer.silent.push_back(value);
    }
    for (const GpuClass& similar : classes_of(series_, shard_)) {
      grain_ = similar.grain;
      wanted_ = &similar.gpus;
      RIGHTSIZE_CHECK(ask_all());
      for (const std::string& key : similar.gpus) {
        for (GpuUse& use : account(series_.gpus.at(key), frame_.axis, grain_, frame_.idle)) {
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

  // About the GPUs of one class.
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
    RIGHTSIZE_CHECK(count_moments(readings_within(grain_.connected), &GpuCells::present, reports_activity));
    for (const std::string& key : *wanted_) series_.gpus.at(key).active = series_.gpus.at(key).present;
    auto incomplete = [&](const GpuCells& gpu) {
      return gpu.present.empty() || std::any_of(gpu.present.begin(), gpu.present.end(),
                                                [&](float m) { return static_cast<double>(m) < full; });
    };
    if (frame_.sources.contains(Metric::kMemoryUsed) && any_wanted(incomplete)) {
      with_memory_ = true;
      RIGHTSIZE_CHECK(count_moments(readings_within(grain_.connected), &GpuCells::present, always));
    }
    if (!any_wanted([&](const GpuCells& gpu) { return has_breaks(gpu, frame_.axis, grain_); })) return {};
    // A lookback that is one step longer adds one moment after every stretch that ended.
    RIGHTSIZE_CHECK(count_moments(readings_within(grain_.connected + grain_.step), &GpuCells::ends, always));
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
      RIGHTSIZE_CHECK(count_moments(seen_by(shard_.gpu), &GpuCells::seen, always));
      RIGHTSIZE_CHECK(count_moments(seen_by(part), &PartCells::seen, always));
      asked_.only = fmt::format("{}{}{}!=\"\"", shard_.only, shard_.only.empty() ? "" : ",", shard_.part.front());
      const std::string instances = seen_by(shard_.gpu);
      asked_.only = shard_.only;
      RIGHTSIZE_CHECK(count_moments(instances, &GpuCells::partitioned, never));
    }
    const std::string owners = seen_by(owner_labels());
    RIGHTSIZE_CHECK(count_moments(owners, &OwnerCells::seen, always));
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
    const std::string idle = fmt::format("({} <= bool {})", active, frame_.idle.active_above);
    const Expects expects = grain_.dirty ? never : reports_activity;
    RIGHTSIZE_CHECK(count_moments(active, &OwnerCells::known, expects));
    RIGHTSIZE_CHECK(ask_moments(OfMoments::kSum, idle, &OwnerCells::idle, expects));
    if (grain_.dirty) {
      for (const std::string& key : *wanted_) series_.gpus.at(key).active.clear();
      RIGHTSIZE_CHECK(
          count_moments(plausible(activity_gauges(), grain_.connected, shard_.gpu), &GpuCells::active, never));
    }
    // Changes between idle and active are only shown, so one look per minute is enough.
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

  // Mean and maximum of a metric that only describes, over the whole window.
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
      std::optional<MetricUse>& use = part->metrics[static_cast<std::size_t>(metric)];
      if (!use) use = MetricUse{};
      set(*use, sum.value / sum.weight, sum.largest);
    }
    return {};
  }

  Answered<std::vector<VectorRow>> ask_window(const std::string& query) {
    return ask_twice([&] { return client_.instant(query, frame_.axis.until()); });
  }

  template <class Level>
  Answered<> count_moments(const std::string& inner, Cells Level::*into, Expects expects) {
    return ask_moments(OfMoments::kCount, inner, into, expects);
  }

  // Moments per step of a GPU, a part or an owner. Several rows for the same one are copies of each other.
  template <class Level>
  Answered<> ask_moments(OfMoments what, const std::string& inner, Cells Level::*into, Expects expects) {
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
    // Otherwise hours whose answer was lost in a cluster would count as not used.
    return tl::make_unexpected(QueryError{
        unreadable("the server has readings of a GPU but twice returned no answer to a question about them"), false});
  }

  // A question about every step, split into periods the server can handle.
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
  std::string select(const MetricSource& source) const { return selector(source.name, frame_.matchers, asked_); }
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
    return std::any_of(wanted_->begin(), wanted_->end(),
                       [&](const std::string& key) { return test(series_.gpus.at(key)); });
  }

  PrometheusClient& client_;
  const Shard& shard_;
  const ShardFrame& frame_;
  ShardSeries series_;
  Grain grain_;                                    // of the class of GPUs asked about now
  Shard asked_;                                    // the part of the shard that holds them
  const std::set<std::string>* wanted_ = nullptr;  // their keys
  bool with_memory_ = false;
};

}  // namespace

Answered<ShardAnswer> scan_shard(PrometheusClient& client, const Shard& shard, const ShardFrame& frame) {
  return ShardScan(client, shard, frame).run();
}

}  // namespace rightsize::fleet
