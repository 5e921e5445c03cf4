#include "fleet/scan_shard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "fleet/accumulate.h"

namespace rightsize::fleet {
namespace {

// A GPU while its answers come in. Several series of one GPU (one per pod that used it) are weighed by their readings.
struct Draft {
  GpuUse use;
  std::map<Owner, Tenancy> tenancies;
  std::map<Owner, double> readings;
  double weights[telemetry::kMetrics] = {};
  double idle_weight = 0, held_weight = 0;
  Curve* curve(Metric metric, Metric activity) {
    if (metric == activity) return &use.profile.activity;
    if (metric == Metric::kDramActive) return &use.profile.dram;
    return metric == Metric::kMemoryUsed ? &use.profile.memory : nullptr;
  }
};

class ShardScan {
 public:
  ShardScan(Asker& asker, const Shard& shard, const ShardFrame& frame) : asker_(asker), shard_(shard), frame_(frame) {}

  Result<std::vector<GpuUse>> run() {
    if (Result<> counted = count(); !counted) return fail(std::move(counted).error());
    if (drafts_.empty()) return std::vector<GpuUse>{};
    for (const auto& [metric, source] : frame_.sources) {
      if (!is_useful(metric)) continue;
      Result<> answered = aggregate(metric, source);
      if (!answered && (metric == frame_.activity || is_too_much(answered.error()))) {
        return fail(std::move(answered).error());
      }
    }
    if (Result<> answered = shares(); !answered) return fail(std::move(answered).error());
    if (Result<> answered = curves(); !answered) return fail(std::move(answered).error());
    return finish();
  }

 private:
  // Clocks, temperatures and counters do not change what a GPU is judged by.
  static bool is_useful(Metric metric) {
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

  const MetricSource& activity() const { return frame_.sources.at(frame_.activity); }

  Draft& draft(const Device& device) {
    auto [found, is_new] = drafts_.try_emplace(device.key());
    if (is_new) found->second.use.device = device;
    return found->second;
  }

  double weight_of(const Draft& draft, const Device& device) const {
    const auto found = draft.readings.find(owner_of(device));
    return found != draft.readings.end() ? std::max(found->second, 1.0) : 1;
  }

  Result<> count() {
    RIGHTSIZE_TRY(const std::vector<VectorRow> rows,
                  asker_.vector(over_time(Aggregate::kCount, activity(), frame_.query, shard_, frame_.query.window),
                                frame_.until));
    for (const VectorRow& row : rows) {
      const Device device = telemetry::device_of(row.labels, frame_.names);
      Draft& gpu = draft(device);
      gpu.use.device.labels.insert(device.labels.begin(), device.labels.end());
      double& readings = gpu.readings[owner_of(device)];
      // Two series with the same owner say the same thing twice: replicas of the server, or two scrape jobs.
      if (readings > 0) gpu.use.duplicated = true;
      readings = std::max(readings, row.value);
    }
    return {};
  }

  Result<> aggregate(Metric metric, const MetricSource& source) {
    for (Aggregate kind : {Aggregate::kMean, Aggregate::kMax, Aggregate::kP50, Aggregate::kP95}) {
      const bool is_quantile = kind == Aggregate::kP50 || kind == Aggregate::kP95;
      if (is_quantile && !wants_quantiles(metric)) continue;
      RIGHTSIZE_TRY(const std::vector<VectorRow> rows,
                    asker_.vector(over_time(kind, source, frame_.query, shard_, frame_.query.window), frame_.until));
      for (const VectorRow& row : rows) take(metric, kind, row, row.value * source.scale);
    }
    return {};
  }

  static bool wants_quantiles(Metric metric) {
    switch (metric) {
      case Metric::kGpuUtil:
      case Metric::kGraphicsActive:
      case Metric::kSmActive:
      case Metric::kTensorActive:
      case Metric::kDramActive:
        return true;
      default:
        return false;
    }
  }

  void take(Metric metric, Aggregate kind, const VectorRow& row, double value) {
    const Device device = telemetry::device_of(row.labels, frame_.names);
    Draft& gpu = draft(device);
    const auto index = static_cast<std::size_t>(metric);
    std::optional<MetricUse>& use = gpu.use.metrics[index];
    const double weight = weight_of(gpu, device);
    if (kind == Aggregate::kMean) {
      const double before = gpu.weights[index];
      if (!use) use = MetricUse{};
      use->mean = (use->mean * before + value * weight) / (before + weight);
      gpu.weights[index] = before + weight;
      return;
    }
    if (!use) return;
    if (kind == Aggregate::kMax) {
      use->max = std::max(use->max, value);
      return;
    }
    // The quantile of a mixture is between those of its parts; their weighted mean is near enough for a verdict.
    std::optional<double>& quantile = kind == Aggregate::kP50 ? use->p50 : use->p95;
    const double share = weight / std::max(gpu.weights[index], weight);
    quantile = quantile.value_or(0) + value * share;
  }

  Result<> shares() {
    RIGHTSIZE_TRY(const std::vector<VectorRow> idle,
                  asker_.vector(idle_share(activity(), frame_.query, shard_), frame_.until));
    for (const VectorRow& row : idle) {
      const Device device = telemetry::device_of(row.labels, frame_.names);
      Draft& gpu = draft(device);
      const double weight = weight_of(gpu, device);
      gpu.use.idle_share = (gpu.use.idle_share * gpu.idle_weight + row.value * weight) / (gpu.idle_weight + weight);
      gpu.idle_weight += weight;
      gpu.tenancies[owner_of(device)].idle_seconds = row.value;  // a share until finish()
    }
    RIGHTSIZE_TRY(const std::vector<VectorRow> changes,
                  asker_.vector(idle_changes(activity(), frame_.query, shard_), frame_.until));
    for (const VectorRow& row : changes) {
      draft(telemetry::device_of(row.labels, frame_.names)).use.changes += row.value;
    }
    const auto memory = frame_.sources.find(Metric::kMemoryUsed);
    if (memory == frame_.sources.end()) return {};
    Result<std::vector<VectorRow>> held =
        asker_.vector(held_share(activity(), memory->second, frame_.query, shard_), frame_.until);
    if (!held) return is_too_much(held.error()) ? Result<>(fail(held.error())) : Result<>();
    for (const VectorRow& row : *held) {
      const Device device = telemetry::device_of(row.labels, frame_.names);
      Draft& gpu = draft(device);
      const double weight = weight_of(gpu, device);
      gpu.use.held_share = (gpu.use.held_share * gpu.held_weight + row.value * weight) / (gpu.held_weight + weight);
      gpu.held_weight += weight;
      gpu.use.joint_exact = true;
    }
    return {};
  }

  // Points of a curve go straight into the drafts.
  class CurveSink : public telemetry::SeriesSink {
   public:
    CurveSink(ShardScan& scan, Metric metric, bool largest, double scale)
        : scan_(scan), metric_(metric), largest_(largest), scale_(scale) {}
    bool open(const telemetry::SeriesHead& head) override {
      Draft& draft = scan_.draft(telemetry::device_of(head.labels, scan_.frame_.names));
      Curve* curve = draft.curve(metric_, scan_.frame_.activity);
      values_ = largest_ ? &curve->max : &curve->mean;
      values_->resize(scan_.steps(), std::numeric_limits<float>::quiet_NaN());
      return true;
    }
    void point(double time, double value) override {
      const double at = std::round((time - scan_.frame_.from) / scan_.frame_.query.curve_step) - 1;
      if (at < 0 || at >= static_cast<double>(values_->size())) return;
      float& slot = (*values_)[static_cast<std::size_t>(at)];
      const auto reading = static_cast<float>(value * scale_);
      slot = std::isnan(slot) ? reading : std::max(slot, reading);
    }
    void close() override {}

   private:
    ShardScan& scan_;
    Metric metric_;
    bool largest_;
    double scale_;
    std::vector<float>* values_ = nullptr;
  };

  std::size_t steps() const {
    return static_cast<std::size_t>(std::ceil(frame_.query.window / frame_.query.curve_step));
  }

  Result<> curves() {
    const double step = frame_.query.curve_step;
    for (Metric metric : {frame_.activity, Metric::kDramActive, Metric::kMemoryUsed}) {
      const auto source = frame_.sources.find(metric);
      if (source == frame_.sources.end()) continue;
      for (Aggregate kind : {Aggregate::kMean, Aggregate::kMax}) {
        CurveSink sink(*this, metric, kind == Aggregate::kMax, source->second.scale);
        const std::string query = over_time(kind, source->second, frame_.query, shard_, step);
        Result<telemetry::FeedReport> report = asker_.range(query, frame_.from + step, frame_.until, step, sink);
        if (!report) return fail(std::move(report).error());
      }
    }
    return {};
  }

  std::vector<GpuUse> finish() {
    std::vector<GpuUse> gpus;
    for (auto& [key, draft] : drafts_) {
      GpuUse& use = draft.use;
      use.step = frame_.query.step;
      double readings = 0;
      for (const auto& [owner, count] : draft.readings) readings += count;
      use.seconds = std::min(readings * use.step, frame_.query.window);
      for (const auto& [owner, count] : draft.readings) {
        Tenancy tenancy = draft.tenancies[owner];
        tenancy.owner = owner;
        tenancy.seconds = use.seconds * count / std::max(readings, 1.0);
        tenancy.idle_seconds *= tenancy.seconds;
        use.tenancies.push_back(std::move(tenancy));
      }
      std::stable_sort(use.tenancies.begin(), use.tenancies.end(),
                       [](const Tenancy& a, const Tenancy& b) { return a.seconds > b.seconds; });
      use.held_share = std::min(use.held_share, use.idle_share);
      finish_profile(use);
      gpus.push_back(std::move(use));
    }
    return gpus;
  }

  void finish_profile(GpuUse& use) const {
    Profile& profile = use.profile;
    profile.width = frame_.query.curve_step;
    profile.start = frame_.from;
    const float none = std::numeric_limits<float>::quiet_NaN();
    use.first = frame_.until;
    for (std::size_t i = 0; i < profile.activity.max.size(); ++i) {
      const float most = profile.activity.max[i];
      profile.idle.push_back(std::isnan(most)                                             ? none
                             : most <= static_cast<float>(frame_.query.idle.active_above) ? 1.0F
                                                                                          : 0.0F);
      if (std::isnan(most)) continue;
      const double begin = profile.start + static_cast<double>(i) * profile.width;
      use.first = std::min(use.first, begin);
      use.last = begin + profile.width;
    }
  }

  Asker& asker_;
  const Shard& shard_;
  const ShardFrame& frame_;
  std::map<std::string, Draft> drafts_;
};

}  // namespace

Result<std::vector<GpuUse>> scan_shard(Asker& asker, const Shard& shard, const ShardFrame& frame) {
  return ShardScan(asker, shard, frame).run();
}

Result<GpuUse> read_raw(Asker& asker, const Device& device, const ShardFrame& frame, const LabelNames& labels) {
  Accumulator sum({.idle = frame.query.idle, .step = frame.query.step});
  const auto found = device.labels.find(labels.gpu);
  if (found == device.labels.end()) return fail(unreadable("a GPU without a label that tells it apart"));
  Shard one{labels.gpu, {found->second}};
  QueryFrame query = frame.query;
  if (const auto host = device.labels.find(labels.host); host != device.labels.end()) {
    query.matchers +=
        fmt::format("{}{}=\"{}\"", query.matchers.empty() ? "" : ",", labels.host, escape_quoted(host->second));
  }
  for (const auto& [metric, source] : frame.sources) {
    // The series of a raw answer carry their name, so the usual interpretation applies.
    for (double end = frame.until; end > frame.from; end -= 86400) {
      telemetry::SeriesToSamples sink(sum, frame.names);
      const double length = std::min(86400.0, end - frame.from);
      Result<telemetry::FeedReport> report =
          asker.instant(fmt::format("{}[{}]", selector(source.name, query, one), duration_text(length)), end, sink);
      if (!report) return fail(std::move(report).error());
    }
  }
  std::vector<GpuUse> gpus = sum.finish();
  for (GpuUse& gpu : gpus) {
    if (gpu.device.key() == device.key()) return std::move(gpu);
  }
  return fail(unreadable("no readings"));
}

}  // namespace rightsize::fleet
