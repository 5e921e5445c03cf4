// rightsize decisions list, show, export: what the ledger holds.
#include <fmt/format.h>

#include "base/format.h"
#include "decisions/clock.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/words.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::Ledger;
using decisions::Summary;
using report::Align;
using report::Json;

report::Cell dollars(const std::optional<Usd>& amount) {
  return amount ? report::number_cell(format_usd(*amount), in_usd(*amount)) : report::unknown_cell();
}

report::Table table_of(const std::vector<Summary>& found, std::size_t most) {
  report::Table table;
  table.columns = {{"#", "id", Align::kLeft},
                   {"workload", "workload", Align::kLeft, 32},
                   {"team", "team", Align::kLeft, 16, true},
                   {"decided", "decided_at", Align::kLeft, 0, true},
                   {"status", "status", Align::kLeft},
                   {"choice", "choice", Align::kLeft, 60},
                   {"per", "per", Align::kLeft},
                   {"cost", "cost_usd", Align::kRight},
                   {"saves", "saving_usd", Align::kRight}};
  table.most_shown = most;
  for (const Summary& s : found) {
    const std::string time = decisions::format_time(s.decided_at);
    table.rows.push_back({report::text_cell(decisions::label(s.id)), report::text_cell(s.workload),
                          report::text_cell(s.team), report::Cell{time.substr(0, 10), time},
                          report::text_cell(name_of(s.status)), report::text_cell(s.choice.words),
                          report::text_cell(name_of(s.per)), dollars(s.cost), dollars(s.saving)});
  }
  return table;
}

constexpr std::int64_t kNewest = 1000;  // unless --top says otherwise

std::string count_of(const decisions::Totals& totals, std::size_t listed, const std::string& place) {
  std::string text =
      fmt::format("{} {} in {}, {} live; those predict {}/month saved.",
                  format_count(static_cast<double>(totals.decisions)), totals.decisions == 1 ? "decision" : "decisions",
                  place, format_count(static_cast<double>(totals.live)), format_usd(totals.saving));
  if (static_cast<std::int64_t>(listed) < totals.decisions) {
    text += fmt::format(" The newest {} are listed (--top 0 lists all).", format_count(static_cast<double>(listed)));
  }
  return text;
}

// The decisions named, or all that the filter lets through.
Result<std::vector<Decision>> read_all(const DecisionsFlags& flags, Ledger& ledger,
                                       const std::vector<std::string>& names) {
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    RIGHTSIZE_TRY(const decisions::Filter filter, read_filter(flags));
    RIGHTSIZE_TRY(const std::vector<Summary> found, ledger.list(filter));
    for (const Summary& s : found) wanted.push_back(decisions::label(s.id));
  }
  std::vector<Decision> all;
  for (const std::string& name : wanted) {
    RIGHTSIZE_TRY(Decision decision, ledger.find(name));
    all.push_back(std::move(decision));
  }
  return all;
}

// What came of a decision so far, as the end of its record.
Result<> add_practice(Ledger& ledger, const Decision& decision, std::vector<report::Block>& blocks, Json& j) {
  const std::int64_t id = decision.summary.id;
  Result<std::vector<decisions::StageRecord>> stages = ledger.stages(id);
  if (!stages) return fail(std::move(stages).error());
  Result<std::vector<decisions::Sample>> samples = ledger.samples(id);
  if (!samples) return fail(std::move(samples).error());
  std::string rollout;
  j["stages"] = Json::array();
  for (const decisions::StageRecord& r : *stages) {
    rollout += fmt::format("{}{} {}", rollout.empty() ? "" : ", ", words_of(r.stage), name_of(r.state));
    if (r.ended_at) rollout += fmt::format(" {}", decisions::format_time(*r.ended_at).substr(0, 10));
    j["stages"].push_back({{"stage", name_of(r.stage)}, {"state", name_of(r.state)}, {"by", r.by}, {"how", r.how}});
  }
  blocks.emplace_back(report::Paragraph{fmt::format("Rollout: {}.", rollout.empty() ? "not begun" : rollout)});
  const decisions::Verification found = decisions::verify(decision, *samples);
  j["verdict"] = samples->empty() ? Json(nullptr) : Json(name_of(found.outcome));
  j["saved_usd"] = report::json_number(found.saved, in_usd);
  std::string measured;
  for (const decisions::MetricVerdict& v : found.metrics) {
    if (v.measured.count == 0) continue;
    const std::string_view metric = v.prediction.metric;
    measured += fmt::format("; {} {} ({} {})", metric_words(metric), show_metric(metric, v.measured.typical),
                            v.measured.count, v.measured.count == 1 ? "sample" : "samples");
  }
  std::string verdict =
      samples->empty() ? "Measured: nothing yet" : fmt::format("Measured: {}{}", name_of(found.outcome), measured);
  if (found.saved) verdict += fmt::format("; {}/{} saved", format_usd(*found.saved), name_of(decision.summary.per));
  blocks.emplace_back(report::Paragraph{verdict + "."});
  return {};
}

// Records one after the other; CSV has the list.
Result<Outcome> records(Ledger& ledger, const std::vector<Decision>& all, const char* title) {
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = title;
  report.document = {{"schema", "rightsize/decisions/1"}, {"decisions", Json::array()}};
  for (const Decision& decision : all) {
    add_record(decision, report.blocks);
    Json j = decision_json(decision);
    if (Result<> added = add_practice(ledger, decision, report.blocks, j); !added)
      return fail(std::move(added).error());
    report.document["decisions"].push_back(std::move(j));
  }
  report_backup(ledger.backup(), report);
  if (all.empty()) {
    report.blocks.emplace_back(report::Paragraph{"No decision matches."});
    outcome.exit_code = kNoFeasibleAnswer;
  }
  return outcome;
}

}  // namespace

Checked<Outcome> list_decisions(const DecisionsFlags& flags) {
  RIGHTSIZE_TRY(decisions::Filter filter, read_filter(flags));
  filter.most = flags.top < 0 ? kNewest : flags.top;
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<Summary> found, ledger.list(filter));
  RIGHTSIZE_TRY(const decisions::Totals totals, ledger.totals(filter));
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Decisions";
  report.document = {{"schema", "rightsize/decisions/1"}, {"total", totals.decisions}, {"decisions", Json::array()}};
  for (const Summary& s : found) report.document["decisions"].push_back(summary_json(s));
  report_backup(ledger.backup(), report);
  if (found.empty()) {
    report.blocks.emplace_back(report::Paragraph{"No decision matches."});
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  report.blocks.emplace_back(report::Paragraph{count_of(totals, found.size(), ledger.database().name())});
  report.blocks.emplace_back(table_of(found, flags.top < 0 ? 40 : 0));
  return outcome;
}

Checked<Outcome> show_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names) {
  if (names.empty()) {
    return fail(bad_input("'decisions show' needs a decision: D12, 12 or a workload")
                    .with_hint("'rightsize decisions list' shows them all"));
  }
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<Decision> all, read_all(flags, ledger, names));
  RIGHTSIZE_TRY(Outcome outcome, records(ledger, all, "Decision"));
  return outcome;
}

Checked<Outcome> export_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names) {
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<Decision> all, read_all(flags, ledger, names));
  RIGHTSIZE_TRY(Outcome outcome, records(ledger, all, "Decision records"));
  report::Report& report = outcome.report;
  // Tables are what CSV has: the decisions, not their predictions one by one.
  report.record = report.blocks;
  std::vector<Summary> summaries;
  for (const Decision& decision : all) summaries.push_back(decision.summary);
  if (!all.empty()) report.blocks = {table_of(summaries, 0)};
  return outcome;
}

}  // namespace rightsize::app
