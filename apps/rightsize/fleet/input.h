// The settings of `fleet` and `exporter`: the source of telemetry, and the thresholds that judge it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/filter.h"
#include "fleet/fleet.h"
#include "gpu_use/coverage.h"
#include "gpu_use/scan.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/input/server_flags.h"

namespace rightsize::app {

struct FleetFlags : ServerFlags {
  std::vector<std::string> from, names, providers, regions, by_labels;
  std::vector<std::string> users, accounts, partitions, namespaces;
  std::string since, until;
  PriceFlag prices;
  std::string jobs, resume, catalog, gpu;
  std::optional<Seconds> step;
  std::size_t shard = 96;
  int parallel = 2;
  fleet::Thresholds thresholds;
};

// Declares the flags above.
void add_fleet_flags(FlagSet& command, FleetFlags& flags);

struct FleetRequest {
  std::vector<std::string> from;  // files; empty: use the server
  std::string jobs;               // a file of Slurm's accounting; may be empty
  fleet::ServerOptions server;    // its window, names and interval apply to files, too
  std::vector<std::string> by_labels;
  fleet::WorkFilter only;
  fleet::Thresholds thresholds;
  market::OwnPrices prices;
  market::OfferFilter where;  // providers and regions of alternatives
  std::string gpu;            // of sources that do not name it
  bool show_progress = false;
  bool to_last_reading = false;         // the window of files ends with their newest reading
  std::optional<Watts> power_cap = {};  // what it would do to every GPU

  // The time span to use from files; empty: all of it.
  std::optional<fleet::TimeSpan> cut() const {
    return server.end ? std::optional(fleet::TimeSpan{*server.end - server.window, *server.end}) : std::nullopt;
  }
};

Checked<FleetRequest> read_request(const FleetFlags& flags, const catalog::Catalog& catalog);

// --fail-on: "waste>30%", "idle>20%", "waste_usd>5000".
struct Limit {
  std::string what;
  double most = 0;  // a share, or dollars
  bool is_share = true;
};
Result<Limit> parse_limit(const std::string& text);

}  // namespace rightsize::app
