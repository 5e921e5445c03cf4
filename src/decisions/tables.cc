#include "decisions/tables.h"

namespace rightsize::decisions {

// Moments are seconds since 1970, money dollars. A list reads the first table alone, so that it stays narrow: the plan
// is kept apart.
// NOLINTBEGIN(bugprone-suspicious-missing-comma): statements longer than a line
const store::Schema& ledger_schema() {
  static const store::Schema kSchema{
      "decision_version",
      {"decision", "decision_prediction", "decision_document", "decision_stage", "decision_sample"},
      {{
           "CREATE TABLE decision (id BIGINT PRIMARY KEY, workload TEXT NOT NULL, team TEXT NOT NULL, author TEXT NOT "
           "NULL, decided_at BIGINT NOT NULL, status TEXT NOT NULL, choice TEXT NOT NULL, gpu TEXT NOT NULL, gpus "
           "BIGINT NOT NULL, provider TEXT NOT NULL, instance TEXT NOT NULL, instances BIGINT NOT NULL, region TEXT "
           "NOT "
           "NULL, purchase TEXT NOT NULL, per TEXT NOT NULL, cost DOUBLE PRECISION, before_cost DOUBLE PRECISION, "
           "saving DOUBLE PRECISION, ended_at BIGINT, superseded_by BIGINT)",
           "CREATE INDEX decision_of_workload ON decision (workload)",
           "CREATE INDEX decision_of_team ON decision (team)",
           "CREATE TABLE decision_prediction (decision BIGINT NOT NULL, place BIGINT NOT NULL, metric TEXT NOT NULL, "
           "low DOUBLE PRECISION, likely DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION, bound DOUBLE PRECISION, "
           "PRIMARY KEY (decision, metric))",
           "CREATE TABLE decision_document (decision BIGINT PRIMARY KEY, why TEXT NOT NULL, what TEXT NOT NULL, "
           "command "
           "TEXT NOT NULL, catalogue TEXT NOT NULL, program TEXT NOT NULL, way_back TEXT NOT NULL, cost_low DOUBLE "
           "PRECISION, cost_high DOUBLE PRECISION, saving_low DOUBLE PRECISION, saving_high DOUBLE PRECISION, request "
           "TEXT NOT NULL, plan TEXT NOT NULL)",
       },
       {
           // Version 2: rollouts and measurements.
           "CREATE TABLE decision_stage (decision BIGINT NOT NULL, place BIGINT NOT NULL, stage TEXT NOT NULL, state "
           "TEXT "
           "NOT NULL, started_at BIGINT NOT NULL, ended_at BIGINT, author TEXT NOT NULL, how TEXT NOT NULL, note TEXT "
           "NOT "
           "NULL, PRIMARY KEY (decision, place))",
           "CREATE TABLE decision_sample (decision BIGINT NOT NULL, place BIGINT NOT NULL, metric TEXT NOT NULL, value "
           "DOUBLE PRECISION NOT NULL, taken_at BIGINT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (decision, place))",
       }}};
  return kSchema;
}
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace rightsize::decisions
