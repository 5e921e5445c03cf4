#include "telemetry/feeds/read_feed.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "telemetry/feeds/slurm_reports.h"
#include "telemetry/read.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kLook = 64U << 10;

// "logs/node-7.csv.gz" -> "node-7"
std::string stem_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  while (name.has_extension() && name.stem() != name) name = name.stem();
  return path == "-" ? "stdin" : name.string();
}

class Reading {
 public:
  Reading(const ReadFeedsOptions& options, SampleSink& sink, bool several)
      : options_(options), sink_(sink), several_(several) {}

  void read(const std::string& path) {
    if (Result<> done = read_one(path); done) {
      ++outcome_.files;
    } else {
      fail_file(path, std::move(done).error());
    }
  }

  // Reads a CloudWatch query file; false if the path is not one.
  bool read_queries(const std::string& path) {
    if (path == "-") return false;
    Result<std::unique_ptr<ByteSource>> source = open_bytes(path);
    if (!source) return false;
    Result<std::string> first = read_beginning(**source, kLook);
    if (!first || detect_json_feed(*first) != JsonFeed::kCloudWatchQueries) return false;
    std::unique_ptr<ByteSource> whole = put_back(*std::move(first), *std::move(source));
    Result<std::string> text = read_all(*whole, 64U << 20);
    if (!text) {
      fail_file(path, std::move(text).error());
      return true;
    }
    Checked<CloudWatchQueries> queries = parse_cloudwatch_queries(path, *std::move(text));
    if (!queries) {
      fail_file(path, queries.error().front());
    } else {
      queries_.by_id.merge(queries->by_id);
    }
    return true;
  }

  Result<FeedOutcome> finish() {
    add_reports();
    if (outcome_.readings == 0 && first_error_) return fail(std::move(*first_error_));
    return std::move(outcome_);
  }

 private:
  void fail_file(const std::string& path, Error error) {
    outcome_.failures.push_back(fmt::format("{}: {}", path, error.message));
    if (!first_error_) first_error_ = std::move(error);
  }

  Result<> read_one(const std::string& path) {
    RIGHTSIZE_TRY(std::unique_ptr<ByteSource> source, open_bytes(path));
    RIGHTSIZE_TRY(std::string first, read_beginning(*source, kLook));
    if (first.empty()) return fail(bad_input("the file is empty"));
    const JsonFeed feed = detect_json_feed(first);
    const bool slurm = looks_like_jobs(first);
    const bool cluster = looks_like_cluster(first), reports = looks_like_job_reports(first);
    std::unique_ptr<ByteSource> whole = put_back(std::move(first), std::move(source));
    if (slurm) return read_slurm(path, *whole);
    if (reports) return read_reports(path, *whole);
    if (cluster) return read_kubernetes(path, *whole);
    return feed == JsonFeed::kUnknown ? read_text(path, *whole) : read_json(path, feed, *whole);
  }

  Result<> read_slurm(const std::string& path, ByteSource& source) {
    RIGHTSIZE_TRY(JobTable table, read_jobs(source, path));
    kind("sacct");
    outcome_.readings += table.jobs.size();
    for (const std::string& text : table.notes) note(fmt::format("{}: {}", path, text));
    if (table.jobs.empty()) note(fmt::format("{}: none of its jobs has GPUs and ran", path));
    outcome_.jobs.append(std::move(table));
    return {};
  }

  Result<> read_reports(const std::string& path, ByteSource& source) {
    RIGHTSIZE_TRY(const std::string text, read_all(source, 256U << 20));
    kind("seff");
    JobTable found = read_job_reports(text);
    if (found.jobs.empty()) return fail(bad_input(fmt::format("{}: none of its reports has a GPU utilization", path)));
    reports_.append(std::move(found));
    return {};
  }

  // Reports complete the jobs of sacct's table. Others are jobs if they say how many GPUs they used and when.
  void add_reports() {
    if (reports_.jobs.empty()) return;
    std::map<std::string_view, SlurmJob*> jobs;
    for (SlurmJob& job : outcome_.jobs.jobs) jobs.emplace(job.id, &job);
    JobTable alone;
    std::size_t unused = 0;
    for (SlurmJob& report : reports_.jobs) {
      if (const auto job = jobs.find(report.id); job != jobs.end()) {
        if (!job->second->measured()) job->second->utilization = report.utilization;
      } else if (report.gpu_count > 0) {
        alone.jobs.push_back(report);
      } else {
        ++unused;
      }
    }
    outcome_.readings += alone.jobs.size();
    alone.texts = std::move(reports_.texts);
    outcome_.jobs.append(std::move(alone));
    if (unused > 0)
      note(
          fmt::format("{} of {} job reports are not used: they do not say how many GPUs a job had and when it ran, and "
                      "match no job of sacct's table",
                      unused, reports_.jobs.size()));
    if (outcome_.jobs.empty() && !first_error_)
      first_error_ = bad_input("these job reports do not say how many GPUs a job had and when it ran")
                         .with_hint("add sacct's table: rightsize fleet --from sacct.txt seff.txt");
  }

  Result<> read_kubernetes(const std::string& path, ByteSource& source) {
    RIGHTSIZE_TRY(ClusterState state, read_cluster(source, path));
    kind("kubectl");
    outcome_.readings += state.nodes.size() + state.pods.size();
    outcome_.cluster.append(std::move(state));
    return {};
  }

  Result<> read_text(const std::string& path, ByteSource& source) {
    // Logs of nvidia-smi do not name their machine, so with several files the file name is used.
    RIGHTSIZE_TRY(const ReadSummary summary, read_samples(path, source, sink_,
                                                          {.interval = options_.interval,
                                                           .host = several_ ? stem_of(path) : std::string(),
                                                           .names = options_.names}));
    kind(std::string(name_of(summary.format)));
    outcome_.readings += summary.samples;
    if (!summary.assumed.empty()) note(summary.assumed);
    if (summary.refused > 0) note(fmt::format("{}: {} lines were not understood", path, summary.refused));
    return {};
  }

  Result<> read_json(const std::string& path, JsonFeed feed, ByteSource& source) {
    SeriesToSamples series(sink_, options_.names);
    kind(std::string(name_of(feed)));
    RIGHTSIZE_TRY(const FeedReport report, read_store_json(feed, source, path, series, queries_));
    outcome_.metrics.insert(series.known().begin(), series.known().end());
    if (series.known().empty()) {
      Error none = bad_input(fmt::format("none of its {} series is a GPU metric", report.series));
      if (feed == JsonFeed::kCloudWatch)
        none.hints.emplace_back("also give the file of MetricDataQueries, which names the metrics");
      return fail(std::move(none).with_hint("name yours with --name gpu_util=MY_METRIC*0.01"));
    }
    outcome_.readings += report.points;
    if (report.partial) note(fmt::format("{}: the store calls this answer partial", path));
    for (const std::string& warning : report.warnings) note(fmt::format("{}: {}", path, warning));
    return {};
  }

  void kind(std::string name) {
    if (std::ranges::find(outcome_.kinds, name) == outcome_.kinds.end()) {
      outcome_.kinds.push_back(std::move(name));
    }
  }
  void note(std::string text) {
    if (std::ranges::find(outcome_.notes, text) == outcome_.notes.end()) {
      outcome_.notes.push_back(std::move(text));
    }
  }

  const ReadFeedsOptions& options_;
  SampleSink& sink_;
  bool several_;
  CloudWatchQueries queries_;
  JobTable reports_;  // of seff and jobstats
  FeedOutcome outcome_;
  std::optional<Error> first_error_;
};

}  // namespace

Result<FeedOutcome> read_feeds(const std::vector<std::string>& paths, const ReadFeedsOptions& options,
                               SampleSink& sink) {
  Reading reading(options, sink, paths.size() > 1);
  std::vector<std::string> rest;
  for (const std::string& path : paths) {
    if (!reading.read_queries(path)) rest.push_back(path);
  }
  for (const std::string& path : rest) reading.read(path);
  return reading.finish();
}

}  // namespace rightsize::telemetry
