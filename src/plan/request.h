// What the planner is asked: the work, what may vary, what must hold, and what is assumed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "capacity/service.h"
#include "market/interruptions.h"
#include "market/offers.h"
#include "market/own_hardware.h"
#include "market/own_prices.h"
#include "model/job.h"
#include "model/model_shape.h"
#include "perf/perf.h"
#include "sim/arrivals.h"

namespace rightsize::plan {

// What the best plan is best at, among those within every limit.
enum class Objective { kCost, kTime, kCostTime };
std::string_view name_of(Objective objective);

// What there is to do. A training run has an amount; serving has a rate, or neither, and then a plan is as large as its
// smallest machine; an offline job has items.
enum class WorkKind { kTraining, kServing, kOffline };

using capacity::RequestSize;

// How fast a GPU does the work as it was measured, instead of a model's estimate.
struct MeasuredRate {
  std::string gpu;
  double units_per_second = 0;  // of one GPU
  perf::Interval interval = {};
  bool fits = true;  // the memory that was seen
};

struct Work {
  WorkKind kind = WorkKind::kTraining;
  double amount = 0;       // training: tokens, or samples of a model that is not a language model; offline: requests
  RequestsPerSecond rate;  // serving; zero: as much as the machine takes
  std::vector<RequestSize> mix = {};            // serving; empty: one kind, isl and osl of the job on average
  double isl_variation = 0, osl_variation = 0;  // serving, without mix or trace: how far lengths vary, over their mean
  bool isl_varies_as_usual = false, osl_varies_as_usual = false;  // nobody said how far
  std::shared_ptr<const sim::Trace> trace = {};  // serving: recorded traffic, as dense as `rate` has it
  std::vector<double> rate_by_hour = {};         // serving: requests per second from midnight; `rate` is the highest
  std::vector<MeasuredRate> measured = {};       // offline: GPUs that are not named are not looked at; empty: estimated
  std::string measured_how = {};                 // "120 ms an item on l4", "a profile of 5 min on h200-sxm"

  std::string profiled_gpu = {};  // then a unit is a second of this GPU's work; empty: a unit is an item

  bool is_measured() const { return !measured.empty(); }
};

// Settings the search may choose; every list but `precisions` and `expert` has at least one entry. Earlier entries win
// ties.
struct Choices {
  std::vector<model::Method> methods = {};
  std::vector<model::Precision> precisions = {};  // empty: the usual ones, see precisions_for()
  bool precision_auto = false;                    // serving: also fp8, on GPUs that compute in it
  std::vector<model::Recompute> recomputes = {};
  std::vector<std::int64_t> batches = {};  // per GPU in one pass
  std::vector<int> tensor = {}, pipeline = {}, zero = {};
  std::vector<int> expert = {};  // serving mixtures; empty: none, and a group of experts a GPU
  bool separate = true;          // serving: also prompts and answers on workers of their own
};

struct Limits {
  std::optional<Seconds> deadline = {};
  std::optional<Usd> budget = {};
  // Serving: SLOs at a percentile; for models that answer in one pass ttft is the latency.
  std::optional<Seconds> ttft = {}, tpot = {};
  capacity::Statistic slo_percentile = capacity::kDefaultPercentile;
  double max_load = capacity::kMostLoad;  // of the replicas' capacity
  bool allow_single = false;              // serving: one replica is enough, and none is to spare
  int max_gpus = 64;
  std::optional<int> gpus = {};  // exactly so many
};

struct Request {
  std::string name;
  model::ModelShape model;
  model::Job job;  // what does not vary
  Work work;
  Choices choices;
  Limits limits;
  Objective objective = Objective::kCost;
  std::int64_t global_batch = 128;  // training: samples of one optimizer step
  market::OfferFilter filter;
  std::vector<market::OwnHardware> own;     // machines of the user's, beside what can be bought
  market::OwnPrices prices;                 // what the user pays where that is not the list price
  market::JobAssumptions assumptions;       // start-up and restart as assumptions_on() has them (startup.h)
  std::optional<Seconds> startup, restart;  // as the user says
  bool lengths_assumed = false;             // serving: nobody said how long requests are
  bool sequence_assumed = false;  // training, models that answer in one pass: nobody said how long sequences are
  int top = 5;
  bool plans_only = false;  // no front, changes, breakpoints, fixes, mixes or confidence: what takes longest
};

// How long the requests of a service are that has neither a mix nor a trace.
sim::RequestShape request_lengths(const Request& request);

// Fills every choice that is empty but `precisions` with what the request's stack can have.
void fill_choices(Request& request);

// The number formats a careful user takes without saying so, where `choices.precisions` is empty. Training every
// weight: 16-bit arithmetic over 32-bit master weights and states; adapters: a frozen 16-bit base; serving: 16 bits.
std::vector<model::Precision> precisions_for(const Request& request, model::Method method);

// Refuses to spread the experts of a model that has none.
Result<> check_experts(const Request& request);

// Whether a format of precisions_for() is to be tried on a GPU: of those nobody named, only what it computes in.
bool suits(const Request& request, model::Precision precision, const catalog::Gpu& gpu);

// Whether the stack does it so: autocast over 32-bit weights belongs to plain data parallelism, 16-bit weights beside
// their 32-bit masters to sharded optimizers. A precision the user named is taken as it is.
bool is_usual(const Request& request, const model::Job& job);

}  // namespace rightsize::plan
