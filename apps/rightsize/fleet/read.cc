// From a request to telemetry, from files or a server, to an analysis.
#include "rightsize/fleet/read.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

#include "base/format.h"
#include "base/long_work.h"
#include "fleet/jobs.h"
#include "gpu_use/accumulate.h"
#include "rightsize/fleet/report.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/size_of.h"
#include "telemetry/feeds/read_feed.h"

namespace rightsize::app {
namespace {

void show_progress(const fleet::Progress& progress) {
  const bool live = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%zu of %zu shards, %zu GPUs, %zu requests, %zu retried%s", live ? "\r\033[K" : "",
               progress.done, progress.shards, progress.gpus, progress.requests, progress.retries,
               live && progress.done < progress.shards ? "" : "\n");
  std::fflush(stderr);
}

struct Telemetry {
  std::vector<fleet::GpuUse> gpus;
  telemetry::JobTable jobs;
  std::vector<std::string> notes;
  telemetry::ClusterState cluster = {};
};

Checked<FleetResult> read_server(const FleetRequest& request, Telemetry& into) {
  fleet::ServerOptions options = request.server;
  if (request.show_progress || isatty(STDERR_FILENO) != 0) options.progress = show_progress;
  RIGHTSIZE_TRY(fleet::Scan scan, fleet::scan_server(options));
  FleetResult result;
  result.sources = scan.sources;
  result.labels = scan.labels;
  result.failures = scan.failures;
  result.analysis.totals.share_read = scan.share_read;
  result.read.push_back(fmt::format("{}: {}, {} requests, {} asked again", http::shown_url(options.url),
                                    format_duration(options.window), scan.traffic.requests, scan.traffic.retries));
  into.notes = scan.notes;
  into.gpus = std::move(scan.gpus);
  return result;
}

Checked<FleetResult> read_files(const FleetRequest& request, Telemetry& into) {
  fleet::UseAccumulator sum({.idle = request.thresholds.idle,
                             .interval = request.server.interval,
                             .window = request.cut(),
                             .names = request.server.names});
  RIGHTSIZE_TRY(
      telemetry::FeedOutcome outcome,
      telemetry::read_feeds(request.from, {request.server.names, request.server.interval.value_or(seconds(30))}, sum));
  into.jobs = std::move(outcome.jobs);
  into.cluster = std::move(outcome.cluster);
  into.notes = outcome.notes;
  FleetResult result;
  result.failures = outcome.failures;
  for (const auto& [name, metric] : outcome.metrics) {
    const std::optional<telemetry::MetricSpec> meaning = telemetry::meaning_of(name, {}, request.server.names);
    result.sources.try_emplace(metric, fleet::MetricSource{name, meaning ? meaning->scale : 1});
  }
  const std::size_t all = outcome.files + outcome.failures.size();
  result.analysis.totals.share_read = all > 0 ? static_cast<double>(outcome.files) / static_cast<double>(all) : 1;
  result.read.push_back(fmt::format("{} file{} ({}), {} readings", outcome.files, outcome.files == 1 ? "" : "s",
                                    fmt::join(outcome.kinds, ", "), format_count(static_cast<double>(sum.readings()))));
  if (sum.refused() > 0) {
    into.notes.push_back(fmt::format("{} readings with an impossible time were dropped",
                                     format_count(static_cast<double>(sum.refused()))));
  }
  if (sum.gpus_left_out() > 0) {
    result.misleading.push_back(fmt::format("{} GPUs above the limit of 200,000 were left out", sum.gpus_left_out()));
  }
  if (Result<> clear = sum.identity(); !clear) return fail(std::move(clear).error());
  into.gpus = sum.finish();
  if (!into.gpus.empty()) {
    std::vector<std::string> present;
    for (const auto& [name, value] : into.gpus.front().device.labels) present.push_back(name);
    result.labels = fleet::label_names(present, request.server.names);
  }
  return result;
}

// The job log of --jobs, in addition to those of --from.
Result<> read_job_log(const std::string& path, telemetry::JobTable& jobs) {
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> source, open_bytes(path));
  RIGHTSIZE_TRY(telemetry::JobTable table, telemetry::read_jobs(*source, path));
  jobs.append(std::move(table));
  return {};
}

// Keeps only the workloads and the time span that the user selected.
Result<> keep_asked(const FleetRequest& request, Telemetry& telemetry) {
  if (!request.only.empty() && !telemetry.gpus.empty()) {
    return fail(bad_input("--user, --account, --partition and --namespace filter job logs and kubectl lists, not GPU "
                          "metrics")
                    .with_hint("the report lists every owner; --by LABEL groups by any label"));
  }
  if (Result<> kept = fleet::keep(request.only, telemetry.jobs, telemetry.cluster); !kept) return kept;
  const std::optional<fleet::TimeSpan> cut = request.cut();
  if (!cut) return {};
  if (!telemetry.cluster.empty() && !request.from.empty())
    return fail(bad_input("a kubectl list is a snapshot: --since, --until, --window and --end do not apply to it"));
  const bool only_jobs = telemetry.gpus.empty() && !telemetry.jobs.jobs.empty();
  const std::size_t jobs = telemetry.jobs.jobs.size();
  TimePoint first = jobs > 0 ? telemetry.jobs.jobs.front().start : TimePoint{}, last = {};
  for (const telemetry::SlurmJob& job : telemetry.jobs.jobs)
    first = std::min(first, job.start), last = std::max(last, job.end);
  fleet::clip_jobs(telemetry.jobs, *cut);
  if (only_jobs && telemetry.jobs.jobs.empty()) {
    const std::string from = time_text(first).substr(0, 10);
    return fail(
        bad_input(fmt::format("no GPU job ran in this period; the {} of the log ran from {} to {}",
                              jobs == 1 ? "job" : fmt::format("{} jobs", jobs), from, time_text(last).substr(0, 10)))
            .with_hint(fmt::format("use --since {}", from)));
  }
  return {};
}

// Assigns jobs to the GPUs of the telemetry; GPUs of jobs on other hosts are added.
void join_jobs(const fleet::IdleRule& idle, Telemetry& telemetry, FleetResult& result,
               const std::function<void()>& jobs_read) {
  std::vector<fleet::GpuUse>& gpus = telemetry.gpus;
  const telemetry::JobTable& jobs = telemetry.jobs;
  if (jobs.empty()) return;
  std::set<std::string> covered;
  TimePoint first = unix_seconds(1e11), last = {};
  for (const fleet::GpuUse& gpu : gpus) first = std::min(first, gpu.first), last = std::max(last, gpu.end());
  const bool overlap = std::ranges::any_of(
      jobs.jobs, [&](const telemetry::SlurmJob& job) { return job.start < last && job.end > first; });
  // A log of one machine does not name its host, and a job log may not either: they can only match by time.
  for (const fleet::GpuUse& gpu : gpus) {
    if (const std::string host = fleet::short_host(gpu.device.host); overlap || !host.empty()) covered.insert(host);
  }
  std::string how;
  if (!gpus.empty()) {
    const fleet::Attribution done = fleet::attribute_jobs(gpus, jobs);
    if (!overlap)
      telemetry.notes.push_back("the job log and the GPU readings do not overlap in time, so no GPU has a known job");
    how = fmt::format(": {} GPUs matched by job, {} by host and time", done.by_job, done.by_time);
  }
  result.read.push_back(fmt::format(
      "{} GPU jobs, {} without GPUs, {} that never started{}", format_count(static_cast<double>(jobs.jobs.size())),
      format_count(static_cast<double>(jobs.without_gpu)), format_count(static_cast<double>(jobs.never_started)), how));
  fleet::append(gpus, fleet::gpus_of_jobs(jobs, idle, covered, jobs_read));
}

// Whether the report already has a table for this word because the job log contains it.
bool has_job_table(const std::optional<fleet::JobLedger>& jobs, const std::string& word) {
  static const std::map<std::string, std::vector<fleet::GroupLine> fleet::JobLedger::*> kTables = {
      {"user", &fleet::JobLedger::users},
      {"account", &fleet::JobLedger::accounts},
      {"partition", &fleet::JobLedger::partitions},
      {"state", &fleet::JobLedger::states}};
  const auto found = kTables.find(word);
  return jobs && found != kTables.end() && fleet::any_named((*jobs).*found->second);
}

// The waste on GPUs of a job log, by the same rule as the totals.
void add_waste(const FleetResult& result, const fleet::OwnerKey& key, std::vector<fleet::GroupLine>& lines) {
  std::map<std::string, Usd> waste;
  for (const fleet::GroupLine& line : fleet::make_owners(result.analysis.gpus, key)) waste[line.name] = line.waste;
  for (fleet::GroupLine& line : lines) {
    const auto found = waste.find(line.name);
    line.waste_known = found != waste.end();
    if (line.waste_known) line.waste = found->second;
  }
}

void group_owners(const std::vector<std::string>& labels, FleetResult& result) {
  using fleet::Owner;
  using telemetry::Device;
  auto grouped = [&](const fleet::OwnerKey& key) {
    std::vector<fleet::GroupLine> lines = fleet::make_owners(result.analysis.gpus, key);
    const bool any = std::ranges::any_of(lines, [](const auto& line) { return line.name != fleet::kUnowned; });
    return any ? lines : std::vector<fleet::GroupLine>();
  };
  result.namespaces = grouped([](const Owner& owner, const Device&) { return owner.team; });
  result.workloads = grouped([](const Owner& owner, const Device&) { return owner.workload; });
  result.users = result.analysis.jobs ? result.analysis.jobs->users
                                      : grouped([](const Owner& owner, const Device&) { return owner.user; });
  for (const std::string& label : labels) {
    std::vector<fleet::GroupLine> lines =
        grouped([&](const Owner&, const Device& device) { return fleet::first_label(device, {label.c_str()}); });
    if (lines.empty() && has_job_table(result.analysis.jobs, label)) continue;
    if (lines.empty() && label == "namespace") lines = result.namespaces;
    if (lines.empty()) result.analysis.notes.push_back(fmt::format("--by {}: no GPU or job has this label", label));
    if (!lines.empty()) result.labels_asked.emplace_back(label, std::move(lines));
  }
}

// Judges whether the totals cover the whole fleet.
void judge_trust(FleetResult& result, bool from_files) {
  const double share_read = result.analysis.totals.share_read;
  if (share_read < 0.9) {
    result.misleading.push_back(fmt::format(
        "only {} of the {} could be read", format_percent(Ratio::fraction(share_read)), from_files ? "files" : "GPUs"));
  }
  // The free part of a partitioned GPU and the GPUs of a job log have no readings.
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

Checked<FleetResult> run_fleet(const FleetRequest& asked, const Facts& facts) {
  Telemetry telemetry;
  FleetRequest request = asked;
  if (request.to_last_reading) {
    Telemetry all;
    RIGHTSIZE_TRY([[maybe_unused]] const FleetResult read, read_files(request, all));
    TimePoint last = {};
    for (const fleet::GpuUse& gpu : all.gpus) last = std::max(last, gpu.end());
    for (const telemetry::SlurmJob& job : all.jobs.jobs) last = std::max(last, job.end);
    request.server.end = last;
    note(fmt::format("the last {} of the files; --end sets another end", format_duration(request.server.window)));
  }
  const LongWork counted("bytes read", size_of(request.from));
  RIGHTSIZE_TRY(FleetResult result,
                request.from.empty() ? read_server(request, telemetry) : read_files(request, telemetry));
  if (!request.jobs.empty()) {
    if (Result<> read = read_job_log(request.jobs, telemetry.jobs); !read) return fail(std::move(read).error());
  }
  for (fleet::GpuUse& gpu : telemetry.gpus) {
    if (gpu.device.name.empty()) gpu.device.name = request.gpu;
  }
  for (telemetry::SlurmJob& job : telemetry.jobs.jobs) {
    if (job.gpu_model.empty() && !request.gpu.empty()) job.gpu_model = telemetry::Word(request.gpu);
  }
  if (Result<> kept = keep_asked(request, telemetry); !kept) return fail(std::move(kept).error());
  std::vector<std::string> notes = std::move(telemetry.notes);
  auto add_notes = [&notes](const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
  };
  add_notes(fleet::accounting_notes(telemetry.gpus));
  const fleet::DevicePrices prices(facts.catalog, request.prices, request.where);
  const perf::SpeedTable speeds(facts.catalog, facts.constants);
  const double share_read = result.analysis.totals.share_read;
  if (!telemetry.cluster.empty()) {
    std::set<std::string> covered;
    for (const fleet::GpuUse& gpu : telemetry.gpus) covered.insert(fleet::short_host(gpu.device.host));
    fleet::append(telemetry.gpus, fleet::gpus_of_cluster(telemetry.cluster, covered));
    result.cluster = fleet::make_cluster_ledger(telemetry.cluster, prices);
    add_notes(result.cluster->notes);
  }
  const bool any_jobs = !telemetry.jobs.empty(), only_log = telemetry.gpus.empty();
  std::optional<fleet::JobLedger> jobs;
  std::vector<std::string> job_notes;
  const auto count_jobs = [&] {
    jobs = fleet::make_job_ledger(telemetry.jobs, prices, request.thresholds.idle, result.analysis.gpus);
    job_notes = fleet::job_notes(telemetry.jobs, only_log);
  };
  // Free a large log as early as possible. With telemetry, it is needed until the end for the prices of hosts.
  join_jobs(request.thresholds.idle, telemetry, result, [&] {
    if (!only_log) return;
    count_jobs();
    telemetry.jobs = {};
#ifdef __GLIBC__
    malloc_trim(0);  // otherwise the allocator would keep its small blocks during the analysis
#endif
  });
  add_notes(telemetry.notes);
  result.analysis = fleet::analyse(std::move(telemetry.gpus), {prices, speeds, request.thresholds, request.power_cap});
  result.analysis.totals.share_read = share_read;
  result.thresholds = request.thresholds;
  add_notes(result.analysis.notes);
  if (any_jobs && !only_log) count_jobs();
  result.analysis.jobs = std::move(jobs);
  if (any_jobs && only_log && result.analysis.jobs->measured > 0) {
    add_waste(
        result, [](const auto& owner, const auto&) { return owner.user; }, result.analysis.jobs->users);
    add_waste(
        result, [](const auto& owner, const auto&) { return owner.team; }, result.analysis.jobs->accounts);
  }
  add_notes(job_notes);
  result.analysis.notes = std::move(notes);
  group_owners(request.by_labels, result);
  judge_trust(result, !request.from.empty());
  return result;
}

}  // namespace rightsize::app
