#include "live_service/reading.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "gpu_use/use.h"

namespace rightsize::live_service {
namespace {

template <class Map>
const typename Map::mapped_type* found(const Map& map, Signal signal) {
  const auto at = map.find(signal);
  return at == map.end() ? nullptr : &at->second;
}

// In order of preference.
constexpr const char* kSpaces[] = {"namespace", "kubernetes_namespace", "exported_namespace"};
constexpr const char* kPods[] = {"pod", "pod_name", "kubernetes_pod_name", "exported_pod"};
constexpr const char* kModels[] = {"model_name", "target_model_name", "model"};
constexpr const char* kOthers[] = {"instance", "job", "service"};

std::string value_of(const telemetry::Labels& labels, const std::string& name) {
  const auto at = labels.find(name);
  return at == labels.end() ? std::string() : at->second;
}

std::string first_label(const telemetry::Labels& labels, std::span<const char* const> names) {
  for (const char* name : names) {
    if (!value_of(labels, name).empty()) return name;
  }
  return {};
}

}  // namespace

const Histogram* ServiceReading::histogram(Signal signal) const {
  const Histogram* one = found(histograms, signal);
  return one != nullptr && !one->empty() ? one : nullptr;
}

std::optional<double> ServiceReading::counter(Signal signal) const {
  const double* value = found(counters, signal);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

const GaugeUse* ServiceReading::gauge(Signal signal) const { return found(gauges, signal); }

void HourReading::add(const HourlyMean& histogram, double sum, double count) {
  if (!(count > 0)) return;
  if (!(this->*histogram.mean)) this->*histogram.mean = sum / count;
  if (histogram.signal == Signal::kInterToken) tokens = count;
}

GaugeUse gauge_use(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  return {std::accumulate(values.begin(), values.end(), 0.0) / count, values[static_cast<std::size_t>(0.95 * count)],
          values.back()};
}

void count_replicas(ServiceReading& r, const std::vector<double>& up) {
  const auto [least, most] = std::minmax_element(up.begin(), up.end());
  r.least_replicas = static_cast<int>(*least), r.most_replicas = static_cast<int>(*most);
  // A restart takes minutes, so all replicas of the last five minutes count.
  const auto last = std::min(up.size(), static_cast<std::size_t>(std::ceil(300 / r.step)) + 1);
  r.replicas_now = static_cast<int>(*std::max_element(up.end() - static_cast<std::ptrdiff_t>(last), up.end()));
  r.hours.assign(static_cast<std::size_t>(std::ceil(r.seconds() / kHour)), {});
  const double each = kHour / r.step;
  for (std::size_t i = 0; i < r.finished.size(); ++i) {
    HourReading& hour = r.hours[std::min(r.hours.size() - 1, static_cast<std::size_t>(static_cast<double>(i) / each))];
    hour.requests += r.finished[i];
    hour.replicas += up[i] / each;
  }
}

void spread_increase(const std::vector<CounterPoint>& points, double from, double step, std::vector<double>& into) {
  const double until = from + step * static_cast<double>(into.size());
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CounterPoint &a = points[i - 1], &b = points[i];
    const double grown = b.value >= a.value ? b.value - a.value : b.value;
    if (!(grown > 0) || !(b.time > a.time)) continue;
    const double each = grown / (b.time - a.time);
    for (double at = std::max(a.time, from); at < std::min(b.time, until);) {
      const auto cell = std::min(static_cast<std::size_t>((at - from) / step + 1e-9), into.size() - 1);
      const double end = std::min({from + step * static_cast<double>(cell + 1), b.time, until});
      into[cell] += each * (end - at);
      if (!(end > at)) break;
      at = end;
    }
  }
}

const std::vector<std::string>& owner_labels() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (std::span<const char* const> some : {std::span<const char* const>(kSpaces), {kPods}, {kModels}, {kOthers}})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kAll;
}

SeriesOwner owner_of(const telemetry::Labels& labels, Engine engine) {
  SeriesOwner owner;
  owner.space_label = first_label(labels, kSpaces);
  owner.space = value_of(labels, owner.space_label);
  owner.id_label = first_label(labels, kPods);
  const bool pod = !owner.id_label.empty();
  if (!pod) owner.id_label = "instance";
  owner.id = value_of(labels, owner.id_label);
  // A model of Triton is a step of an ensemble, not the served model.
  if (engine != Engine::kTriton) owner.model_label = first_label(labels, kModels);
  owner.model = value_of(labels, owner.model_label);
  owner.workload = pod ? gpu_use::workload_of_pod(owner.id) : value_of(labels, "service");
  if (owner.workload.empty()) owner.workload = value_of(labels, "job");
  if (owner.workload.empty()) owner.workload = std::string(name_of(engine));
  return owner;
}

bool belongs_to(const SeriesOwner& owner, Engine engine, const ServiceReading& r) {
  return r.engine == engine && r.space == owner.space && r.workload == owner.workload && r.model == owner.model;
}

ServiceReading reading_of(Engine engine, const SeriesOwner& owner, double from, double until) {
  ServiceReading r;
  r.engine = engine;
  r.space = owner.space, r.workload = owner.workload, r.model = owner.model;
  r.from = from, r.until = until;
  return r;
}

}  // namespace rightsize::live_service
