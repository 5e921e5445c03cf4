// What a recommendation shows beyond the terminal: pictures for the page, a decision record for the repository.
#pragma once

#include "perf/perf.h"
#include "plan/plan.h"
#include "report/report.h"

namespace rightsize::app {

// Cost against time, work per dollar, memory against capacity, the roofline: for HTML.
void add_pictures(report::Report& report, const plan::Request& request, const plan::Recommendation& found,
                  const perf::Constants& constants);

// Context, options, decision, consequences, evidence, date and catalogue: for Markdown.
void add_record(report::Report& report, const plan::Request& request, const plan::Recommendation& found,
                const catalog::Catalog& catalog);

}  // namespace rightsize::app
