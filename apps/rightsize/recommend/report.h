// Recommendations as sentences, tables, pictures, a decision record and JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/job.h"
#include "perf/perf.h"
#include "plan/plan.h"
#include "report/report.h"
#include "rightsize/recommend/api_cost.h"

namespace rightsize::app {

struct Shown {
  bool explain = false;  // adds reasons, alternatives and breakpoints; pages always do
  bool stats = false;    // adds the size of the search and the time of each stage
  std::optional<ApiPrice> api = {};
};

// Everything about one workload.
struct RecommendAnswer {
  const plan::Request& request;
  const plan::Recommendation& found;
  const catalog::Catalog& catalog;
  std::vector<model::Setting> settings = {};  // as given, to repeat the request
  std::string catalogue = {};                 // version of the catalogue
  Shown shown = {};
};

// The best plan compared with --api-price.
std::optional<ApiCost> api_cost(const RecommendAnswer& answer);

report::Report report_of(const RecommendAnswer& answer);
// `files`: the files of --emit, by tool.
report::Json document_of(const RecommendAnswer& answer, std::map<std::string, std::string> files = {});

// The experiment's test as a separate request: as many of its machines as the test takes, with their share of the
// work.
std::vector<model::Setting> test_settings(const RecommendAnswer& answer, const plan::Experiment& experiment);
// A command that repeats the request for the experiment's GPU and provider only, and writes the file that starts the
// test.
std::string test_command(const RecommendAnswer& answer, const plan::Experiment& experiment);

// The plans as a table of the first screen.
report::Table plans_table(const RecommendAnswer& answer, std::string title, const std::vector<plan::Plan>& plans);
report::Table changes_table(const RecommendAnswer& answer);
// The GPUs that have a price but no plan.
report::Table rejections_table(const RecommendAnswer& answer);

// For HTML: cost against time, work per dollar, memory against capacity, the roofline.
void add_pictures(report::Report& report, const RecommendAnswer& answer, const perf::Constants& constants);

// For Markdown: context, options, decision, consequences, evidence, date and catalogue.
void add_record(report::Report& report, const RecommendAnswer& answer);

}  // namespace rightsize::app
