// A request -> telemetry, from files or a server -> an analysis.
#include "rightsize/fleet/read.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/format.h"
#include "base/long_work.h"
#include "fleet/accumulate.h"
#include "fleet/attribute.h"
#include "fleet/jobs.h"
#include "rightsize/input/size_of.h"
#include "telemetry/feeds/read_feed.h"

namespace rightsize::app {
namespace {

void show_progress(const fleet::Progress& progress) {
  const bool live = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%zu of %zu shards, %zu GPUs, %zu requests, %zu asked again%s", live ? "\r\033[K" : "",
               progress.done, progress.shards, progress.gpus, progress.requests, progress.retries,
               live && progress.done < progress.shards ? "" : "\n");
  std::fflush(stderr);
}

// What was read, on its way to an analysis.
struct Telemetry {
  std::vector<fleet::GpuUse> gpus;
  telemetry::JobTable jobs;
  std::vector<std::string> notes;
};

Checked<FleetResult> read_server(const FleetRequest& request, Telemetry& into) {
  fleet::ServerOptions options = request.server;
  if (request.show_progress || isatty(STDERR_FILENO) != 0) options.progress = show_progress;
  RIGHTSIZE_TRY(fleet::Scan scan, fleet::scan_server(options));
  FleetResult result;
  result.sources = scan.sources;
  result.labels = scan.labels;
  result.failures = scan.failures;
  result.share_read = scan.share_read;
  result.read.push_back(fmt::format("{}: {}, {} requests, {} asked again", http::shown_url(options.url),
                                    format_duration(request.window), scan.traffic.requests, scan.traffic.retries));
  into.notes = scan.notes;
  into.gpus = std::move(scan.gpus);
  return result;
}

Checked<FleetResult> read_files(const FleetRequest& request, Telemetry& into) {
  fleet::UseAccumulator sum({.idle = request.thresholds.idle, .interval = request.interval, .window = request.cut()});
  RIGHTSIZE_TRY(telemetry::FeedOutcome outcome,
                telemetry::read_feeds(request.from, {request.names, request.interval.value_or(seconds(30))}, sum));
  into.jobs = std::move(outcome.jobs);
  into.notes = outcome.notes;
  FleetResult result;
  result.failures = outcome.failures;
  for (const auto& [name, metric] : outcome.metrics) {
    const std::optional<telemetry::Meaning> meaning = telemetry::meaning_of(name, {}, request.names);
    result.sources.try_emplace(metric, fleet::MetricSource{name, meaning ? meaning->scale : 1});
  }
  const std::size_t all = outcome.files + outcome.failures.size();
  result.share_read = all > 0 ? static_cast<double>(outcome.files) / static_cast<double>(all) : 1;
  result.read.push_back(fmt::format("{} file{} ({}), {} readings", outcome.files, outcome.files == 1 ? "" : "s",
                                    fmt::join(outcome.kinds, ", "), format_count(static_cast<double>(sum.readings()))));
  if (sum.refused() > 0) {
    into.notes.push_back(fmt::format("{} readings carry no possible time and were dropped",
                                     format_count(static_cast<double>(sum.refused()))));
  }
  if (sum.gpus_left_out() > 0) {
    result.misleading.push_back(fmt::format("{} GPUs above the limit were left out", sum.gpus_left_out()));
  }
  into.gpus = sum.finish();
  if (!into.gpus.empty()) {
    std::vector<std::string> present;
    for (const auto& [name, value] : into.gpus.front().device.labels) present.push_back(name);
    result.labels = fleet::label_names(present, request.names);
  }
  return result;
}

// The accounting a --jobs flag names, beside what --from brought.
Result<> read_job_log(const std::string& path, telemetry::JobTable& jobs) {
  RIGHTSIZE_TRY(std::unique_ptr<telemetry::ByteSource> source, telemetry::open_feed(path));
  RIGHTSIZE_TRY(telemetry::JobTable table, telemetry::read_jobs(*source, path));
  jobs.append(std::move(table));
  return {};
}

// Jobs laid over the GPUs that telemetry tells of; jobs on other hosts are GPUs of their own.
void join_jobs(const fleet::IdleRule& idle, Telemetry& telemetry, FleetResult& result) {
  auto& [gpus, jobs, notes] = telemetry;
  if (jobs.empty()) return;
  std::set<std::string> covered;
  for (const fleet::GpuUse& gpu : gpus) covered.insert(fleet::short_host(gpu.device.host));
  std::string how;
  if (!gpus.empty()) {
    const fleet::Attribution done = fleet::attribute_jobs(gpus, jobs);
    how = fmt::format(": {} GPUs matched by job, {} by host and time", done.by_job, done.by_time);
  }
  for (fleet::GpuUse& gpu : fleet::gpus_of_jobs(jobs, idle, covered)) gpus.push_back(std::move(gpu));
  result.read.push_back(fmt::format(
      "{} GPU jobs, {} without GPUs, {} that never started{}", format_count(static_cast<double>(jobs.jobs.size())),
      format_count(static_cast<double>(jobs.without_gpu)), format_count(static_cast<double>(jobs.never_started)), how));
}

void group_owners(const std::vector<std::string>& labels, FleetResult& result) {
  const std::vector<fleet::GpuRow>& gpus = result.analysis.gpus;
  using fleet::Owner;
  using telemetry::Device;
  auto add = [&](const std::string& title, const fleet::OwnerKey& key) {
    std::vector<fleet::OwnerLine> lines = fleet::make_owners(gpus, key);
    const bool any =
        std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line.owner != Owner{}.shown(); });
    if (any) result.groups.emplace_back(title, std::move(lines));
  };
  add("namespaces", [](const Owner& owner, const Device&) { return owner.team; });
  add("workloads", [](const Owner& owner, const Device&) { return owner.workload; });
  if (!result.analysis.jobs) add("users", [](const Owner& owner, const Device&) { return owner.user; });
  for (const std::string& label : labels) {
    add(label, [&](const Owner&, const Device& device) {
      const auto found = device.labels.find(label);
      return found == device.labels.end() ? std::string() : found->second;
    });
    const bool known = !result.groups.empty() && result.groups.back().first == label;
    if (!known) result.analysis.notes.push_back(fmt::format("--by {}: no GPU has a label of that name", label));
  }
}

// When the totals must not be taken for the fleet's.
void judge_trust(FleetResult& result, bool from_files) {
  if (result.share_read < 0.9) {
    result.misleading.push_back(fmt::format("only {} of the {} could be read",
                                            format_percent(Ratio::fraction(result.share_read)),
                                            from_files ? "files" : "GPUs"));
  }
  // What no MIG instance was made of has nothing to report, and a job log is not expected to.
  std::size_t silent = 0, all = 0;
  for (const fleet::GpuRow& gpu : result.analysis.gpus) {
    if (gpu.use.is_free_part() || gpu.use.from_job_log) continue;
    ++all;
    silent += gpu.use.activity() ? 0 : 1;
  }
  if (silent * 10 > all) result.misleading.push_back(fmt::format("{} of {} GPUs report no activity", silent, all));
  for (const std::string& note : result.analysis.notes) {
    if (note.find("partial") != std::string::npos) result.misleading.push_back(note);
  }
}

}  // namespace

Checked<FleetResult> run_fleet(const FleetRequest& request, const Facts& facts) {
  Telemetry telemetry;
  const LongWork counted("bytes read", size_of(request.from));
  RIGHTSIZE_TRY(FleetResult result,
                request.from.empty() ? read_server(request, telemetry) : read_files(request, telemetry));
  if (!request.jobs.empty()) {
    if (Result<> read = read_job_log(request.jobs, telemetry.jobs); !read) return fail(std::move(read).error());
  }
  if (const std::optional<fleet::Interval> cut = request.cut()) fleet::clip_jobs(telemetry.jobs, *cut);
  std::vector<std::string> notes = std::move(telemetry.notes);
  auto add_notes = [&notes](const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
  };
  add_notes(fleet::accounting_notes(telemetry.gpus));
  join_jobs(request.thresholds.idle, telemetry, result);
  const fleet::DevicePrices prices(facts.catalog, request.prices, request.market);
  const perf::SpeedTable speeds(facts.catalog, facts.constants);
  result.analysis = fleet::analyse(std::move(telemetry.gpus), {prices, speeds, request.thresholds});
  result.thresholds = request.thresholds;
  add_notes(result.analysis.notes);
  if (!telemetry.jobs.empty()) {
    result.analysis.jobs =
        fleet::make_job_ledger(telemetry.jobs, prices, request.thresholds.idle, result.analysis.gpus);
    add_notes(fleet::job_notes(telemetry.jobs, result.analysis.gpus));
  }
  result.analysis.notes = std::move(notes);
  group_owners(request.by_labels, result);
  judge_trust(result, !request.from.empty());
  return result;
}

}  // namespace rightsize::app
