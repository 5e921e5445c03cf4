#include "gpu_use/scan.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/threads.h"
#include "gpu_use/prometheus_client.h"
#include "gpu_use/scan_shard.h"

namespace rightsize::gpu_use {
namespace {

// Metric names to look for: the prefixes of known exporters, and the user's own names.
std::string name_pattern(const telemetry::NameMap& map) {
  std::string pattern =
      "DCGM_FI_.*|nvidia_.*|container_accelerator_.*|container_gpu_.*|node_gpu_.*|runai_gpu_.*|(amd_)?gpu_.*";
  for (const auto& [name, target] : map.metrics) pattern += "|" + escape_regex(name);
  return pattern;
}

// If a metric has several names, the user's own is used, otherwise the first that the server lists.
Sources choose_sources(const std::vector<std::string>& names, const telemetry::NameMap& map) {
  Sources sources;
  std::set<Metric> own;
  for (const std::string& name : names) {
    const std::optional<telemetry::MetricSpec> meaning = telemetry::meaning_of(name, {}, map);
    if (!meaning || meaning->counter) continue;
    const bool is_own = map.metrics.contains(name);
    if (sources.contains(meaning->metric) && !is_own) continue;
    if (own.contains(meaning->metric)) continue;
    sources[meaning->metric] = {name, meaning->scale};
    if (is_own) own.insert(meaning->metric);
  }
  return sources;
}

// Some names do not tell whether a share goes up to 1 or 100; the largest reading of the last day decides.
void settle_scales(PrometheusClient& client, Sources& sources, const telemetry::NameMap& map,
                   const std::string& matchers, TimePoint end) {
  for (auto& [metric, source] : sources) {
    const std::optional<telemetry::MetricSpec> meaning = telemetry::meaning_of(source.name, {}, map);
    if (!meaning || !meaning->unsure) continue;
    const std::string day = over_time("max_over_time", selector(source.name, matchers, {}), days(1));
    Answered<std::vector<VectorRow>> largest = client.instant("max(" + day + ")", end);
    if (largest && !largest->empty() && largest->front().value > telemetry::kMostShare) source.scale *= 0.01;
  }
}

// The labels that owner_of() reads.
LabelList owner_labels(const std::vector<std::string>& present, const telemetry::NameMap& names) {
  LabelList found;
  for (const std::span<const char* const> labels :
       {std::span<const char* const>(kTeamLabels), {kUserLabels}, {kPodLabels}, {kJobLabels}, {kJobNameLabels}}) {
    for (const char* name : labels) {
      if (std::ranges::find(present, name) != present.end()) found.emplace_back(name);
    }
  }
  for (const char* word : {"namespace", "pod", "user", "account", "job"}) {
    if (const auto own = names.labels.find(word); own != names.labels.end()) found.push_back(own->second);
  }
  return found;
}

// No fleet has this many hosts or GPUs. A label that changes with every pod or restart does, and querying each of its
// values would keep a server busy for days.
constexpr std::size_t kMostValues = 200'000;

Error too_many(const std::string& label, std::size_t values) {
  return unreadable(fmt::format("the label '{}' has {} values in this window; the limit is {}", label,
                                format_count(static_cast<double>(values)),
                                format_count(static_cast<double>(kMostValues))))
      .with_hint("select part of the fleet with --match 'cluster=\"a\"', or less time with --window")
      .with_hint("if another label identifies hosts, use --name host=LABEL");
}

class Scanner {
 public:
  explicit Scanner(const ServerOptions& options) : options_(options) {}

  Result<Scan> run() {
    http::Client http(options_.auth, options_.policy, &traffic_);
    RIGHTSIZE_TRY(base_, find_api(http, options_.url));
    PrometheusClient client(std::move(http), base_);
    RIGHTSIZE_TRY(const TimePoint now, client.clock());
    RIGHTSIZE_CHECK(set_window(now));
    RIGHTSIZE_CHECK(discover(client));
    RIGHTSIZE_CHECK(cut_shards(client));
    work();
    return finish();
  }

 private:
  struct Task {
    Shard shard;
    bool again = false;  // the first answer had no reading of them
    bool whole = false;  // ... nor of any other GPU of the shard
  };

  // The end of the window is kept with the answers: a resumed run must send the same queries.
  Result<> set_window(TimePoint now) {
    const double skew = in_unix_seconds(now) - static_cast<double>(std::time(nullptr));
    if (std::abs(skew) > 60 && !options_.end) {
      note(fmt::format("the server's clock is {:.0f} s {} this machine's; the server's is used", std::abs(skew),
                       skew > 0 ? "ahead of" : "behind"));
    }
    double end = options_.end ? in_unix_seconds(*options_.end) : std::floor(in_unix_seconds(now) / 60) * 60;
    if (!options_.resume.empty()) {
      std::error_code problem;
      std::filesystem::create_directories(options_.resume, problem);
      const std::string file = options_.resume + "/window";
      const std::string wanted =
          fmt::format("{} {} {} ", http::shown_url(options_.url), in_seconds(options_.window), options_.matchers);
      Result<std::string> kept = read_file(file, 1 << 16);
      if (kept && kept->starts_with(wanted)) {
        end = std::strtod(kept->c_str() + wanted.size(), nullptr);
      } else if (Result<> saved = write_file(file, fmt::format("{}{:.0f}", wanted, end)); !saved) {
        return saved;
      }
    }
    set_axis(unix_seconds(std::ceil(end / 60) * 60));  // whole minutes, which all grains divide
    return {};
  }

  // Steps of the profile: half-hours for a week, never shorter than five minutes, and a whole number of them.
  void set_axis(TimePoint until) {
    constexpr double kMostSteps = 340;
    Seconds width = std::max(seconds(300), step_at_least(options_.window / kMostSteps));
    for (Seconds narrower : {seconds(1800), seconds(900), seconds(300)}) {
      const bool whole = std::fmod(in_seconds(options_.window), in_seconds(width)) == 0;
      if (!whole && narrower < width) width = narrower;
    }
    axis_.width = width;
    axis_.count = static_cast<std::size_t>(std::ceil(options_.window / width));
    axis_.from = until - width * static_cast<double>(axis_.count);
  }

  http::Form period() const {
    return {{"start", fmt::format("{:.0f}", in_unix_seconds(axis_.from))},
            {"end", fmt::format("{:.0f}", in_unix_seconds(axis_.until()))}};
  }

  Result<> discover(PrometheusClient& client) {
    http::Form form = period();
    const std::string pattern = name_pattern(options_.names);
    form.emplace_back("match[]", fmt::format("{{__name__=~\"{}\"{}{}}}", escape_quoted(pattern),
                                             options_.matchers.empty() ? "" : ",", options_.matchers));
    RIGHTSIZE_TRY(const std::vector<std::string> names, client.list("/api/v1/label/__name__/values", form));
    scan_.sources = choose_sources(names, options_.names);
    const std::optional<Metric> activity = activity_of(scan_.sources);
    if (!activity) {
      return fail(
          unreadable(fmt::format("{} has no metric of GPU activity in the last {}", http::shown_url(options_.url),
                                 duration_text(options_.window)))
              .with_hint("known names: those of DCGM (DCGM_FI_DEV_GPU_UTIL, DCGM_FI_PROF_GR_ENGINE_ACTIVE, "
                         "DCGM_FI_PROF_SM_ACTIVE), nvidia_gpu_duty_cycle and similar")
              .with_hint("give your own with --name gpu_util=MY_METRIC*0.01, or look further back with --window"));
    }
    note_missing();
    settle_scales(client, scan_.sources, options_.names, options_.matchers, axis_.until());
    return {};
  }

  void note_missing() {
    auto miss = [&](Metric metric, const char* consequence) {
      if (!scan_.sources.contains(metric)) {
        note(fmt::format("no {} on this server: {}", telemetry::name_of(metric), consequence));
      }
    };
    miss(Metric::kMemoryUsed, "idle GPUs cannot be distinguished from held ones, and memory use is unknown");
    miss(Metric::kDramActive, "memory-bound and compute-bound work cannot be distinguished");
    miss(Metric::kTensorActive, "compute-bound work is inferred from activity and power");
  }

  // The series that show whether GPUs are present.
  std::vector<std::string> signs_of_life(const std::string& only) const {
    std::vector<std::string> selectors;
    for (const auto& [metric, source] : scan_.sources) {
      if (!is_activity(metric) && metric != Metric::kMemoryUsed) continue;
      selectors.push_back(selector(source.name, options_.matchers, Shard{.only = only}));
    }
    return selectors;
  }

  Result<std::vector<std::string>> values_of(PrometheusClient& client, const std::string& label,
                                             const std::string& only) {
    http::Form form = period();
    for (const std::string& series : signs_of_life(only)) form.emplace_back("match[]", series);
    RIGHTSIZE_TRY(std::vector<std::string> values, client.list("/api/v1/label/" + label + "/values", form));
    std::erase(values, "");
    if (values.size() > kMostValues) return fail(too_many(label, values.size()));
    std::ranges::sort(values);
    return values;
  }

  Result<bool> has_series(PrometheusClient& client, const std::string& only) {
    const std::vector<std::string> selectors = signs_of_life(only);
    Answered<std::vector<VectorRow>> rows =
        client.instant(fmt::format("count({})", present(selectors, options_.window, {})), axis_.until());
    if (!rows) return fail(std::move(rows).error().error);
    return !rows->empty() && rows->front().value > 0;
  }

  // Shards are by GPU if GPUs have an ID, because a GPU may move to another host; otherwise by host. Series that lack
  // the label get separate shards.
  Result<> cut_shards(PrometheusClient& client) {
    http::Form form = period();
    for (const std::string& series : signs_of_life("")) form.emplace_back("match[]", series);
    RIGHTSIZE_TRY(const std::vector<std::string> labels, client.list("/api/v1/labels", form));
    scan_.labels = label_names(labels, options_.names);
    auto of = [&](const char* word) { return telemetry::labels_of_word(labels, word, options_.names); };
    Shard shard;
    shard.part = joined(of("mig_id"), of("mig_profile"));
    shard.owner = owner_labels(labels, options_.names);
    LabelList ids = of("uuid"), hosts = of("host");
    if (!ids.empty()) {
      shard.label = ids.front();
      shard.gpu = {ids.front()};
      RIGHTSIZE_TRY(const std::vector<std::string> values, values_of(client, shard.label, ""));
      add_shards(shard, values, options_.shard);
      shard.only = ids.front() + "=\"\"";
      ids.erase(ids.begin());
      RIGHTSIZE_TRY(const bool without, has_series(client, shard.only));
      if (!without) return {};
    }
    shard.gpu = joined(joined(ids, hosts), of("index"));
    if (!hosts.empty()) {
      shard.label = hosts.front();
      RIGHTSIZE_TRY(const std::vector<std::string> values, values_of(client, shard.label, shard.only));
      add_shards(shard, values, std::max<std::size_t>(1, options_.shard / 8));  // hosts usually hold eight GPUs
      shard.only += fmt::format("{}{}=\"\"", shard.only.empty() ? "" : ",", hosts.front());
      RIGHTSIZE_TRY(const bool without, has_series(client, shard.only));
      if (!without) return {};
    }
    shard.label.clear();
    add_shards(shard, {}, 1);
    return {};
  }

  void add_shards(const Shard& like, const std::vector<std::string>& values, std::size_t each) {
    listed_ += std::max<std::size_t>(1, values.size());
    Shard shard = like;
    if (like.label.empty()) todo_.push_back({shard});
    for (std::size_t i = 0; i < values.size(); i += each) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
      shard.values.assign(begin, values.begin() + static_cast<std::ptrdiff_t>(std::min(i + each, values.size())));
      todo_.push_back({shard});
    }
  }

  void work() {
    progress_.shards = todo_.size();
    in_threads(static_cast<unsigned>(std::max(1, options_.parallel)), [this] {
      try {
        work_shards();
      } catch (...) {  // out of memory: the other threads must not wait for this one's shard
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        changed_.notify_all();
        throw;
      }
    });
  }

  void work_shards() {
    PrometheusClient client(http::Client(options_.auth, options_.policy, &traffic_), base_, kept_answers());
    while (std::optional<Task> task = next_task()) {
      Answered<ShardAnswer> answer = scan_shard(client, task->shard, {options_, scan_.sources, axis_});
      const std::lock_guard lock(mutex_);
      --running_;
      changed_.notify_all();
      if (answer) {
        take(*task, *std::move(answer));
      } else if (task->shard.values.size() > 1 && answer.error().too_much && !given_up_) {
        halve(task->shard);
      } else {
        ++progress_.done;
        refused_ += answer.error().too_much ? 1 : 0;
        fail_shard(task->shard, answer.error().error);
        // Give up on a server that has refused several single GPUs and answered for none.
        given_up_ = given_up_ || (refused_ >= 3 && read_ == 0);
      }
      for (const std::string& warning : client.warnings()) warnings_.insert(warning);
      partial_ = partial_ || client.partial();
      tell();
    }
  }

  // GPUs that the server lists without any reading are queried once more, because a cluster can lose an answer. A
  // single GPU's last reading may also be before the window on the same day; for a whole shard that is unlikely.
  void take(const Task& task, ShardAnswer answer) {
    const std::size_t silent = answer.silent.size();
    read_ += std::max<std::size_t>(1, task.shard.values.size()) - silent;
    for (GpuUse& gpu : answer.gpus) scan_.gpus.push_back(std::move(gpu));
    if (silent > 0 && !task.again) {
      Shard rest = task.shard;
      rest.values = std::move(answer.silent);
      todo_.push_back({std::move(rest), true, task.shard.values.size() == silent});
      return;
    }
    ++progress_.done;
    if (silent == 0) return;
    if (task.whole && silent == task.shard.values.size()) {
      fail_shard(task.shard, unreadable("the server lists these GPUs but returns no reading of them"));
    } else {
      read_ += silent;
      without_readings_ += silent;
    }
  }

  std::optional<Task> next_task() {
    std::unique_lock lock(mutex_);
    // While a shard is being worked on, its halves may still be added.
    changed_.wait(lock, [this] { return stopped_ || !todo_.empty() || running_ == 0; });
    if (stopped_ || todo_.empty()) return std::nullopt;
    Task task = std::move(todo_.front());
    todo_.pop_front();
    ++running_;
    return task;
  }

  // Answers may depend on the headers sent, such as the tenant.
  KeptAnswers kept_answers() const {
    KeptAnswers kept{options_.resume};
    for (const auto& [name, value] : options_.auth.headers) kept.tenant += fmt::format("{}={}\n", name, value);
    return kept;
  }

  void halve(const Shard& shard) {
    const auto middle = shard.values.begin() + static_cast<std::ptrdiff_t>(shard.values.size() / 2);
    Shard first = shard, second = shard;
    first.values.assign(shard.values.begin(), middle);
    second.values.assign(middle, shard.values.end());
    todo_.push_back({std::move(first)});
    todo_.push_back({std::move(second)});
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

  Result<Scan> finish() {
    if (scan_.gpus.empty() && !scan_.failures.empty()) {
      return fail(unreadable("no GPU could be read: " + scan_.failures.front()));
    }
    scan_.share_read = listed_ > 0 ? static_cast<double>(read_) / static_cast<double>(listed_) : 1;
    if (partial_) note("the server reported partial answers: hours and dollars may be too low");
    for (const std::string& warning : warnings_) note("server: " + warning);
    if (without_readings_ > 0) {
      note(fmt::format("{} GPUs or hosts that the server lists have no reading in this window and are not counted",
                       without_readings_));
    }
    sort_by_place(scan_.gpus);
    tell();
    scan_.traffic = progress_;
    return std::move(scan_);
  }

  void note(std::string text) { scan_.notes.push_back(std::move(text)); }

  const ServerOptions& options_;
  http::Traffic traffic_;
  std::string base_;
  StepAxis axis_;
  Scan scan_;
  std::size_t listed_ = 0, read_ = 0;  // values of the labels that divide the fleet into shards
  std::size_t without_readings_ = 0, refused_ = 0;
  bool given_up_ = false;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;  // todo_, running_ or stopped_
  std::deque<Task> todo_;
  int running_ = 0;
  Progress progress_;
  std::set<std::string> warnings_;
  bool partial_ = false;
};

}  // namespace

LabelNames label_names(const std::vector<std::string>& present, const telemetry::NameMap& names) {
  const auto first = [&](std::initializer_list<const char*> words, std::string otherwise) {
    for (const char* word : words) {
      const std::vector<std::string> labels = telemetry::labels_of_word(present, word, names);
      if (!labels.empty()) return labels.front();
    }
    return otherwise;
  };
  return {first({"host"}, ""), first({"uuid", "index"}, ""), first({"model"}, LabelNames().model)};
}

Result<Scan> scan_server(const ServerOptions& options) { return Scanner(options).run(); }

}  // namespace rightsize::gpu_use
