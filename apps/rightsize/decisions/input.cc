#include "rightsize/decisions/input.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "gpu_use/prometheus_client.h"
#include "live_service/read_server.h"
#include "live_service/served_model.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/decisions/scaling.h"
#include "telemetry/read.h"

namespace rightsize::app {
namespace {

using decisions::MeasuredValue;

// Splits "tokens_per_second=..."; the name must be a known metric.
Result<std::pair<const decisions::MetricInfo*, std::string>> split_metric(const std::string& text, const char* flag) {
  const std::size_t equals = text.find('=');
  const std::string name(trim(text.substr(0, equals)));
  const decisions::MetricInfo* metric = decisions::find_metric(name);
  if (equals == std::string::npos || metric == nullptr) {
    const std::vector<std::string> names = decisions::metric_names();
    return fail(bad_input(fmt::format("{} '{}': write METRIC=...", flag, text))
                    .with_hint(did_you_mean(name, names))
                    .with_hint(fmt::format("metrics are {}", fmt::join(names, ", "))));
  }
  return std::pair{metric, std::string(trim(text.substr(equals + 1)))};
}

Result<> add_by_hand(const MeasureFlags& flags, NewSamples& into) {
  const auto add = [&](std::string_view metric, double value) {
    into.samples.push_back({std::string(metric), value, decisions::now(), "by hand"});
    into.how = "by hand";
  };
  for (const std::string& text : flags.measured) {
    RIGHTSIZE_TRY(const auto named, split_metric(text, "--measured"));
    for (std::string_view word : split_list(named.second, ',')) {
      Result<double> value = named.first->parse(word);
      if (!value) return fail(bad_input("--measured " + value.error().message));
      add(named.first->name, *value);
    }
  }
  if (flags.oom) add(decisions::kOom, *flags.oom);
  return {};
}

// The highest memory and the mean utilization of each GPU and minute: readings within a minute are not independent.
class MinuteSink : public telemetry::SampleSink {
 public:
  int open(const telemetry::Device&) override { return devices_++; }
  void add(int device, const telemetry::Sample& sample) override {
    constexpr double kWindow = 60;
    const auto minute = static_cast<std::int64_t>(in_unix_seconds(sample.time) / kWindow);
    Minute& here = minutes_[{minute, device}];
    if (const auto used = sample.get(telemetry::Metric::kMemoryUsed)) here.memory = std::max(here.memory, *used);
    if (const auto busy = sample.get(telemetry::Metric::kGpuUtil)) here.busy += *busy, ++here.readings;
  }
  void take(const std::string& source, std::vector<MeasuredValue>& into) const {
    for (const auto& [when, minute] : minutes_) {
      if (minute.memory > 0) into.push_back({decisions::kMemory, minute.memory, decisions::now(), source});
      if (minute.readings > 0)
        into.push_back({decisions::kGpuUtil, minute.busy / minute.readings, decisions::now(), source});
    }
  }

 private:
  struct Minute {
    double memory = 0, busy = 0;
    int readings = 0;
  };
  int devices_ = 0;
  std::map<std::pair<std::int64_t, int>, Minute> minutes_;
};

Result<> add_profile(const std::string& file, NewSamples& into) {
  RIGHTSIZE_TRY(const auto source, open_bytes(file));
  MinuteSink sink;
  if (const Result<telemetry::ReadSummary> read = telemetry::read_samples(file, *source, sink); !read)
    return fail(read.error());
  into.how = fmt::format("profile {}", file);
  sink.take(into.how, into.samples);
  into.notes.emplace_back(
      "A recording of a GPU has memory and utilization; pass speed with --measured or --prometheus.");
  return {};
}

// Queries metrics of vLLM and dcgm-exporter. If a metric has an old and a new name, the new one is preferred.
std::string default_query(std::string_view metric, double percentile, const std::string& match,
                          const std::string& step) {
  const auto quantile = [&](std::initializer_list<const char*> histograms) {
    std::string sums;
    for (const char* name : histograms)
      sums +=
          fmt::format("{}sum by (le) (rate(vllm:{}_bucket{{{}}}[{}]))", sums.empty() ? "" : " or ", name, match, step);
    return fmt::format("histogram_quantile({}, {})", percentile, sums);
  };
  if (metric == decisions::kTtft) return quantile({"time_to_first_token_seconds"});
  if (metric == decisions::kTpot)
    return quantile(
        {"request_time_per_output_token_seconds", "inter_token_latency_seconds", "time_per_output_token_seconds"});
  if (metric == decisions::kLatency) return quantile({"e2e_request_latency_seconds"});
  if (metric == decisions::kMemory)
    return fmt::format("max(max_over_time(DCGM_FI_DEV_FB_USED{{{}}}[{}])) * 1048576", match, step);
  return {};
}

// The bucket bounds of the histogram behind one of our quantile queries; empty for other queries.
std::vector<double> bucket_bounds(gpu_use::PrometheusClient& client, const std::string& query, TimePoint end) {
  constexpr std::string_view kQuantile = "histogram_quantile(";
  const std::size_t comma = query.find(", ");
  if (!query.starts_with(kQuantile) || comma == std::string::npos) return {};
  const std::string inside = query.substr(comma + 2, query.size() - comma - 3);
  const auto rows = client.instant(inside, end);
  std::vector<double> bounds;
  if (!rows) return bounds;
  for (const gpu_use::VectorRow& row : *rows) {
    const auto le = row.labels.find("le");
    if (le != row.labels.end() && le->second.find("Inf") == std::string::npos)
      bounds.push_back(std::strtod(le->second.c_str(), nullptr));
  }
  std::ranges::sort(bounds);
  return bounds;
}

std::optional<decisions::Bucket> bucket_around(const std::vector<double>& bounds, double value) {
  const auto above = std::ranges::lower_bound(bounds, value);
  if (above == bounds.end()) return std::nullopt;
  return decisions::Bucket{above == bounds.begin() ? 0 : *std::prev(above), *above};
}

// The predictions of a scaling policy, over the whole window. Every engine that `service` reads publishes them.
Checked<void> add_scaling(const MeasureFlags& flags, const ServerRequest& request, const decisions::Decision& decision,
                          NewSamples& into) {
  const live_service::ServerSource source{.url = flags.server.prometheus,
                                          .auth = request.auth,
                                          .policy = request.policy,
                                          .window = request.window,
                                          .end = request.end,
                                          .matchers = flags.server.match};
  RIGHTSIZE_TRY(const live_service::ServicesRead read, live_service::read_services(source));
  if (const live_service::ServiceReading* service = service_of(decision, read.services)) {
    for (MeasuredValue& sample : measured_scaling(decision, *service, into.how))
      into.samples.push_back(std::move(sample));
  } else {
    into.notes.push_back(
        fmt::format("No service name contains '{}'; select it with --match.", decision.summary.workload));
  }
  return {};
}

Checked<void> add_server(const MeasureFlags& flags, const decisions::Decision& decision, NewSamples& into) {
  RIGHTSIZE_TRY(const ServerRequest request, read_server_flags(flags.server));
  const Seconds step = flags.step.value_or(seconds(300));
  std::map<std::string, std::string> queries;
  for (const std::string& text : flags.queries) {
    RIGHTSIZE_TRY(const auto named, split_metric(text, "--query"));
    queries.emplace(named.first->name, named.second);
  }
  if (queries.empty()) {
    const double percentile = PlanFields(decision).number("slo_percentile").value_or(95) / 100;
    const std::string range = fmt::format("{:.0f}s", in_seconds(step));
    for (const decisions::PredictedMetric& p : decision.predictions) {
      const std::string query = default_query(p.metric, percentile, flags.server.match, range);
      if (!query.empty()) queries.emplace(p.metric, query);
    }
  }
  http::Client finder(request.auth, request.policy, nullptr);
  RIGHTSIZE_TRY(const std::string base, gpu_use::find_api(finder, flags.server.prometheus));
  gpu_use::PrometheusClient client(http::Client(request.auth, request.policy, nullptr), base);
  RIGHTSIZE_TRY(const TimePoint end, request.end ? Result<TimePoint>(*request.end) : client.clock());
  into.how = fmt::format("prometheus {}", http::shown_url(flags.server.prometheus));
  if (flags.queries.empty() && is_scaling(decision)) {
    if (Checked<void> added = add_scaling(flags, request, decision, into); !added) return added;
  }
  for (const auto& [metric, query] : queries) {
    const std::vector<double> bounds = bucket_bounds(client, query, end);
    const auto rows = client.range(query, end - request.window, end, step);
    if (!rows) return fail(rows.error().error);
    std::size_t points = 0;
    for (const gpu_use::RangeRow& row : *rows) {
      for (const telemetry::Point& point : row.points) {
        if (!point.is_number()) continue;
        const std::optional<decisions::Bucket> bucket = bucket_around(bounds, point.value);
        into.samples.push_back(
            {metric, point.value, point.time, bucket ? decisions::with_bucket(into.how, *bucket) : into.how});
        ++points;
      }
    }
    if (points == 0) into.notes.push_back(fmt::format("The server has no data for {}: {}", metric, query));
  }
  return {};
}

// Refuses measurements of another model than the decision's. Served names differ ("meta-llama/Llama-3.1-8B-Instruct",
// "chat"), so only two names of known models with different shapes are different models.
Result<> check_model(const decisions::Decision& decision, const std::string& served) {
  const auto asked = std::ranges::find(decision.request, "model", [](const auto& setting) { return setting.first; });
  if (served.empty() || asked == decision.request.end()) return {};
  const auto planned = live_service::find_served_model(asked->second),
             measured = live_service::find_served_model(served);
  if (!planned || !measured || planned->shape.parameters() == measured->shape.parameters()) return {};
  return fail(bad_input(fmt::format("{} is about {}, but these are measurements of {}",
                                    decisions::label(decision.summary.id), asked->second, served))
                  .with_hint("pass the metrics of the planned service; 'rightsize decisions' lists the decisions"));
}

// Percentiles of scrapes in files, over the time that these cover.
Result<> add_scrapes(const MeasureFlags& flags, const decisions::Decision& decision, NewSamples& into) {
  using live_service::Signal;
  RIGHTSIZE_TRY(const live_service::ServicesRead read,
                live_service::read_service_files(flags.from, {.step = flags.step}));
  const live_service::ServiceReading* service = service_of(decision, read.services);
  if (service == nullptr)
    return fail(bad_input(fmt::format("no service name contains '{}'", decision.summary.workload)));
  if (Result<> same = check_model(decision, service->model); !same) return same;
  into.how = fmt::format("scrape {}", flags.from.front());
  if (is_scaling(decision)) into.samples = measured_scaling(decision, *service, into.how);
  const double share = PlanFields(decision).number("slo_percentile").value_or(95) / 100;
  for (const decisions::PredictedMetric& p : decision.predictions) {
    const Signal signal = p.metric == decisions::kTtft      ? Signal::kTtft
                          : p.metric == decisions::kLatency ? Signal::kLatency
                                                            : Signal::kTpot;
    const bool known = p.metric == decisions::kTtft || p.metric == decisions::kTpot || p.metric == decisions::kLatency;
    const live_service::Histogram* histogram = known ? service->histogram(signal) : nullptr;
    if (known && histogram == nullptr && signal == Signal::kTpot) histogram = service->histogram(Signal::kInterToken);
    const auto value = histogram == nullptr ? std::nullopt : histogram->quantile(share);
    if (value) {
      const bool ends = std::isfinite(value->high);
      into.samples.push_back({p.metric, value->value, unix_seconds(service->until),
                              ends ? decisions::with_bucket(into.how, {value->low, value->high}) : into.how});
    } else if (known)
      into.notes.push_back(fmt::format("The scrape has no histogram of {}.", p.metric));
  }
  return {};
}

std::string without_bucket(const std::string& source) { return source.substr(0, source.find(" [")); }

// Drops samples that are already in the ledger.
std::vector<MeasuredValue> only_new(std::vector<MeasuredValue> fresh, const std::vector<MeasuredValue>& known) {
  std::set<std::tuple<std::string, std::string, double>> seen;
  std::set<std::string> files;
  for (const MeasuredValue& s : known) {
    seen.emplace(s.metric, without_bucket(s.source), in_unix_seconds(s.taken_at));
    if (s.source.starts_with("profile ")) files.insert(s.source);
  }
  std::erase_if(fresh, [&](const MeasuredValue& s) {
    if (files.contains(s.source)) return true;
    return (s.source.starts_with("prometheus ") || s.source.starts_with("scrape ")) &&
           seen.contains({s.metric, without_bucket(s.source), in_unix_seconds(s.taken_at)});
  });
  return fresh;
}

}  // namespace

void add_ledger_flags(FlagSet& command, LedgerFlags& flags) {
  command.add("ledger", flags.ledger);
  command.add("wait", flags.wait);
}

Result<decisions::Ledger> open_ledger(const LedgerFlags& flags, store::Access access) {
  return decisions::Ledger::open(decisions::Ledger::url(flags.ledger), access, flags.wait);
}

void report_backup(const std::string& backup, report::Report& report) {
  if (backup.empty()) return;
  report.document["backup"] = backup;
  report.say(fmt::format("The ledger was upgraded to this version; a copy of the old one is in {}.", backup));
}

std::string author(const std::string& by) {
  if (!by.empty()) return by;
  for (const char* variable : {"USER", "LOGNAME"}) {
    if (const char* name = std::getenv(variable)) return name;
  }
  return {};
}

bool MeasureFlags::any() const {
  return !measured.empty() || oom || !profile.empty() || !from.empty() || !server.prometheus.empty() ||
         !queries.empty();
}

void add_measure_flags(FlagSet& command, MeasureFlags& flags) {
  command.group("Measurements");
  command.add("measured", flags.measured)->single_words();
  command.add("oom", flags.oom);
  command.add("profile", flags.profile)
      ->meaning("recording of 'rightsize profile' or nvidia-smi, with memory and utilization");
  command.add("from", flags.from)->meaning("scrapes of the engine's /metrics in files, instead of a metrics server");
  command.add("query", flags.queries)->single_words();
  command.add("step", flags.step)->meaning("sampling interval, or time between scrapes")->or_words("5min");
  add_window_flags(command, flags.server);
  command.group("Metrics server");
  add_connection_flags(command, flags.server);
}

Checked<NewSamples> measure(const MeasureFlags& flags, const decisions::Decision& decision,
                            const std::vector<MeasuredValue>& known) {
  NewSamples measured;
  if (Result<> added = add_by_hand(flags, measured); !added) return fail(added.error());
  if (!flags.profile.empty()) {
    if (Result<> added = add_profile(flags.profile, measured); !added) return fail(added.error());
  }
  if (!flags.from.empty()) {
    if (Result<> added = add_scrapes(flags, decision, measured); !added) return fail(added.error());
  }
  if (!flags.server.prometheus.empty()) {
    if (Checked<void> added = add_server(flags, decision, measured); !added) return fail(added.error());
  } else if (Result<> fine = check_server_flags(flags.server, {"--query"}); !fine) {
    return fail(std::move(fine).error());
  }
  measured.samples = only_new(std::move(measured.samples), known);
  return measured;
}

}  // namespace rightsize::app
