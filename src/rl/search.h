// Finds GPUs for reinforcement learning and their split: searched, priced and ranked like every other job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "market/price_book.h"
#include "plan/candidates.h"
#include "rl/memory.h"
#include "rl/rl.h"

namespace rightsize::rl {

struct RlRequest {
  plan::Request request;  // filters, limits, prices and assumptions; its work is `steps` steps in tokens
  RlJob job;              // settings that do not vary
  double steps = 1;
  // Given by the user; otherwise searched.
  std::optional<Layout> layout;
  std::optional<double> async;
  bool trainer_given = false, engine_given = false;   // parallel sizes
  const catalog::Gpu* rollout_gpu = nullptr;          // of the engine; null: the trainer's
  std::optional<catalog::Purchase> rollout_purchase;  // terms of its machines; empty: the trainer's
  double max_async = 1;                               // maximum asynchrony to try, in steps

  // Whether the engine has machines of other terms or another GPU.
  bool has_other_machines() const { return rollout_gpu != nullptr || rollout_purchase; }
};

// Machines for an engine on other GPUs or terms than the trainer's: of the same provider, or of any provider if the
// user owns the trainer's machines.
struct RolloutMachines {
  const market::Offer* offer = nullptr;  // points into the recommendation
  int machines = 0;
  UsdPerSecond rate;  // of all of them
  Watts power = {};   // of their GPUs and hosts; zero: unknown
};

struct RlPlan {
  plan::PricedOption priced;  // points into the recommendation
  RlJob job;
  RlEstimate step;
  RlMemory memory;
  std::optional<RolloutMachines> rollout = {};
  std::optional<Seconds> first_step = {}, last_step = {};  // if answers grow
  std::optional<plan::CapChoice> cap = {};                 // with --power-cap

  UsdPerSecond rate() const;  // of all machines
  // What every plan states about its power, its energy and its chance to miss the deadline; other fields are not set.
  plan::Plan energy(const plan::Request& request) const;
};

// The first plan with one thing changed, on the same GPUs.
struct RlChange {
  enum class Kind { kMoreSamples, kShorterAnswers, kAsync, kColocated, kFp8Rollout, kDeeperAsync };
  Kind kind = Kind::kMoreSamples;
  std::string flags;  // "--samples 64"
  RlEstimate step;
  Seconds time;  // of all steps, with start-up and checkpoints
  Usd cost;
  double missing = 0;  // chance that it misses the deadline
};

struct RlRecommendation {
  std::vector<RlPlan> plans;  // best first, at most request.top; one per provider, GPU, terms and layout
  std::vector<RlChange> changes;
  std::vector<RlPlan> held_back;   // over 10 % cheaper than the first, with a price that may not lead
  std::optional<RlPlan> cheapest;  // whatever its price or evidence, if it is not the first plan
  std::optional<RlPlan> safe;      // if the first plan may miss the deadline: the cheapest that keeps it when slow
  std::optional<RlPlan> sooner;    // the best trade of money for time, for steps that take long
  plan::Obstacles obstacles;
  double considered = 0;  // layouts on machines
  // The data that the plans point into.
  std::shared_ptr<const std::vector<plan::MachineClass>> classes, rollout_classes;
  std::shared_ptr<const plan::FoundOptions> found;
};

// If --max-gpus was not given and our default leaves no plan, the limit is raised; `request` then has the new limit.
RlRecommendation recommend_rl(RlRequest& request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::rl
