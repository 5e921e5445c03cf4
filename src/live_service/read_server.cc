#include "live_service/read_server.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu_use/prometheus_client.h"
#include "gpu_use/promql.h"
#include "gpu_use/scan.h"
#include "gpu_use/use.h"
#include "live_service/queries.h"
#include "live_service/reading.h"

namespace rightsize::live_service {
namespace {

using gpu_use::Answered;
using gpu_use::PrometheusClient;
using gpu_use::RangeRow;
using gpu_use::VectorRow;

std::string bucket_of(const telemetry::Labels& labels) {
  const auto at = labels.find("le");
  return at == labels.end() ? std::string() : at->second;
}

// Prometheus renames the pod label of an exporter that conflicts with its own.
std::string pod_label(const std::vector<std::string>& labels) {
  for (const char* name : {"exported_pod", "pod_name", "pod"}) {
    if (std::find(labels.begin(), labels.end(), name) != labels.end()) return name;
  }
  return {};
}

// Adds the GPUs that ran the service's pods, matched by namespace and pod.
void take_gpus(const std::vector<gpu_use::GpuUse>& gpus, ServiceReading& service) {
  const std::set<std::string> pods(service.replicas.begin(), service.replicas.end());
  struct Tally {
    double seconds = 0, powered = 0, joules = 0;
    std::map<std::string, std::set<std::string>> by_pod;
  };
  std::map<std::string, Tally> kinds;
  for (const gpu_use::GpuUse& gpu : gpus) {
    for (const gpu_use::Tenancy& tenancy : gpu.tenancies) {
      if (!pods.contains(tenancy.owner.instance)) continue;
      if (!service.space.empty() && !tenancy.owner.team.empty() && tenancy.owner.team != service.space) continue;
      Tally& kind = kinds[gpu.device.name];
      kind.seconds += in_seconds(tenancy.time);
      // The power of a partitioned GPU cannot be divided among its instances.
      if (const auto* power = gpu.metric(gpu_use::Metric::kPower); power != nullptr && gpu.device.mig_id.empty()) {
        kind.powered += in_seconds(tenancy.time);
        kind.joules += power->mean * in_seconds(tenancy.time);
      }
      kind.by_pod[tenancy.owner.instance].insert(gpu.device.key());
    }
  }
  for (const auto& [name, kind] : kinds) {
    std::vector<std::size_t> each;
    for (const auto& [pod, uuids] : kind.by_pod) each.push_back(uuids.size());
    std::nth_element(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2), each.end());
    service.gpus.push_back({name, kind.seconds, static_cast<double>(each[each.size() / 2]), kind.powered, kind.joules});
  }
  std::sort(service.gpus.begin(), service.gpus.end(),
            [](const GpuReading& a, const GpuReading& b) { return a.gpu_seconds > b.gpu_seconds; });
}

// Reads the GPUs that run the services' pods and their GPU-hours, as fleet counts them. If no GPU metrics name pods,
// adds a note and no GPUs.
void add_gpus(const ServerSource& source, double from, double until, gpu_use::PrometheusClient& client,
              ServicesRead& all) {
  std::vector<std::string> pods;
  for (const ServiceReading& service : all.services)
    pods.insert(pods.end(), service.replicas.begin(), service.replicas.end());
  const std::string gpu_names = "DCGM_.*|nvidia_.*";
  Result<std::vector<std::string>> labels =
      client.list("/api/v1/labels", {{"match[]", fmt::format("{{__name__=~\"{}\"{}{}}}", gpu_names,
                                                             source.matchers.empty() ? "" : ",", source.matchers)},
                                     {"start", fmt::format("{:.0f}", from)},
                                     {"end", fmt::format("{:.0f}", until)}});
  const std::string label = labels ? pod_label(*labels) : std::string();
  if (label.empty()) {
    all.notes.emplace_back(
        "this server has no GPU metrics that name pods; pass --gpu and --gpus-per-replica to get GPU-hours and cost");
    return;
  }
  gpu_use::ServerOptions options;
  options.url = source.url, options.auth = source.auth, options.policy = source.policy;
  options.window = seconds(until - from), options.end = unix_seconds(until);
  options.matchers = fmt::format("{}{}{}=~\"{}\"", source.matchers, source.matchers.empty() ? "" : ",", label,
                                 gpu_use::escape_quoted(any_of(pods)));
  Result<gpu_use::Scan> scan = gpu_use::scan_server(options);
  if (!scan) {
    all.notes.push_back("GPUs: " + scan.error().message);
    return;
  }
  for (const std::string& failure : scan->failures) all.notes.push_back("GPUs: " + failure);
  for (ServiceReading& service : all.services) take_gpus(scan->gpus, service);
  all.requests += scan->traffic.requests;
}

// A service while it is being read.
struct ServiceOnServer {
  ServiceReading reading;
  Selection selection;
  double interval = std::numeric_limits<double>::infinity();  // seconds between two samples of a replica
};

class ServerReader {
 public:
  explicit ServerReader(const ServerSource& source) : source_(source) {}

  Result<ServicesRead> run() {
    http::Client http(source_.auth, source_.policy, &traffic_);
    RIGHTSIZE_TRY(const std::string base, gpu_use::find_api(http, source_.url));
    client_.emplace(std::move(http), base);
    RIGHTSIZE_TRY(const TimePoint now, client_->clock());
    until_ = source_.end ? in_unix_seconds(*source_.end) : std::floor(in_unix_seconds(now) / 60) * 60;
    from_ = until_ - in_seconds(source_.window);
    if (Result<> listed = list_services(); !listed) return fail(std::move(listed).error());
    drop_gateways_of_engines();
    for (ServiceOnServer& one : found_) {
      if (source_.progress) source_.progress(one.reading.name());
      if (Result<> read = read_one(one); !read) return fail(std::move(read).error());
    }
    ServicesRead all;
    for (ServiceOnServer& one : found_) all.services.push_back(std::move(one.reading));
    if (source_.progress) source_.progress("GPUs");
    add_gpus(source_, from_, until_, *client_, all);
    for (const std::string& warning : client_->warnings()) all.notes.push_back("server warning: " + warning);
    all.requests = traffic_.requests, all.retries = traffic_.retries;
    return all;
  }

 private:
  std::string with_matchers(const std::string& first) const {
    const bool both = !first.empty() && !source_.matchers.empty();
    return fmt::format("{{{}{}{}}}", first, both ? "," : "", source_.matchers);
  }

  Result<> list_services() {
    RIGHTSIZE_TRY(names_, client_->list("/api/v1/label/__name__/values",
                                        {{"match[]", with_matchers(fmt::format("__name__=~\"{}\"", name_pattern()))},
                                         {"start", fmt::format("{:.0f}", from_)},
                                         {"end", fmt::format("{:.0f}", until_)}}));
    for (Engine engine :
         {Engine::kVllm, Engine::kSglang, Engine::kTensorRtLlm, Engine::kTriton, Engine::kTgi, Engine::kGateway}) {
      if (Result<> listed = list_replicas(engine); !listed) return listed;
    }
    if (!found_.empty()) return {};
    return fail(unreadable(fmt::format("{} has no metrics of a serving engine in the last {}",
                                       http::shown_url(source_.url), gpu_use::duration_text(seconds(until_ - from_))))
                    .with_hint("looked for vllm:*, sglang:*, trtllm_*, nv_inference_*, tgi_*, inference_objective_*, "
                               "llm_d_epp_*")
                    .with_hint("extend --window, or select other series with --match"));
  }

  // One row per replica: its number of samples, with the labels of its owner.
  Result<> list_replicas(Engine engine) {
    std::vector<PublishedMetric> anchor;
    std::string part;
    for (Signal signal : {Signal::kRunning, Signal::kRequests, Signal::kLatency}) {
      if (!anchor.empty()) break;
      anchor = metrics_of(engine, signal, names_);
      part = kind_of(signal) == SignalKind::kHistogram ? "_count" : "";
    }
    if (anchor.empty()) return {};
    const std::string labels = fmt::format("{}", fmt::join(owner_labels(), ", "));
    std::string question;
    for (const PublishedMetric& one : anchor) {
      question += fmt::format("{}max by ({}) (count_over_time({}[{}]))", question.empty() ? "" : " or ", labels,
                              one.name + part + with_matchers(std::string(one.metric->matcher)),
                              gpu_use::duration_text(seconds(until_ - from_)));
    }
    Answered<std::vector<VectorRow>> rows = client_->instant(question, unix_seconds(until_));
    if (!rows) return fail(std::move(rows).error().error);
    for (const VectorRow& row : *rows) add_replica(engine, row);
    return {};
  }

  void add_replica(Engine engine, const VectorRow& row) {
    const SeriesOwner owner = owner_of(row.labels, engine);
    auto at = std::find_if(found_.begin(), found_.end(),
                           [&](const ServiceOnServer& f) { return belongs_to(owner, engine, f.reading); });
    if (at == found_.end()) {
      found_.emplace_back();
      at = found_.end() - 1;
      at->reading = reading_of(engine, owner, from_, until_);
      at->selection = {source_.matchers,  owner.space_label, owner.space, owner.id_label, {},
                       owner.model_label, owner.model};
    }
    at->interval = std::min(at->interval, (until_ - from_) / std::max(1.0, row.value));
    if (std::find(at->selection.ids.begin(), at->selection.ids.end(), owner.id) != at->selection.ids.end()) return;
    at->selection.ids.push_back(owner.id);
    at->reading.replicas.push_back(owner.id);
  }

  // A gateway counts the same requests as the engines behind it.
  void drop_gateways_of_engines() {
    std::set<std::string> served;
    for (const ServiceOnServer& one : found_) {
      if (one.reading.engine != Engine::kGateway) served.insert(one.reading.model);
    }
    std::erase_if(found_, [&](const ServiceOnServer& one) {
      return one.reading.engine == Engine::kGateway && served.contains(one.reading.model);
    });
    std::sort(found_.begin(), found_.end(), [](const ServiceOnServer& a, const ServiceOnServer& b) {
      return std::pair(a.reading.name(), a.reading.model) < std::pair(b.reading.name(), b.reading.model);
    });
  }

  // The names of a signal on this server, and the suffix of the series that counts it. Engines without a request
  // counter have a histogram with one entry per request.
  std::pair<std::vector<PublishedMetric>, std::string> counting(Engine engine, Signal signal) const {
    std::vector<PublishedMetric> names = metrics_of(engine, signal, names_);
    if (!names.empty() || signal != Signal::kRequests) return {std::move(names), ""};
    for (Signal instead : {Signal::kLatency, Signal::kIsl, Signal::kTtft}) {
      names = metrics_of(engine, instead, names_);
      if (!names.empty()) break;
    }
    return {std::move(names), "_count"};
  }

  // The increase between two times; the query is split in time if it is too large for the server.
  Answered<std::map<std::string, double>> grown(const ServiceOnServer& f, const std::vector<PublishedMetric>& names,
                                                std::string_view part, double from, double until) {
    Answered<std::vector<VectorRow>> rows =
        client_->instant(growth(f.selection, names, part, until - from), unix_seconds(until));
    if (!rows && rows.error().too_much && until - from > 2 * kHour) {
      const double middle = from + std::round((until - from) / 2 / kHour) * kHour;
      RIGHTSIZE_TRY(auto sum, grown(f, names, part, from, middle));
      RIGHTSIZE_TRY(const auto rest, grown(f, names, part, middle, until));
      for (const auto& [key, value] : rest) sum[key] += value;
      return sum;
    }
    if (!rows) return tl::make_unexpected(std::move(rows).error());
    std::map<std::string, double> sum;
    for (const VectorRow& row : *rows) sum[bucket_of(row.labels)] += row.value;
    return sum;
  }

  Result<> read_one(ServiceOnServer& f) {
    const double interval = f.interval;
    for (int s = 0; s <= static_cast<int>(Signal::kOsl); ++s) {
      const auto signal = static_cast<Signal>(s);
      const auto [names, part] = counting(f.reading.engine, signal);
      if (names.empty()) continue;
      Result<> read = kind_of(signal) == SignalKind::kHistogram ? read_histogram(f, signal, names)
                      : kind_of(signal) == SignalKind::kCounter ? read_counter(f, signal, names, part)
                                                                : read_gauge(f, signal, names, interval);
      if (!read) return read;
    }
    if (Result<> read = read_shape(f, interval); !read) return read;
    return read_hours(f);
  }

  Result<> read_counter(ServiceOnServer& f, Signal signal, const std::vector<PublishedMetric>& names,
                        const std::string& part) {
    auto sum = grown(f, names, part, from_, until_);
    if (!sum) return fail(std::move(sum).error().error);
    if (const auto at = sum->find(""); at != sum->end()) f.reading.counters[signal] = at->second;
    return {};
  }

  Result<> read_histogram(ServiceOnServer& f, Signal signal, const std::vector<PublishedMetric>& names) {
    auto buckets = grown(f, names, "_bucket", from_, until_);
    if (!buckets) return fail(std::move(buckets).error().error);
    auto sum = grown(f, names, "_sum", from_, until_);
    if (!sum) return fail(std::move(sum).error().error);
    const double scale = names.front().metric->scale;
    std::map<double, double> ordered;
    for (const auto& [le, count] : *buckets) {
      const double bound = le == "+Inf" ? std::numeric_limits<double>::infinity() : std::strtod(le.c_str(), nullptr);
      ordered[bound * scale] += count;
    }
    f.reading.histograms[signal] = Histogram(ordered, (*sum)[""]);
    return {};
  }

  // Requests are summed over replicas, shares are averaged.
  Result<> read_gauge(ServiceOnServer& f, Signal signal, const std::vector<PublishedMetric>& names, double interval) {
    const bool adds = signal == Signal::kRunning || signal == Signal::kWaiting;
    const double step = grid_step(1), lookback = std::max(step, 2.5 * interval);
    Answered<std::vector<RangeRow>> rows = client_->range(gauge_now(f.selection, names, adds ? "sum" : "avg", lookback),
                                                          unix_seconds(from_), unix_seconds(until_ - 1), seconds(step));
    if (!rows) return fail(std::move(rows).error().error);
    std::vector<double> values;
    for (const RangeRow& row : *rows) {
      for (const telemetry::Point& p : row.points) {
        // The recent hit rate is zero until there is a hit.
        if (std::isfinite(p.value) && (signal != Signal::kHitRate || p.value > 0)) values.push_back(p.value);
      }
    }
    if (values.empty()) return {};
    const GaugeUse use = gauge_use(std::move(values));
    const double scale = names.front().metric->scale / (percent(signal, use.max) ? 100 : 1);
    f.reading.gauges[signal] = {scale * use.mean, scale * use.p95, scale * use.max};
    return {};
  }

  // Shares are published as 0-1; some installations rewrite them to percent.
  static bool percent(Signal signal, double most) {
    return (signal == Signal::kKvUse || signal == Signal::kHitRate) && most > 1.5;
  }

  // The step of a grid over the window that keeps this many series below a million points in total, and each below the
  // 11,000 points that servers allow.
  double grid_step(std::size_t series) const {
    const double points = std::min(10'500.0, 1e6 / static_cast<double>(std::max<std::size_t>(1, series)));
    for (double step : {60.0, 120.0, 300.0, 600.0, 900.0, 1800.0}) {
      if ((until_ - from_) / step <= points) return step;
    }
    return kHour;
  }

  // When requests finished, per replica: gaps and restarts of one replica must not affect the others.
  Result<> read_shape(ServiceOnServer& f, double interval) {
    ServiceReading& r = f.reading;
    r.step = grid_step(r.replicas.size());
    r.finished.assign(static_cast<std::size_t>(std::ceil((until_ - from_) / r.step)), 0.0);
    const auto [names, part] = counting(r.engine, Signal::kRequests);
    if (names.empty()) return {};
    const double lookback = std::max(r.step, 2.5 * interval);
    Answered<std::vector<RangeRow>> rows = client_->range(last_values(f.selection, names, part, lookback),
                                                          unix_seconds(from_), unix_seconds(until_), seconds(r.step));
    if (!rows) return fail(std::move(rows).error().error);
    std::vector<double> up(r.finished.size() + 1, 0.0);
    for (const RangeRow& row : *rows) {
      std::vector<CounterPoint> points;
      for (const telemetry::Point& p : row.points) {
        if (!points.empty() && p.value < points.back().value) ++r.restarts;
        const double time = in_unix_seconds(p.time);
        points.push_back({time, p.value});
        up[std::min(up.size() - 1, static_cast<std::size_t>(std::max(0.0, (time - from_) / r.step)))] += 1;
      }
      spread_increase(points, from_, r.step, r.finished);
    }
    for (double count : up) r.replica_seconds += count * r.step;
    count_replicas(r, up);
    return {};
  }

  // Hourly means, used by the calibration.
  Result<> read_hours(ServiceOnServer& f) {
    const auto hourly = [&](const std::vector<PublishedMetric>& names, const char* part) {
      return client_->range(growth(f.selection, names, part, kHour), unix_seconds(from_ + kHour), unix_seconds(until_),
                            seconds(kHour));
    };
    for (const HourlyMean& wanted : kHourlyMeans) {
      const std::vector<PublishedMetric> names = metrics_of(f.reading.engine, wanted.signal, names_);
      if (names.empty() || f.reading.histogram(wanted.signal) == nullptr) continue;
      auto sums = hourly(names, "_sum"), counts = hourly(names, "_count");
      if (!sums || !counts || sums->empty() || counts->empty()) continue;  // only the calibration needs it
      std::map<double, double> sum_at;
      for (const telemetry::Point& p : sums->front().points) sum_at[in_unix_seconds(p.time)] = p.value;
      for (const telemetry::Point& p : counts->front().points) {
        const double time = in_unix_seconds(p.time);
        const auto hour = static_cast<std::size_t>(std::llround((time - from_) / kHour)) - 1;
        if (hour < f.reading.hours.size() && sum_at.contains(time))
          f.reading.hours[hour].add(wanted, sum_at[time], p.value);
      }
    }
    return {};
  }

  const ServerSource& source_;
  http::Traffic traffic_;
  std::optional<PrometheusClient> client_;
  double from_ = 0, until_ = 0;
  std::vector<std::string> names_;
  std::vector<ServiceOnServer> found_;
};

}  // namespace

Result<ServicesRead> read_services(const ServerSource& source) { return ServerReader(source).run(); }

}  // namespace rightsize::live_service
