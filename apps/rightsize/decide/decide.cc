// rightsize decide: records a plan as a decision.
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "catalog/version.h"
#include "decisions/read_plan.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/decisions/input.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::UsdRange;

struct DecideFlags {
  std::string from, workload, part, team, by, why, rollback, catalog;
  std::optional<Usd> before, after;
  std::optional<Ratio> tolerance;
  int plan = 0;  // 0: the one that the answer names first
  bool dry_run = false;
  LedgerFlags ledger;
};

struct DecideAnswer {
  std::optional<std::string> ledger;  // empty: nothing was stored
  Decision decision;
};
const report::Fields<DecideAnswer> kAnswerFields = {
    {"ledger", "the ledger that holds it; null for a dry run", &DecideAnswer::ledger},
    {"decision", "the decision", kDecisionFields, &DecideAnswer::decision},
};
const report::Document<DecideAnswer> kDecideDocument("decide", "A plan recorded as a decision", kAnswerFields);

// Sets the cost before the decision, and with it the saving.
void add_before(const DecideFlags& flags, Decision& decision) {
  decisions::DecisionSummary& summary = decision.summary;
  if (flags.before) summary.before = flags.before;
  if (!summary.before || !decision.cost) return;
  const auto less = [&](const std::optional<Usd>& cost) {
    return cost ? std::optional(*summary.before - *cost) : std::nullopt;
  };
  decision.saving =
      UsdRange{less(decision.cost->high), *summary.before - decision.cost->likely, less(decision.cost->low)};
  summary.saving = decision.saving->likely;
}

// Predictions without an interval get --tolerance.
void add_tolerance(double share, Decision& decision) {
  for (decisions::PredictedMetric& p : decision.predictions) {
    if (p.value.low || p.value.high) continue;
    p.value.low = p.value.likely * (1 - share);
    p.value.high = p.value.likely * (1 + share);
  }
}

// The decision from a plan file, or from a cost alone.
Checked<Decision> planned(const DecideFlags& flags) {
  if (flags.from.empty() == !flags.after) {
    return fail(bad_input("give the plan: either --from FILE or its monthly cost, --after 9200")
                    .with_hint("--from takes the JSON of 'recommend' and other commands"));
  }
  if (flags.from.empty()) {
    Decision decision;
    decision.command = "decide";
    decision.summary.choice.words = flags.why.empty() ? "not described" : flags.why;
    decision.summary.cost = flags.after;
    decision.cost = UsdRange{{}, *flags.after, {}};
    decision.plan = "null";
    return decision;
  }
  RIGHTSIZE_TRY(std::string text, read_file(flags.from, 64U << 20));
  const std::string name = flags.from == "-" ? "standard input" : flags.from;
  return decisions::read_plan(name, std::move(text), {flags.plan, flags.part});
}

Checked<Decision> read_decision(const DecideFlags& flags) {
  RIGHTSIZE_TRY(Decision decision, planned(flags));
  decision.summary.workload = flags.workload;
  decision.summary.team = flags.team;
  decision.summary.author = author(flags.by);
  decision.summary.decided_at = decisions::now();
  decision.why = flags.why;
  decision.program = RIGHTSIZE_VERSION;
  if (!flags.rollback.empty()) decision.rollback = flags.rollback;
  add_before(flags, decision);
  if (flags.tolerance) add_tolerance(flags.tolerance->fraction(), decision);
  if (decision.catalogue.empty()) {
    // Plans of other commands do not record the price; they used the same catalogue moments ago.
    RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
    decision.catalogue = catalog::version_of(catalog);
  }
  return decision;
}

std::string sentence(const Decision& d, bool kept) {
  const decisions::DecisionSummary& s = d.summary;
  std::string text = fmt::format("{}: ", kept ? decisions::label(s.id) : "Dry run");
  if (d.command == "decide") {
    const std::string saving = show_saving(s);
    return text + fmt::format("{} costs {} from now on{}.", s.workload, show_cost(*s.cost, s.per),
                              saving.empty() ? "" : ", " + saving);
  }
  // An action of `fleet` already describes itself.
  text +=
      s.choice.gpu.empty() && d.command == "fleet"
          ? fmt::format("{}: {}", s.workload, d.what)
          : fmt::format("{} {} {}", s.workload, d.command == "autoscale" ? "scales with" : "runs on", s.choice.words);
  if (s.cost) text += fmt::format(" for {}", show_cost(*s.cost, s.per));
  if (const std::string saving = show_saving(s); !saving.empty()) text += ", " + saving;
  return text + ".";
}

Checked<Outcome> run_decide(DecideFlags flags) {
  // `decide chat --after 9200`: the workload in place of a file.
  std::error_code ignored;
  if (flags.workload.empty() && flags.after && flags.from != "-" && !std::filesystem::exists(flags.from, ignored))
    flags.workload = std::exchange(flags.from, {});
  if (trim(flags.workload).empty())
    return fail(bad_input("--workload is required").with_hint("the name of the service or job: --workload chat"));
  DecideAnswer answer;
  RIGHTSIZE_TRY(answer.decision, read_decision(flags));
  Decision& decision = answer.decision;
  std::string backup;
  if (!flags.dry_run) {
    RIGHTSIZE_TRY(decisions::Ledger ledger, open_ledger(flags.ledger, store::Access::kWrite));
    RIGHTSIZE_TRY(decision, ledger.add(std::move(decision)));
    answer.ledger = ledger.database().name();
    backup = ledger.backup();
  }
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Decision";
  report.say(sentence(decision, !flags.dry_run));
  if (report::Table table = predictions_table(decision); !table.rows.empty())
    report.show("Predicted", std::move(table));
  if (!decision.summary.saving) report.say("Saving unknown: pass today's cost with --before.");
  report.say(flags.dry_run ? "Nothing was written (--dry-run)."
                           : fmt::format("Kept in {}. Next: 'rightsize rollout start {}'.", *answer.ledger,
                                         decisions::label(decision.summary.id)));
  add_record(decision, report.record);
  report.document = kDecideDocument.of(answer);
  report.document["decision"]["plan"] = plan_json(decision);
  report_backup(backup, report);
  return outcome;
}

}  // namespace

Run add_decide(FlagSet& command) {
  auto flags = std::make_shared<DecideFlags>();
  command.add("from", flags->from)
      ->meaning(
          "the plan: JSON of recommend, service, autoscale, fleet, batch, window, mig or portfolio, or - for standard "
          "input")
      ->argument();
  command.add("workload", flags->workload);
  command.add("plan", flags->plan)->meaning("rank of the plan in the file; of a fleet, the number of the action");
  command.add("part", flags->part);
  command.add("team", flags->team);
  command.add("by", flags->by)->meaning("who decides")->or_words("$USER");
  command.add("why", flags->why);
  command.add("cost-before", flags->before);
  command.add("cost-after", flags->after);
  command.add("rollback", flags->rollback);
  command.add("tolerance", flags->tolerance);
  command.add("dry-run", flags->dry_run)->meaning("show the decision without keeping it");
  add_ledger_flags(command, flags->ledger);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_decide(*flags); };
}

}  // namespace rightsize::app
