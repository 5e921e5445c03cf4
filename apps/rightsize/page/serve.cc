// rightsize serve: the commands as a web page and a JSON API.
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/confine.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/text.h"
#include "http/http.h"
#include "rightsize/input/facts.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/page/api.h"
namespace rightsize::app {
namespace {

struct ServeFlags {
  std::string listen, token_file, certificate, key, catalog, replay;
  std::vector<std::string> from;
  std::string prometheus, bearer_file, ledger;
  Seconds window;
  double speed = 1;
  bool openapi = false;
  PriceFlag prices;
};

// The token comes from a file or the environment: process lists show arguments.
Result<std::string> read_token(const ServeFlags& flags) {
  constexpr std::size_t kShortest = 16;
  const char* variable = std::getenv("RIGHTSIZE_TOKEN");
  if (flags.token_file.empty() && variable == nullptr) return std::string();
  std::string source = "$RIGHTSIZE_TOKEN", text = variable == nullptr ? "" : variable;
  if (!flags.token_file.empty()) {
    RIGHTSIZE_TRY(text, read_file(flags.token_file, 1U << 16));
    source = fmt::format("'{}'", flags.token_file);
  }
  std::string token(trim(text));
  if (token.size() < kShortest) {
    return fail(bad_input(fmt::format("the token in {} is shorter than {} characters", source, kShortest))
                    .with_hint("openssl rand -hex 32 prints a good one"));
  }
  return token;
}

// The user's fleet, or the built-in example.
Result<FleetSource> fleet_source(const ServeFlags& flags, ScratchFolder& scratch) {
  FleetSource source;
  source.ledger = flags.ledger;
  RIGHTSIZE_TRY(source.service_example,
                scratch.write("service.txt.gz", std::string(embedded_file("examples/service.txt.gz"))));
  for (const std::string& price : flags.prices) source.arguments.push_back("--price=" + price);
  if (!flags.prometheus.empty()) {
    source.arguments.push_back("--prometheus=" + flags.prometheus);
    source.window = fmt::format("{}s", in_seconds(flags.window));
    if (!flags.bearer_file.empty()) source.arguments.push_back("--bearer-file=" + flags.bearer_file);
    source.shown = http::shown_url(flags.prometheus);
    source.is_server = true;
    return source;
  }
  if (!flags.from.empty()) {
    for (const std::string& file : flags.from) source.arguments.push_back("--from=" + file);
    source.shown = fmt::format("{}", fmt::join(flags.from, ", "));
    return source;
  }
  RIGHTSIZE_TRY(const std::string path,
                scratch.write("example-fleet.json.gz", std::string(embedded_file("examples/fleet.json.gz"))));
  source.arguments.push_back("--from=" + path);
  source.shown = "the example fleet";
  source.is_example = true;
  return source;
}

http_server::ListenOptions server_options(const ServeFlags& flags, const std::pair<std::string, int>& address,
                                          std::string token) {
  http_server::ListenOptions options;
  options.address = address.first;
  options.port = address.second;
  options.token = std::move(token);
  options.certificate = flags.certificate;
  options.key = flags.key;
  options.obey_signals = true;
  options.timeout_message = "the request took too long; POST /api/jobs/COMMAND runs it in the background";
  options.limits.body = 8U << 20;  // for the metrics of a fleet
  options.limits.workers = {2, std::max(2U, std::thread::hardware_concurrency()), 4, 2};
  return options;
}

Outcome print_openapi() {
  Outcome outcome;
  outcome.report.document = openapi_document();
  outcome.report.blocks.emplace_back(report::Verbatim{"", outcome.report.document.dump() + "\n"});
  return outcome;
}

void say(const std::string& line) { std::fputs(line.c_str(), stderr); }

void announce(const ServeFlags& flags, const http_server::ListenOptions& options, const std::string& address) {
  say(fmt::format("rightsize is at {}://{}/ (Ctrl-C ends it)\n", flags.certificate.empty() ? "http" : "https",
                  address));
  if (!options.token.empty()) say("The page asks for the token once; programs send 'Authorization: Bearer TOKEN'.\n");
  if (!http_server::is_loopback(options.address) && flags.certificate.empty())
    say("warning: without --tls-cert and --tls-key the token and all responses are sent unencrypted\n");
}

Checked<Outcome> run_serve(const ServeFlags& flags) {
  if (flags.openapi) return print_openapi();
  RIGHTSIZE_TRY(const auto address, http_server::parse_listen(flags.listen));
  RIGHTSIZE_TRY(std::string token, read_token(flags));
  if (!flags.from.empty() && !flags.prometheus.empty())
    return fail(bad_input("--from and --prometheus cannot be combined"));
  if (!flags.catalog.empty()) setenv("RIGHTSIZE_CATALOG", flags.catalog.c_str(), 1);
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.prices));
  keep_facts();
  ScratchFolder scratch;
  RIGHTSIZE_TRY(FleetSource fleet, fleet_source(flags, scratch));
  LiveGpus live(flags.replay, flags.speed, prices);
  PageApi api(std::move(fleet), live, scratch);
  const http_server::ListenOptions options = server_options(flags, address, std::move(token));
  http_server::Server server(options, api.routes(), [](const std::string& line) { say(line); });
  api.show_statistics_of(server.statistics());
  RIGHTSIZE_TRY(const std::string bound, server.listen());
  // Requests cannot read other files of this machine. The overlay may be created later, by `rightsize calibrate`.
  const Result<std::string> overlay = catalog::overlay_target(flags.catalog);
  confine_files({scratch.path(), overlay ? *overlay : scratch.path()});
  announce(flags, options, bound);
  const bool server_ended = server.run();
  const bool jobs_ended = api.stop_jobs_within(std::chrono::seconds(1));
  say("rightsize has stopped\n");
  if (!server_ended || !jobs_ended) {  // some work ignores cancellation: do not wait for its thread
    scratch.remove_all();
    std::_Exit(0);
  }
  Outcome outcome;
  outcome.report.document = {{"schema", "rightsize/serve/1"}, {"address", bound}};
  return outcome;
}

}  // namespace

Run add_serve(FlagSet& command) {
  auto flags = std::make_shared<ServeFlags>();
  command.add("listen", flags->listen)
      ->meaning("address and port; port 0 takes a free one. Addresses that other machines can reach need a token")
      ->or_else("127.0.0.1:8477");
  command.add("token-file", flags->token_file)
      ->meaning("file with the token clients must send (or $RIGHTSIZE_TOKEN), at least 16 characters");
  command.add("tls-cert", flags->certificate);
  command.add("tls-key", flags->key);
  command.add("from", flags->from)->meaning("fleet to show: files that 'rightsize fleet --from' can read");
  command.add("prometheus", flags->prometheus)->meaning("fleet to show: a Prometheus-compatible server");
  command.add("bearer-file", flags->bearer_file)->meaning("with --prometheus: file with a bearer token");
  command.add("window", flags->window)->meaning("with --prometheus: how far back to look");
  add_price_flag(command, flags->prices);
  command.add("ledger", flags->ledger);
  command.add("replay", flags->replay)->meaning("live page: play a recording instead of reading this machine's GPUs");
  command.add("speed", flags->speed);
  command.add("openapi", flags->openapi);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_serve(*flags); };
}

}  // namespace rightsize::app
