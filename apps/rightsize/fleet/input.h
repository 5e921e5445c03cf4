// The settings of `fleet` and `exporter`: where telemetry comes from, and how it is judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/coverage.h"
#include "fleet/fleet.h"
#include "fleet/scan.h"
#include "rightsize/command.h"
#include "rightsize/input/server_flags.h"

namespace rightsize::app {

struct FleetFlags : ServerFlags {
  std::vector<std::string> from, prices, names;
  std::string jobs, step, resume;
  std::size_t shard = 96;
  int parallel = 2;
  std::string idle_below = "0.5%", held_above = "1GiB", target = "85%", sharing = "80%", memory_headroom = "90%";
  std::string stop_above = "90%", park_after = "4h", min_age = "24h", max_overload = "1%";
  std::vector<std::string> providers, regions, by_labels;
  bool across_teams = false;
  std::string catalog;
};

// Declares the flags above.
void add_fleet_flags(FlagSet& command, FleetFlags& flags);

struct FleetRequest {
  std::vector<std::string> from;  // files; empty: use the server
  fleet::ServerOptions server;
  std::string jobs;  // a file of Slurm's accounting; may be empty
  Seconds window;
  std::optional<TimePoint> end;     // of the window; not set: now, or everything in the files
  std::optional<Seconds> interval;  // between readings; not set: determined from the readings
  std::vector<std::string> by_labels;
  fleet::Thresholds thresholds;
  telemetry::NameMap names;
  market::OwnPrices prices;
  market::OfferFilter where;  // providers and regions of alternatives
  bool show_progress = false;

  // The time in files that counts; not set: all of it.
  std::optional<fleet::TimeSpan> cut() const {
    return end ? std::optional(fleet::TimeSpan{*end - window, *end}) : std::nullopt;
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
