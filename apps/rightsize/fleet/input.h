// What `fleet` and `exporter` are asked: where telemetry comes from, and how it is judged.
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

// Declares everything above on a command.
void add_fleet_flags(FlagSet& command, FleetFlags& flags);

// The flags, understood.
struct FleetRequest {
  std::vector<std::string> from;  // files; empty: the server is asked
  fleet::ServerOptions server;
  std::string jobs;  // a file of Slurm's accounting; empty: none
  Seconds window;
  std::optional<TimePoint> end;     // of the window; nothing: now, or all that files hold
  std::optional<Seconds> interval;  // between readings; nothing: found by looking
  std::vector<std::string> by_labels;
  fleet::Thresholds thresholds;
  telemetry::NameMap names;
  market::OwnPrices prices;
  fleet::Market market;
  bool show_progress = false;

  // What of the time in files counts; nothing: all of it.
  std::optional<fleet::Interval> cut() const {
    return end ? std::optional(fleet::Interval{*end - window, *end}) : std::nullopt;
  }
};

// Every mistake of the flags at once, as far as they can be told apart.
Checked<FleetRequest> read_request(const FleetFlags& flags, const catalog::Catalog& catalog);

// --fail-on: "waste>30%", "idle>20%", "waste_usd>5000".
struct Limit {
  std::string what;
  double most = 0;  // a share, or dollars
  bool is_share = true;
};
Result<Limit> parse_limit(const std::string& text);

}  // namespace rightsize::app
