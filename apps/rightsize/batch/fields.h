// The fields of `rightsize batch`'s results.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "report/fields.h"
#include "rightsize/batch/report.h"

namespace rightsize::app {

// A simulated configuration of a request.
struct BatchPlan {
  const BatchInput* input = nullptr;
  const capacity::Assessment* run = nullptr;
};
extern const report::Fields<BatchPlan> kBatchPlanFields;

// A cheaper configuration that meets a relaxed limit.
struct Relaxation {
  Seconds value;
  int gpus = 0;
  double saving = 0;  // dollars per month; NaN: no price
};

struct BatchDocument {
  const BatchInput* input = nullptr;
  const capacity::Assessment* run = nullptr;      // null: overloaded, or nothing was found
  const capacity::SearchResult* found = nullptr;  // null: no search
  std::optional<double> overload = {};            // capacity of an overloaded server, requests per second
  std::vector<Relaxation> relaxations = {};
  std::vector<LoadPoint> curve = {};
  Seconds wall = {};
  std::string triton_config = {};
  std::map<std::string, std::string> emitted = {};
};
report::Json batch_document(const BatchDocument& document);

// The SLO that is closest to its limit, or exceeds it most.
const capacity::Slo& tightest_slo(const BatchPlan& plan);
double usd_per_month(const BatchPlan& plan);  // NaN: no price
int gpu_count(const BatchInput& input, const capacity::Configuration& configuration);
const BatchOffer& first_offer(const BatchInput& input, const capacity::Configuration& configuration);
// The largest batch, or the limit on running sequences.
std::int64_t most_together(const BatchInput& input, const capacity::Configuration& configuration);

}  // namespace rightsize::app
