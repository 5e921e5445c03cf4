// Recommendations as sentences, tables, pictures, a decision record and JSON.
#pragma once

#include "plan/plan.h"
#include "report/report.h"

namespace rightsize::app {

// Everything about one workload. With `stats`: how much was looked at and how long each stage took.
report::Report report_of(const plan::Request& request, const plan::Recommendation& found,
                         const catalog::Catalog& catalog, bool stats);

report::Json document_of(const plan::Request& request, const plan::Recommendation& found,
                         const catalog::Catalog& catalog);

}  // namespace rightsize::app
