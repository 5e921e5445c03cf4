// How decide, decisions, rollout and verify open the ledger and read measurements: typed numbers, a recording of a GPU,
// or a metrics server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/ledger.h"
#include "rightsize/command.h"
#include "rightsize/input/server_flags.h"

namespace rightsize::app {

struct LedgerFlags {
  std::string ledger;
  Seconds wait;
};
void add_ledger_flags(FlagSet& command, LedgerFlags& flags);
Result<decisions::Ledger> open_ledger(const LedgerFlags& flags, store::Access access);
// Reports the backup made before a ledger was upgraded, if there is one.
void report_backup(const std::string& backup, report::Report& report);

// --by, or else $USER.
std::string author(const std::string& by);

struct MeasureFlags {
  std::vector<std::string> measured, queries;  // METRIC=VALUE[,VALUE...], METRIC=PROMQL
  std::string profile;
  std::vector<std::string> from;  // scrapes
  std::optional<Seconds> step;
  std::optional<int> oom;
  ServerFlags server;

  bool any() const;
};
void add_measure_flags(FlagSet& command, MeasureFlags& flags);

struct NewSamples {
  std::vector<decisions::MeasuredValue> samples;
  std::string how;                 // "by hand", "profile run.csv", "prometheus http://..."
  std::vector<std::string> notes;  // "the server has no series for ttft_seconds"
};

// All samples of the sources in the flags that are not in `known`: a server's samples by their time, a recording by its
// name. Without --query, the vLLM and dcgm-exporter metrics that match the predictions are queried.
Checked<NewSamples> measure(const MeasureFlags& flags, const decisions::Decision& decision,
                            const std::vector<decisions::MeasuredValue>& known);

}  // namespace rightsize::app
