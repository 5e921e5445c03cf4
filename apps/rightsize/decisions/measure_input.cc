#include "rightsize/decisions/measure_input.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "decisions/clock.h"
#include "fleet/prometheus_client.h"
#include "telemetry/read.h"

namespace rightsize::app {
namespace {

using decisions::Sample;

std::vector<std::string> all_metrics() {
  std::vector<std::string> names = decisions::metric_names();
  for (const char* more : {decisions::kOom, decisions::kUsd, decisions::kRuns, decisions::kGpuUtil})
    names.emplace_back(more);
  return names;
}

// "tokens_per_second=..." in two; the name must be one of ours.
Result<std::pair<std::string, std::string>> split_metric(const std::string& text, const char* flag) {
  const std::size_t equals = text.find('=');
  const std::vector<std::string> names = all_metrics();
  const std::string name(trim(text.substr(0, equals)));
  if (equals == std::string::npos || std::find(names.begin(), names.end(), name) == names.end()) {
    return fail(bad_input(fmt::format("{} '{}': METRIC=... expected", flag, text))
                    .with_hint(did_you_mean(name, names))
                    .with_hint(fmt::format("metrics are {}", fmt::join(names, ", "))));
  }
  return std::pair{name, std::string(trim(text.substr(equals + 1)))};
}

// A plain number in the metric's own unit, or one with a unit: 23.5GiB, 31ms, $2.10.
Result<double> parse_value(const std::string& metric, std::string_view text) {
  if (const Result<double> plain = parse_number(text)) return *plain;
  const auto in = [](const auto& value, auto reader) -> Result<double> {
    if (!value) return fail(value.error());
    return reader(*value);
  };
  if (metric == decisions::kMemory) return in(parse_bytes(text), in_bytes);
  if (metric == decisions::kHours) return in(parse_duration(text), in_hours);
  if (metric.ends_with("_seconds")) return in(parse_duration(text), in_seconds);
  if (metric.starts_with("usd")) return in(parse_usd(text), in_usd);
  return fail(bad_input("no number"));
}

Result<> add_by_hand(const MeasureFlags& flags, Measured& into) {
  for (const std::string& text : flags.measured) {
    auto named = split_metric(text, "--measured");
    if (!named) return fail(std::move(named).error());
    for (std::string_view word : split_list(named->second, ',')) {
      const Result<double> value = parse_value(named->first, word);
      if (!value) return fail(bad_input(fmt::format("--measured {}: '{}' is not a number", named->first, word)));
      into.samples.push_back({named->first, *value, decisions::now(), "by hand"});
    }
  }
  if (flags.oom >= 0)
    into.samples.push_back({decisions::kOom, static_cast<double>(flags.oom), decisions::now(), "by hand"});
  if (!flags.measured.empty() || flags.oom >= 0) into.how = "by hand";
  return {};
}

// The highest memory and the mean utilization of each GPU and minute: readings of one minute say the same thing.
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
  void take(const std::string& source, std::vector<Sample>& into) const {
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

Result<> add_profile(const std::string& file, Measured& into) {
  auto source = telemetry::open_bytes(file);
  if (!source) return fail(std::move(source).error());
  MinuteSink sink;
  const Result<telemetry::ReadSummary> read = telemetry::read_samples(file, **source, sink);
  if (!read) return fail(read.error());
  into.how = fmt::format("profile {}", file);
  sink.take(into.how, into.samples);
  into.notes.emplace_back("A recording of a GPU shows memory and utilization; speed needs --measured or --prometheus.");
  return {};
}

// The percentile the plan speaks of, as a share.
double percentile_of(const decisions::Decision& decision) {
  const Checked<LocatedJson> plan = LocatedJson::parse("plan", decision.plan);
  const JsonMember* chosen = plan ? plan->root().find("plan") : nullptr;
  const JsonMember* percentile = chosen == nullptr ? nullptr : chosen->value.find("slo_percentile");
  const bool known = percentile != nullptr && percentile->value.type == JsonType::kNumber;
  return known ? percentile->value.number / 100 : 0.95;
}

// What vLLM and dcgm-exporter publish; where an engine has both names of a metric, the newer one counts.
std::string default_query(std::string_view metric, double percentile, const std::string& match,
                          const std::string& step) {
  const auto quantile = [&](std::initializer_list<const char*> histograms) {
    std::string sums;
    for (const char* name : histograms) {
      sums +=
          fmt::format("{}sum by (le) (rate(vllm:{}_bucket{{{}}}[{}]))", sums.empty() ? "" : " or ", name, match, step);
    }
    return fmt::format("histogram_quantile({}, {})", percentile, sums);
  };
  if (metric == decisions::kTtft) return quantile({"time_to_first_token_seconds"});
  if (metric == decisions::kTpot) {
    return quantile(
        {"request_time_per_output_token_seconds", "inter_token_latency_seconds", "time_per_output_token_seconds"});
  }
  if (metric == decisions::kLatency) return quantile({"e2e_request_latency_seconds"});
  if (metric == decisions::kMemory)
    return fmt::format("max(max_over_time(DCGM_FI_DEV_FB_USED{{{}}}[{}])) * 1048576", match, step);
  return {};
}

Checked<void> add_server(const MeasureFlags& flags, const decisions::Decision& decision, Measured& into) {
  RIGHTSIZE_TRY(const ServerRequest request, read_server_flags(flags.server));
  RIGHTSIZE_TRY(const Seconds step, parse_duration(flags.step));
  std::map<std::string, std::string> queries;
  for (const std::string& text : flags.queries) {
    RIGHTSIZE_TRY(const auto named, split_metric(text, "--query"));
    queries.insert(named);
  }
  if (queries.empty()) {
    const std::string range = fmt::format("{:.0f}s", in_seconds(step));
    for (const decisions::Prediction& p : decision.predictions) {
      const std::string query = default_query(p.metric, percentile_of(decision), flags.server.match, range);
      if (!query.empty()) queries.emplace(p.metric, query);
    }
  }
  http::Client finder(request.auth, request.policy, nullptr);
  RIGHTSIZE_TRY(const std::string base, fleet::find_api(finder, flags.server.prometheus));
  fleet::PrometheusClient client(http::Client(request.auth, request.policy, nullptr), base, "");
  TimePoint end;
  if (request.end) {
    end = *request.end;
  } else {
    RIGHTSIZE_TRY(end, client.clock());
  }
  into.how = fmt::format("prometheus {}", http::shown_url(flags.server.prometheus));
  for (const auto& [metric, query] : queries) {
    const auto rows = client.range(query, end - request.window, end, step);
    if (!rows) return fail(rows.error().error);
    std::size_t points = 0;
    for (const fleet::RangeRow& row : *rows) {
      for (const telemetry::Point& point : row.points) {
        if (!point.is_number()) continue;
        into.samples.push_back({metric, point.value, point.time, into.how});
        ++points;
      }
    }
    if (points == 0) into.notes.push_back(fmt::format("The server has nothing for {}: {}", metric, query));
  }
  return {};
}

}  // namespace

void add_measure_flags(FlagSet& command, MeasureFlags& flags) {
  command.group("What was measured");
  command
      .add_option(
          "--measured", flags.measured,
          "by hand: tokens_per_second=40100,39800 or tpot_seconds, hours, memory_bytes, usd_per_hour, usd, runs "
          "...; may be repeated, and every call adds to what is known")
      ->one_value_each();
  command.add_option("--oom", flags.oom, "out-of-memory errors seen: 0 says that there were none")->range(0, 1'000'000);
  command.add_option("--profile", flags.profile,
                     "a recording of 'rightsize profile' or nvidia-smi: memory, utilization");
  command
      .add_option("--query", flags.queries,
                  "what to ask the metrics server: METRIC=PROMQL; default: vLLM's latencies and dcgm-exporter's memory")
      ->one_value_each();
  command.add_option("--step", flags.step, "one sample of the metrics server each")->default_str("5min");
  add_window_flags(command, flags.server);
  command.group("Metrics server");
  add_connection_flags(command, flags.server);
}

Checked<Measured> measure(const MeasureFlags& flags, const decisions::Decision& decision) {
  Measured measured;
  if (Result<> added = add_by_hand(flags, measured); !added) return fail(added.error());
  if (!flags.profile.empty()) {
    if (Result<> added = add_profile(flags.profile, measured); !added) return fail(added.error());
  }
  if (!flags.server.prometheus.empty()) {
    if (Checked<void> added = add_server(flags, decision, measured); !added) return fail(added.error());
  } else if (!flags.queries.empty()) {
    return fail(bad_input("--query needs a server to ask").with_hint("--prometheus http://..."));
  }
  return measured;
}

std::vector<Sample> only_new(std::vector<Sample> fresh, const std::vector<Sample>& known) {
  std::set<std::tuple<std::string, std::string, double>> seen;
  std::set<std::string> files;
  for (const Sample& s : known) {
    seen.emplace(s.metric, s.source, in_unix_seconds(s.taken_at));
    if (s.source.starts_with("profile ")) files.insert(s.source);
  }
  std::erase_if(fresh, [&](const Sample& s) {
    if (files.contains(s.source)) return true;
    return s.source.starts_with("prometheus ") && seen.contains({s.metric, s.source, in_unix_seconds(s.taken_at)});
  });
  return fresh;
}

}  // namespace rightsize::app
