#include "fleet/scan.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "fleet/accumulate.h"
#include "fleet/asker.h"
#include "fleet/scan_shard.h"

namespace rightsize::fleet {
namespace {

// Names worth asking for: what any of the exporters we know begins with, and the user's own.
std::string name_pattern(const telemetry::NameMap& map) {
  std::string pattern = "DCGM_FI_.*|nvidia_.*|container_accelerator_.*|container_gpu_.*|node_gpu_.*";
  for (const auto& [name, target] : map.metrics) pattern += "|" + escape_regex(name);
  return pattern;
}

// Which of several names for the same metric is taken: the user's own, then the one listed first by the server.
Sources choose_sources(const std::vector<std::string>& names, const telemetry::NameMap& map) {
  Sources sources;
  std::set<Metric> own;
  for (const std::string& name : names) {
    const std::optional<telemetry::Meaning> meaning = telemetry::meaning_of(name, {}, map);
    if (!meaning || meaning->counter) continue;
    const bool is_own = map.metrics.contains(name);
    if (sources.contains(meaning->metric) && !is_own) continue;
    if (own.contains(meaning->metric)) continue;
    sources[meaning->metric] = {name, meaning->scale};
    if (is_own) own.insert(meaning->metric);
  }
  return sources;
}

// A share whose name does not tell its scale: the largest reading of the last day does.
void settle_scales(Asker& asker, Sources& sources, const telemetry::NameMap& map, const QueryFrame& frame, double end) {
  for (auto& [metric, source] : sources) {
    const std::optional<telemetry::Meaning> meaning = telemetry::meaning_of(source.name, {}, map);
    if (!meaning || !meaning->ambiguous) continue;
    const std::string query =
        fmt::format("max({})", over_time(Aggregate::kMax, source, frame, {}, std::min(frame.window, 86400.0)));
    Result<std::vector<VectorRow>> largest = asker.vector(query, end);
    if (largest && !largest->empty() && largest->front().value > 1.05) source.scale *= 0.01;
  }
}

std::optional<Metric> activity_of(const Sources& sources) {
  for (Metric metric : kActivityMetrics) {
    if (sources.contains(metric)) return metric;
  }
  return std::nullopt;
}

// No fleet has so many hosts or GPUs: a label that changes with every pod or restart does, and asking about each of its
// values would keep a server busy for days.
constexpr std::size_t kMostValues = 200'000;

Error too_many(const std::string& label, std::size_t values) {
  return unreadable(fmt::format("the label '{}' has {} values in this window; at most {} are asked about", label,
                                format_count(static_cast<double>(values)),
                                format_count(static_cast<double>(kMostValues))))
      .with_hint("look at a part of the fleet with --match 'cluster=\"a\"', or at less time with --window")
      .with_hint("if another label tells hosts apart, name it: --name host=LABEL");
}

class Scanner {
 public:
  explicit Scanner(const ServerOptions& options) : options_(options) {}

  Result<Scan> run() {
    http::Client client(options_.auth, options_.policy, &traffic_);
    RIGHTSIZE_TRY(base_, find_api(client, options_.url));
    Asker asker(std::move(client), base_, "");
    RIGHTSIZE_TRY(const double now, asker.clock());
    if (Result<> set = set_window(now); !set) return fail(std::move(set).error());
    if (Result<> found = discover(asker); !found) return fail(std::move(found).error());
    if (Result<> cut = cut_shards(asker); !cut) return fail(std::move(cut).error());
    find_step(asker);
    work();
    look_closer();
    return finish();
  }

 private:
  // The end of the window is kept with the answers, so that a later run asks the same questions.
  Result<> set_window(double now) {
    if (const double skew = now - static_cast<double>(std::time(nullptr)); std::abs(skew) > 60 && options_.end == 0) {
      note(fmt::format("the server's clock is {:.0f} s {} this machine's; the server's is used", std::abs(skew),
                       skew > 0 ? "ahead of" : "behind"));
    }
    double end = options_.end > 0 ? options_.end : std::floor(now / 60) * 60;
    if (!options_.resume.empty()) {
      std::error_code problem;
      std::filesystem::create_directories(options_.resume, problem);
      const std::string file = options_.resume + "/window";
      const std::string wanted =
          fmt::format("{} {} {} ", http::shown_url(options_.url), options_.window, options_.matchers);
      Result<std::string> kept = read_file(file, 1 << 16);
      if (kept && kept->starts_with(wanted)) {
        end = std::strtod(kept->c_str() + wanted.size(), nullptr);
      } else if (Result<> saved = write_file(file, fmt::format("{}{:.0f}", wanted, end)); !saved) {
        return saved;
      }
    }
    scan_.until = end;
    scan_.from = end - options_.window;
    frame_.matchers = options_.matchers;
    frame_.window = options_.window;
    frame_.step = options_.step > 0 ? options_.step : 60;
    frame_.idle = options_.idle;
    constexpr double kMostSteps = 340;  // half-hours of a week
    frame_.curve_step = std::max(300.0, step_at_least(options_.window / kMostSteps));
    return {};
  }

  http::Form period() const {
    return {{"start", fmt::format("{:.0f}", scan_.from)}, {"end", fmt::format("{:.0f}", scan_.until)}};
  }

  Result<> discover(Asker& asker) {
    http::Form form = period();
    const std::string pattern = name_pattern(options_.names);
    form.emplace_back("match[]", fmt::format("{{__name__=~\"{}\"{}{}}}", escape_quoted(pattern),
                                             options_.matchers.empty() ? "" : ",", options_.matchers));
    RIGHTSIZE_TRY(const std::vector<std::string> names, asker.list("/api/v1/label/__name__/values", form));
    scan_.sources = choose_sources(names, options_.names);
    const std::optional<Metric> activity = activity_of(scan_.sources);
    if (!activity) {
      return fail(unreadable(fmt::format("{} has no metric of GPU activity in these {}", http::shown_url(options_.url),
                                         duration_text(options_.window)))
                      .with_hint("looked for DCGM's (DCGM_FI_DEV_GPU_UTIL, DCGM_FI_PROF_GR_ENGINE_ACTIVE, "
                                 "DCGM_FI_PROF_SM_ACTIVE), nvidia_gpu_duty_cycle and the like")
                      .with_hint("name yours with --name gpu_util=MY_METRIC*0.01, or look further back with --window"));
    }
    activity_ = *activity;
    note_missing();
    settle_scales(asker, scan_.sources, options_.names, frame_, scan_.until);
    return {};
  }

  void note_missing() {
    auto miss = [&](Metric metric, const char* consequence) {
      if (!scan_.sources.contains(metric)) {
        note(fmt::format("no {} on this server: {}", telemetry::name_of(metric), consequence));
      }
    };
    miss(Metric::kMemoryUsed, "idle GPUs cannot be told from held ones, and nothing can be said about memory");
    miss(Metric::kDramActive, "memory-bound and compute-bound work look alike");
    miss(Metric::kTensorActive, "compute-bound work is guessed from activity and power");
  }

  Result<> cut_shards(Asker& asker) {
    const std::string series = selector(scan_.sources[activity_].name, frame_, {});
    http::Form form = period();
    form.emplace_back("match[]", series);
    RIGHTSIZE_TRY(const std::vector<std::string> labels, asker.list("/api/v1/labels", form));
    scan_.labels = label_names(labels, options_.names);
    for (const std::string& label : {scan_.labels.host, scan_.labels.gpu}) {
      if (label.empty()) continue;
      RIGHTSIZE_TRY(std::vector<std::string> values, asker.list("/api/v1/label/" + label + "/values", form));
      if (values.empty() || (values.size() == 1 && label == scan_.labels.host && !scan_.labels.gpu.empty())) continue;
      if (values.size() > kMostValues) return fail(too_many(label, values.size()));
      std::sort(values.begin(), values.end());
      hosts_ = values.size();
      // Hosts usually hold eight GPUs.
      const std::size_t each =
          std::max<std::size_t>(1, label == scan_.labels.host ? options_.shard / 8 : options_.shard);
      for (std::size_t i = 0; i < values.size(); i += each) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(i + each, values.size()));
        todo_.push_back({label, {begin, end}});
      }
      return {};
    }
    hosts_ = 1;
    todo_.push_back({});
    return {};
  }

  // Readings per step of the curve in the first shard that has some.
  void find_step(Asker& asker) {
    if (options_.step > 0) return;
    for (std::size_t i = 0; i < std::min<std::size_t>(todo_.size(), 3); ++i) {
      const std::string query = fmt::format(
          "quantile(0.5, {})", over_time(Aggregate::kCount, scan_.sources[activity_], frame_, todo_[i], 3600));
      ValueSink counts;
      Result<telemetry::FeedReport> report = asker.range(query, scan_.from + 3600, scan_.until, 3600, counts);
      if (!report || counts.values.empty()) continue;
      auto& values = counts.values;
      std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
      const double count = values[values.size() / 2];
      if (count < 1) continue;
      frame_.step = std::max(1.0, std::round(3600 / count));
      return;
    }
    note(fmt::format("the time between readings could not be found; {} is assumed (--step says otherwise)",
                     duration_text(frame_.step)));
  }

  class ValueSink : public telemetry::SeriesSink {
   public:
    bool open(const telemetry::SeriesHead&) override { return true; }
    void point(double, double value) override { values.push_back(value); }
    void close() override {}
    std::vector<double> values;
  };

  void work() {
    progress_.shards = todo_.size();
    std::vector<std::thread> workers;
    for (int i = 0; i < std::max(1, options_.parallel); ++i) workers.emplace_back([this] { work_shards(); });
    for (std::thread& worker : workers) worker.join();
  }

  void work_shards() {
    Asker asker(http::Client(options_.auth, options_.policy, &traffic_), base_, options_.resume);
    while (std::optional<Shard> shard = next_shard()) {
      Result<std::vector<GpuUse>> gpus =
          scan_shard(asker, *shard, {frame_, scan_.sources, activity_, options_.names, scan_.from, scan_.until});
      const std::lock_guard lock(mutex_);
      --running_;
      if (gpus) {
        read_ += shard->values.size();
        for (GpuUse& gpu : *gpus) scan_.gpus.push_back(std::move(gpu));
        ++progress_.done;
      } else if (shard->values.size() > 1 && is_too_much(gpus.error())) {
        halve(*shard);
      } else {
        ++progress_.done;
        fail_shard(*shard, gpus.error());
      }
      for (const std::string& warning : asker.warnings()) warnings_.insert(warning);
      partial_ = partial_ || asker.partial();
      tell();
    }
  }

  std::optional<Shard> next_shard() {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (!todo_.empty()) {
          Shard shard = std::move(todo_.front());
          todo_.pop_front();
          ++running_;
          return shard;
        }
        if (running_ == 0) return std::nullopt;  // a running shard may still be halved
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void halve(const Shard& shard) {
    const auto middle = shard.values.begin() + static_cast<std::ptrdiff_t>(shard.values.size() / 2);
    todo_.push_back({shard.label, {shard.values.begin(), middle}});
    todo_.push_back({shard.label, {middle, shard.values.end()}});
    ++progress_.shards;
  }

  void fail_shard(const Shard& shard, const Error& error) {
    const std::string which =
        shard.values.empty() ? std::string("the whole fleet")
        : shard.values.size() == 1
            ? shard.values.front()
            : fmt::format("{} to {} ({} {})", shard.values.front(), shard.values.back(), shard.values.size(),
                          shard.label == scan_.labels.host ? "hosts" : "GPUs");
    scan_.failures.push_back(fmt::format("{}: {}", which, error.message));
  }

  void tell() {
    progress_.gpus = scan_.gpus.size();
    progress_.requests = traffic_.requests;
    progress_.retries = traffic_.retries;
    if (options_.progress) options_.progress(progress_);
  }

  // GPUs whose aggregates say nothing (NaN readings poison a mean) are read reading by reading.
  void look_closer() {
    constexpr std::size_t kMost = 64;
    Asker asker(http::Client(options_.auth, options_.policy, &traffic_), base_, options_.resume);
    std::size_t unclear = 0;
    for (GpuUse& gpu : scan_.gpus) {
      if (gpu.metric(activity_) && gpu.seconds > 0) continue;
      if (++unclear > kMost) continue;
      if (Result<GpuUse> raw =
              read_raw(asker, gpu.device, {frame_, scan_.sources, activity_, options_.names, scan_.from, scan_.until},
                       scan_.labels)) {
        gpu = *std::move(raw);
        ++scan_.looked_closer;
      }
    }
    if (unclear > kMost)
      note(fmt::format("{} GPUs with unclear aggregates were not looked at closer", unclear - kMost));
  }

  Result<Scan> finish() {
    if (scan_.gpus.empty() && !scan_.failures.empty()) {
      return fail(unreadable("nothing could be read: " + scan_.failures.front()));
    }
    scan_.share_read = hosts_ > 0 && todo_labelled() ? static_cast<double>(read_) / static_cast<double>(hosts_) : 1;
    if (partial_) note("the server calls its answers partial: hours and dollars may be too low");
    for (const std::string& warning : warnings_) note("server: " + warning);
    std::sort(scan_.gpus.begin(), scan_.gpus.end(), [](const GpuUse& a, const GpuUse& b) {
      return std::tie(a.device.host, a.device.index, a.device.uuid, a.device.mig_id) <
             std::tie(b.device.host, b.device.index, b.device.uuid, b.device.mig_id);
    });
    tell();
    scan_.traffic = progress_;
    return std::move(scan_);
  }

  bool todo_labelled() const { return hosts_ > 1 || read_ > 0; }
  void note(std::string text) { scan_.notes.push_back(std::move(text)); }

  const ServerOptions& options_;
  http::Traffic traffic_;
  std::string base_;
  QueryFrame frame_;
  Metric activity_ = Metric::kGpuUtil;
  Scan scan_;
  std::size_t hosts_ = 0, read_ = 0;
  std::mutex mutex_;
  std::deque<Shard> todo_;
  int running_ = 0;
  Progress progress_;
  std::set<std::string> warnings_;
  bool partial_ = false;
};

}  // namespace

LabelNames label_names(const std::vector<std::string>& present, const telemetry::NameMap& names) {
  LabelNames found{telemetry::host_label(present, names), telemetry::gpu_label(present, names)};
  if (const std::string model = telemetry::model_label(present, names); !model.empty()) found.model = model;
  return found;
}

Result<Scan> scan_server(const ServerOptions& options) { return Scanner(options).run(); }

}  // namespace rightsize::fleet
