// rightsize exporter: the results of `fleet` (and `service`) as Prometheus metrics, measured periodically.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/format.h"
#include "fleet/emit.h"
#include "http_server/server.h"
#include "report/fields.h"
#include "rightsize/exporter/metrics_page.h"
#include "rightsize/fleet/read.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

struct ExporterFlags {
  FleetFlags fleet;
  std::string listen, slo;
  Seconds every;
  std::optional<Seconds> stale_after;
  bool once = false, services = false;
};

struct ExporterView {
  std::string metrics, address;
};
const report::Fields<ExporterView> kExporterFields = {
    {"metrics?", "with --once: the metrics in Prometheus' text format", &ExporterView::metrics},
    {"address?", "the address that was served", &ExporterView::address},
};
const report::Document<ExporterView> kExporterDocument("exporter", "Metrics of a GPU fleet for Prometheus",
                                                       kExporterFields);

TimePoint now() {
  return unix_seconds(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

// The LLM services of the same server and window.
Checked<std::string> measure_services(const ExporterFlags& flags, const Facts& facts) {
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

Checked<std::string> measure(const ExporterFlags& flags, const Facts& facts) {
  RIGHTSIZE_TRY(const FleetRequest request, read_request(flags.fleet, facts.catalog));
  RIGHTSIZE_TRY(const FleetResult result, run_fleet(request, facts));
  std::string text = fleet::emit_metrics(result.analysis, result.analysis.totals.share_read, result.misleading.empty());
  if (flags.services) {
    RIGHTSIZE_TRY(const std::string more, measure_services(flags, facts));
    text += more;
  }
  return text;
}

// Measures once and updates the page; the errors are also printed.
Errors update(MetricsPage& page, const ExporterFlags& flags, const Facts& facts) {
  const auto begin = std::chrono::steady_clock::now();
  Checked<std::string> text = measure(flags, facts);
  if (text) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    page.succeeded(*std::move(text), now(), seconds(took.count()));
    return {};
  }
  page.failed(text.error().front().message, now());
  std::fputs(describe(text.error()).c_str(), stderr);
  return std::move(text).error();
}

std::vector<http_server::Route> routes_of(const MetricsPage& page) {
  using http_server::text_response;
  auto get = [](const char* path, auto answer) {
    return http_server::Route{
        .method = "GET", .path = path, .open = true, .immediate = [answer](const http_server::Request&) {
          return std::optional(answer());
        }};
  };
  return {get("/metrics",
              [&page] { return text_response(200, page.metrics(now()), "text/plain; version=0.0.4; charset=utf-8"); }),
          get("/healthz",
              [&page] {
                const Health health = page.health(now());
                return text_response(health.good ? 200 : 503, health.text);
              }),
          get("/", [] {
            return text_response(200, "<a href=\"/metrics\">metrics</a> <a href=\"/healthz\">health</a>\n",
                                 "text/html");
          })};
}

Checked<Outcome> run_exporter(const ExporterFlags& flags) {
  if (!flags.slo.empty() && !flags.services) return fail(bad_input("--slo needs --services"));
  RIGHTSIZE_TRY(const auto address, http_server::parse_listen(flags.listen));
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.fleet.catalog));
  Outcome outcome;
  if (flags.once) {
    RIGHTSIZE_TRY(const std::string text, measure(flags, facts));
    outcome.report.blocks.emplace_back(report::Verbatim{"", text});
    outcome.report.document = kExporterDocument.of({text, {}});
    return outcome;
  }
  MetricsPage page(flags.stale_after.value_or(flags.every * 3));
  // A source that is down may come back; a wrong flag stays wrong.
  if (Errors first = update(page, flags, facts); !first.empty() && first.front().code == ErrorCode::kBadInput)
    return fail(std::move(first));
  http_server::Server server({.address = address.first, .port = address.second, .obey_signals = true}, routes_of(page),
                             [](const std::string& line) { std::fputs(line.c_str(), stderr); });
  RIGHTSIZE_TRY(const std::string bound, server.listen());
  std::fputs(
      fmt::format("metrics at http://{}/metrics, measured every {}\n", bound, format_duration(flags.every)).c_str(),
      stderr);
  const std::jthread measuring([&](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopping;
    const auto pause = std::chrono::duration<double>(in_seconds(flags.every));
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex);
      stopping.wait_for(lock, stop, pause, [] { return false; });
      if (!stop.stop_requested()) update(page, flags, facts);
    }
  });
  server.run();
  outcome.report.document = kExporterDocument.of({{}, bound});
  return outcome;
}

}  // namespace

Run add_exporter(FlagSet& command) {
  auto flags = std::make_shared<ExporterFlags>();
  add_fleet_flags(command, flags->fleet);
  command.add("listen", flags->listen)->or_else("127.0.0.1:9477");
  command.add("every", flags->every);
  command.add("stale-after", flags->stale_after);
  command.add("services", flags->services);
  command.add("slo", flags->slo)->meaning("limits for --services: ttft=0.5s,tpot=25ms");
  command.add("once", flags->once)->meaning("measure once, print the metrics and exit (for a textfile collector)");
  return [flags] { return run_exporter(*flags); };
}

}  // namespace rightsize::app
