#include "rightsize/fleet/input.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/places.h"
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
    return fail(bad_input(fmt::format("{} '{}': expected a share such as 30% or 0.3", flag, text)));
  }
  return percent ? *value / 100 : *value;
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

// Providers and regions for which the catalogue has prices.
Checked<market::OfferFilter> read_places(const FleetFlags& flags, const catalog::Catalog& catalog) {
  std::set<std::string> providers, regions;
  for (const catalog::Price& price : catalog.prices) {
    providers.insert(price.provider);
    regions.insert(price.region);
  }
  market::OfferFilter where;
  RIGHTSIZE_TRY(where.providers,
                catalog::match_providers(fmt::format("{}", fmt::join(flags.providers, ",")), providers));
  RIGHTSIZE_TRY(where.regions, catalog::match_regions(fmt::format("{}", fmt::join(flags.regions, ",")), regions));
  return where;
}

void set_server(const FleetFlags& flags, FleetRequest& request) {
  fleet::ServerOptions& server = request.server;
  server.url = flags.prometheus;
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
    return fail(
        bad_input(flags.from.empty() ? "no source: use --from or --prometheus" : "use either --from or --prometheus")
            .with_hint("rightsize fleet --from gpus.csv exports/*.json.gz")
            .with_hint("rightsize fleet --prometheus http://prometheus:9090 --window 7d"));
  }
  if (!flags.from.empty() && !flags.match.empty()) {
    return fail(bad_input("--match applies to a metrics server only; files are read completely")
                    .with_hint("the report lists every owner; --by LABEL groups by any label"));
  }
  FleetRequest request;
  request.from = flags.from;
  request.jobs = flags.jobs;
  request.by_labels = flags.by_labels;
  request.show_progress = flags.progress;
  RIGHTSIZE_TRY(request.thresholds, read_thresholds(flags));
  RIGHTSIZE_TRY(ServerRequest server, read_server_flags(flags));
  request.window = server.window, request.end = server.end;
  request.server.auth = std::move(server.auth), request.server.policy = server.policy;
  if (!flags.step.empty()) {
    RIGHTSIZE_TRY(request.interval, parse_duration(flags.step));
  }
  RIGHTSIZE_TRY(request.names, telemetry::parse_name_map(flags.names));
  RIGHTSIZE_TRY(request.prices, market::parse_own_prices(flags.prices, catalog));
  RIGHTSIZE_TRY(request.where, read_places(flags, catalog));
  set_server(flags, request);
  return request;
}

Result<Limit> parse_limit(const std::string& text) {
  const std::size_t above = text.find('>');
  static const std::vector<std::string> kNames = {
      "waste", "idle", "idle-held", "inefficient", "oversized", "overprovisioned", "waste_usd", "savings_usd"};
  const std::string name(trim(text.substr(0, above)));
  if (above == std::string::npos || std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    return fail(bad_input(fmt::format("--fail-on '{}': expected a limit such as waste>30% or waste_usd>5000", text))
                    .with_hint(did_you_mean(name, kNames)));
  }
  std::string_view number = trim(std::string_view(text).substr(above + 1));
  const bool percent = number.ends_with('%');
  if (percent) number.remove_suffix(1);
  RIGHTSIZE_TRY(const double value, parse_number(trim(number)));
  return Limit{name, percent ? value / 100 : value, !name.ends_with("_usd")};
}

void add_fleet_flags(FlagSet& command, FleetFlags& f) {
  command.add_option("--from,files", f.from,
                     "files: nvidia-smi, dmon and dcgmi logs, exposition text, recordings, Prometheus JSON, CloudWatch "
                     "(with its query file), Google, Azure, sacct; plain, gzip or zstd; - is standard input");
  add_window_flags(command, f);
  command.add_option("--step", f.step, "time between readings; default: determined from the readings");
  command.add_option("--name", f.names,
                     "your own metric or label name: gpu_util=MY_METRIC*0.01 or host=MY_LABEL; can be repeated");
  add_price_flag(command, f.prices);
  command.add_option("--jobs", f.jobs,
                     "Slurm's accounting (TZ=UTC sacct -P): prices jobs, and names users if the metrics do not");
  command.add_option("--by", f.by_labels, "also group by this label: label_app, ray_io_cluster, ...; can be repeated");
  command.add_option("--provider", f.providers, "providers for smaller GPUs and commitments: aws,gcp")->delimiter(',');
  command.add_option("--region", f.regions, "regions for them: us-east-1, or us, eu, asia")->delimiter(',');
  command.add_option("--shard", f.shard, "GPUs per query")->default_str("96");
  command.add_option("--parallel", f.parallel, "queries at a time")->default_str("2");
  command.add_option("--resume", f.resume, "folder for the server's answers, so that an interrupted run can continue");
  add_connection_flags(command, f);
  command.add_option("--idle-below", f.idle_below, "activity up to this counts as idle")->default_str("0.5%");
  command.add_option("--held-above", f.held_above, "memory use above which an idle GPU counts as held")
      ->default_str("1GiB");
  command.add_option("--target", f.target, "p95 activity at which a GPU counts as full")->default_str("85%");
  command.add_option("--sharing", f.sharing, "highest total load of jobs that share a GPU")->default_str("80%");
  command.add_option("--memory-headroom", f.memory_headroom, "share of a GPU's memory that may be used")
      ->default_str("90%");
  command
      .add_option("--stop-above", f.stop_above,
                  "stop a GPU that is idle for more of the time than this, and was quiet for --min-age")
      ->default_str("90%");
  command.add_option("--park-after", f.park_after, "park GPUs for idle periods of at least this length")
      ->default_str("4h");
  command
      .add_option("--min-age", f.min_age,
                  "take no action on younger workloads, unless they existed when the window began")
      ->default_str("24h");
  command
      .add_option("--max-overload", f.max_overload, "share of the recorded time for which a new GPU may be too small")
      ->default_str("1%");
  command.add_flag("--across-teams", f.across_teams, "let jobs of different or unknown teams share a GPU without MIG");
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
