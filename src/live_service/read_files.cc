#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "live_service/read_server.h"
#include "live_service/reading.h"
#include "live_service/scrape.h"
#include "telemetry/feeds/read_feed.h"

namespace rightsize::live_service {
namespace {

// The uncompressed content of a file.
Result<std::string> whole_text(const std::string& file) {
  constexpr std::size_t kPiece = 1U << 16, kMost = 512U << 20;
  RIGHTSIZE_TRY(const std::unique_ptr<ByteSource> source, open_bytes(file));
  std::string text;
  for (std::vector<char> piece(kPiece);;) {
    RIGHTSIZE_TRY(const std::size_t read, source->read(piece));
    if (read == 0) return text;
    text.append(piece.data(), read);
    if (text.size() > kMost)
      return fail(bad_input(fmt::format("'{}' is over 512 MiB", file))
                      .with_hint("split it into several files of shorter windows"));
  }
}

struct EngineSeries {
  PublishedMetric metric;
  std::string part;  // "_bucket", "_sum", "_count" or empty
  telemetry::Labels labels;
  SeriesOwner owner;
  std::vector<CounterPoint> points;

  double increase() const {
    double sum = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double a = points[i - 1].value, b = points[i].value;
      sum += b >= a ? b - a : b;
    }
    return sum;
  }
};

double modified(const std::string& file) {
  std::error_code problem;
  const auto at = std::filesystem::last_write_time(file, problem);
  if (problem) return 0;
  const auto age = std::filesystem::file_time_type::clock::now() - at;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count() - std::chrono::duration<double>(age).count();
}

// Applies the matchers of the metric table, each an equality or an exclusion.
bool matches(std::string_view matcher, const telemetry::Labels& labels) {
  if (matcher.empty()) return true;
  if (const std::size_t next = matcher.find("\","); next != std::string_view::npos)
    return matches(matcher.substr(0, next + 1), labels) && matches(matcher.substr(next + 2), labels);
  const bool exclusion = matcher.find("!~") != std::string_view::npos;
  const std::size_t sign = matcher.find_first_of("!=");
  const auto at = labels.find(std::string(matcher.substr(0, sign)));
  const std::string value = at == labels.end() ? "" : at->second;
  const std::size_t quote = matcher.find('"');
  const std::string wanted = "|" + std::string(matcher.substr(quote + 1, matcher.rfind('"') - quote - 1)) + "|";
  const bool listed = wanted.find("|" + value + "|") != std::string::npos;
  return exclusion ? !listed : listed;
}

class FileReader : public telemetry::SeriesSink {
 public:
  explicit FileReader(const SinceStart& since) : since_(since) {}

  Result<ServicesRead> run(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      if (Result<> done = read(file); !done) return fail(std::move(done).error());
    }
    add_starts();
    if (series_.empty() && llama_cpp_) {
      return fail(
          unreadable("llama.cpp publishes token totals, but no request counts and no latencies, which are needed")
              .with_hint("give the metrics of a gateway in front of it, or describe its traffic: rightsize "
                         "recommend --model MODEL --rate 2/s --isl 1500 --osl 500"));
    }
    if (series_.empty()) {
      return fail(
          unreadable("these files contain no metrics of a serving engine")
              .with_hint("looked for vllm:*, sglang:*, trtllm_*, nv_inference_*, tgi_*, dynamo_frontend_*, NIM's names")
              .with_hint("the result of a query such as sum(rate(...)) has no metric names: export the metrics "
                         "themselves, e.g. {__name__=~\"vllm:.+\"}"));
    }
    return evaluate();
  }

  bool open(const telemetry::SeriesHead& head) override {
    open_ = add(head.metric, head.labels);
    return open_ != nullptr;
  }
  void point(const telemetry::Point& p) override {
    if (p.is_number()) open_->points.push_back({in_unix_seconds(p.time), p.value});
  }
  void close() override {}

 private:
  Result<> read(const std::string& file) {
    RIGHTSIZE_TRY(const std::string text, whole_text(file));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
      Result<telemetry::FeedReport> report =
          telemetry::read_store_json(telemetry::JsonFeed::kPrometheus, *bytes_of(text), file, *this);
      if (!report) return fail(std::move(report).error());
      return {};
    }
    RIGHTSIZE_TRY(std::vector<ScrapedSample> samples, parse_scrape(file, text));
    const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
    const auto [last, is_first] = times_.try_emplace(folder, modified(file));
    if (!is_first) last->second = since_.step ? last->second + in_seconds(*since_.step) : modified(file);
    const double changed = last->second;
    const ScrapedSample* previous = nullptr;
    EngineSeries* one = nullptr;
    for (ScrapedSample& sample : samples) {
      telemetry::Labels& labels = sample.labels;
      labels.try_emplace("instance", folder);
      if (previous == nullptr || previous->name != sample.name || previous->labels != labels)
        one = add(sample.name, labels);
      previous = &sample;
      if (one != nullptr) {
        one->points.push_back({sample.time ? in_unix_seconds(*sample.time) : changed, sample.value});
      } else if (sample.name == "process_start_time_seconds") {
        starts_[labels["instance"]] =
            std::min(starts_.try_emplace(labels["instance"], sample.value).first->second, sample.value);
      }
    }
    return {};
  }

  // The series of this name and these labels; null if it is not a metric of an engine, or excluded.
  EngineSeries* add(const std::string& name, const telemetry::Labels& labels) {
    std::optional<PublishedMetric> metric =
        find_engine_metric(name, [&](std::string_view matcher) { return matches(matcher, labels); });
    llama_cpp_ = llama_cpp_ || folded(name).starts_with("llamacpp_");
    if (!metric) return nullptr;
    std::string key = name;
    for (const auto& [label, value] : labels) key.append("\n").append(label).append("=").append(value);
    const auto [at, fresh] = index_.try_emplace(key, series_.size());
    if (fresh) {
      EngineSeries one;
      one.part = name.substr(metric->name.size());
      one.owner = owner_of(labels, metric->metric->engine);
      one.metric = *std::move(metric), one.labels = labels;
      series_.push_back(std::move(one));
    }
    return &series_[at->second];
  }

  // Counters start at zero with the process. With a single scrape, that start is the only other sample.
  void add_starts() {
    for (EngineSeries& one : series_) {
      std::sort(one.points.begin(), one.points.end(),
                [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; });
      const auto start = starts_.find(one.owner.id);
      const bool counts = kind_of(one.metric.metric->signal) != SignalKind::kGauge;
      if (one.points.size() == 1 && counts && start != starts_.end() && start->second < one.points.front().time)
        one.points.insert(one.points.begin(), CounterPoint{start->second, 0});
    }
  }

  // A series that counts for several signals is duplicated.
  void add_other_signals() {
    for (std::size_t i = 0, count = series_.size(); i < count; ++i) {
      for (const EngineMetric* other : other_signals(*series_[i].metric.metric)) {
        if (!matches(other->matcher, series_[i].labels)) continue;
        EngineSeries copy = series_[i];
        copy.metric.metric = other;
        series_.push_back(std::move(copy));
      }
    }
  }

  Result<ServicesRead> evaluate() {
    ServicesRead all;
    add_other_signals();
    std::vector<std::vector<EngineSeries*>> parts;
    for (EngineSeries& one : series_) {
      const Engine engine = one.metric.metric->engine;
      auto at = std::find_if(all.services.begin(), all.services.end(),
                             [&](const ServiceReading& r) { return belongs_to(one.owner, engine, r); });
      if (at == all.services.end()) {
        all.services.push_back(reading_of(engine, one.owner, std::numeric_limits<double>::infinity(), 0));
        parts.emplace_back();
        at = all.services.end() - 1;
      }
      parts[static_cast<std::size_t>(at - all.services.begin())].push_back(&one);
      if (one.points.empty()) continue;
      at->from = std::min(at->from, one.points.front().time), at->until = std::max(at->until, one.points.back().time);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double seconds = all.services[i].seconds();
      if (seconds > 0 && seconds < 1) {
        return fail(bad_input(fmt::format("{}: the scrapes are less than a second apart, by the times of their files",
                                          all.services[i].name()))
                        .with_hint("state the time between them: --step 10min"));
      }
      if (!(seconds > 0)) start_before(parts[i], all.services[i]);
      fill({parts[i].begin(), parts[i].end()}, all.services[i]);
    }
    if (std::ranges::any_of(all.services, &ServiceReading::timed))
      all.notes.emplace_back("GPU-hours are not in these files; engine uptime x --gpus-per-replica is used");
    return all;
  }

  // The series of a signal. If a replica publishes it under two names, those of the current name.
  static std::vector<const EngineSeries*> of(const std::vector<const EngineSeries*>& all, Signal signal) {
    std::map<std::string, const EngineMetric*> chosen;
    for (const EngineSeries* one : all) {
      if (one->metric.metric->signal != signal) continue;
      const auto [at, fresh] = chosen.try_emplace(one->owner.id, one->metric.metric);
      if (!fresh) at->second = std::min(at->second, one->metric.metric);  // in the order of the table
    }
    std::vector<const EngineSeries*> found;
    for (const EngineSeries* one : all) {
      if (const auto at = chosen.find(one->owner.id);
          one->metric.metric->signal == signal && at->second == one->metric.metric)
        found.push_back(one);
    }
    return found;
  }

  // Adds the start of an engine that was scraped once and does not publish it.
  void start_before(const std::vector<EngineSeries*>& all, ServiceReading& r) const {
    for (EngineSeries* one : all) {
      if (one->points.size() == 1 && kind_of(one->metric.metric->signal) != SignalKind::kGauge)
        one->points.insert(one->points.begin(), CounterPoint{r.until, 0});
    }
    double uptime = kHour;
    r.timed = since_.uptime || since_.rate;
    if (since_.uptime) uptime = in_seconds(*since_.uptime);
    if (since_.rate) {
      const std::vector<const EngineSeries*> series(all.begin(), all.end());
      const double counted = total(of(series, Signal::kRequests), "");
      const double requests = counted > 0 ? counted : total(of(series, Signal::kLatency), "_count");
      if (requests > 0) uptime = requests / in_requests_per_s(*since_.rate);
      r.timed = requests > 0 || since_.uptime;
    }
    r.from = r.until - uptime;
    for (EngineSeries* one : all) {
      if (one->points.size() == 2 && one->points.front().time == r.until) one->points.front().time = r.from;
    }
    if (!r.timed) {
      r.notes.emplace_back(
          "the rate of requests is unknown: this is one scrape, and the engine does not publish "
          "process_start_time_seconds. Add --uptime 2h (the time since its start), --rate 3/s, or a second scrape");
    }
  }

  void fill(const std::vector<const EngineSeries*>& all, ServiceReading& r) const {
    for (int s = 0; s <= static_cast<int>(Signal::kOsl); ++s) {
      const auto signal = static_cast<Signal>(s);
      const std::vector<const EngineSeries*> series = of(all, signal);
      if (series.empty()) continue;
      if (kind_of(signal) == SignalKind::kCounter) r.counters[signal] = total(series, "");
      if (kind_of(signal) == SignalKind::kGauge) fill_gauge(series, signal, r);
      if (kind_of(signal) == SignalKind::kHistogram) fill_histogram(series, signal, r);
    }
    if (!r.counter(Signal::kRequests)) {
      if (const Histogram* whole = r.histogram(Signal::kLatency)) r.counters[Signal::kRequests] = whole->count();
    }
    fill_shape(all, r);
  }

  static double total(const std::vector<const EngineSeries*>& series, std::string_view part) {
    std::map<std::string, double> largest;
    double sum = 0;
    for (const EngineSeries* one : series) {
      if (one->part != part && !(part.empty() && one->part == "_total")) continue;
      const double grown = one->increase() * (part == "_count" ? 1 : one->metric.metric->scale);
      if (one->metric.metric->shared)
        largest[one->owner.id] = std::max(largest[one->owner.id], grown);
      else
        sum += grown;
    }
    for (const auto& [id, grown] : largest) sum += grown;
    return sum;
  }

  static void fill_histogram(const std::vector<const EngineSeries*>& series, Signal signal, ServiceReading& r) {
    std::map<double, double> buckets;
    for (const EngineSeries* one : series) {
      const auto le = one->labels.find("le");
      if (one->part != "_bucket" || le == one->labels.end()) continue;
      const double bound = std::strtod(le->second.c_str(), nullptr);  // also reads +Inf
      buckets[bound * one->metric.metric->scale] += one->increase();
    }
    r.histograms[signal] = Histogram(buckets, total(series, "_sum"));
  }

  static void fill_gauge(const std::vector<const EngineSeries*>& series, Signal signal, ServiceReading& r) {
    const bool adds = signal == Signal::kRunning || signal == Signal::kWaiting;
    GaugeUse use;
    for (const EngineSeries* one : series) {
      std::vector<double> values;
      for (const CounterPoint& p : one->points) values.push_back(p.value * one->metric.metric->scale);
      if (values.empty()) continue;
      const GaugeUse own = gauge_use(std::move(values));
      const double share = adds ? 1 : 1 / static_cast<double>(series.size());
      use.mean += share * own.mean, use.p95 += share * own.p95;
      use.max = adds ? use.max + own.max : std::max(use.max, own.max);
    }
    r.gauges[signal] = use;
  }

  // When requests finished, and the means of each hour.
  static void fill_shape(const std::vector<const EngineSeries*>& all, ServiceReading& r) {
    r.step = r.seconds() < 7 * 24 * kHour ? 60 : 300;
    r.finished.assign(static_cast<std::size_t>(std::ceil(r.seconds() / r.step)), 0.0);
    std::vector<const EngineSeries*> requests = of(all, Signal::kRequests);
    const bool counted = !requests.empty();
    if (!counted) requests = of(all, Signal::kLatency);
    std::map<std::string, std::pair<double, double>> seen;
    for (const EngineSeries* one : all) {
      if (one->points.empty()) continue;
      auto& [first, last] = seen.try_emplace(one->owner.id, one->points.front().time, 0.0).first->second;
      first = std::min(first, one->points.front().time), last = std::max(last, one->points.back().time);
    }
    for (const EngineSeries* one : requests) {
      if (!counted && one->part != "_count") continue;
      spread_increase(one->points, r.from, r.step, r.finished);
    }
    std::vector<double> up(r.finished.size() + 1, 0.0);
    const auto step_of = [&](double time) {
      return std::min(up.size() - 1, static_cast<std::size_t>(std::max(0.0, (time - r.from) / r.step)));
    };
    for (const auto& [id, span] : seen) {
      r.replicas.push_back(id);
      r.replica_seconds += span.second - span.first;
      for (std::size_t i = step_of(span.first); i <= step_of(span.second); ++i) up[i] += 1;
    }
    count_replicas(r, up);
    fill_hours(all, r);
  }

  static void fill_hours(const std::vector<const EngineSeries*>& all, ServiceReading& r) {
    for (const HourlyMean& wanted : kHourlyMeans) {
      std::vector<double> sums(r.hours.size(), 0.0), counts(r.hours.size(), 0.0);
      for (const EngineSeries* one : of(all, wanted.signal)) {
        if (one->part == "_sum") spread_increase(one->points, r.from, kHour, sums);
        if (one->part == "_count") spread_increase(one->points, r.from, kHour, counts);
      }
      for (std::size_t h = 0; h < r.hours.size(); ++h) r.hours[h].add(wanted, sums[h], counts[h]);
    }
  }

  const SinceStart since_;
  std::vector<EngineSeries> series_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, double> starts_, times_;  // by folder: when the engine started, and of the last scrape
  EngineSeries* open_ = nullptr;
  bool llama_cpp_ = false;  // its metrics are in the files
};

}  // namespace

Result<ServicesRead> read_service_files(const std::vector<std::string>& files, const SinceStart& since) {
  return FileReader(since).run(files);
}

}  // namespace rightsize::live_service
