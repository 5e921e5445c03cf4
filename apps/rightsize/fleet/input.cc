// The flags of `fleet` -> a request.
#include "rightsize/fleet/input.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/input/price_flag.h"
#include "telemetry/feeds/feeds.h"

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
    t.idle.held_above = *held;
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

// An ISO time, or seconds since 1970.
Result<std::optional<TimePoint>> parse_end(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const std::optional<TimePoint> time = telemetry::parse_iso_time(text)) return time;
  if (Result<double> since_1970 = parse_number(text); since_1970 && *since_1970 > 1e8) return unix_seconds(*since_1970);
  return fail(
      bad_input(fmt::format("--end '{}': a time expected", text)).with_hint("for example 2026-11-01T00:00:00Z"));
}

// When to look, and how patiently to ask.
Errors read_times(const FleetFlags& flags, FleetRequest& request) {
  Errors errors;
  auto take = [&](auto value, auto& into) {
    if (value) {
      into = *std::move(value);
    } else {
      errors.push_back(std::move(value).error());
    }
  };
  take(parse_duration(flags.window), request.window);
  if (!flags.step.empty()) take(parse_duration(flags.step), request.interval);
  take(parse_end(flags.end), request.end);
  take(parse_duration(flags.timeout), request.server.policy.limit);
  take(parse_duration(flags.retry_wait), request.server.policy.first_wait);
  if (errors.empty() && request.window < seconds(600)) errors.push_back(bad_input("--window: at least 10min expected"));
  return errors;
}

void set_server(const FleetFlags& flags, FleetRequest& request) {
  fleet::ServerOptions& server = request.server;
  server.url = flags.prometheus;
  server.policy.tries = std::max(1, flags.tries);
  server.window = request.window;
  server.interval = request.interval;
  server.end = request.end;
  server.matchers = flags.match;
  server.shard = std::max<std::size_t>(1, flags.shard);
  server.parallel = flags.parallel;
  server.resume = flags.resume;
  server.names = request.names;
  server.idle = request.thresholds.idle;
}

}  // namespace

Checked<FleetRequest> read_request(const FleetFlags& flags, const catalog::Catalog& catalog) {
  if (flags.from.empty() == flags.prometheus.empty()) {
    return fail(bad_input(flags.from.empty() ? "nothing to read" : "give --from or --prometheus, not both")
                    .with_hint("rightsize fleet --from gpus.csv exports/*.json.gz")
                    .with_hint("rightsize fleet --prometheus http://prometheus:9090 --window 7d"));
  }
  FleetRequest request;
  request.from = flags.from;
  request.jobs = flags.jobs;
  request.by_labels = flags.by_labels;
  request.show_progress = flags.progress;
  RIGHTSIZE_TRY(request.thresholds, read_thresholds(flags));
  if (Errors errors = read_times(flags, request); !errors.empty()) return fail(std::move(errors));
  RIGHTSIZE_TRY(request.names, telemetry::parse_name_map(flags.names));
  RIGHTSIZE_TRY(request.prices, market::parse_own_prices(flags.prices, catalog));
  RIGHTSIZE_TRY(request.market, read_market(flags, catalog));
  RIGHTSIZE_TRY(request.server.auth, read_auth(flags));
  set_server(flags, request);
  return request;
}

Result<Limit> parse_limit(const std::string& text) {
  const std::size_t above = text.find('>');
  static const std::vector<std::string> kNames = {
      "waste", "idle", "idle-held", "inefficient", "oversized", "overprovisioned", "waste_usd", "savings_usd"};
  const std::string name(trim(text.substr(0, above)));
  if (above == std::string::npos || std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    return fail(bad_input(fmt::format("--fail-on '{}': such as waste>30% or waste_usd>5000 expected", text))
                    .with_hint(did_you_mean(name, kNames)));
  }
  std::string_view number = trim(std::string_view(text).substr(above + 1));
  const bool percent = number.ends_with('%');
  if (percent) number.remove_suffix(1);
  RIGHTSIZE_TRY(const double value, parse_number(trim(number)));
  return Limit{name, percent ? value / 100 : value, !name.ends_with("_usd")};
}

void add_fleet_flags(FlagSet& command, FleetFlags& f) {
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
