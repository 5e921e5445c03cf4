// The flags of `fleet` -> telemetry, from files or a server -> an analysis.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "fleet/accumulate.h"
#include "fleet/attribute.h"
#include "fleet/jobs.h"
#include "fleet/scan.h"
#include "rightsize/fleet/fleet.h"
#include "rightsize/input/price_flag.h"
#include "telemetry/feeds/read_feed.h"

namespace rightsize::app {
namespace {

// "30%" or "0.3".
Result<double> parse_share(const std::string& flag, const std::string& text) {
  std::string_view number = trim(text);
  const bool percent = number.ends_with('%');
  if (percent) number.remove_suffix(1);
  Result<double> value = parse_number(trim(number));
  if (!value || *value < 0 || *value > (percent ? 100 : 1)) {
    return fail(bad_input(fmt::format("{} '{}': a share expected, such as 30% or 0.3", flag, text)));
  }
  return percent ? *value / 100 : *value;
}

// Secrets come from files or the environment, so that they show in no process list.
Result<std::string> secret(const std::string& file, const char* variable) {
  if (!file.empty()) {
    RIGHTSIZE_TRY(const std::string text, read_file(file, 1U << 20));
    return std::string(trim(text));
  }
  const char* value = std::getenv(variable);
  return std::string(value != nullptr ? value : "");
}

Checked<http::Auth> read_auth(const FleetFlags& flags) {
  http::Auth auth;
  Errors errors;
  auto take = [&](Result<std::string> text) {
    if (text) return *std::move(text);
    errors.push_back(std::move(text).error());
    return std::string();
  };
  auth.bearer = take(secret(flags.bearer_file, "RIGHTSIZE_BEARER"));
  auth.user = flags.user;
  if (!flags.user.empty()) auth.password = take(secret(flags.password_file, "RIGHTSIZE_PASSWORD"));
  auth.certificate = flags.certificate;
  auth.key = flags.key;
  auth.authority = flags.authority;
  auth.insecure = flags.insecure;
  if (!flags.org_id.empty()) auth.headers.emplace_back("X-Scope-OrgID", flags.org_id);
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || header.find_first_of("\r\n") != std::string::npos) {
      errors.push_back(bad_input("--header: 'Name: value' expected"));
      continue;
    }
    auth.headers.emplace_back(trim(header.substr(0, colon)), trim(header.substr(colon + 1)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return auth;
}

Checked<fleet::Thresholds> read_thresholds(const FleetFlags& flags) {
  fleet::Thresholds t;
  Errors errors;
  auto share = [&](const char* name, const std::string& text, double& into) {
    Result<double> value = parse_share(name, text);
    if (value) {
      into = *value;
    } else {
      errors.push_back(std::move(value).error());
    }
  };
  share("--idle-below", flags.idle_below, t.idle.active_above);
  share("--target", flags.target, t.target_activity);
  share("--sharing", flags.sharing, t.sharing_headroom);
  share("--memory-headroom", flags.memory_headroom, t.memory_headroom);
  share("--stop-above", flags.stop_above, t.stop_idle_share);
  share("--max-overload", flags.max_overload, t.most_overload);
  t.across_teams = flags.across_teams;
  if (Result<Bytes> held = parse_bytes(flags.held_above)) {
    t.idle.held_above_bytes = in_bytes(*held);
  } else {
    errors.push_back(std::move(held).error());
  }
  auto duration = [&](const std::string& text, Seconds& into) {
    if (Result<Seconds> value = parse_duration(text)) {
      into = *value;
    } else {
      errors.push_back(std::move(value).error());
    }
  };
  duration(flags.park_after, t.park_after);
  duration(flags.min_age, t.min_age);
  if (!errors.empty()) return fail(std::move(errors));
  return t;
}

// Providers and regions the catalogue has prices for.
Checked<fleet::Market> read_market(const FleetFlags& flags, const catalog::Catalog& catalog) {
  std::set<std::string> providers, regions;
  for (const catalog::Price& price : catalog.prices) {
    providers.insert(price.provider);
    regions.insert(price.region);
  }
  Errors errors;
  auto check = [&](const char* flag, const std::vector<std::string>& given, const std::set<std::string>& known) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const std::string& name : given) {
      if (known.contains(name)) continue;
      errors.push_back(bad_input(fmt::format("{} '{}': no price of the catalogue is from there", flag, name))
                           .with_hint(did_you_mean(name, names)));
    }
  };
  check("--provider", flags.providers, providers);
  check("--region", flags.regions, regions);
  if (!errors.empty()) return fail(std::move(errors));
  return fleet::Market{flags.providers, flags.regions};
}

// "now" in seconds since 1970, or an ISO time.
Result<double> parse_end(const std::string& text) {
  if (text.empty()) return 0.0;
  if (const std::optional<double> time = telemetry::parse_iso_time(text)) return *time;
  if (Result<double> seconds_since = parse_number(text); seconds_since && *seconds_since > 1e8) return *seconds_since;
  return fail(
      bad_input(fmt::format("--end '{}': a time expected", text)).with_hint("for example 2026-11-01T00:00:00Z"));
}

struct Times {
  double window = 0, step = 0, end = 0;
};

Checked<Times> read_times(const FleetFlags& flags) {
  Times times;
  Errors errors;
  auto duration = [&](const std::string& text, double& into) {
    if (text.empty()) return;
    if (Result<Seconds> value = parse_duration(text)) {
      into = in_seconds(*value);
    } else {
      errors.push_back(std::move(value).error());
    }
  };
  duration(flags.window, times.window);
  duration(flags.step, times.step);
  if (Result<double> end = parse_end(flags.end)) {
    times.end = *end;
  } else {
    errors.push_back(std::move(end).error());
  }
  if (errors.empty() && times.window < 600) errors.push_back(bad_input("--window: at least 10min expected"));
  if (!errors.empty()) return fail(std::move(errors));
  return times;
}

void show_progress(const fleet::Progress& progress) {
  const bool live = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%zu of %zu shards, %zu GPUs, %zu requests, %zu asked again%s", live ? "\r\033[K" : "",
               progress.done, progress.shards, progress.gpus, progress.requests, progress.retries,
               live && progress.done < progress.shards ? "" : "\n");
  std::fflush(stderr);
}

Checked<FleetResult> read_server(const FleetFlags& flags, const Times& times, const fleet::Thresholds& thresholds,
                                 const telemetry::NameMap& names, std::vector<fleet::GpuUse>& gpus) {
  RIGHTSIZE_TRY(http::Auth auth, read_auth(flags));
  fleet::ServerOptions options;
  options.url = flags.prometheus;
  options.auth = std::move(auth);
  options.policy.tries = std::max(1, flags.tries);
  Result<Seconds> limit = parse_duration(flags.timeout), wait = parse_duration(flags.retry_wait);
  if (!limit || !wait) return fail(one(std::move(limit ? wait : limit).error()));
  options.policy.limit = *limit;
  options.policy.first_wait = *wait;
  options.window = times.window;
  options.step = times.step;
  options.end = times.end;
  options.matchers = flags.match;
  options.shard = std::max<std::size_t>(1, flags.shard);
  options.parallel = flags.parallel;
  options.resume = flags.resume;
  options.names = names;
  options.idle = thresholds.idle;
  if (flags.progress || isatty(STDERR_FILENO) != 0) options.progress = show_progress;
  Result<fleet::Scan> scan = fleet::scan_server(options);
  if (!scan) return fail(one(std::move(scan).error()));
  FleetResult result;
  result.sources = scan->sources;
  result.labels = scan->labels;
  result.failures = scan->failures;
  result.share_read = scan->share_read;
  result.analysis.notes = scan->notes;
  result.read.push_back(fmt::format("{}: {}, {} requests, {} asked again", http::shown_url(flags.prometheus),
                                    format_duration(seconds(times.window)), scan->traffic.requests,
                                    scan->traffic.retries));
  gpus = std::move(scan->gpus);
  return result;
}

Checked<FleetResult> read_files(const FleetFlags& flags, const Times& times, const fleet::Thresholds& thresholds,
                                const telemetry::NameMap& names, std::vector<fleet::GpuUse>& gpus,
                                telemetry::JobTable& jobs) {
  fleet::AccumulateOptions options{.idle = thresholds.idle, .step = times.step};
  if (times.end > 0) {
    options.until = times.end;
    options.from = times.end - times.window;
  }
  fleet::Accumulator sum(options);
  Result<telemetry::FeedOutcome> outcome =
      telemetry::read_feeds(flags.from, {names, times.step > 0 ? times.step : 30}, sum);
  if (!outcome) return fail(one(std::move(outcome).error()));
  jobs = std::move(outcome->jobs);
  FleetResult result;
  result.failures = outcome->failures;
  result.analysis.notes = outcome->notes;
  for (const auto& [name, metric] : outcome->metrics) {
    const std::optional<telemetry::Meaning> meaning = telemetry::meaning_of(name, {}, names);
    result.sources.try_emplace(metric, fleet::MetricSource{name, meaning ? meaning->scale : 1});
  }
  const std::size_t all = outcome->files + outcome->failures.size();
  result.share_read = all > 0 ? static_cast<double>(outcome->files) / static_cast<double>(all) : 1;
  std::string kinds;
  for (const std::string& kind : outcome->kinds) kinds += (kinds.empty() ? "" : ", ") + kind;
  result.read.push_back(fmt::format("{} file{} ({}), {} readings", outcome->files, outcome->files == 1 ? "" : "s",
                                    kinds, format_count(static_cast<double>(sum.readings()))));
  if (sum.refused() > 0) {
    result.analysis.notes.push_back(fmt::format("{} readings carry no possible time and were dropped",
                                                format_count(static_cast<double>(sum.refused()))));
  }
  if (sum.gpus_left_out() > 0) {
    result.misleading.push_back(fmt::format("{} GPUs above the limit were left out", sum.gpus_left_out()));
  }
  gpus = sum.finish();
  if (!gpus.empty()) {
    std::vector<std::string> present;
    for (const auto& [name, value] : gpus.front().device.labels) present.push_back(name);
    result.labels = fleet::label_names(present, names);
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
void join_jobs(const telemetry::JobTable& jobs, const fleet::Thresholds& thresholds, std::vector<fleet::GpuUse>& gpus,
               FleetResult& result) {
  if (jobs.empty()) return;
  std::set<std::string> covered;
  for (const fleet::GpuUse& gpu : gpus) covered.insert(fleet::short_host(gpu.device.host));
  std::string how;
  if (!gpus.empty()) {
    const fleet::Attribution done = fleet::attribute_jobs(gpus, jobs);
    how = fmt::format(": {} GPUs matched by job, {} by host and time", done.by_job, done.by_time);
  }
  for (fleet::GpuUse& gpu : fleet::gpus_of_jobs(jobs, thresholds.idle, covered)) gpus.push_back(std::move(gpu));
  result.read.push_back(fmt::format(
      "{} GPU jobs, {} without GPUs, {} that never started{}", format_count(static_cast<double>(jobs.jobs.size())),
      format_count(static_cast<double>(jobs.without_gpu)), format_count(static_cast<double>(jobs.never_started)), how));
}

void group_owners(const FleetFlags& flags, FleetResult& result) {
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
  for (const std::string& label : flags.by_labels) {
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

Checked<FleetResult> run_fleet(const FleetFlags& flags, const catalog::Catalog& catalog) {
  if (flags.from.empty() == flags.prometheus.empty()) {
    return fail(one(bad_input(flags.from.empty() ? "nothing to read" : "give --from or --prometheus, not both")
                        .with_hint("rightsize fleet --from gpus.csv exports/*.json.gz")
                        .with_hint("rightsize fleet --prometheus http://prometheus:9090 --window 7d")));
  }
  RIGHTSIZE_TRY(const fleet::Thresholds thresholds, read_thresholds(flags));
  RIGHTSIZE_TRY(const Times times, read_times(flags));
  RIGHTSIZE_TRY(const telemetry::NameMap names, telemetry::parse_name_map(flags.names));
  RIGHTSIZE_TRY(market::OwnPrices prices, market::parse_own_prices(flags.prices, catalog));
  RIGHTSIZE_TRY(fleet::Market market, read_market(flags, catalog));
  std::vector<fleet::GpuUse> gpus;
  telemetry::JobTable jobs;
  RIGHTSIZE_TRY(FleetResult result, flags.from.empty() ? read_server(flags, times, thresholds, names, gpus)
                                                       : read_files(flags, times, thresholds, names, gpus, jobs));
  if (!flags.jobs.empty()) {
    if (Result<> read = read_job_log(flags.jobs, jobs); !read) return fail(one(std::move(read).error()));
  }
  if (times.end > 0) fleet::clip_jobs(jobs, times.end - times.window, times.end);
  std::vector<std::string> notes = std::move(result.analysis.notes);
  for (std::string& note : fleet::accounting_notes(gpus)) notes.push_back(std::move(note));
  join_jobs(jobs, thresholds, gpus, result);
  const fleet::PriceBook book(catalog, std::move(prices), std::move(market));
  result.analysis = fleet::analyse(std::move(gpus), book, thresholds);
  notes.insert(notes.end(), result.analysis.notes.begin(), result.analysis.notes.end());
  result.analysis.notes = std::move(notes);
  result.thresholds = thresholds;
  if (!jobs.empty()) {
    result.analysis.jobs = fleet::make_job_ledger(jobs, book, thresholds.idle, result.analysis.gpus);
    for (std::string& note : fleet::job_notes(jobs, result.analysis.gpus))
      result.analysis.notes.push_back(std::move(note));
  }
  group_owners(flags, result);
  judge_trust(result, !flags.from.empty());
  return result;
}

void add_fleet_flags(CLI::App& command, FleetFlags& f) {
  command.add_option("--from", f.from,
                     "files: nvidia-smi, dmon and dcgmi logs, exposition text, recordings, Prometheus JSON, CloudWatch "
                     "(with its query file), Google, Azure, sacct; plain, gzip or zstd; '-' is standard input");
  command.add_option("--prometheus", f.prometheus, "a Prometheus-compatible server, e.g. http://prometheus:9090");
  command.add_option("--window", f.window, "how far back to look")->default_str("7d");
  command.add_option("--end", f.end, "where the window ends, e.g. 2026-11-01T00:00:00Z; now when not given");
  command.add_option("--step", f.step, "time between two readings; found by looking when not given");
  command.add_option("--match", f.match, "more label matchers for the server: 'cluster=\"a\",env=\"prod\"'");
  command.add_option("--name", f.names, "a name of yours: gpu_util=MY_METRIC*0.01 or host=MY_LABEL; repeat");
  add_price_flag(command, f.prices);
  command.add_option("--jobs", f.jobs,
                     "Slurm's accounting (TZ=UTC sacct -P): costs jobs, and names users where the metrics do not");
  command.add_option("--by", f.by_labels, "also by this label: label_app, ray_io_cluster, ...; repeat");
  command.add_option("--provider", f.providers, "where smaller GPUs and commitments may be bought; repeat");
  command.add_option("--region", f.regions, "in which regions; repeat");
  command.add_option("--shard", f.shard, "GPUs per round of questions")->default_str("96");
  command.add_option("--parallel", f.parallel, "rounds at a time")->default_str("2");
  command.add_option("--resume", f.resume, "folder that keeps the server's answers: a run that was cut off goes on");
  command.add_option("--timeout", f.timeout, "for one answer of the server")->default_str("120s");
  command.add_option("--tries", f.tries, "how often a question is asked before it is given up")->default_str("5");
  command.add_option("--retry-wait", f.retry_wait, "before the second try; doubles with each")->default_str("250ms");
  command.add_option("--bearer-file", f.bearer_file, "file with a bearer token (or $RIGHTSIZE_BEARER)");
  command.add_option("--user", f.user, "user name, with the password from --password-file");
  command.add_option("--password-file", f.password_file, "file with the password (or $RIGHTSIZE_PASSWORD)");
  command.add_option("--cert", f.certificate, "client certificate (PEM file)");
  command.add_option("--key", f.key, "its private key (PEM file)");
  command.add_option("--ca", f.authority, "authority to trust (PEM file)");
  command.add_flag("--insecure", f.insecure, "do not check the server's certificate");
  command.add_option("--org-id", f.org_id, "tenant for Mimir, Cortex, Grafana Cloud (X-Scope-OrgID)");
  command.add_option("--header", f.headers, "another header, 'Name: value'; repeat");
  command.add_flag("--progress", f.progress, "show progress on standard error even when it is no terminal");
  command.add_option("--idle-below", f.idle_below, "activity at or below this is idle")->default_str("0.5%");
  command.add_option("--held-above", f.held_above, "memory above this is held by somebody")->default_str("1GiB");
  command.add_option("--target", f.target, "a GPU this active is full")->default_str("85%");
  command.add_option("--sharing", f.sharing, "how full jobs sharing a GPU may make it together")->default_str("80%");
  command.add_option("--memory-headroom", f.memory_headroom, "share of memory to plan with")->default_str("90%");
  command.add_option("--stop-above", f.stop_above, "idle for more of the time, and quiet for --min-age: stop it")
      ->default_str("90%");
  command.add_option("--park-after", f.park_after, "idle stretches this long can be parked")->default_str("4h");
  command.add_option("--min-age", f.min_age, "no action on what is younger, unless it was there when the window began")
      ->default_str("24h");
  command
      .add_option("--max-overload", f.max_overload, "share of the recorded time for which a new place may be too small")
      ->default_str("1%");
  command.add_flag("--across-teams", f.across_teams,
                   "jobs of different or unknown teams may share a GPU without MIG, too");
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
