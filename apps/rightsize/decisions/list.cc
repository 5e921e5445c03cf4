// rightsize decisions list, show, export: what the ledger holds.
#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/fields.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::DecisionSummary;
using decisions::JudgedMetric;
using decisions::Ledger;
using decisions::StageRecord;
using report::cut;
using report::Fields;
using report::Json;
using report::spare;

constexpr int kNewest = 1000;  // unless --top is given

const Fields<StageRecord> kStageFields = {
    {"stage", "one-job, 10%, 50% or all", &StageRecord::stage},
    {"state", "running, passed or failed", &StageRecord::state},
    {"by", "who ended it", &StageRecord::by},
    {"how", "how it was confirmed", &StageRecord::how},
};

// A decision and its outcome so far.
struct DecisionRecord {
  Decision decision;
  std::vector<StageRecord> stages;
  bool measured = false;
  decisions::Verification found;
};

const Fields<DecisionRecord> kRecordFields = {
    {kDecisionFields, &DecisionRecord::decision},
    {"stages", "the rollout so far", kStageFields, &DecisionRecord::stages},
    {"verdict", "kept, broken or inconclusive; null before anything was measured",
     [](const DecisionRecord& r) { return report::when(r.measured, r.found.outcome); }},
    {"saved_usd", "actual saving per month or run", [](const DecisionRecord& r) { return r.found.saved; }},
};

struct DecisionList {
  std::optional<std::int64_t> total;
  std::vector<DecisionSummary> summaries;
  std::vector<DecisionRecord> records;
};

// `list` has summaries, `show` and `export` have records.
struct ListedDecision {
  const DecisionSummary* summary;
  const DecisionRecord* record;
};
const Fields<ListedDecision> kListedFields = {
    {kSummaryFields, [](const ListedDecision& d) { return d.summary; }},
    {kRecordFields, [](const ListedDecision& d) { return d.record; }},
};
const Fields<DecisionList> kListFields = {
    {"total?", "decisions that match, listed or not", &DecisionList::total},
    {"decisions", "the decisions, newest first", kListedFields,
     [](const DecisionList& list) {
       std::vector<ListedDecision> all;
       for (const DecisionSummary& summary : list.summaries) all.push_back({&summary, nullptr});
       for (const DecisionRecord& record : list.records) all.push_back({nullptr, &record});
       return all;
     }},
};
const report::Document<DecisionList> kDecisionsDocument("decisions", "Decisions in the ledger", kListFields);

report::Table table_of_summaries(const std::vector<DecisionSummary>& found) {
  return table_of(kSummaryFields, found,
                  {"id", cut("workload", 32), spare(cut("team", 16)), spare("decided_at"), "status", cut("choice", 60),
                   "per", "cost_usd", "saving_usd"});
}

std::string summary_of(const decisions::LedgerTotals& totals, std::size_t listed, const std::string& place) {
  std::string text = fmt::format("{} in {}, {} live. The live ones save {}/month (predicted).",
                                 count_of(static_cast<std::size_t>(totals.decisions), "decision"), place,
                                 format_count(static_cast<double>(totals.live)), format_usd(totals.saving));
  if (static_cast<std::int64_t>(listed) < totals.decisions)
    text += fmt::format(" The newest {} are listed (--top 0 lists all).", format_count(static_cast<double>(listed)));
  return text;
}

Result<DecisionRecord> read_record(Ledger& ledger, const std::string& name) {
  DecisionRecord record;
  RIGHTSIZE_TRY(record.decision, ledger.find(name));
  RIGHTSIZE_TRY(record.stages, ledger.stages(record.decision.summary.id));
  RIGHTSIZE_TRY(const std::vector<decisions::MeasuredValue> samples, ledger.samples(record.decision.summary.id));
  record.measured = !samples.empty();
  record.found = decisions::verify(record.decision, samples);
  return record;
}

// Appends the outcome of a decision so far to its record.
void add_practice(const DecisionRecord& record, report::Report& report) {
  std::string rollout;
  for (const StageRecord& r : record.stages) {
    rollout += fmt::format("{}{} {}", rollout.empty() ? "" : ", ", words_of(r.stage), name_of(r.state));
    if (r.ended_at) rollout += " " + day_of(decisions::format_time(*r.ended_at));
  }
  report.say(fmt::format("Rollout: {}.", rollout.empty() ? "not begun" : rollout));
  std::string measured = record.measured ? std::string(name_of(record.found.outcome)) : "nothing yet";
  for (const JudgedMetric& m : record.found.metrics) {
    if (m.measured.count == 0) continue;
    const decisions::MetricInfo& metric = m.prediction.info();
    measured += fmt::format("; {} {} ({})", metric.title, metric.show(m.measured.typical),
                            count_of(static_cast<std::size_t>(m.measured.count), "sample"));
  }
  if (record.found.saved)
    measured += fmt::format("; {} saved", show_cost(*record.found.saved, record.decision.summary.per));
  report.say(fmt::format("Measured: {}.", measured));
}

// The plans are documents of other commands, which no field table describes.
void add_plans(const std::vector<DecisionRecord>& records, Json& document) {
  Json all = Json::array();
  for (std::size_t i = 0; i < records.size(); ++i) {
    Json one = (*document.find("decisions")->items())[i];
    one["plan"] = plan_json(records[i].decision);
    all.push_back(std::move(one));
  }
  document["decisions"] = std::move(all);
}

// The named decisions, or all that match the filter.
Checked<Outcome> records(const DecisionsFlags& flags, std::vector<std::string> names, const char* title,
                         bool as_table) {
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  if (names.empty()) {
    RIGHTSIZE_TRY(const decisions::Filter filter, read_filter(flags));
    RIGHTSIZE_TRY(const std::vector<DecisionSummary> found, ledger.list(filter));
    for (const DecisionSummary& s : found) names.push_back(decisions::label(s.id));
  }
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = title;
  DecisionList list;
  std::vector<DecisionSummary> summaries;
  for (const std::string& name : names) {
    RIGHTSIZE_TRY(DecisionRecord record, read_record(ledger, name));
    add_record(record.decision, report.blocks);
    add_practice(record, report);
    summaries.push_back(record.decision.summary);
    list.records.push_back(std::move(record));
  }
  report.document = kDecisionsDocument.of(list);
  add_plans(list.records, report.document);
  report_backup(ledger.backup(), report);
  if (names.empty()) {
    report.say("No decision matches.");
    outcome.exit_code = kNoFeasibleAnswer;
  } else if (as_table) {  // CSV has the list of decisions, not the predictions of each
    report.record = report.blocks;
    report.blocks = {table_of_summaries(summaries)};
  }
  return outcome;
}

}  // namespace

Checked<Outcome> list_decisions(const DecisionsFlags& flags) {
  RIGHTSIZE_TRY(decisions::Filter filter, read_filter(flags));
  filter.most = flags.top.value_or(kNewest);
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  DecisionList list;
  RIGHTSIZE_TRY(list.summaries, ledger.list(filter));
  RIGHTSIZE_TRY(const decisions::LedgerTotals totals, ledger.totals(filter));
  list.total = totals.decisions;
  Outcome outcome{{.title = "Decisions", .document = kDecisionsDocument.of(list)}};
  report::Report& report = outcome.report;
  report_backup(ledger.backup(), report);
  if (list.summaries.empty()) {
    report.say("No decision matches.");
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  report.say(summary_of(totals, list.summaries.size(), ledger.database().name()));
  report.show("", table_of_summaries(list.summaries), flags.top ? 0 : 40);
  return outcome;
}

Checked<Outcome> show_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names) {
  if (names.empty())
    return fail(bad_input("'decisions show' needs a decision: D12, 12 or a workload")
                    .with_hint("'rightsize decisions list' shows them all"));
  return records(flags, names, "Decision", false);
}

Checked<Outcome> export_decisions(const DecisionsFlags& flags, const std::vector<std::string>& names) {
  return records(flags, names, "Decision records", true);
}

}  // namespace rightsize::app
