// rightsize serve: the commands as a web page and a JSON API.
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/confine.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "rightsize/input/kept_facts.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/page/api.h"
#include "rightsize/page/openapi.h"

namespace rightsize::app {
namespace {

struct Flags {
  std::string listen = "127.0.0.1:8477", token_file, certificate, key, catalog, replay;
  std::vector<std::string> from;
  std::string prometheus, bearer_file, window = "7d", ledger;
  double speed = 1;
  bool openapi = false;
  PriceFlag prices;
};

// "127.0.0.1:8477", "[::1]:0"; a port alone is one of this machine.
Result<std::pair<std::string, int>> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const Result<std::int64_t> port = parse_integer(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return fail(
        bad_input(fmt::format("--listen '{}': address:port expected", text)).with_hint("for example 127.0.0.1:8477"));
  }
  std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::pair(host.empty() ? std::string("127.0.0.1") : host, static_cast<int>(*port));
}

// From a file, so that it shows in no process list.
Result<std::string> read_token(const Flags& flags) {
  if (flags.token_file.empty()) {
    const char* variable = std::getenv("RIGHTSIZE_TOKEN");
    return variable == nullptr ? std::string() : std::string(variable);
  }
  RIGHTSIZE_TRY(const std::string text, read_file(flags.token_file, 1U << 16));
  std::string token(trim(text));
  constexpr std::size_t kShortest = 16;
  if (token.size() < kShortest) {
    return fail(bad_input(fmt::format("the token in '{}' is shorter than {} characters", flags.token_file, kShortest))
                    .with_hint("openssl rand -hex 32 makes one"));
  }
  return token;
}

// The user's own fleet, or the one that comes with the program.
Result<FleetSource> fleet_source(const Flags& flags, Scratch& scratch) {
  FleetSource source;
  source.ledger = flags.ledger;
  for (const std::string& price : flags.prices) source.words.push_back("--price=" + price);
  if (!flags.prometheus.empty()) {
    source.words.push_back("--prometheus=" + flags.prometheus);
    source.words.push_back("--window=" + flags.window);
    if (!flags.bearer_file.empty()) source.words.push_back("--bearer-file=" + flags.bearer_file);
    source.shown = flags.prometheus;
    return source;
  }
  if (!flags.from.empty()) {
    for (const std::string& file : flags.from) source.words.push_back("--from=" + file);
    source.shown = fmt::format("{}", fmt::join(flags.from, ", "));
    return source;
  }
  RIGHTSIZE_TRY(const std::string path,
                scratch.write("example-fleet.json.gz", std::string(embedded_file("examples/fleet.json.gz"))));
  source.words.push_back("--from=" + path);
  source.shown = "the example fleet";
  source.is_example = true;
  return source;
}

http_server::Options server_options(const Flags& flags, const std::pair<std::string, int>& address, std::string token) {
  http_server::Options options;
  options.address = address.first;
  options.port = address.second;
  options.token = std::move(token);
  options.certificate = flags.certificate;
  options.key = flags.key;
  options.obey_signals = true;
  options.limits.body = 8U << 20;  // readings of a fleet may be pasted
  options.limits.workers = std::max(2U, std::thread::hardware_concurrency());
  return options;
}

Outcome print_openapi() {
  Outcome outcome;
  outcome.report.document = openapi_document();
  outcome.report.blocks.emplace_back(report::Verbatim{"", outcome.report.document.dump() + "\n"});
  return outcome;
}

void say(const std::string& line) { std::fputs(line.c_str(), stderr); }

void announce(const Flags& flags, const http_server::Options& options, const std::string& address) {
  say(fmt::format("rightsize is at {}://{}/ (Ctrl-C ends it)\n", flags.certificate.empty() ? "http" : "https",
                  address));
  if (!options.token.empty()) say("The page asks for the token once; programs send 'Authorization: Bearer TOKEN'.\n");
  if (!http_server::is_loopback(options.address) && flags.certificate.empty())
    say("warning: without --tls-cert and --tls-key the token and all answers travel in the clear\n");
}

Checked<Outcome> run(const Flags& flags) {
  if (flags.openapi) return print_openapi();
  RIGHTSIZE_TRY(const auto address, parse_listen(flags.listen));
  RIGHTSIZE_TRY(std::string token, read_token(flags));
  if (!flags.from.empty() && !flags.prometheus.empty())
    return fail(bad_input("--from and --prometheus: the fleet comes from one of them"));
  if (!(flags.speed > 0)) return fail(bad_input("--speed must be above 0"));
  if (!flags.catalog.empty()) setenv("RIGHTSIZE_CATALOG", flags.catalog.c_str(), 1);
  RIGHTSIZE_TRY(const std::string overlay, catalog::overlay_directory(flags.catalog));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.prices));
  keep_facts();
  Scratch scratch;
  RIGHTSIZE_TRY(FleetSource fleet, fleet_source(flags, scratch));
  LiveGpus live(flags.replay, flags.speed, prices);
  Api api(std::move(fleet), live, scratch);
  const http_server::Options options = server_options(flags, address, std::move(token));
  http_server::Server server(options, api.routes(), [](const std::string& line) { say(line); });
  api.show_statistics_of(server.statistics());
  RIGHTSIZE_TRY(const std::string bound, server.listen());
  // Whoever asks over the network reads no file of this machine.
  confine_files({scratch.folder(), overlay.empty() ? scratch.folder() : overlay});
  announce(flags, options, bound);
  server.run();
  say("rightsize has stopped\n");
  Outcome outcome;
  outcome.report.document = {{"schema", "rightsize/serve/1"}, {"address", bound}};
  return outcome;
}

}  // namespace

Run add_serve(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command
      .add_option("--listen", flags->listen,
                  "address and port; port 0 takes a free one. Other addresses than this machine's own need a token")
      ->default_str("127.0.0.1:8477");
  command.add_option("--token-file", flags->token_file, "file with the token clients must send (or $RIGHTSIZE_TOKEN)");
  command.add_option("--tls-cert", flags->certificate, "serve HTTPS with this certificate chain (PEM file)");
  command.add_option("--tls-key", flags->key, "and its private key (PEM file)");
  command.add_option("--from", flags->from, "the fleet to show: files, as 'rightsize fleet --from' reads them");
  command.add_option("--prometheus", flags->prometheus, "or a Prometheus-compatible server that has its metrics");
  command.add_option("--bearer-file", flags->bearer_file, "with --prometheus: file with a bearer token");
  command.add_option("--window", flags->window, "with --prometheus: how far back to look")->default_str("7d");
  add_price_flag(command, flags->prices);
  command.add_option("--ledger", flags->ledger,
                     "the decisions to show: a file, or postgres://... (or $RIGHTSIZE_LEDGER, or the usual one)");
  command.add_option("--replay", flags->replay, "live page without a GPU: play a recording");
  command.add_option("--speed", flags->speed, "with --replay: how many times faster than recorded")->default_str("1");
  command.add_flag("--openapi", flags->openapi, "print the OpenAPI file of the API and end");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
