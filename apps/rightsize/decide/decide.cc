// rightsize decide: a plan becomes a decision, kept with what it rests on.
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/version.h"
#include "decisions/clock.h"
#include "decisions/read_plan.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/words.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::UsdRange;

struct Flags {
  std::string from, workload, part, team, by, why, before, way_back, tolerance, catalog;
  int plan = 1;
  bool dry_run = false;
  LedgerFlags ledger;
};

std::string user_name() {
  for (const char* variable : {"USER", "LOGNAME"}) {
    if (const char* name = std::getenv(variable)) return name;
  }
  return {};
}

// What it cost until now, and so what the plan saves.
Result<> add_before(const Flags& flags, Decision& decision) {
  decisions::Summary& summary = decision.summary;
  if (!flags.before.empty()) {
    Result<Usd> before = parse_usd(flags.before);
    if (!before) return fail(std::move(before).error());
    summary.before = *before;
  }
  if (!summary.before || !decision.cost) return {};
  const auto less = [&](const std::optional<Usd>& cost) {
    return cost ? std::optional(*summary.before - *cost) : std::nullopt;
  };
  decision.saving =
      UsdRange{less(decision.cost->high), *summary.before - decision.cost->likely, less(decision.cost->low)};
  summary.saving = decision.saving->likely;
  return {};
}

// The user's own interval where the plan has none.
Result<> add_tolerance(const Flags& flags, Decision& decision) {
  if (flags.tolerance.empty()) return {};
  const Result<double> parsed = parse_share(flags.tolerance, "--tolerance");
  if (!parsed) return fail(parsed.error());
  const double share = *parsed;
  for (decisions::Prediction& p : decision.predictions) {
    if (p.value.low || p.value.high) continue;
    p.value.low = p.value.likely * (1 - share);
    p.value.high = p.value.likely * (1 + share);
  }
  return {};
}

Checked<Decision> read_decision(const Flags& flags) {
  RIGHTSIZE_TRY(std::string text, read_file(flags.from, 64U << 20));
  const std::string name = flags.from == "-" ? "standard input" : flags.from;
  RIGHTSIZE_TRY(Decision decision, decisions::read_plan(name, std::move(text), {flags.plan, flags.part}));
  decision.summary.workload = flags.workload;
  decision.summary.team = flags.team;
  decision.summary.author = flags.by.empty() ? user_name() : flags.by;
  decision.summary.decided_at = decisions::now();
  decision.why = flags.why;
  decision.program = RIGHTSIZE_VERSION;
  if (!flags.way_back.empty()) decision.way_back = flags.way_back;
  if (Result<> added = add_before(flags, decision); !added) return fail(added.error());
  if (Result<> added = add_tolerance(flags, decision); !added) return fail(added.error());
  if (decision.catalogue.empty()) {
    // Plans of other commands do not say; what this run reads is what they read a moment ago.
    RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
    decision.catalogue = catalog::version_of(catalog);
  }
  return decision;
}

std::string sentence(const Decision& d, bool kept) {
  const decisions::Summary& s = d.summary;
  std::string text = fmt::format("{}: ", kept ? decisions::label(s.id) : "Dry run");
  // An action of a fleet says itself what is done.
  text += s.choice.gpu.empty() && d.command == "fleet" ? fmt::format("{}: {}", s.workload, d.what)
                                                       : fmt::format("{} runs on {}", s.workload, s.choice.words);
  if (s.cost) text += fmt::format(" for {}", show_cost(*s.cost, s.per));
  if (const std::string saving = show_saving(s); !saving.empty()) text += ", " + saving;
  return text + ".";
}

Checked<Outcome> run(const Flags& flags) {
  if (trim(flags.workload).empty()) return fail(bad_input("--workload: a name expected"));
  RIGHTSIZE_TRY(Decision decision, read_decision(flags));
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Decision";
  std::string place, backup;
  if (!flags.dry_run) {
    RIGHTSIZE_TRY(decisions::Ledger ledger, open_ledger(flags.ledger, store::Access::kWrite));
    RIGHTSIZE_TRY(decision, ledger.add(std::move(decision)));
    place = ledger.database().name();
    backup = ledger.backup();
  }
  report.blocks.emplace_back(report::Paragraph{sentence(decision, !flags.dry_run)});
  if (report::Table table = predictions_table(decision); !table.rows.empty())
    report.blocks.emplace_back(std::move(table));
  if (!decision.summary.saving) {
    report.blocks.emplace_back(report::Paragraph{"Saving unknown: pass today's cost with --before."});
  }
  report.blocks.emplace_back(report::Paragraph{flags.dry_run
                                                   ? "Nothing was written (--dry-run)."
                                                   : fmt::format("Kept in {}. Next: 'rightsize rollout start {}'.",
                                                                 place, decisions::label(decision.summary.id))});
  add_record(decision, report.record);
  report.document = {{"schema", "rightsize/decide/1"},
                     {"ledger", place.empty() ? report::Json(nullptr) : report::Json(place)}};
  report.document["decision"] = decision_json(decision);
  report_backup(backup, report);
  return outcome;
}

}  // namespace

Run add_decide(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command
      .add_option("--from", flags->from,
                  "the plan: what recommend, service, fleet, batch, window or mig wrote with --format json, or - for "
                  "standard input")
      ->required();
  command.add_option("--workload", flags->workload, "the name the workload goes by from now on")->required();
  command.add_option("--plan", flags->plan, "which plan of the file, by its rank; of a fleet, which action")
      ->default_str("1");
  command.add_option("--part", flags->part, "which workload or service of a file with several");
  command.add_option("--team", flags->team, "who pays for it");
  command.add_option("--by", flags->by, "who decides (default: $USER)");
  command.add_option("--why", flags->why, "the reason, for whoever asks in a year");
  command.add("cost-before", flags->before);
  command.add_option("--rollback,--way-back", flags->way_back, "how to undo it: a command or a sentence");
  command.add_option("--tolerance", flags->tolerance,
                     "how far a number may be off where the plan gives no interval, e.g. 15%");
  command.add_flag("--dry-run", flags->dry_run, "show the decision, keep nothing");
  add_ledger_flags(command, flags->ledger);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
