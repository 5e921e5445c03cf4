// Decisions as tables, JSON and sentences, for decide, decisions, rollout and verify.
#pragma once

#include <string>
#include <vector>

#include "base/located_json.h"
#include "decisions/evidence.h"
#include "report/fields.h"

namespace rightsize::app {

extern const report::Fields<decisions::DecisionSummary> kSummaryFields;
extern const report::Fields<decisions::PredictedRange> kRangeFields;
extern const report::Fields<decisions::Decision> kDecisionFields;
extern const report::Fields<decisions::JudgedMetric> kJudgedFields;  // a prediction and its measurements
std::string show_predicted(const decisions::JudgedMetric& metric);

// The decision's plan, as its command wrote it.
report::Json plan_json(const decisions::Decision& decision);
// The members of the chosen plan.
class PlanFields {
 public:
  explicit PlanFields(const decisions::Decision& decision);
  // Empty if there is no such member.
  std::string text(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;

 private:
  const JsonValue* find(std::string_view name) const;
  std::optional<LocatedJson> document_;
};

report::Table predictions_table(const decisions::Decision& decision);

// The decision as a record to keep with the code: what, why, predictions, rollback, sources.
void add_record(const decisions::Decision& decision, std::vector<report::Block>& blocks);

// "D12 (chat)".
std::string full_name(const decisions::DecisionSummary& summary);
// "$6,979/month", "$67/run".
std::string show_cost(Usd cost, decisions::Per per);
// "$5,021/month less than today", "$12/run more than today"; empty if no saving is known.
std::string show_saving(const decisions::DecisionSummary& summary);
// The date part of a time.
std::string day_of(const std::string& time);
// "1 sample", "3 samples".
std::string count_of(std::size_t number, const char* noun);

}  // namespace rightsize::app
