// How commands reach the ledger of decisions.
#pragma once

#include <string>

#include "decisions/ledger.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct LedgerFlags {
  std::string ledger, wait = "30s";
};

void add_ledger_flags(FlagSet& command, LedgerFlags& flags);
Result<decisions::Ledger> open_ledger(const LedgerFlags& flags, store::Access access);

// Where an older ledger was copied before it was brought up to date; nothing where it was not.
void report_backup(const std::string& backup, report::Report& report);

}  // namespace rightsize::app
