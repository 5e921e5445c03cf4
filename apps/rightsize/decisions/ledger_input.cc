#include "rightsize/decisions/ledger_input.h"

#include <fmt/format.h>

#include "base/parse_units.h"

namespace rightsize::app {

void add_ledger_flags(FlagSet& command, LedgerFlags& flags) {
  command.add_option("--ledger", flags.ledger,
                     "the ledger of decisions: a file, or postgres://... (or $RIGHTSIZE_LEDGER; default "
                     "rightsize/decisions.db in your XDG data folder)");
  command.add_option("--wait", flags.wait, "how long to wait while another process writes to it")->default_str("30s");
}

Result<decisions::Ledger> open_ledger(const LedgerFlags& flags, store::Access access) {
  RIGHTSIZE_TRY(const Seconds wait, parse_duration(flags.wait));
  return decisions::Ledger::open(decisions::Ledger::url(flags.ledger), access, wait);
}

void report_backup(const std::string& backup, report::Report& report) {
  if (backup.empty()) return;
  report.document["backup"] = backup;
  report.blocks.emplace_back(report::Paragraph{fmt::format(
      "The ledger was of an older version and was brought up to date; a copy of it as it was is in {}.", backup)});
}

}  // namespace rightsize::app
