// A request to the planner: the work, the choices for the search, the limits, and the assumptions.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "capacity/service.h"
#include "market/energy.h"
#include "market/interruptions.h"
#include "market/offers.h"
#include "market/own_hardware.h"
#include "market/own_prices.h"
#include "model/job.h"
#include "model/model_shape.h"
#include "perf/perf.h"
#include "sim/arrivals.h"
#include "sim/sessions.h"

namespace rightsize::plan {

// What to minimize among the plans within every limit.
enum class Objective { kCost, kTime, kCostTime, kEnergy };
std::string_view name_of(Objective objective);

// A training run has an amount of work, an offline job a number of items. A service has a rate; without one, a plan is
// one machine.
enum class WorkKind { kTraining, kServing, kOffline };

using capacity::RequestSize;

// A measured speed, used instead of the estimate.
struct MeasuredRate {
  std::string gpu;
  double units_per_second = 0;  // of one GPU
  perf::Interval interval = {};
  bool fits = true;  // the measured memory use
};

struct Work {
  WorkKind kind = WorkKind::kTraining;
  double amount = 0;       // training: tokens, or samples of a model that is not a language model; offline: requests
  RequestsPerSecond rate;  // serving; zero: as much as the machine can do
  std::vector<RequestSize> mix = {};            // serving; empty: one kind, isl and osl of the job on average
  double isl_variation = 0, osl_variation = 0;  // serving, without mix or trace: standard deviation over mean
  bool isl_varies_as_usual = false, osl_varies_as_usual = false;  // the variation was not given
  std::shared_ptr<const sim::Trace> trace = {};  // serving: recorded traffic or sessions, scaled to `rate`
  std::optional<sim::Sessions> sessions = {};    // that `trace` was generated from
  sim::Routing routing = sim::Routing::kPrefixAware;
  std::vector<double> rate_by_hour = {};    // serving: requests per second from midnight; `rate` is the highest
  int documents = 1;                        // per query of a reranker: they arrive together, the last one counts
  std::vector<MeasuredRate> measured = {};  // offline: only these GPUs; empty: all, estimated
  std::string measured_how = {};            // "120 ms an item on l4", "a profile of 5 min on h200-sxm"

  double beyond_context = 0;      // serving: share of requests (sessions: of turns) that the context cuts
  std::string profiled_gpu = {};  // a unit is a second of work on this GPU; empty: an item

  bool is_measured() const { return !measured.empty(); }
  // The mean rate divided by the highest.
  double mean_traffic() const {
    if (rate_by_hour.empty()) return 1;
    const double all = std::accumulate(rate_by_hour.begin(), rate_by_hour.end(), 0.0);
    return all / (static_cast<double>(rate_by_hour.size()) * in_requests_per_s(rate));
  }
};

// Settings the search may choose; every list except `precisions` and `expert` has at least one entry. Earlier entries
// win ties between equal plans.
struct SearchChoices {
  std::vector<model::Method> methods = {};
  std::vector<model::Precision> precisions = {};  // empty: the defaults, see precisions_for()
  bool precision_auto = false;                    // serving: also fp8, on GPUs that support it
  std::vector<model::Recompute> recomputes = {};
  std::vector<std::int64_t> batches = {};  // per GPU in one pass
  std::vector<int> tensor = {}, pipeline = {}, zero = {};
  std::vector<int> expert = {};  // of mixtures; serving: empty for none and for one group of experts per GPU
  bool separate = true;          // serving: also separate workers for prefill and decode
};

struct PlanLimits {
  std::optional<Seconds> deadline = {};
  std::optional<Usd> budget = {};
  // Serving: SLOs at a percentile; ttft is the latency of models that answer in one pass.
  std::optional<Seconds> ttft = {}, tpot = {};
  bool ttft_is_latency = false;         // it was given as --latency-slo
  std::optional<Seconds> latency = {};  // of the whole answer of a model that generates tokens
  capacity::Statistic slo_percentile = capacity::kDefaultPercentile;
  double max_load = capacity::kMostLoad;  // of the replicas' capacity
  bool allow_single = false;              // serving: one replica is enough, without N+1
  int max_gpus = 64;
  bool max_gpus_assumed = false;      // not given; raised if it would hide a plan (widen.h)
  int more_than_gpus = 0;             // training: search only larger numbers
  std::optional<int> gpus = {};       // exactly this number
  std::optional<Watts> power = {};    // of GPUs and hosts together
  std::optional<double> co2_kg = {};  // of the whole work; serving: a month
};

struct Request {
  std::string name;
  std::string partition = {}, account = {};  // of the user's Slurm cluster, for its scripts
  std::string model_given = {};              // as typed: chat and base models share a shape, not weights
  model::ModelShape model;
  model::Job job;  // the settings that do not vary
  Work work;
  SearchChoices choices;
  PlanLimits limits;
  Objective objective = Objective::kCost;
  std::int64_t global_batch = 128;        // training: samples of one optimizer step
  bool global_batch_assumed = false;      // not given; may be adjusted to a number of GPUs that does not divide it
  bool loss_assumed = false;              // training: how the loss is computed was not given
  bool stack_assumed = false;             // training: the software was not given
  std::optional<bool> from_scratch = {};  // training: random weights instead of a checkpoint
  market::OfferFilter filter;
  std::vector<market::OwnHardware> own;     // machines the user owns, in addition to rentable ones
  market::OwnPrices prices;                 // the user's prices, which override list prices
  market::JobAssumptions assumptions;       // start-up and restart come from assumptions_on() (startup.h)
  std::optional<Seconds> startup, restart;  // as given by the user
  bool lengths_assumed = false;             // serving: request lengths were not given
  bool sequence_assumed = false;        // training, models that answer in one pass: the sequence length was not given
  std::optional<Watts> power_cap = {};  // of each GPU
  bool best_power_cap = false;          // the search chooses the cap
  std::optional<double> pue = {};       // of every data center; empty: market::pue_of() of the provider
  std::optional<market::CarbonChoice> carbon = {};  // of the electricity
  std::optional<std::int64_t> max_model_len = {};   // serving: longest request as given, prompt and answer together
  double day_share = 1;                             // training and offline jobs: share of each day in which they run
  std::vector<std::string> assumed = {};            // how ambiguous settings were understood, for the report
  int top = 5;
  bool plans_only = false;  // omit front, changes, breakpoints, fixes, mixes and confidence: they take longest
};

// The request lengths of a service without mix and trace.
sim::RequestShape request_lengths(const Request& request);

// Fills every empty choice except `precisions` with the values that the request's stack supports.
void fill_choices(Request& request);

// The default number formats, if `choices.precisions` is empty. Full training: 16-bit arithmetic with 32-bit master
// weights and states; adapters: a frozen 16-bit base; serving: 16 bits.
std::vector<model::Precision> precisions_for(const Request& request, model::Method method);

// Fails if the model or its framework does not support the tensor, pipeline or expert parallelism asked for.
Result<> check_splits(const Request& request);

// Whether to try a format of precisions_for() on a GPU: default formats only if the GPU supports them.
bool suits(const Request& request, model::Precision precision, const catalog::Gpu& gpu);

// Whether the stack usually runs this combination: autocast over 32-bit weights with plain data parallelism, 16-bit
// weights and 32-bit masters with sharded optimizers. Adapters shard all weights or nothing, 4-bit weights are not
// sharded. A precision or stage named by the user is always accepted.
bool is_usual(const Request& request, const model::Job& job);

}  // namespace rightsize::plan
