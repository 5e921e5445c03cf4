// rightsize decisions savings: what decisions have saved so far, for whoever pays.
#include "decisions/savings.h"

#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "decisions/clock.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/words.h"

namespace rightsize::app {
namespace {

using decisions::Ledger;
using decisions::Saving;
using report::Align;
using report::Json;
using report::json_number;

struct Sum {
  Usd measured, predicted;
  std::size_t decisions = 0;
};

report::Cell dollars(const std::optional<Usd>& amount) {
  return amount ? report::number_cell(format_usd(*amount), in_usd(*amount)) : report::unknown_cell();
}

report::Table decisions_table(const std::vector<Saving>& savings) {
  report::Table table;
  table.title = "By decision";
  table.columns = {{"#", "id", Align::kLeft},
                   {"workload", "workload", Align::kLeft, 32},
                   {"team", "team", Align::kLeft, 16},
                   {"status", "status", Align::kLeft},
                   {"verdict", "verdict", Align::kLeft},
                   {"months or runs", "share_months_or_runs", Align::kRight},
                   {"measured", "measured_usd", Align::kRight},
                   {"predicted", "predicted_usd", Align::kRight},
                   {"method", "method", Align::kLeft, 60, true}};
  for (const Saving& s : savings) {
    table.rows.push_back({report::text_cell(decisions::label(s.decision.id)), report::text_cell(s.decision.workload),
                          report::text_cell(s.decision.team), report::text_cell(name_of(s.decision.status)),
                          report::text_cell(name_of(s.outcome)),
                          report::number_cell(format_number(s.share_months), s.share_months), dollars(s.measured),
                          dollars(s.predicted), report::text_cell(s.method)});
  }
  return table;
}

report::Table teams_table(const std::map<std::string, Sum>& teams) {
  report::Table table;
  table.title = "By team";
  table.columns = {{"team", "team", Align::kLeft},
                   {"decisions", "decisions", Align::kRight},
                   {"measured", "measured_usd", Align::kRight},
                   {"predicted", "predicted_usd", Align::kRight}};
  for (const auto& [team, sum] : teams) {
    table.rows.push_back({report::text_cell(team.empty() ? "(no team)" : team),
                          report::number_cell(std::to_string(sum.decisions), static_cast<double>(sum.decisions)),
                          dollars(sum.measured), dollars(sum.predicted)});
  }
  return table;
}

Json savings_json(const std::vector<Saving>& savings, const std::map<std::string, Sum>& teams, const Sum& all) {
  Json j = {{"schema", "rightsize/savings/1"},
            {"until", decisions::format_time(decisions::now())},
            {"measured_usd", json_number(in_usd(all.measured))},
            {"predicted_usd", json_number(in_usd(all.predicted))}};
  j["decisions"] = Json::array();
  for (const Saving& s : savings) {
    j["decisions"].push_back({{"id", decisions::label(s.decision.id)},
                              {"workload", s.decision.workload},
                              {"team", s.decision.team},
                              {"status", name_of(s.decision.status)},
                              {"verdict", name_of(s.outcome)},
                              {"per", name_of(s.decision.per)},
                              {"share_months_or_runs", json_number(s.share_months)},
                              {"measured_usd", json_number(s.measured, in_usd)},
                              {"predicted_usd", json_number(s.predicted, in_usd)},
                              {"method", s.method}});
  }
  j["teams"] = Json::array();
  for (const auto& [team, sum] : teams) {
    j["teams"].push_back({{"team", team},
                          {"decisions", sum.decisions},
                          {"measured_usd", json_number(in_usd(sum.measured))},
                          {"predicted_usd", json_number(in_usd(sum.predicted))}});
  }
  return j;
}

constexpr const char* kMethod =
    "Method: what the workload cost before the decision (given with 'decide --before', or measured by 'service') less "
    "what "
    "it costs now, times the share of the workload that runs so (rollout: 10 %, 50 %, all; one job alone counts as "
    "nothing), "
    "from the moment each stage began to the next, to the decision's end, or to now. Jobs are counted by recorded "
    "runs. "
    "'Measured' uses bills or measured prices and speeds; 'predicted' uses the plan's likely cost where nothing was "
    "measured. "
    "The two are never added. Decisions that are superseded stop counting when the next one is taken.";

}  // namespace

Checked<Outcome> report_savings(const DecisionsFlags& flags) {
  RIGHTSIZE_TRY(const decisions::Filter filter, read_filter(flags));
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<decisions::Summary> wanted, ledger.list(filter));
  RIGHTSIZE_TRY(const std::vector<std::int64_t> in_practice, ledger.in_practice());
  std::map<std::int64_t, bool> chosen;
  for (const decisions::Summary& s : wanted) chosen[s.id] = true;
  std::vector<Saving> savings;
  std::map<std::string, Sum> teams;
  Sum all;
  for (const std::int64_t id : in_practice) {
    if (!chosen.contains(id)) continue;
    RIGHTSIZE_TRY(const decisions::Decision decision, ledger.find(decisions::label(id)));
    RIGHTSIZE_TRY(const auto stages, ledger.stages(id));
    RIGHTSIZE_TRY(const auto samples, ledger.samples(id));
    savings.push_back(decisions::saving_of(decision, stages, samples, decisions::now()));
    const Saving& s = savings.back();
    for (Sum* sum : {&teams[s.decision.team], &all}) {
      ++sum->decisions;
      sum->measured += s.measured.value_or(Usd{});
      sum->predicted += s.predicted.value_or(Usd{});
    }
  }
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Savings to date";
  const std::size_t waiting = wanted.size() - savings.size();
  report.blocks.emplace_back(report::Paragraph{fmt::format(
      "{} saved by {}, measured; {} more as predicted, not measured yet.{}", format_usd(all.measured),
      decisions::format_time(decisions::now()).substr(0, 10), format_usd(all.predicted),
      waiting == 0 ? ""
                   : fmt::format(" {} {} not rolled out.", waiting, waiting == 1 ? "decision is" : "decisions are"))});
  report.blocks.emplace_back(decisions_table(savings));
  report.blocks.emplace_back(teams_table(teams));
  report.blocks.emplace_back(report::Paragraph{kMethod});
  report.document = savings_json(savings, teams, all);
  report_backup(ledger.backup(), report);
  return outcome;
}

}  // namespace rightsize::app
