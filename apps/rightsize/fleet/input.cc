#include "rightsize/fleet/input.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

// Providers and regions for which the catalogue has prices.
Checked<market::OfferFilter> read_places(const FleetFlags& flags, const catalog::Catalog& catalog) {
  std::set<std::string> providers;
  for (const catalog::Price& price : catalog.prices) providers.insert(price.provider);
  market::OfferFilter where;
  RIGHTSIZE_TRY(where.providers,
                catalog::match_providers(fmt::format("{}", fmt::join(flags.providers, ",")), providers));
  RIGHTSIZE_TRY(where.regions, catalog::match_regions(fmt::format("{}", fmt::join(flags.regions, ",")),
                                                      catalog::known_regions(catalog)));
  return where;
}

// Flags that the source ignores are refused. For a server, --user is another name of --http-user.
Result<> check_source(const FleetFlags& flags) {
  const auto given = [&](const char* flag) { return flags.command != nullptr && !flags.command->given(flag).empty(); };
  const bool days = !flags.since.empty() || !flags.until.empty();
  if (days && (given("--window") || !flags.end.empty()))
    return fail(bad_input("use either --since and --until, or --window and --end"));
  if (!flags.from.empty()) {
    if (flags.end.empty() && given("--window") && std::ranges::find(flags.from, "-") != flags.from.end())
      return fail(bad_input("--window needs --end for standard input, which can be read only once")
                      .with_hint("--since 2026-11-01 --until 2026-11-07 selects days"));
    return check_server_flags(flags);
  }
  if (flags.users.size() > 1 || (!flags.users.empty() && !flags.http_user.empty()))
    return fail(bad_input("a metrics server takes only one user name").with_hint("use --http-user NAME"));
  if (!flags.accounts.empty() || !flags.partitions.empty() || !flags.namespaces.empty())
    return fail(bad_input("--account, --partition and --namespace filter job logs and kubectl lists")
                    .with_hint("filter a metrics server with --match 'namespace=\"prod\"'"));
  return {};
}

// --since and --until as a window. A date without a time means the whole day. For files, a missing limit means no
// limit.
Result<> read_days(const FleetFlags& flags, fleet::ServerOptions& server) {
  if (flags.since.empty() && flags.until.empty()) return {};
  const bool files = !flags.from.empty();
  server.end = files ? unix_seconds(1e11) : unix_seconds(static_cast<double>(std::time(nullptr)));
  if (!flags.until.empty()) {
    RIGHTSIZE_TRY(server.end, parse_moment("--until", flags.until, true));
  }
  TimePoint since = files ? TimePoint{} : *server.end - server.window;
  if (!flags.since.empty()) {
    RIGHTSIZE_TRY(since, parse_moment("--since", flags.since));
  }
  server.window = *server.end - since;
  if (server.window <= Seconds{}) return fail(bad_input("--since must be before --until"));
  return {};
}

}  // namespace

Checked<FleetRequest> read_request(const FleetFlags& typed, const catalog::Catalog& catalog) {
  FleetFlags flags = typed;
  // A job log alone is a source.
  if (flags.from.empty() && flags.prometheus.empty() && !flags.jobs.empty())
    flags.from = {std::exchange(flags.jobs, {})};
  if (flags.from.empty() == flags.prometheus.empty()) {
    return fail(
        bad_input(flags.from.empty() ? "no source: use --from or --prometheus" : "use either --from or --prometheus")
            .with_hint("rightsize fleet --from gpus.csv exports/*.json.gz")
            .with_hint("rightsize fleet --prometheus http://prometheus:9090 --window 7d"));
  }
  if (Result<> fine = check_source(flags); !fine) return fail(std::move(fine).error());
  FleetRequest request;
  request.from = flags.from;
  request.jobs = flags.jobs;
  request.by_labels = flags.by_labels;
  request.thresholds = flags.thresholds;
  request.show_progress = flags.progress;
  fleet::ServerOptions& server = request.server;
  ServerFlags login = flags;
  if (flags.from.empty() && !flags.users.empty()) login.http_user = flags.users.front();
  if (!flags.from.empty()) request.only = {flags.users, flags.accounts, flags.partitions, flags.namespaces};
  RIGHTSIZE_TRY(ServerRequest connection, read_server_flags(login));
  server.url = flags.prometheus;
  server.auth = std::move(connection.auth);
  server.policy = connection.policy;
  server.window = connection.window;
  server.end = connection.end;
  if (Result<> fine = read_days(flags, server); !fine) return fail(std::move(fine).error());
  request.to_last_reading =
      !flags.from.empty() && !server.end && flags.command != nullptr && !flags.command->given("--window").empty();
  server.interval = flags.step;
  server.matchers = flags.match;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(const catalog::Gpu* gpu, named_gpu(catalog, flags.gpu));
    request.gpu = gpu->name;
  }
  server.shard = flags.shard;
  server.parallel = flags.parallel;
  server.resume = flags.resume;
  server.idle = flags.thresholds.idle;
  RIGHTSIZE_TRY(server.names, telemetry::parse_name_map(flags.names));
  RIGHTSIZE_TRY(request.prices, read_own_prices(catalog, flags.prices, "--price", true));
  RIGHTSIZE_TRY(request.where, read_places(flags, catalog));
  return request;
}

Result<Limit> parse_limit(const std::string& text) {
  const std::size_t above = text.find('>');
  static const std::vector<std::string> kNames = {
      "waste", "idle", "idle-held", "inefficient", "oversized", "overprovisioned", "waste_usd", "savings_usd"};
  const std::string name(trim(text.substr(0, above)));
  if (above == std::string::npos || std::ranges::find(kNames, name) == kNames.end()) {
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
  fleet::Thresholds& t = f.thresholds;
  command.add("from", f.from)
      ->argument("files")
      ->meaning(
          "files: nvidia-smi, dmon and dcgmi logs, exposition text, recordings, Prometheus JSON, CloudWatch (with its "
          "query file), Google, Azure, sacct; plain, gzip or zstd; - is standard input");
  add_window_flags(command, f);
  command.add("step", f.step);
  command.add("name", f.names)
      ->meaning("your own metric or label name: gpu_util=MY_METRIC*0.01 or host=MY_LABEL; may be repeated");
  command.add("gpu", f.gpu)->one_value()->meaning("the GPU, if the source does not name it");
  add_price_flag(command, f.prices);
  command.add("jobs", f.jobs);
  command.add("user", f.users);
  command.add("account", f.accounts)->meaning("only jobs of this account; may be repeated");
  command.add("partition", f.partitions)->meaning("only jobs in this partition; may be repeated");
  command.add("namespace", f.namespaces);
  command.add("since", f.since)->meaning("only the time from this day or moment on");
  command.add("until", f.until)->meaning("only the time up to this day (included) or moment");
  command.add("by", f.by_labels);
  command.add("provider", f.providers)->meaning("providers for smaller GPUs and commitments: aws,gcp");
  command.add("region", f.regions)->meaning("regions for them: us-east-1, or us, eu, asia");
  command.add("shard", f.shard);
  command.add("parallel", f.parallel);
  command.add("resume", f.resume);
  add_connection_flags(command, f);
  command.add("idle-below", t.idle.active_above);
  command.add("held-above", t.idle.held_above);
  command.add("target", t.target_activity);
  command.add("sharing", t.sharing_headroom);
  command.add("memory-headroom", t.memory_headroom);
  command.add("stop-above", t.stop_idle_share);
  command.add("park-after", t.park_after);
  command.add("min-age", t.min_age);
  command.add("max-overload", t.most_overload);
  command.add("max-slowdown", t.most_slowdown);
  command.add("across-teams", t.across_teams);
  add_catalog_flag(command, f.catalog);
}

}  // namespace rightsize::app
