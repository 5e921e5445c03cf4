// What the verbs of `rightsize decisions` share.
#pragma once

#include <string>
#include <vector>

#include "rightsize/decisions/ledger_input.h"

namespace rightsize::app {

struct DecisionsFlags {
  std::vector<std::string> words;  // a verb, then decisions
  std::string workload, team, by, gpu, status, since, until;
  int top = -1;  // below 0: the newest thousand
  std::string cheaper = "20%", price_change = "5%", drift = "20%", webhook, webhook_format = "slack", catalog;
  LedgerFlags ledger;
};

// "20%", "0.2"; `flag` is for the error.
Result<double> parse_share(const std::string& text, const char* flag);

Result<decisions::Filter> read_filter(const DecisionsFlags& flags);

Checked<Outcome> list_decisions(const DecisionsFlags& flags);
Checked<Outcome> show_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names);
Checked<Outcome> export_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names);
Checked<Outcome> report_savings(const DecisionsFlags& flags);
Checked<Outcome> review_decisions(const DecisionsFlags& flags);

}  // namespace rightsize::app
