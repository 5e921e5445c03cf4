#include "rl/search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/cancel.h"
#include "memory/train.h"
#include "memory/weight_bytes.h"
#include "plan/power_caps.h"
#include "rl/rollout.h"
#include "rl/trainer.h"

namespace rightsize::rl {
namespace {

constexpr int kSizes[] = {1, 2, 4, 8, 16, 32};
// Leaves room for the engine's cache next to its weights.
constexpr double kWeightShare = 0.8;

bool is_power_or_half(int n) {
  while (n % 2 == 0) n /= 2;
  return n == 1 || n == 3;
}

// What searches with different limits have in common.
struct Known {
  std::map<std::tuple<int, int, int, int, bool>, memory::TrainingNeeds> needs;
  std::map<std::tuple<const catalog::Gpu*, double, int, bool, double, int, model::Precision, double, double, bool>,
           Result<Rollout>>
      rollouts;
};

class Search {
 public:
  Search(const RlRequest& request, const perf::Constants& constants, const std::vector<plan::MachineClass>& classes,
         Known& known)
      : request_(request),
        classes_(classes),
        work_(perf::work_of(request.request.model)),
        predictor_{constants, request.request.model, work_},
        stack_(constants_of(request.job.framework)),
        known_(known) {
    if (request.rollout_gpu != nullptr) engine_ = pool_of(constants, *request.rollout_gpu);
    if (engine_ && request.request.power_cap) engine_->speed.power.cap = *request.request.power_cap;
  }

  void run() {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const plan::MachineClass& machines = classes_[c];
      if (cancelled()) return;
      if (!runs_on(*machines.gpu)) continue;
      for (const int count : plan::machine_counts(machines, request_.request.limits, true)) {
        const int gpus = request_.request.limits.gpus.value_or(count * machines.gpus);
        if (!request_.request.limits.gpus && !is_power_or_half(count)) continue;
        for (const auto& [layout, async] : layouts(machines, gpus)) add_best(c, count, layout, async);
      }
    }
  }

  plan::FoundOptions found;
  std::vector<std::pair<RlJob, RlEstimate>> details;  // of each option
  double considered = 0;

  const perf::ModelWork& work() const { return work_; }

  Result<RlEstimate> estimate(const plan::MachineClass& machines, const RlJob& job) {
    const Pool pool{machines.gpu, machines.speed, machines.cluster};
    RIGHTSIZE_TRY(Rollout rollout, rollout_on(engine_.value_or(pool), job));
    if (request_.rollout_purchase == catalog::Purchase::kSpot && job.layout.split) {
      const market::JobAssumptions& assumed = request_.request.assumptions;
      const int spans = std::max(1, replica_gpus(job) / std::max(1, engine_.value_or(pool).cluster.node_gpus));
      const double per_hour =
          spans * assumed.spot_interruptions_per_hour + replica_gpus(job) * assumed.failures_per_gpu_hour;
      if (per_hour > 0) rollout.interrupt(assumed.restart, hours(1 / per_hour));
    }
    return estimate_step(predictor_, job, pool, rollout, stack_);
  }

  // Sets the parallel sizes and the asynchrony of this layout to the fastest that fit; empty if none do.
  std::optional<RlEstimate> choose(const plan::MachineClass& machines, RlJob& job) {
    std::optional<RlEstimate> best;
    RlJob chosen;
    const Pool pool{machines.gpu, machines.speed, machines.cluster};
    for (const model::Parallelism& split : trainer_splits(machines, job)) {
      job.train.parallel = split;
      for (const int tensor : engine_sizes(engine_.value_or(pool), job)) {
        job.rollout.parallel.tensor = tensor;
        settle(job);
        const Result<RlEstimate> step = estimate(machines, job);
        if (step && (!best || step->step < best->step)) best = *step, chosen = job;
      }
    }
    if (!best) return best;
    if (job.layout.split && !request_.async && request_.max_async > 1) {
      chosen.async = enough_async(machines, chosen, request_.max_async);
      if (const Result<RlEstimate> step = estimate(machines, chosen)) best = *step;
    }
    job = chosen;
    return best;
  }

  // The smallest asynchrony, up to `most`, with a step at most 1 % slower than with `most`.
  double enough_async(const plan::MachineClass& machines, RlJob job, double most) {
    constexpr double kClose = 1.01;
    job.async = most;
    const Result<RlEstimate> deepest = estimate(machines, job);
    for (double async = std::max(1.0, std::min(request_.async.value_or(1), most)); deepest && async < most;
         async *= 2) {
      job.async = async;
      const Result<RlEstimate> step = estimate(machines, job);
      if (step && step->step <= deepest->step * kClose) return async;
    }
    return most;
  }

 private:
  // bf16 and the engine's kernels need Ampere or later.
  static bool runs_on(const catalog::Gpu& gpu) {
    if (gpu.vendor == "AMD") return true;
    return gpu.vendor == "NVIDIA" && (gpu.compute_capability.empty() || std::atof(gpu.compute_capability.c_str()) >= 8);
  }

  std::vector<std::pair<Layout, double>> layouts(const plan::MachineClass& machines, int gpus) const {
    const double async = request_.async.value_or(1);
    if (request_.has_other_machines()) return layouts_beside(gpus);
    if (request_.layout) {
      Layout layout = *request_.layout;
      if (!layout.split) layout.train = layout.rollout = gpus;
      if (layout.gpus() != gpus) return {};
      return {{layout, layout.split ? request_.async.value_or(0) : 0}};
    }
    std::vector<std::pair<Layout, double>> all;
    if (request_.async.value_or(0) == 0) all.push_back({{false, gpus, gpus}, 0});
    if (!(async > 0)) return all;
    // Whole machines for each side, or parts of a single one.
    const int unit = gpus > machines.gpus ? machines.gpus : 1;
    // TRL's engine is a server on one machine.
    const int most = request_.job.framework == Framework::kTrl ? machines.gpus : gpus;
    std::set<int> seen;
    for (const double share : {0.25, 0.5, 0.75}) {
      const int train = std::max(gpus - most, static_cast<int>(std::lround(gpus * share / unit)) * unit);
      if (train > 0 && train < gpus && seen.insert(train).second) all.push_back({{true, train, gpus - train}, async});
    }
    return all;
  }

  // All GPUs of these machines train; others generate.
  std::vector<std::pair<Layout, double>> layouts_beside(int gpus) const {
    const bool given = request_.layout && request_.layout->split;
    if (given && request_.layout->train != gpus) return {};
    if (given) return {{*request_.layout, request_.async.value_or(0)}};
    std::vector<std::pair<Layout, double>> all;
    for (const double share : {0.5, 1.0, 2.0, 3.0}) {
      const int rollout = static_cast<int>(std::lround(gpus * share));
      if (rollout > 0 && gpus + rollout <= request_.request.limits.max_gpus)
        all.push_back({{true, gpus, rollout}, request_.async.value_or(1)});
    }
    return all;
  }

  // The fastest settings of both sides on all of these machines.
  void add_best(std::size_t index, int count, const Layout& layout, double async) {
    const plan::MachineClass& machines = classes_[index];
    ++considered;
    RlJob job = request_.job;
    job.layout = layout, job.async = async;
    const std::optional<RlEstimate> best = choose(machines, job);
    if (!best && nearest_ > machines.gpu->capacity())
      found.reject(machines, plan::RejectionStage::kMemory, 1,
                   {.kind = plan::Shortfall::Kind::kMemory,
                    .need_gpus = layout.train,
                    .need_bytes = nearest_,
                    .have_bytes = machines.gpu->capacity()});
    if (!best) return;
    plan::Option option;
    option.machines = count, option.gpus = request_.has_other_machines() ? layout.train : layout.gpus();
    option.job = job.train;
    option.units_per_second = job.tokens() / in_seconds(best->step);
    option.speed = best->interval, option.basis = best->basis;
    option.gpu_power = request_.has_other_machines() ? best->train_power : best->power.mean;
    option.machines_class = index;
    found.options.push_back(std::move(option));
    details.emplace_back(job, *best);
  }

  // The smallest splits of the trainer that fit, with everything offloaded that can be: of one size, a pipeline can be
  // faster than tensor parallelism also inside a machine.
  std::vector<model::Parallelism> trainer_splits(const plan::MachineClass& machines, RlJob job) {
    const model::ModelShape& model = request_.request.model;
    const Bytes capacity = machines.gpu->capacity();
    std::vector<std::tuple<int, int, int>> sizes;  // product, pipeline, tensor
    for (const int tensor : kSizes) {
      for (const int pipeline : kSizes) {
        const bool possible = tensor <= std::min(8, machines.cluster.node_gpus) && model.heads % tensor == 0 &&
                              pipeline <= 16 && pipeline <= model.layers && job.layout.train % (tensor * pipeline) == 0;
        if (possible) sizes.emplace_back(tensor * pipeline, pipeline, tensor);
      }
    }
    if (request_.trainer_given) {
      const model::Parallelism& p = job.train.parallel;
      if (job.layout.train % (p.tensor * p.pipeline * p.context) != 0) return {};
      sizes = {{p.tensor * p.pipeline, p.pipeline, p.tensor}};
    }
    std::sort(sizes.begin(), sizes.end());
    std::vector<model::Parallelism> fitting;
    int smallest = 0;
    for (const auto& [product, pipeline, tensor] : sizes) {
      if (!fitting.empty() && product > smallest) break;
      model::Parallelism& p = job.train.parallel;
      p.tensor = tensor, p.pipeline = pipeline;
      if (!request_.trainer_given && work_.experts > 0) {
        const int groups = job.layout.train / pipeline;
        p.expert = 1;
        for (const int expert : kSizes)
          if (groups % expert == 0 && static_cast<int>(work_.experts) % expert == 0) p.expert = expert;
      }
      settle(job);
      nearest_ = trainer_need(job);
      if (nearest_ <= capacity) fitting.push_back(p), smallest = product;
    }
    return fitting;
  }

  Bytes trainer_need(const RlJob& job) {
    const model::Job peak = peak_training(job);
    const model::Parallelism& p = peak.parallel;
    const auto key = std::tuple(p.tensor, p.pipeline, p.expert, p.zero, p.data() > 1);
    auto found_need = known_.needs.find(key);
    if (found_need == known_.needs.end())
      found_need = known_.needs.try_emplace(key, request_.request.model, peak).first;
    return std::max(found_need->second.high(1, p.data()), least_memory(request_.request.model, job));
  }

  std::vector<int> engine_sizes(const Pool& pool, RlJob& job) const {
    if (request_.engine_given) return {job.rollout.parallel.tensor};
    std::vector<int> sizes;
    for (const int tensor : kSizes) {
      if (tensor > job.layout.rollout || request_.request.model.heads % tensor != 0 || sizes.size() == 2) continue;
      if (tensor > pool.cluster.node_gpus && !sizes.empty()) continue;
      // TRL's server runs one replica of a dense model.
      if (request_.job.framework == Framework::kTrl && job.layout.split && !request_.request.model.experts &&
          tensor != job.layout.rollout)
        continue;
      job.rollout.parallel.tensor = tensor;
      settle(job);
      const Bytes weights = memory::served_weight_bytes(request_.request.model, job.rollout);
      if (weights <= pool.gpu->capacity() * kWeightShare) sizes.push_back(tensor);
    }
    return sizes;
  }

  // Generation depends on the GPU, the engine and its share of the answers, not on the trainer.
  Result<Rollout> rollout_on(const Pool& pool, const RlJob& job) {
    const double replicas = std::max(1, job.layout.rollout / replica_gpus(job));
    // In one host, neither its size nor the network matter; on one GPU, its links do not matter either.
    const perf::Cluster& cluster = pool.cluster;
    const bool spans = spans_hosts(job, cluster), linked = cluster.linked && replica_gpus(job) > 1;
    const auto key = std::tuple(pool.gpu, in_watts(pool.speed.power.cap), spans ? cluster.node_gpus : 0, linked,
                                spans ? in_bytes_per_s(cluster.network_per_gpu) : 0.0, job.rollout.parallel.tensor,
                                job.rollout.precision, std::ceil(job.sequences() / job.kept_prompts / replicas),
                                job.answers.mean, job.layout.split);
    auto at = known_.rollouts.find(key);
    if (at == known_.rollouts.end())
      at = known_.rollouts.emplace(key, simulate_rollout(predictor_, job, pool, stack_, job.async)).first;
    Result<Rollout> rollout = at->second;
    if (!rollout) return rollout;
    rollout->replicas = replicas;
    rollout->start_ahead(job.async);
    return rollout;
  }

  const RlRequest& request_;
  const std::vector<plan::MachineClass>& classes_;
  perf::ModelWork work_;
  capacity::Predictor predictor_;
  StackConstants stack_;
  std::optional<Pool> engine_;  // if it runs on other GPUs
  Bytes nearest_;
  Known& known_;
};

// One plan per provider, GPU, terms and layout.
using RlKind = std::tuple<std::string_view, const catalog::Gpu*, catalog::Purchase, bool>;

// A change is listed only if a run with its flags has a plan on these machines.
void add_change(Search& search, const RlRequest& request, RlChange::Kind kind, std::string flags, RlJob job,
                RlRecommendation& to) {
  const RlPlan& plan = to.plans.front();
  const plan::MachineClass& machines = *plan.priced.machines;
  const catalog::Gpu& engine = request.rollout_gpu != nullptr ? *request.rollout_gpu : *machines.gpu;
  const double async = job.async;
  if (!search.choose(machines, job)) return;
  job.async = async;
  const Result<RlEstimate> step = search.estimate(machines, job);
  if (!step || phase_memory(request.request.model, job, *machines.gpu, engine).verdict == memory::Verdict::kNo) return;
  // Checkpoints and lost work grow with the time of the steps; start-up and storage do not.
  const market::RunningTime& now = plan.priced.time;
  const Seconds time = now.startup + (now.total() - now.startup) * (step->step / plan.step.step);
  plan::PricedOption then = plan.priced;
  then.time.work = then.time.work + (time - now.total());
  to.changes.push_back({kind, std::move(flags), *step, time, plan.rate() * time + plan.priced.side_cost,
                        plan::chance_of_missing(request.request, then)});
}

void add_changes(Search& search, const RlRequest& request, RlRecommendation& to) {
  using Kind = RlChange::Kind;
  const RlPlan& plan = to.plans.front();
  const auto add = [&](Kind kind, std::string flags, const RlJob& job) {
    add_change(search, request, kind, std::move(flags), job, to);
  };
  RlJob job = plan.job;
  job.samples *= 2;
  add(Kind::kMoreSamples, fmt::format("--samples {:.0f}", job.samples), job);
  job = plan.job;
  job.answers.mean /= 2, job.answers.most /= 2;
  add(Kind::kShorterAnswers,
      job.answers.most > 0 ? fmt::format("--osl {:.0f},max={:.0f}", job.answers.mean, job.answers.most)
                           : fmt::format("--osl {:.0f}", job.answers.mean),
      job);
  job = plan.job;
  const int gpus = job.layout.gpus();
  if (job.layout.split && job.async >= 1) {
    constexpr double kDeepest = 16, kWorthIt = 0.98;
    job.async = search.enough_async(*plan.priced.machines, job, kDeepest * job.async);
    if (const Result<RlEstimate> deeper = search.estimate(*plan.priced.machines, job);
        deeper && deeper->step < plan.step.step * kWorthIt)
      add(Kind::kDeeperAsync, fmt::format("--async {:.0f}", job.async), job);
    job = plan.job;
  }
  if (plan.rollout) {
    // Without the other GPUs there is no plan to compare with.
  } else if (job.layout.split) {
    job.layout = {false, gpus, gpus}, job.async = 0;
    add(Kind::kColocated, "--layout colocated", job);
  } else if (gpus % 2 == 0) {
    job.layout = {true, gpus / 2, gpus / 2}, job.async = 1;
    add(Kind::kAsync, fmt::format("--layout {} --async 1", describe(job.layout)), job);
  }
  job = plan.job;
  if (job.rollout.precision != model::Precision::kFp8) {
    job.rollout.precision = model::Precision::kFp8;
    add(Kind::kFp8Rollout, "--rollout-precision fp8", job);
  }
}

// The effect of a power cap on the same machines with the same settings.
std::optional<plan::CapChoice> cap_of(Search& search, const RlPlan& plan) {
  plan::MachineClass free = *plan.priced.machines;
  if (!free.speed.power.capped()) return std::nullopt;
  plan::CapChoice choice{free.speed.power.cap, {}, {}};
  free.speed.power.cap = {};
  const Result<RlEstimate> step = search.estimate(free, plan.job);
  if (!step || !step->power.known()) return choice;
  const Watts without = plan.priced.power + (step->power.mean - plan.step.power.mean) * plan.job.layout.gpus();
  choice.time = plan.step.step / step->step;
  choice.energy = *choice.time * (plan.priced.power / without);
  return choice;
}

}  // namespace

UsdPerSecond RlPlan::rate() const {
  return priced.rate * machines(priced.option->machines) + (rollout ? rollout->rate : UsdPerSecond{});
}

plan::Plan RlPlan::energy(const plan::Request& request) const {
  plan::Plan plan;
  plan.offer = *priced.offer, plan.time = priced.time, plan.cap = cap;
  plan.speed = priced.option->speed, plan.resizing = plan::chance_of_missing(request, priced);
  plan.power = priced.power, plan.gpu_power = step.power.mean;
  plan.pue = plan::pue_of(request, *plan.offer.machine);
  if (request.carbon) plan.carbon = request.carbon->in(plan.offer.price->region);
  if (const market::OwnHardware* own = priced.machines->own) {
    const UsdPerMachineSecond electricity = priced.rate - market::hourly_cost(*own, Watts{});
    plan.electricity = electricity * machines(priced.option->machines) * priced.time.total();
  }
  return plan;
}

namespace {

// The cheapest machines of the trainer's provider with at least this number of GPUs.
std::optional<RolloutMachines> rollout_machines(const RlRequest& request,
                                                const std::vector<plan::MachineClass>& classes,
                                                const plan::PricedOption& trainer, int gpus, Watts gpu_power) {
  const std::string& provider = trainer.offer->machine->provider;
  const bool owned = provider == market::kOwn;
  std::optional<RolloutMachines> best;
  for (const plan::MachineClass& machines : classes) {
    if (request.rollout_gpu == nullptr && machines.gpu != trainer.machines->gpu) continue;
    const int count = (gpus + machines.gpus - 1) / machines.gpus;
    for (std::size_t i = 0; i < machines.offers.size(); ++i) {
      const market::Offer& offer = machines.offers[i];
      if ((offer.machine->provider != provider && !owned) || !machines.outlooks[i].may_lead()) continue;
      const UsdPerSecond rate = machines.outlooks[i].likely * rightsize::machines(count);
      if (best && rate >= best->rate) continue;
      plan::Deployment engine;
      engine.machines = count, engine.gpus = gpus, engine.gpu_power = gpu_power;
      best = RolloutMachines{&offer, count, rate, plan::power_of(engine, machines)};
    }
  }
  return best;
}

bool within_limits(const plan::Request& request, const plan::PricedOption& c) {
  const plan::PlanLimits& limits = request.limits;
  const auto within = [](const auto& limit, const auto& value) { return !limit || value <= *limit; };
  const bool known = c.power > Watts{} || !(limits.power || limits.co2_kg);
  return known && (!limits.budget || c.cost <= *limits.budget + plan::kHalfACent) && within(limits.power, c.power) &&
         within(limits.co2_kg, plan::co2_kg(request, c).value_or(0));
}

// Adds what the engine's machines cost and draw. Plans are dropped if their provider does not have them.
void add_rollout_costs(const RlRequest& request, const std::vector<plan::MachineClass>& classes,
                       const std::vector<std::pair<RlJob, RlEstimate>>& details, const plan::Option* first,
                       std::vector<plan::PricedOption>& candidates) {
  std::erase_if(candidates, [&](plan::PricedOption& c) {
    const auto& [job, step] = details[static_cast<std::size_t>(c.option - first)];
    const auto engine = rollout_machines(request, classes, c, job.layout.rollout, step.rollout_power);
    if (!engine || !(c.cost > Usd{})) return true;
    c.power = c.power > Watts{} && engine->power > Watts{} ? c.power + engine->power : Watts{};
    const Usd more = engine->rate * c.time.total();
    const double factor = (c.cost + more) / c.cost;
    c.cost = c.cost * factor, c.cost_low = c.cost_low * factor, c.cost_high = c.cost_high * factor;
    return !within_limits(request.request, c);
  });
}

}  // namespace

namespace {

RlRecommendation recommend_within(const RlRequest& request, const market::PriceBook& book,
                                  const perf::Constants& constants, Known& known) {
  RlRecommendation result;
  const plan::Request& wanted = request.request;
  const auto classes = std::make_shared<std::vector<plan::MachineClass>>(
      plan::machine_classes(book.offers(wanted.filter), book, plan::price_horizon(wanted), constants, wanted.own));
  plan::cap_classes(wanted, *classes);
  Search search(request, constants, *classes, known);
  search.run();
  result.considered = search.considered;
  const auto found = std::make_shared<plan::FoundOptions>(std::move(search.found));
  result.obstacles = found->obstacles;
  std::vector<plan::PricedOption> candidates =
      plan::price_options(wanted, book, *classes, search.work(), *found, result.obstacles);
  if (request.has_other_machines()) {
    market::OfferFilter filter = wanted.filter;
    if (request.rollout_gpu != nullptr) filter.gpus = {request.rollout_gpu->name};
    // The engine uses spot only if the user chooses it: its interruptions would not be counted otherwise.
    filter.purchases = {request.rollout_purchase.value_or(catalog::Purchase::kOnDemand)};
    result.rollout_classes = std::make_shared<std::vector<plan::MachineClass>>(
        plan::machine_classes(book.offers(filter), book, plan::price_horizon(wanted), constants, {}));
    add_rollout_costs(request, *result.rollout_classes, search.details, found->options.data(), candidates);
  }
  // A GPU without benchmarks is an experiment, not a plan, unless nothing else meets the limits.
  const auto is_guess = [](const plan::PricedOption& c) { return c.is_extrapolated(); };
  std::sort(candidates.begin(), candidates.end(), [&](const plan::PricedOption& a, const plan::PricedOption& b) {
    return is_guess(a) != is_guess(b) ? is_guess(b) : plan::is_better(wanted, a, b);
  });
  result.classes = classes, result.found = found;
  // Empty if the exact replay needs more memory than the search assumed.
  const auto plan_of = [&](const plan::PricedOption& candidate) -> std::optional<RlPlan> {
    const auto& [job, step] = search.details[static_cast<std::size_t>(candidate.option - found->options.data())];
    const catalog::Gpu& engine = request.rollout_gpu != nullptr ? *request.rollout_gpu : *candidate.machines->gpu;
    RlPlan plan{candidate, job, step, phase_memory(wanted.model, job, *candidate.machines->gpu, engine), {}};
    if (plan.memory.verdict == memory::Verdict::kNo) return std::nullopt;
    if (request.has_other_machines())
      plan.rollout =
          rollout_machines(request, *result.rollout_classes, candidate, job.layout.rollout, step.rollout_power);
    plan.cap = cap_of(search, plan);
    if (job.last_mean > 0) {
      const Result<RlEstimate> first = search.estimate(*candidate.machines, at_first_step(job)),
                               last = search.estimate(*candidate.machines, at_last_step(job));
      if (first && last) plan.first_step = first->step, plan.last_step = last->step;
    }
    return plan;
  };
  const auto keeps_deadline = [&](const plan::PricedOption& c) {
    return !wanted.limits.deadline || c.time.total() * c.option->speed.high <= *wanted.limits.deadline;
  };
  // One plan of each kind, up to `most` of those wanted.
  const auto fill = [&](std::vector<RlPlan>& plans, std::size_t most, const auto& is_wanted) {
    std::set<RlKind> seen;
    for (const plan::PricedOption& c : candidates) {
      if (plans.size() >= most) break;
      const RlJob& job = search.details[static_cast<std::size_t>(c.option - found->options.data())].first;
      const RlKind kind{c.offer->machine->provider, c.machines->gpu, c.offer->price->purchase, job.layout.split};
      if (!is_wanted(c) || seen.contains(kind)) continue;
      std::optional<RlPlan> plan = plan_of(c);
      if (!plan) continue;
      seen.insert(kind);
      plans.push_back(*std::move(plan));
    }
  };
  fill(result.plans, static_cast<std::size_t>(wanted.top), [](const plan::PricedOption&) { return true; });
  if (!result.plans.empty() && !wanted.plans_only && wanted.objective == plan::Objective::kCost) {
    constexpr double kClearly = 0.9;
    constexpr std::size_t kMost = 3;
    const plan::PricedOption& first = result.plans.front().priced;
    fill(result.held_back, kMost, [&](const plan::PricedOption& c) {
      return first.price->may_lead() && !c.price->may_lead() && !is_guess(c) && c.cost < first.cost * kClearly;
    });
  }
  std::vector<const plan::PricedOption*> less;  // costs less than the first
  for (const plan::PricedOption& c : candidates)
    if (!result.plans.empty() && c.cost < result.plans.front().priced.cost) less.push_back(&c);
  std::stable_sort(less.begin(), less.end(), [](const auto* a, const auto* b) { return a->cost < b->cost; });
  for (auto c = less.begin(); !result.cheapest && c != less.end(); ++c) result.cheapest = plan_of(**c);
  const bool risky = !result.plans.empty() && !keeps_deadline(result.plans.front().priced);
  for (auto c = candidates.begin(); risky && !result.safe && c != candidates.end(); ++c)
    if (keeps_deadline(*c) && c->price->may_lead() && !c->is_extrapolated()) result.safe = plan_of(*c);
  if (result.plans.empty() || wanted.plans_only) return result;
  const plan::PricedOption& first = result.plans.front().priced;
  if (wanted.objective == plan::Objective::kCost && first.time.total() > plan::kLongWait) {
    std::vector<std::pair<double, const plan::PricedOption*>> trades;
    for (const plan::PricedOption& c : candidates) {
      const Seconds waited = std::max(c.time.total(), plan::kLongWait);  // less is not worth more money
      const double trade = plan::trade_of(c.cost / first.cost, waited / first.time.total());
      if (trade < plan::kGoodTrade && c.price->may_lead() && !c.is_extrapolated()) trades.emplace_back(trade, &c);
    }
    std::stable_sort(trades.begin(), trades.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto c = trades.begin(); !result.sooner && c != trades.end(); ++c) result.sooner = plan_of(*c->second);
  }
  add_changes(search, request, result);
  return result;
}

}  // namespace

RlRecommendation recommend_rl(RlRequest& request, const market::PriceBook& book, const perf::Constants& constants) {
  constexpr int kMost = 1024, kMore = 4;
  plan::PlanLimits& limits = request.request.limits;
  Known known;
  RlRecommendation found = recommend_within(request, book, constants, known);
  while (found.plans.empty() && limits.max_gpus_assumed && !limits.gpus && limits.max_gpus < kMost) {
    limits.max_gpus *= kMore;
    found = recommend_within(request, book, constants, known);
  }
  return found;
}

}  // namespace rightsize::rl
