// Shared by all commands: the command table, common flags, the outcome, and the terminal's abilities.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "report/report.h"
#include "rightsize/flags.h"

namespace rightsize::app {

// Exit codes, as documented in --help.
inline constexpr int kDone = 0;
inline constexpr int kNoFeasibleAnswer = 2;
inline constexpr int kCheckFailed = 4;  // a requested check did not pass; for cron and CI

// The result of a command.
struct Outcome {
  report::Report report;
  int exit_code = kDone;
};
using Run = std::function<Checked<Outcome>()>;

// One row of the command table. `add` declares the flags and returns the function to run after parsing, which owns the
// variables of the flags.
struct Command {
  const char* name;
  Run (*add)(FlagSet& command);
};

Run add_estimate(FlagSet& command);
Run add_calibrate(FlagSet& command);
Run add_autoscale(FlagSet& command);
Run add_batch(FlagSet& command);
Run add_bill(FlagSet& command);
Run add_cache(FlagSet& command);
Run add_checklist(FlagSet& command);
Run add_commit(FlagSet& command);
Run add_decide(FlagSet& command);
Run add_decisions(FlagSet& command);
Run add_diff(FlagSet& command);
Run add_exporter(FlagSet& command);
Run add_fleet(FlagSet& command);
Run add_gpus(FlagSet& command);
Run add_init(FlagSet& command);
Run add_memory(FlagSet& command);
Run add_mig(FlagSet& command);
Run add_models(FlagSet& command);
Run add_portfolio(FlagSet& command);
Run add_profile(FlagSet& command);
Run add_prices(FlagSet& command);
Run add_recommend(FlagSet& command);
Run add_serve(FlagSet& command);
Run add_rollout(FlagSet& command);
Run add_service(FlagSet& command);
Run add_top(FlagSet& command);
Run add_verify(FlagSet& command);
Run add_window(FlagSet& command);

// The catalogue of this run: the built-in facts, the user's overlay, the prices of the price store, and the user's
// agreements with providers. `store` is --store; if it is empty, $RIGHTSIZE_STORE or the default store, if it exists.
Checked<catalog::Catalog> open_catalog(const std::string& flag, const std::string& store = {});
// The same without prices, for commands that need none: GPUs, MIG profiles, machines.
Checked<catalog::Catalog> open_hardware(const std::string& flag);

// Declares --catalog, for every command that reads the catalogue.
void add_catalog_flag(FlagSet& command, std::string& directory);

// Whether a file descriptor is a terminal that understands escape codes: colours, cursor movements. TERM=dumb is not.
bool takes_escape_codes(int descriptor);

}  // namespace rightsize::app
