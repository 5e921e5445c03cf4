// What every command has in common: the table of commands, shared flags, and how a report reaches the terminal.
#pragma once

#include <array>
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
inline constexpr int kCheckFailed = 4;  // what was asked to be checked is not so; for cron and CI

// What a command ends with: a report and an exit code, or everything that was wrong.
struct Outcome {
  report::Report report;
  int exit_code = kDone;
};
using Run = std::function<Checked<Outcome>()>;

// One row of the command table. `add` declares the flags on `command` and returns what to run once they are parsed;
// the flags' storage lives in the returned closure.
struct Command {
  const char* name;
  const char* summary;
  Run (*add)(FlagSet& command);
  std::array<const char*, 2> examples;  // without the program's name; a test runs them in the repository's root
};

Run add_estimate(FlagSet& command);
Run add_calibrate(FlagSet& command);
Run add_batch(FlagSet& command);
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
Run add_profile(FlagSet& command);
Run add_prices(FlagSet& command);
Run add_recommend(FlagSet& command);
Run add_serve(FlagSet& command);
Run add_rollout(FlagSet& command);
Run add_service(FlagSet& command);
Run add_top(FlagSet& command);
Run add_verify(FlagSet& command);
Run add_window(FlagSet& command);

// The catalogue for this run: the built-in one, the overlay the user named, what the price store holds, and what the
// user agreed with providers. `store` is
// --store; without it the store of $RIGHTSIZE_STORE or the usual one, where there is one.
Checked<catalog::Catalog> open_catalog(const std::string& flag, const std::string& store = {});

// Declares --catalog, which every command that reads the catalogue has.
void add_catalog_flag(FlagSet& command, std::string& directory);

}  // namespace rightsize::app
