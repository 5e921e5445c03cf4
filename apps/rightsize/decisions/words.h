// Decisions as sentences, tables and JSON: what decide, decisions, rollout and verify share.
#pragma once

#include <string>
#include <string_view>

#include "decisions/decision.h"
#include "report/report.h"

namespace rightsize::app {

// "172 GiB", "32.6 ms", "40,354 tok/s", as the metric's name says.
std::string show_metric(std::string_view metric, double value);
// "tokens a second", "p95 TTFT" is what people call "tokens_per_second", "ttft_seconds".
std::string_view metric_words(std::string_view metric);
// "$6,979 a month", "$67 a run".
std::string show_cost(Usd cost, decisions::Per per);
// "$5,021 less a month than today", "$12 more a run than today"; empty where no saving is known.
std::string show_saving(const decisions::Summary& summary);

report::Json range_json(const decisions::Range& range);
report::Json range_json(const std::optional<decisions::UsdRange>& range);
report::Json summary_json(const decisions::Summary& summary);
report::Json decision_json(const decisions::Decision& decision);

report::Table predictions_table(const decisions::Decision& decision);
// The decision as a record to keep beside the code: what, why, predicted, way back, sources.
void add_record(const decisions::Decision& decision, std::vector<report::Block>& blocks);

}  // namespace rightsize::app
