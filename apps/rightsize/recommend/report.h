// Recommendations as sentences, tables, pictures, a decision record and JSON.
#pragma once

#include "plan/plan.h"
#include "report/report.h"

namespace rightsize::app {

struct Shown {
  bool explain = false;  // also why, what else, and when the answer would change; pages always show it
  bool stats = false;    // also how much was looked at and how long each stage took
};

// Everything about one workload.
report::Report report_of(const plan::Request& request, const plan::Recommendation& found,
                         const catalog::Catalog& catalog, Shown shown);

report::Json document_of(const plan::Request& request, const plan::Recommendation& found,
                         const catalog::Catalog& catalog);

}  // namespace rightsize::app
