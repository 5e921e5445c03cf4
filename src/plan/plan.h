// The planner: which machines, how many, on which terms, with which settings.
//
//   Recommendation r = recommend(request, book, constants);
//   r.best();               // the best plan within every limit, or null, with reasons and fixes in r.rejected
//
// Training: every offer and setting on one, two, three, four, six, eight... machines; options that are not computed in
// full are excluded by a proof (docs/recommend.md). Serving: formulas screen every offer and split, and every plan that
// is returned has been simulated and meets every SLO. The same request and catalogue give the same answer in any order
// of the catalogue's rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "market/availability.h"
#include "market/price_book.h"
#include "memory/memory.h"
#include "perf/perf.h"
#include "plan/request.h"

namespace rightsize::plan {

// The same machines committed for one or three years, paid whether used or not.
struct Commitment {
  market::Offer offer;
  Seconds term;
  Usd total;              // for all the plan's machines to the end of the term
  double break_even = 0;  // share of the term in use at which it costs the same as on demand
};

// The same machines at spot prices, if available.
struct SpotPrice {
  market::Offer offer;
  market::PriceOutlook price;  // of one machine
};

// The provider quota that the machines count against.
struct Quota {
  std::string name, code;  // as the provider spells them
  double amount = 0;
  bool vcpus = false;  // else GPUs
};

// Machines of one kind, the settings of the work on them, and what they deliver.
struct Deployment {
  int machines = 1;
  int gpus = 1;                 // in use; machines may have more
  model::Job job;               // with every setting chosen
  double units_per_second = 0;  // trained tokens or samples, offline requests, output tokens
  perf::Interval speed;         // factors on the time of the work
  perf::Basis basis = perf::Basis::kMeasured;

  // Serving; offline work has replicas and `running`.
  int replicas = 0;
  double running = 0;                     // mean number of requests running on a replica
  double requests_per_second = 0;         // arrival rate
  double load = 0;                        // arrival rate over the capacity of the replicas
  double busy = 0;                        // share of the time with work on the GPU
  std::optional<double> prefix_hit = {};  // share of prompt tokens found in the prefix cache, if simulated
  Seconds ttft = {}, tpot = {};           // at the SLO's percentile; ttft is the latency of models without tokens
  Seconds latency = {};                   // of a whole request, mean
  Seconds answer = {};                    // of a whole request, at the SLO's percentile
  std::int64_t sequences = 0, token_budget = 0;  // the engine's limits, as simulated
  Seconds delay = {};                            // longest time a batch waits for more requests
  Watts gpu_power = {};                          // mean of each GPU in use; zero: unknown
};

// A power cap of each GPU, and its effect as factors on the time of a unit of work (services: TPOT) and its energy on
// the same machines without a cap.
struct CapChoice {
  Watts cap;
  std::optional<double> time, energy;
};

// Plans that a verdict compares at least.
inline constexpr std::size_t kCompared = 5;

// Everything about one way to run the work.
struct Plan : Deployment {
  int rank = 0;  // place among all kinds of plans, from 1; 0: of another list
  market::Offer offer;
  market::PriceOutlook price;  // of one machine; its likely value is used
  std::optional<SpotPrice> spot = {};
  std::vector<Commitment> commitments = {};
  std::optional<Quota> quota = {};  // empty: unknown

  market::RunningTime time;              // serving: a month
  Usd cost;                              // of the whole work; serving: a month
  Usd side_cost;                         // storage and egress, in `cost`
  std::optional<Usd> electricity = {};   // of the user's machines, in `cost`; empty: rented
  std::vector<market::Draw> draws = {};  // part of `cost` that spend commitments cover
  Usd cost_low, cost_high;               // 80 % interval over speed and price
  bool interval_known = true;            // services: the slow end was simulated

  bool extrapolated = false;  // the speed was scaled from another architecture, so the high cost decided the rank
  std::string relative = {};  // the measured GPU that the speed was scaled from; empty: its own benchmarks or none
  bool benchmarked = true;    // the speed is based on runs of this GPU, or the user's own: perf::has_benchmark()
  // At the slow end of its speed: the deadline is missed, or no number of machines that the limits allow is enough.
  bool misses_if_slow = false;
  int machines_if_slow = 0;   // services: machines that are enough then; 0: no number is, or not simulated
  double resizing = 0;        // chance_of_missing()
  double ranked_cost = 0;     // PricedOption::ranked_cost()
  double score = 0;           // PricedOption::score()
  memory::MemoryNeed memory;  // of the fullest GPU
  memory::Fit fit;
  perf::Bound bound = perf::Bound::kCompute;
  double arithmetic_gain = 0;  // services: how much shorter the tightest limit gets with 20 % more FLOP/s
  perf::Notes notes;
  double mfu = 0;
  perf::Interval power_interval = {};         // factors on the power that bound it with 80 % probability
  Watts power = {};                           // of all GPUs and hosts; zero: unknown
  Watts idle_power = {};                      // the same without work
  double draw_share = 1;                      // PricedOption::draw_share
  double pue = 1;                             // of the data center
  std::optional<CapChoice> cap = {};          // with --power-cap
  std::optional<market::Carbon> carbon = {};  // of the electricity in its region
  std::vector<int> machines_by_hour = {};     // if the rate is known by hour and machines follow it
  double traffic_share = 1;                   // services: mean rate over the highest
  double day_share = 1;                       // training and offline jobs: share of each day in which they run
  bool starts_over = false;                   // spot machines without storage that outlives them

  bool has_old_price() const { return !offer.is_own() && price.is_old(); }
  UsdPerSecond rate() const { return price.likely * rightsize::machines(machines); }
  UsdPerGpuSecond rate_per_gpu() const { return price.likely / gpus_per_machine(offer.machine->gpus); }
  // For spot machines, over the whole work; serving: per month.
  double expected_interruptions(const market::JobAssumptions& assumptions) const {
    return in_hours(time.total()) * machines * assumptions.spot_interruptions_per_hour;
  }
  // Including cooling and distribution.
  double energy_kwh() const { return in_watts(power) * draw_share * pue * in_hours(time.total()) / 1e3; }
  // Empty: not asked for, or unknown for the region.
  std::optional<double> co2_kg() const {
    return carbon ? std::optional(energy_kwh() * carbon->grams_per_kwh / 1e3) : std::nullopt;
  }
  // Until the work is done, including the hours of a day in which it does not run.
  Seconds elapsed() const { return time.total() / day_share; }
  // The same if the work takes this many times as long; start-up does not depend on the speed.
  Seconds elapsed_at(double factor) const {
    return (time.startup + (time.total() - time.startup) * factor) / day_share;
  }
  // No benchmark, and an old price of one source: PricedOption::is_unproven().
  bool is_unproven() const { return !benchmarked && has_old_price(); }
  // For services that follow the hours: the cost of a month divided by its traffic.
  double usd_per_million_units() const {
    const double paid = machines_by_hour.empty() ? 1 : time.total() / kMonth / traffic_share;
    return in_usd(rate() * seconds(1e6 / units_per_second)) * paid;
  }
};

// Why options were rejected, one row per stage and GPU. Stages are in the order in which an option meets them.
enum class RejectionStage {
  kPrice,
  kSoftware,
  kFormat,
  kNetwork,
  kMemory,
  kLayout,
  kInterruptions,
  kSlo,
  kDeadline,
  kBudget,
  kPower,
  kCarbon
};
std::string_view name_of(RejectionStage stage);

// A plan that is only mentioned: its machines, cost and time.
struct PlanOutline {
  market::Offer offer;
  int machines = 1;
  Usd cost;      // of the whole work; serving: a month
  Seconds time;  // until it is done; serving: a month
};

// The change to the request that would make a GPU work, and the best plan on it.
struct Fix {
  std::string flags;  // "--method lora"
  PlanOutline plan;
};

// What the configuration closest to working needed, and what was available. Only the fields of its kind are set.
struct Shortfall {
  enum class Kind {
    kNoPrice,
    kForeignChip,    // neither CUDA nor ROCm; `stack` needs one
    kOldChip,        // too old for `stack`
    kFormat,         // `reason`: the speed model does not cover it
    kNoNetwork,      // none is documented between machines
    kNoRdma,         // more than `have_gpus` machines need RDMA
    kMemory,         // `need_bytes` on each of `need_gpus`, `have_bytes`; serving: in `precision`
    kMemoryHeld,     // the profiled run used more than `have_bytes`
    kGpus,           // it needs `need_gpus` but has `have_gpus`
    kGlobalBatch,    // `need_gpus` samples per step are not divisible by the `have_gpus` GPUs of a machine
    kReplicas,       // two replicas need `need_gpus` but have `have_gpus`
    kSloAlone,       // the SLO takes `need_time` on `need_gpus` without load
    kSloUnderLoad,   // no number of GPUs up to `have_gpus` (0: any) meets `slos`
    kInterruptions,  // too frequent to save work in between
    kDeadline,       // `need_time`, `have_time`
    kBudget,         // `need_cost`, `have_cost`
    kPower,          // `need_power` (zero: unknown), `have_power`
    kCarbon,         // `need_kg` (zero: unknown), `have_kg`
  };
  Kind kind = Kind::kNoPrice;
  bool at_least = false;  // the need is a lower bound: no plan was simulated with it
  // Doubts about the plan that needs only this: its price may not lead, its GPU has no benchmark.
  bool unconfirmed = false, no_benchmark = false;
  model::Stack stack = model::Stack::kHf;
  model::Precision precision = model::Precision::kBf16;
  bool serving = false;
  int need_gpus = 0, have_gpus = 0;
  Bytes need_bytes = {}, have_bytes = {};
  Seconds need_time = {}, have_time = {};
  Usd need_cost = {}, have_cost = {};
  Watts need_power = {}, have_power = {};
  double need_kg = 0, have_kg = 0;
  std::vector<capacity::Slo> slos = {};
  std::string reason = {};
};

struct Rejection {
  RejectionStage stage = RejectionStage::kMemory;
  std::string gpu;
  bool partly = false;     // only some settings, or a GPU that is rejected at a later stage
  bool settled = false;    // a plan was computed that needs only this: with the limit at the need, it is possible
  Shortfall nearest;       // of the configuration closest to working
  double count = 0;        // configurations
  std::optional<Fix> fix;  // empty: no tried change helps, it was not simulated, or a price is missing
};

// Changes to the request that are worth reporting.
enum class RequestChangeKind {
  kEightBitOptimizer,
  kPureBf16,
  kLora,
  kQlora,
  kFp8Weights,
  kInt4Weights,
  kFp4Weights,
  kLongerTtft,
  kLongerTpot,
  kLongerLatency,
  kLaterDeadline,
  kSpot,
  kOnDemand,
  kMoreGpus,
  kUsualPrecision,
  kChunkedLoss,
  kOffloadOptimizer,
  kOffloadParameters,
  kLargerBatch,
  kNoDeadline,
  kNoBudget,
  kMorePower,
  kMoreCarbon,
  kNoLimits,
  kFewerHours,   // of a service: machines are off at night
  kSameLengths,  // if requests do not vary as assumed
  kFp8Cache,
  kNoSpare,
  kAnyRegion,
  kAnyProvider,
  kPowerCap,
  kTorchTitan,  // other software for the same training
  kMegatron,
  kLongerLimits,  // on latency, all by the same factor
  kTwoChanges,    // of a request that no single change satisfies within its budget
};

// A change to the request, and the resulting best plan.
struct RequestChange {
  RequestChangeKind kind = RequestChangeKind::kMoreGpus;
  std::string flags;  // "--method lora"
  Plan plan;
};

// What would change the recommendation, and to what.
struct Breakpoint {
  // Another GPU becomes cheaper if the cost of the first plan grows by this factor. 0: the deadline decides.
  double cost_ratio = 0;
  // The deadline is shorter than this.
  Seconds deadline_under;
  PlanOutline plan;
};

// Doubts about the price of a plan.
struct PriceWarning {
  enum class Kind { kUnconfirmed, kOld, kFarBelowOtherRegions };
  Kind kind = Kind::kUnconfirmed;
  int age_days = 0;                    // kOld
  UsdPerMachineSecond elsewhere = {};  // kFarBelowOtherRegions: the median of the other regions
  double times = 0;                    // that median over this price
};

// One kind of machine in a mix that is cheaper than any single kind.
struct MixPart {
  Plan plan;         // its load is that of its share
  double share = 0;  // of the requests
};

// An extrapolation that is first, or would be cheaper than the first if its speed is right, and the test that would
// show it. The test runs on all machines of a training plan, and on those of one replica otherwise.
struct Experiment {
  Plan plan;
  int machines = 1;
  Seconds test_time;
  Usd test_cost;
  Usd expected_saving;  // over the error bars of both plans, using the cheaper one after the test

  bool pays() const { return expected_saving > test_cost; }
  double share() const { return static_cast<double>(machines) / plan.machines; }  // of the plan
};

// The user's machines that no listed plan uses: the best plan on them, or what they lack and a change that helps.
struct UnusedOwn {
  std::string machines;  // "2 x 4xl40s"
  std::optional<Plan> plan;
  Shortfall lack = {};
  std::optional<RequestChange> change = {};
  double carries = 0;  // a service with too few machines: requests per second of all of them, without a spare
};

// Terms on which nothing meets the limits: the nearest GPU and what it lacks.
struct TermNeed {
  std::string terms, gpu;
  Shortfall lack;
};

// A provider that was asked for and that no listed plan uses, though it has prices on these terms.
struct UnlistedProvider {
  std::string name;
  int age_days = 0;    // of its newest price
  bool meets = false;  // a plan meets the limits, at a higher cost or with a doubtful price
};

// How clear the choice of the first plan's GPU is.
enum class Decision {
  kClear,          // the next GPU costs over 5 % more and will hardly turn out cheaper, or there is none
  kAhead,          // it may turn out cheaper, or is cheaper and ranks lower
  kUncertain,      // and probably does
  kClose,          // other GPUs are within 5 %
  kExtrapolation,  // the first plan's GPU has no benchmarks
};
std::string_view name_of(Decision decision);

// The size of the search and where its time went.
struct SearchEffort {
  double configurations = 0;  // offers x machines x settings
  double priced = 0;          // computed in full
  double bounded = 0;         // excluded by a bound: another is at least as good on the same machines
  double unfit = 0;           // excluded: memory, format, layout
  double estimates = 0;       // calls of the speed model
  double curves = 0;          // memory curves compiled
  double search_seconds = 0, verify_seconds = 0, explain_seconds = 0;
};

struct Recommendation {
  std::vector<Plan> plans;      // best first, at most request.top; one per provider, GPU and terms
  std::vector<Plan> beyond;     // further plans, which the verdict compares whatever request.top
  std::vector<Plan> pareto;     // cost against time, cheapest first
  std::vector<Plan> trade_off;  // no other plan is better in cost, time and energy at once; cheapest first
  std::vector<Rejection> rejected;
  std::vector<RequestChange> changes;
  std::vector<Breakpoint> breakpoints;
  std::vector<MixPart> mix;  // serving
  double feasible = 0;       // plans that meet every limit, before the cut to `top`
  // Probability that the first plan's GPU is the best, given the error bars; empty: not computed, or nothing to
  // compare.
  std::optional<double> confidence = {};
  bool may_break_limits = false;  // the first plan's 80 % range crosses the deadline or the budget
  std::optional<Experiment> experiment = {};
  std::optional<UnusedOwn> unused_own = {};
  std::vector<Plan> held_back = {};        // over 10 % cheaper than the first plan, with a price that may not lead
  std::optional<Plan> confirmed = {};      // if the price of the first plan is in doubt: the cheapest where it is not
  std::vector<std::string> unpriced = {};  // providers that were asked for and have no price on these terms
  std::vector<UnlistedProvider> unlisted = {};
  // Of several terms that were asked for: those without any price, and the first plan of each that does not lead.
  std::vector<std::string> missing_terms = {};  // "1y"
  std::vector<std::string> unsold_terms = {};   // those without a price of the first plan's machine
  std::vector<Plan> other_terms = {};
  std::vector<TermNeed> unmet_terms = {};  // those on which nothing meets the limits
  market::Availability availability = {};  // of the first plan's machine
  std::vector<PriceWarning> warnings;      // about the first plan
  SearchEffort effort;

  const Plan* best() const { return plans.empty() ? nullptr : &plans.front(); }
  // The plans that a verdict compares, best first: of `plans` and `beyond`, the same ones whatever request.top.
  std::vector<const Plan*> compared() const;
  // The best plans on other GPUs that cost at most 5 % more or less than the first; extrapolations do not count.
  std::vector<const Plan*> close_calls() const;
  // The cheapest plan of those compared on another GPU, whatever its rank and its price; null: none.
  const Plan* next_gpu() const;
  // The best of those that are sound; null: none.
  const Plan* rival() const;
  Decision decision() const;
  // The cheapest plan of those compared or of the front, on these terms, that meets its limits even at the slow end of
  // its speed; null: none.
  const Plan* safest(const Request& request, std::optional<catalog::Purchase> terms = {}) const;
  // Whether a plan has a benchmark, and evidence and a price as sound as those of the first.
  bool is_sound(const Plan& plan) const {
    const Plan& first = plans.front();
    return !plan.extrapolated && (!plan.is_unproven() || first.is_unproven()) &&
           (plan.price.may_lead() || !first.price.may_lead());
  }
  // The best plan that does not need the first plan's capacity: another provider or another GPU; null if none is
  // listed.
  const Plan* fallback() const;
};

// How much longer and more expensive a plan is than another, as one figure: below 1, each halving of the time costs
// less than 41 % more. Plans at twice the cost or more are no trade. Worth showing for jobs that take longer than a
// working day.
inline constexpr double kGoodTrade = 0.75;
inline constexpr Seconds kLongWait = hours(8);
inline double trade_of(double cost, double time) { return cost < 2 && time <= 0.5 ? cost * cost * time : 1e9; }

// "on-demand", "spot", "1y", "3y"; "own" for the user's machines.
std::string_view terms_name(const market::Offer& offer);

// Whether a plan meets its deadline or latency limits at the slow end of its speed.
bool keeps_limits_if_slow(const Request& request, const Plan& plan);

// Plans point into the book and its catalogue, which must outlive them.
Recommendation recommend(const Request& request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
