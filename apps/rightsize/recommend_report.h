// Recommendations as sentences, tables, pictures, a decision record and JSON.
#pragma once

#include "plan/plan.h"
#include "report/report.h"

namespace rightsize::app {

struct RecommendOptions {
  bool stats = false;
};

report::Report report_of(const plan::Request& request, const plan::Recommendation& found,
                         const catalog::Catalog& catalog, const RecommendOptions& options);

}  // namespace rightsize::app
