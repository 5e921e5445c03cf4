// Decisions as tables, JSON and sentences, for decide, decisions, rollout and verify.
#pragma once

#include <string>
#include <vector>

#include "decisions/evidence.h"
#include "report/fields.h"

namespace rightsize::app {

extern const report::Fields<decisions::DecisionSummary> kSummaryFields;
extern const report::Fields<decisions::PredictedRange> kRangeFields;
extern const report::Fields<decisions::Decision> kDecisionFields;

// The plan it was made from, as its command wrote it.
report::Json plan_json(const decisions::Decision& decision);
report::Table predictions_table(const decisions::Decision& decision);

// The decision as a record to keep with the code: what, why, predictions, rollback, sources.
void add_record(const decisions::Decision& decision, std::vector<report::Block>& blocks);

// "D12 (chat)".
std::string full_name(const decisions::DecisionSummary& summary);
// "$6,979/month", "$67/run".
std::string show_cost(Usd cost, decisions::Per per);
// "$5,021/month less than today", "$12/run more than today"; empty where no saving is known.
std::string show_saving(const decisions::DecisionSummary& summary);
// The day of a time, for people.
std::string day_of(const std::string& time);
// "1 sample", "3 samples".
std::string count_of(std::size_t number, const char* noun);

inline void say(report::Report& report, std::string text) {
  if (!text.empty()) report.blocks.emplace_back(report::Paragraph{std::move(text)});
}

}  // namespace rightsize::app
