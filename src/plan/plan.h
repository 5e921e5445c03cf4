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

#include <string>
#include <vector>

#include "market/price_book.h"
#include "memory/memory.h"
#include "perf/perf.h"
#include "plan/request.h"

namespace rightsize::plan {

// Everything about one way to run the work.
struct Plan {
  market::Offer offer;
  int machines = 1;
  int gpus = 1;    // that work; machines may hold more
  model::Job job;  // with every setting chosen

  double units_per_second = 0;   // tokens or samples of training, requests of an offline job, answer tokens of serving
  market::RunningTime time;      // serving: a month
  Usd cost;                      // of the whole work; serving: a month
  Usd side_cost;                 // storage and egress, in `cost`
  perf::Interval cost_interval;  // factors on cost and hours

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

  UsdPerSecond rate() const { return offer.rate() * rightsize::machines(machines); }
  double usd_per_million_units() const { return in_usd(rate() * seconds(1e6 / units_per_second)); }
};

// Why options fell out, together: one row a stage and GPU. Stages are in the order in which an option meets them.
enum class Stage { kPrice, kSoftware, kFormat, kNetwork, kMemory, kLayout, kInterruptions, kSlo, kDeadline, kBudget };
std::string_view name_of(Stage stage);

struct Rejection {
  Stage stage = Stage::kMemory;
  std::string gpu;
  std::string what;         // "a10g, up to 64 GPUs"
  std::string need, have;   // of the configuration that came nearest
  double count = 0;         // configurations
  std::string nearest_fix;  // empty: nothing that was tried helps
};

// A change of the request that leads elsewhere, and where.
struct Change {
  std::string what;    // "LoRA instead of full training"
  std::string flags;   // "--method lora"
  std::string effect;  // what it does to the result, empty when nothing
  Plan plan;           // the best under it
};

// When the answer becomes another.
struct Breakpoint {
  std::string when;  // "a deadline under 3 d 4 h"
  std::string then;  // "2 x p5.48xlarge for $1,234"
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
  std::vector<MixPart> mix;           // serving
  double feasible = 0;                // plans within every limit, before the cut to `top`
  double confidence = 0;              // probability that the first plan's GPU is the best, given the error bars
  std::vector<std::string> warnings;  // about the first plan
  Effort effort;
};

// Plans point into the book and its catalogue, which must outlive them.
Recommendation recommend(const Request& request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
