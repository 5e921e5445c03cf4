// rightsize exporter: verdicts and dollars of a fleet as Prometheus metrics, measured again now and then.
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "fleet/emit.h"
#include "fleet/published.h"
#include "rightsize/exporter/server.h"
#include "rightsize/fleet/read.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

struct Flags {
  FleetFlags fleet;
  std::string listen = "127.0.0.1:9477", every = "15min", stale_after;
  bool once = false, services = false;
  std::string slo;
};

volatile std::sig_atomic_t stopped = 0;
extern "C" void stop_exporter(int) { stopped = 1; }

TimePoint now() {
  return unix_seconds(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

// The LLM services of the same server and window.
Checked<std::string> measure_services(const Flags& flags, const Facts& facts) {
  ServiceFlags service;
  static_cast<ServerFlags&>(service) = flags.fleet;
  service.from = flags.fleet.from;
  service.slo = flags.slo;
  service.prices = flags.fleet.prices;
  RIGHTSIZE_TRY(const ServiceInput input, read_input(service, facts.catalog));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(facts.catalog, service.prices));
  RIGHTSIZE_TRY(const ServiceFacts found, run_services(input, facts, book));
  return service_metrics(found);
}

Checked<std::string> measure(const Flags& flags, const Facts& facts) {
  RIGHTSIZE_TRY(const FleetRequest request, read_request(flags.fleet, facts.catalog));
  RIGHTSIZE_TRY(const FleetResult result, run_fleet(request, facts));
  std::string text = fleet::emit_metrics(result.analysis, result.share_read, result.misleading.empty());
  if (flags.services) {
    RIGHTSIZE_TRY(const std::string more, measure_services(flags, facts));
    text += more;
  }
  return text;
}

// Measures once and publishes what came of it; what went wrong, if anything.
Errors measure_and_publish(const Flags& flags, const Facts& facts, fleet::Published& page) {
  const auto begun = std::chrono::steady_clock::now();
  Checked<std::string> text = measure(flags, facts);
  if (!text) {
    page.failed(text.error().front().message, now());
    return std::move(text).error();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  page.succeeded(*std::move(text), now(), seconds(took.count()));
  return {};
}

void say(const Errors& errors) {
  if (!errors.empty()) std::fputs(describe(errors).c_str(), stderr);
}

void keep_measuring(const Flags& flags, const Facts& facts, Seconds every, fleet::Published& page) {
  const auto pause = std::chrono::duration<double>(in_seconds(every));
  auto next = std::chrono::steady_clock::now() + pause;
  while (stopped == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (std::chrono::steady_clock::now() < next) continue;
    say(measure_and_publish(flags, facts, page));
    next = std::chrono::steady_clock::now() + pause;
  }
}

Checked<Outcome> print_once(const Flags& flags, const Facts& facts) {
  RIGHTSIZE_TRY(const std::string text, measure(flags, facts));
  Outcome outcome;
  outcome.report.blocks.emplace_back(report::Verbatim{"", text});
  outcome.report.document = {{"schema", "rightsize/exporter/1"}, {"metrics", text}};
  return outcome;
}

Checked<Outcome> run(const Flags& flags) {
  if (!flags.slo.empty() && !flags.services) return fail(bad_input("--slo needs --services"));
  RIGHTSIZE_TRY(Seconds every, parse_duration(flags.every));
  RIGHTSIZE_TRY(Seconds stale,
                flags.stale_after.empty() ? Result<Seconds>(every * 3) : parse_duration(flags.stale_after));
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.fleet.catalog));
  if (flags.once) return print_once(flags, facts);

  fleet::Published page(stale);
  // A source that is down may come back; a flag that is wrong does not.
  Errors first = measure_and_publish(flags, facts, page);
  if (!first.empty() && first.front().code == ErrorCode::kBadInput) return fail(std::move(first));
  say(first);
  std::signal(SIGINT, stop_exporter);
  std::signal(SIGTERM, stop_exporter);
  MetricsServer server([&page] { return page.metrics(now()); },
                       [&page] {
                         const fleet::Health health = page.health(now());
                         return std::pair(health.good ? 200 : 503, health.text);
                       });
  RIGHTSIZE_TRY(std::string address, server.start(flags.listen));
  std::fputs(fmt::format("metrics at http://{}/metrics, measured every {}\n", address, flags.every).c_str(), stderr);
  keep_measuring(flags, facts, every, page);
  server.stop();
  Outcome outcome;
  outcome.report.document = {{"schema", "rightsize/exporter/1"}, {"address", address}};
  return outcome;
}

}  // namespace

Run add_exporter(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_fleet_flags(command, flags->fleet);
  command.add_option("--listen", flags->listen, "address and port; port 0 takes a free one")
      ->default_str("127.0.0.1:9477");
  command.add_option("--every", flags->every, "time between two measurements")->default_str("15min");
  command.add_option("--stale-after", flags->stale_after,
                     "without a success for so long, the fleet's values are withdrawn and /healthz answers 503; three "
                     "times --every when not given");
  command.add_flag("--services", flags->services,
                   "also the LLM services found there, as 'rightsize service' sees them");
  command.add_option("--slo", flags->slo, "their limits, with --services: ttft=0.5s,tpot=25ms");
  command.add_flag("--once", flags->once, "measure once, print the metrics and end (for a textfile collector)");
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
