// rightsize exporter: verdicts and dollars of a fleet as Prometheus metrics, measured again now and then.
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "fleet/emit.h"
#include "rightsize/exporter/server.h"
#include "rightsize/fleet/fleet.h"

namespace rightsize::app {
namespace {

struct Flags {
  FleetFlags fleet;
  std::string listen = "127.0.0.1:9477", every = "15min";
  bool once = false;
};

volatile std::sig_atomic_t stopped = 0;
extern "C" void stop_exporter(int) { stopped = 1; }

// What /metrics says, exchanged whole.
struct Page {
  std::mutex mutex;
  std::string text = "# nothing was measured yet\n";

  void set(std::string next) {
    const std::lock_guard lock(mutex);
    text = std::move(next);
  }
  std::string get() {
    const std::lock_guard lock(mutex);
    return text;
  }
};

// One measurement; a failure is a metric, too, and the last numbers stay.
Checked<std::string> measure(const Flags& flags, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const FleetResult result, run_fleet(flags.fleet, catalog));
  return fleet::emit_metrics(result.analysis, result.share_read, result.misleading.empty());
}

void measure_again(const Flags& flags, const catalog::Catalog& catalog, double seconds_between, Page& page) {
  double failures = 0;
  auto next = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_between);
  while (stopped == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (std::chrono::steady_clock::now() < next) continue;
    if (Checked<std::string> text = measure(flags, catalog)) {
      page.set(
          *text +
          fmt::format("# TYPE rightsize_failed_measurements_total counter\nrightsize_failed_measurements_total {}\n",
                      failures));
    } else {
      ++failures;
      std::fputs(describe(text.error()).c_str(), stderr);
    }
    next = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_between);
  }
}

Checked<Outcome> run(const Flags& flags) {
  Result<Seconds> every = parse_duration(flags.every);
  if (!every) return fail(one(std::move(every).error()));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.fleet.catalog));
  RIGHTSIZE_TRY(std::string first, measure(flags, catalog));
  Outcome outcome;
  if (flags.once) {
    outcome.report.blocks.emplace_back(report::Verbatim{"", first});
    outcome.report.document = {{"schema", "rightsize/exporter/1"}, {"metrics", first}};
    return outcome;
  }
  Page page;
  page.set(std::move(first));
  std::signal(SIGINT, stop_exporter);
  std::signal(SIGTERM, stop_exporter);
  MetricsServer server([&page] { return page.get(); });
  Result<std::string> address = server.start(flags.listen);
  if (!address) return fail(one(std::move(address).error()));
  std::fputs(fmt::format("metrics at http://{}/metrics, measured every {}\n", *address, flags.every).c_str(), stderr);
  measure_again(flags, catalog, in_seconds(*every), page);
  server.stop();
  outcome.report.document = {{"schema", "rightsize/exporter/1"}, {"address", *address}};
  return outcome;
}

}  // namespace

Run add_exporter(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_fleet_flags(command, flags->fleet);
  command.add_option("--listen", flags->listen, "address and port; port 0 takes a free one")
      ->default_str("127.0.0.1:9477");
  command.add_option("--every", flags->every, "time between two measurements")->default_str("15min");
  command.add_flag("--once", flags->once, "measure once, print the metrics and end (for a textfile collector)");
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
