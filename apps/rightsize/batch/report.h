// The report of `rightsize batch`: its fields and its sentences.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capacity/search.h"
#include "report/fields.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {

struct LoadPoint {
  double rate = 0;  // requests per second
  sim::StatisticValues latency{};
};

// A simulated configuration, with the input it answers.
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
  const capacity::Assessment* run = nullptr;             // null: overloaded, or nothing was found
  const capacity::ConfigurationSearch* found = nullptr;  // null: no search
  std::optional<double> overload = {};                   // capacity of an overloaded server, requests per second
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

// One configuration under its load, with the latency at other loads.
Outcome assessed_outcome(const BatchInput& input, const capacity::Assessment& run, const std::vector<LoadPoint>& curve,
                         Seconds wall);
// The load exceeds the capacity, so nothing was simulated; exit code 2.
Outcome overloaded_outcome(const BatchInput& input, const capacity::Configuration& configuration, double capacity);
Outcome searched_outcome(const BatchInput& input, const capacity::ConfigurationSearch& found, Seconds wall);

}  // namespace rightsize::app
