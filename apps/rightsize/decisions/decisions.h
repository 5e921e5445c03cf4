// Shared by the verbs of `rightsize decisions`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rightsize/decisions/input.h"

namespace rightsize::app {

struct DecisionsFlags {
  std::vector<std::string> words;  // a verb, then decision IDs
  std::string workload, team, by, gpu, since, until, webhook, webhook_format, catalog;
  std::vector<std::string> status;
  std::optional<int> top;  // empty: the newest thousand
  Ratio cheaper, price_change, drift;
  LedgerFlags ledger;
};

Result<decisions::Filter> read_filter(const DecisionsFlags& flags);

Checked<Outcome> list_decisions(const DecisionsFlags& flags);
Checked<Outcome> show_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names);
Checked<Outcome> export_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names);
Checked<Outcome> report_savings(const DecisionsFlags& flags);
Checked<Outcome> review_decisions(const DecisionsFlags& flags);

}  // namespace rightsize::app
