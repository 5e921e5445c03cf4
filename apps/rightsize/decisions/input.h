// How decide, decisions, rollout and verify reach the ledger, and read what was measured: numbers by hand, a recording
// of a GPU, or a metrics server.
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
// Reports the copy of an older ledger that was upgraded; nothing if there is none.
void report_backup(const std::string& backup, report::Report& report);

// --by, or else $USER.
std::string author(const std::string& by);

struct MeasureFlags {
  std::vector<std::string> measured, queries;  // METRIC=VALUE[,VALUE...], METRIC=PROMQL
  std::string profile;
  std::vector<std::string> from;  // scrapes
  Seconds step;
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

// Everything the flags name, without what `known` has already: a server's samples by their time, a recording by its
// name. A metrics server answers --query, or, without one, what vLLM and dcgm-exporter publish of the predictions.
Checked<NewSamples> measure(const MeasureFlags& flags, const decisions::Decision& decision,
                            const std::vector<decisions::MeasuredValue>& known);

}  // namespace rightsize::app
