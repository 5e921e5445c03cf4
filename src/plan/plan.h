// The planner: which machines, how many, on which terms, with which settings.
//
//   Recommendation r = recommend(request, book, constants);
//   r.plans.front();        // the best within every limit, or none: then r.rejected says why and what would help
//
// Training: every offer and setting on one, two, three, four, six, eight... machines; what is not computed in full is
// excluded by a proof (docs/recommend.md). Serving: formulas screen every offer and split, and what is shown has been
// simulated and keeps every SLO. The same request and catalogue give the same answer, whatever the order of the
// catalogue's rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "market/price_book.h"
#include "memory/memory.h"
#include "perf/perf.h"
#include "plan/request.h"

namespace rightsize::plan {

// The same machines for a year or three: paid whether used or not.
struct Commitment {
  market::Offer offer;
  Seconds term;
  Usd total;              // of all the plan's machines to the end of the term
  double break_even = 0;  // share of the term the machines must work for it to cost less than on demand
};

// The same machines at spot prices, if they can be had.
struct SpotPrice {
  market::Offer offer;
  market::PriceOutlook price;  // of one machine
};

// What to ask a provider for before its machines can be started.
struct Quota {
  std::string name, code;  // as the provider spells them
  double amount = 0;
  bool vcpus = false;  // else GPUs
};

// Everything about one way to run the work.
struct Plan {
  market::Offer offer;
  market::PriceOutlook price;  // of one machine; what is counted is its likely value
  std::optional<SpotPrice> spot = {};
  std::vector<Commitment> commitments = {};
  std::optional<Quota> quota = {};  // nothing: its name is not known
  int machines = 1;
  int gpus = 1;    // that work; machines may hold more
  model::Job job;  // with every setting chosen

  double units_per_second = 0;  // tokens or samples of training, requests of an offline job, answer tokens of serving
  market::RunningTime time;     // serving: a month
  Usd cost;                     // of the whole work; serving: a month
  Usd side_cost;                // storage and egress, in `cost`
  std::vector<market::Draw> draws = {};  // of `cost`, from what is committed already: no new money
  Usd cost_low, cost_high;  // the middle 80 %: speed and price as they may turn out, fixed costs as they are
  perf::Interval speed;     // factors on the time of the work

  memory::MemoryNeed memory;  // of the fullest GPU
  memory::Fit fit;
  perf::Bound bound = perf::Bound::kCompute;
  perf::Basis basis = perf::Basis::kMeasured;
  perf::Notes notes;
  double mfu = 0;

  // Serving.
  int replicas = 0;
  double running = 0;              // requests that run together on a replica, mean
  double requests_per_second = 0;  // that arrive
  Seconds ttft, tpot;              // simulated, at the request's percentile; without tokens ttft is the latency
  Seconds latency;                 // of a whole request, mean
  double load = 0;                 // requests that arrive over the most the replicas can do
  double busy = 0;                 // share of the time with work on the GPU
  std::int64_t sequences = 0, token_budget = 0;  // the engine's limits, as simulated
  Seconds delay;                                 // a batch of job.batch may wait so long for others
  std::vector<int> machines_by_hour = {};        // of the first plan, where the rate is known by hour

  UsdPerSecond rate() const { return price.likely * rightsize::machines(machines); }
  // Of spot machines, over the whole work; serving: a month.
  double expected_interruptions(const market::JobAssumptions& assumptions) const {
    return in_hours(time.total()) * machines * assumptions.spot_interruptions_per_hour;
  }
  double usd_per_million_units() const { return in_usd(rate() * seconds(1e6 / units_per_second)); }
};

// Why options fell out, together: one row a stage and GPU. Stages are in the order in which an option meets them.
enum class Stage { kPrice, kSoftware, kFormat, kNetwork, kMemory, kLayout, kInterruptions, kSlo, kDeadline, kBudget };
std::string_view name_of(Stage stage);

// A plan that is mentioned, not built: what is ordered, and what it comes to.
struct PlanOutline {
  market::Offer offer;
  int machines = 1;
  Usd cost;      // of the whole work; serving: a month
  Seconds time;  // until it is done; serving: a month
};

// The change of the request that would let a GPU in, and the best plan on it then, where that was worked out.
struct Fix {
  std::string flags;  // "--method lora"
  std::optional<PlanOutline> plan;
};

// What the configuration that came nearest needed, and what there was. Fields are those of its kind.
struct Shortfall {
  enum class Kind {
    kNoPrice,
    kForeignChip,    // neither CUDA nor ROCm; `stack` needs one
    kOldChip,        // too old for `stack`
    kFormat,         // `reason`: the speed model cannot run it so
    kNoNetwork,      // nobody documents one between machines
    kMemory,         // `need_bytes` on each of `need_gpus`, `have_bytes`; serving: in `precision`
    kMemoryHeld,     // what was profiled held more than `have_bytes`
    kGpus,           // it would take `need_gpus` of `have_gpus`
    kGlobalBatch,    // `need_gpus` samples a step do not divide over `have_gpus` GPUs a machine
    kReplicas,       // two replicas need `need_gpus` of `have_gpus`
    kSloAlone,       // `slo` takes `need_time` on `need_gpus` that do nothing else
    kSloUnderLoad,   // no number up to `have_gpus` keeps `slos`
    kInterruptions,  // come faster than work can be saved
    kDeadline,       // `need_time`, `have_time`
    kBudget,         // `need_cost`, `have_cost`
  };
  Kind kind = Kind::kNoPrice;
  model::Stack stack = model::Stack::kHf;
  model::Precision precision = model::Precision::kBf16;
  bool serving = false;
  int need_gpus = 0, have_gpus = 0;
  Bytes need_bytes = {}, have_bytes = {};
  Seconds need_time = {}, have_time = {};
  Usd need_cost = {}, have_cost = {};
  std::vector<capacity::Slo> slos = {};
  std::string reason = {};
};

struct Rejection {
  Stage stage = Stage::kMemory;
  std::string gpu;
  bool partly = false;     // some settings only, or an earlier stage of a GPU that falls out later
  Shortfall nearest;       // of the configuration that came nearest
  double count = 0;        // configurations
  std::optional<Fix> fix;  // nothing: nothing that was tried helps, or a price is missing
};

// Changes of the request worth knowing of.
enum class ChangeKind {
  kEightBitOptimizer,
  kPureBf16,
  kLora,
  kQlora,
  kFp8Weights,
  kInt4Weights,
  kTwiceTtft,
  kTwiceTpot,
  kSpot,
  kMoreGpus,
  kNoDeadline,
  kNoBudget,
  kNoLimits,
};

// A change of the request that leads elsewhere, and where.
struct Change {
  ChangeKind kind = ChangeKind::kMoreGpus;
  std::string flags;  // "--method lora"
  Plan plan;          // the best under it
};

// What would change the recommendation, and to what.
struct Breakpoint {
  // Another GPU becomes cheaper when the first plan costs this many times as much. 0: the deadline decides.
  double cost_ratio = 0;
  // The deadline is shorter than this.
  Seconds deadline_under;
  PlanOutline plan;
};

// What a buyer should know about the price of a plan.
struct PriceWarning {
  enum class Kind { kUnconfirmed, kOld, kFarBelowOtherRegions };
  Kind kind = Kind::kUnconfirmed;
  int age_days = 0;                    // kOld
  UsdPerMachineSecond elsewhere = {};  // kFarBelowOtherRegions: the median of the other regions
  double times = 0;                    // the same over this price
};

// Several kinds of machines together, where that is cheaper than any one kind.
struct MixPart {
  Plan plan;         // one kind; its load is its share
  double share = 0;  // of the requests
};

// Where the time of the search went, and how much it looked at.
struct Effort {
  double configurations = 0;  // offers x machines x settings decided
  double priced = 0;          // of them computed in full
  double bounded = 0;         // excluded: at best no better than another on the same machines
  double unfit = 0;           // excluded: memory, format, layout
  double estimates = 0;       // calls of the speed model
  double curves = 0;          // memory curves compiled
  double search_seconds = 0, verify_seconds = 0, explain_seconds = 0;
};

struct Recommendation {
  std::vector<Plan> plans;   // best first, at most request.top; one a machine type, number and terms
  std::vector<Plan> pareto;  // cost against time, cheapest first
  std::vector<Rejection> rejected;
  std::vector<Change> changes;
  std::vector<Breakpoint> breakpoints;
  std::vector<MixPart> mix;            // serving
  double feasible = 0;                 // plans within every limit, before the cut to `top`
  double confidence = 0;               // probability that the first plan's GPU is the best, given the error bars
  std::vector<PriceWarning> warnings;  // about the first plan
  Effort effort;

  const Plan* best() const { return plans.empty() ? nullptr : &plans.front(); }
};

// Plans point into the book and its catalogue, which must outlive them.
Recommendation recommend(const Request& request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
