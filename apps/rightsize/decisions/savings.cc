// rightsize decisions savings: the savings of decisions to date.
#include "decisions/savings.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

using decisions::Ledger;
using decisions::Saving;
using report::cut;
using report::Fields;
using report::spare;

struct TeamSaving {
  std::string team;
  std::size_t decisions = 0;
  Usd measured, predicted;
};

const Fields<Saving> kSavingFields = {
    {"id", "#", "number of the decision", [](const Saving& s) { return decisions::label(s.decision.id); }},
    {"workload", "workload", "name of the workload", [](const Saving& s) { return s.decision.workload; }},
    {"team", "team", "who pays for it", [](const Saving& s) { return s.decision.team; }},
    {"status", "status", "status of the decision", [](const Saving& s) { return s.decision.status; }},
    {"verdict", "verdict", "kept, broken or inconclusive", &Saving::outcome},
    {"per", "month (services) or run (jobs)", [](const Saving& s) { return s.decision.per; }},
    {"share_months_or_runs", "months or runs", "months of the whole workload, or runs of a job", &Saving::share_months},
    {"measured_usd", "measured", "saving to date, from measured costs", &Saving::measured},
    {"predicted_usd", "predicted", "saving to date, from predicted costs", &Saving::predicted},
    {"method", "method", "how it was computed, or why nothing is counted", &Saving::method},
};

const Fields<TeamSaving> kTeamFields = {
    {"team", "team", "the team; empty: none was given", &TeamSaving::team,
     [](const TeamSaving& t) { return t.team.empty() ? "(no team)" : t.team; }},
    {"decisions", "decisions", "number of decisions", &TeamSaving::decisions},
    {"measured_usd", "measured", "saving to date, from measured costs", &TeamSaving::measured},
    {"predicted_usd", "predicted", "saving to date, from predicted costs", &TeamSaving::predicted},
};

struct Savings {
  std::string until;
  TeamSaving all;
  std::vector<Saving> decisions;
  std::vector<TeamSaving> teams;
};

const Fields<Savings> kSavingsFields = {
    {"until", "end of the period", &Savings::until},
    {"measured_usd", "saving to date, from measured costs", [](const Savings& s) { return s.all.measured; }},
    {"predicted_usd", "saving to date, from predicted costs", [](const Savings& s) { return s.all.predicted; }},
    {"decisions", "savings by decision", kSavingFields, &Savings::decisions},
    {"teams", "savings by team", kTeamFields, &Savings::teams},
};
const report::Document<Savings> kSavingsDocument("savings", "Savings of decisions to date", kSavingsFields);

constexpr const char* kMethod =
    "Method: the cost before the decision ('decide --before', or measured by 'service') minus the cost now, times the "
    "share of the workload that is rolled out (10 %, 50 %, all; one job counts as 0), from the start of each stage to "
    "the next, to the decision's end, or to now. Jobs are counted by recorded runs. 'Measured' uses bills or measured "
    "prices and speeds; 'predicted' uses the plan's likely cost where nothing was measured. The two are never added. A "
    "superseded decision stops counting when the next one is made.";

}  // namespace

Checked<Outcome> report_savings(const DecisionsFlags& flags) {
  RIGHTSIZE_TRY(const decisions::Filter filter, read_filter(flags));
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<decisions::DecisionSummary> wanted, ledger.list(filter));
  RIGHTSIZE_TRY(const std::vector<std::int64_t> in_practice, ledger.in_practice());
  std::set<std::int64_t> chosen;
  for (const decisions::DecisionSummary& s : wanted) chosen.insert(s.id);
  Savings savings;
  savings.until = decisions::format_time(decisions::now());
  std::map<std::string, TeamSaving> teams;
  for (const std::int64_t id : in_practice) {
    if (!chosen.contains(id)) continue;
    RIGHTSIZE_TRY(const decisions::Decision decision, ledger.find(decisions::label(id)));
    RIGHTSIZE_TRY(const auto stages, ledger.stages(id));
    RIGHTSIZE_TRY(const auto samples, ledger.samples(id));
    savings.decisions.push_back(decisions::saving_of(decision, stages, samples, decisions::now()));
    const Saving& s = savings.decisions.back();
    teams[s.decision.team].team = s.decision.team;
    for (TeamSaving* sum : {&teams[s.decision.team], &savings.all}) {
      ++sum->decisions;
      sum->measured += s.measured.value_or(Usd{});
      sum->predicted += s.predicted.value_or(Usd{});
    }
  }
  for (auto& [name, sum] : teams) savings.teams.push_back(std::move(sum));
  if (wanted.empty() && !filter.author.empty())
    note(fmt::format("no decision by '{}' (--by names a person; savings are shown by decision and by team)",
                     filter.author));
  Outcome outcome{{.title = "Savings to date", .document = kSavingsDocument.of(savings)}};
  report::Report& report = outcome.report;
  const std::size_t waiting = wanted.size() - savings.decisions.size();
  report.say(fmt::format("{} saved by {} (measured); another {} predicted but not measured yet.{}",
                         format_usd(savings.all.measured), day_of(savings.until), format_usd(savings.all.predicted),
                         waiting == 0 ? "" : fmt::format(" {} not rolled out.", count_of(waiting, "decision"))));
  report.show("By decision",
              table_of(kSavingFields, savings.decisions,
                       {"id", cut("workload", 32), cut("team", 16), "status", "verdict", "share_months_or_runs",
                        "measured_usd", "predicted_usd", spare(cut("method", 60))}));
  report.show("By team", table_of(kTeamFields, savings.teams, {"team", "decisions", "measured_usd", "predicted_usd"}));
  report.say(kMethod);
  report_backup(ledger.backup(), report);
  return outcome;
}

}  // namespace rightsize::app
