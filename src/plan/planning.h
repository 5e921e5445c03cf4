// One request taken through the search: offers, classes, options, prices, ranks, simulations.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "perf/benchmark.h"
#include "perf/job_time.h"
#include "plan/candidates.h"
#include "plan/explain.h"
#include "plan/look_ahead.h"
#include "plan/mix.h"
#include "plan/plan.h"
#include "plan/power_caps.h"
#include "plan/search_serving.h"
#include "plan/sensitivity.h"

namespace rightsize::plan {

// Identifies job settings that proved too large for a GPU.
inline auto exclusion_key(const model::Job& job, const catalog::Gpu& gpu) {
  const model::Parallelism& p = job.parallel;
  return std::tuple(gpu.name, job.train.method, job.precision, job.train.recompute, job.train.cross_entropy, p.tensor,
                    p.pipeline, p.expert, p.zero, p.gpus, job.batch);
}

inline bool is_on(const PricedOption& option, std::string_view gpu) { return option.machines->gpu->name == gpu; }
inline bool any_plan(const PricedOption&) { return true; }
inline constexpr Usd kAnyCost = usd(1e300);

// One request taken through the search. It owns everything that candidates point to.
class Planning {
 public:
  Planning(const Request& request, const PlanningFacts& facts)
      : request_(request),
        book_(facts.book),
        constants_(facts.constants),
        work_(facts.work),
        memory_(request.model),
        offers_(book_.offers(request.filter)) {
    drop_foreign_chips();
    classes_ = machine_classes(offers_, book_, price_horizon(request), constants_, request.own);
    cap_classes(request, classes_);
    limit_by_budget(request, book_, classes_);
    if (request.work.kind == WorkKind::kServing)
      serving_.emplace(request_, classes_, constants_, work_, facts.run_cache);
    found_ = serving_ ? serving_->screen() : search(nullptr);
    rank();
  }

  // Checks the first `plans` and the front. Training: computes their exact memory, excludes plans that do not fit, and
  // searches that GPU again. Serving: simulates them, each with as many machines as its SLOs need, and with `intervals`
  // also at the slow end of their speed, which does not change their rank; a first plan that costs `most` not in full.
  void verify(std::size_t plans, bool front, bool intervals, Usd most = kAnyCost) {
    if (request_.work.kind == WorkKind::kTraining) {
      std::vector<memory::MemoryTable::Asked> asked;
      for (const PricedOption* c : shown(plans, front)) asked.push_back({&c->option->job, c->machines->gpu});
      memory_.find_together(asked);
      const auto too_large = [this](const PricedOption& c) { return !fits(c); };
      do {
        while (const PricedOption* wrong = first_shown(plans, front, too_large)) exclude(*wrong);
      } while (!cancelled() && refine_memory(plans, front));
    }
    if (!serving_) return;
    for (bool Option::*done : {&Option::sized, &Option::confirmed}) {
      with_look_ahead(looks_at(done, plans, front), [&] {
        const auto open = [done](const PricedOption& c) { return !(c.option->*done); };
        // A cancelled simulation confirms nothing: without this check, the loop would not end.
        while (!cancelled() && !kinds_.empty() && !costs_at_least(most, done == &Option::sized)) {
          const PricedOption* next = first_shown(plans, front, open);
          if (next == nullptr && done == &Option::sized) next = could_lead();
          if (next == nullptr && done == &Option::sized && plans > 1) next = could_be_rival();
          if (next == nullptr) break;
          look_closer(*next, plans);
        }
      });
    }
    if (intervals && request_.work.rate > RequestsPerSecond{}) find_slow_ends(plans);
    if (front_.size() > kFront) front_.resize(kFront);
  }

  // Options with doubtful prices that are clearly cheaper than the first plan, one of each kind, best first.
  std::vector<Plan> held_back() {
    constexpr double kClearly = 0.9;
    constexpr std::size_t kMost = 3;
    std::vector<Plan> plans;
    if (kinds_.empty() || !kinds_.front().price->may_lead() || request_.objective != Objective::kCost) return plans;
    std::set<Kind> seen;
    const auto next = [&] {
      const double most = kinds_.front().ranked_cost(request_) * kClearly;
      return best_in(candidates_, [&](const PricedOption& c) {
        return !c.price->may_lead() && c.ranked_cost(request_) <= most && !seen.contains(kind_of(c));
      });
    };
    while (const PricedOption* cheaper = plans.size() < kMost ? checked(next) : nullptr) {
      seen.insert(kind_of(*cheaper));
      plans.push_back(build(*cheaper));
    }
    return plans;
  }

  // The best candidate of those wanted that fits, or none.
  template <class Wanted>
  const PricedOption* best_of(const Wanted& wanted) {
    return checked([&]() -> const PricedOption* {
      const auto found = std::find_if(kinds_.begin(), kinds_.end(), wanted);
      if (found == kinds_.end()) return nullptr;
      const bool all = !simulates_cache(request_);  // conversations: all layouts would have to be simulated
      const PricedOption* less = all ? could_cost_less(found->ranked_cost(request_), wanted) : nullptr;
      return less != nullptr ? less : &*found;
    });
  }

  // The first plan of those wanted, as a narrower request ranks them, or null.
  template <class Wanted>
  const PricedOption* first_of(const Request& narrower, const Wanted& wanted) {
    return checked([&]() -> const PricedOption* {
      std::vector<PricedOption> some = candidates_;
      std::erase_if(some, [&](const PricedOption& c) { return !wanted(c); });
      narrowed_ = best_of_each_kind(narrower, some);
      return narrowed_.empty() ? nullptr : &narrowed_.front();
    });
  }

  // The plan with the least new money of those wanted, whatever its rank, or null. Options are simulated in the order
  // of their lower bounds, so none that costs less is left.
  template <class Wanted>
  const PricedOption* cheapest(const Wanted& wanted) {
    return checked([&]() -> const PricedOption* {
      const PricedOption* least = nullptr;
      for (const PricedOption& c : candidates_)
        if (wanted(c) && (least == nullptr || c.least_due(request_) < least->least_due(request_))) least = &c;
      return least;
    });
  }

  Plan build(const PricedOption& candidate, int machines_of_mix = 0) {
    const Option& option = *candidate.option;
    Plan plan;
    static_cast<Deployment&>(plan) = option;
    if (machines_of_mix > 0) {
      plan.machines = machines_of_mix;
      plan.gpus = machines_of_mix * option.gpus / option.machines;
    }
    plan.offer = *candidate.offer;
    plan.price = *candidate.price;
    plan.time = candidate.time;
    if (const market::OwnHardware* own = candidate.machines->own) {
      plan.price.low = plan.price.likely = plan.price.high = plan.price.listed = candidate.rate;
      const UsdPerMachineSecond electricity = candidate.rate - market::hourly_cost(*own, Watts{});
      plan.electricity = electricity * rightsize::machines(plan.machines) * plan.time.total();
    }
    plan.cost = candidate.cost;
    plan.side_cost = candidate.side_cost;
    plan.draws = draws_of(request_, book_, candidate);
    plan.cost_low = candidate.cost_low;
    plan.cost_high = candidate.cost_high;
    plan.interval_known = !serving_ || option.machines_if_slow.has_value();
    plan.resizing = chance_of_missing(request_, candidate), plan.machines_if_slow = option.machines_if_slow.value_or(0);
    plan.extrapolated = candidate.is_extrapolated();
    plan.relative = candidate.machines->speed.relative;
    plan.benchmarked = request_.work.is_measured() || candidate.has_benchmark();
    plan.misses_if_slow = candidate.misses_if_slow || outgrows_budget(request_, plan);
    plan.ranked_cost = candidate.ranked_cost(request_), plan.score = candidate.score(request_);
    plan.day_share = candidate.day_share;
    plan.starts_over = candidate.starts_over;
    plan.draw_share = candidate.draw_share;
    if (follows_hours(*candidate.offer)) plan.machines_by_hour = option.machines_by_hour;
    plan.traffic_share = request_.work.mean_traffic();
    add_terms(book_, request_, plan);
    if (!request_.work.is_measured()) describe_run(candidate, plan);
    return plan;
  }

  // Several kinds of machines behind one router, if that is cheaper and meets every SLO when simulated together.
  std::vector<MixChoice> mix() {
    confirmed_ = confirmed_of(kinds_);
    // If commitments cover the cost, the price per hour does not decide.
    const bool drawn = std::any_of(confirmed_.begin(), confirmed_.end(), [](const auto& c) { return c.drawn > Usd{}; });
    const auto choices = drawn ? std::vector<MixChoice>{} : cheapest_mix(request_, confirmed_);
    return choices.empty() || serving_->confirm_mix(choices) ? choices : std::vector<MixChoice>{};
  }

  // The kinds that a verdict compares. Of a service, those that are simulated whatever the length of the list: the
  // first ones and the next GPU.
  std::vector<PricedOption> compared() const {
    if (!serving_) return kinds_;
    std::vector<PricedOption> some(kinds_.begin(),
                                   kinds_.begin() + static_cast<std::ptrdiff_t>(std::min(kCompared, kinds_.size())));
    if (const PricedOption* next = rival()) some.push_back(*next);
    if (const PricedOption* next = next_gpu()) some.push_back(*next);
    return confirmed_of(std::move(some));
  }

  // The best kind on another GPU with a benchmark and a price as sound as the first; null: none.
  const PricedOption* rival() const {
    const auto next = std::find_if(kinds_.begin(), kinds_.end(), [&](const PricedOption& c) { return is_rival(c); });
    return next == kinds_.end() ? nullptr : &*next;
  }

  // The cheapest kind on another GPU; null: none.
  const PricedOption* next_gpu() const {
    const PricedOption* next = nullptr;
    for (const PricedOption& c : kinds_)
      if (!is_on(c, kinds_.front().machines->gpu->name) && (next == nullptr || c.cost < next->cost)) next = &c;
    return next;
  }

  static std::vector<PricedOption> confirmed_of(std::vector<PricedOption> options) {
    std::erase_if(options, [](const PricedOption& option) { return !option.option->confirmed; });
    return options;
  }

  // What to test before ordering: the first plan if its speed is extrapolated, otherwise the cheapest that is
  // extrapolated or unproven, if it is clearly cheaper. Null: neither.
  const PricedOption* worth_testing() const {
    constexpr double kClearly = 0.95;
    if (kinds_.empty() || request_.work.is_measured()) return nullptr;
    if (kinds_.front().is_extrapolated()) return &kinds_.front();
    if (request_.objective == Objective::kEnergy) return nullptr;  // a cheaper plan may use more energy
    const PricedOption* best = nullptr;
    for (const PricedOption& c : kinds_) {
      const bool untested = c.is_extrapolated() || c.is_unproven(request_);
      const bool cheaper = untested && c.price->may_lead() && c.cost < kinds_.front().cost * kClearly;
      if (cheaper && (best == nullptr || c.cost < best->cost)) best = &c;
    }
    return best;
  }

  const std::vector<PricedOption>& kinds() const { return kinds_; }
  const std::vector<PricedOption>& front() const { return front_; }
  const std::vector<PricedOption>& trade_off_front() const { return trade_off_; }
  const Obstacles& obstacles() const { return obstacles_; }
  const Request& request() const { return request_; }
  const std::vector<market::Offer>& offers() const { return offers_; }
  double feasible() const { return static_cast<double>(candidates_.size()); }
  SearchEffort effort() const {
    SearchEffort effort = found_.effort;
    effort.curves = memory_.compiled();
    return effort;
  }

 private:
  bool is_rival(const PricedOption& c) const {
    const PricedOption& first = kinds_.front();
    if (c.is_extrapolated() || c.is_unproven(request_) > first.is_unproven(request_)) return false;
    return c.machines->gpu != first.machines->gpu && (c.price->may_lead() || !first.price->may_lead());
  }

  // The modelled software runs on CUDA and ROCm.
  void drop_foreign_chips() {
    std::erase_if(offers_, [this](const market::Offer& offer) {
      const bool runs = offer.gpu->vendor == "NVIDIA" || offer.gpu->vendor == "AMD";
      if (!runs)
        foreign_[{offer.gpu->name, RejectionStage::kSoftware}].add(
            1, 1, {.kind = Shortfall::Kind::kForeignChip, .stack = request_.job.stack});
      return !runs;
    });
  }

  FoundOptions search(const catalog::Gpu* only) {
    if (request_.work.kind == WorkKind::kOffline) return search_offline(request_, classes_, constants_, work_);
    const Excluded excluded = [this](const model::Job& job, const catalog::Gpu& gpu) {
      return !excluded_.empty() && excluded_.contains(exclusion_key(job, gpu));
    };
    return search_training(request_, classes_, constants_, work_, memory_, excluded, only);
  }

  void rank() {
    // Services: the power of a replica depends on its load, so look_closer() resets it for every size it tries.
    const bool all = request_.limits.power || request_.limits.co2_kg || request_.objective == Objective::kEnergy;
    for (Option& option : found_.options) {
      if (serving_ && !(option.gpu_power > Watts{}) && (all || option.confirmed || classes_[option.machines_class].own))
        option.gpu_power = power_at_load(option, classes_[option.machines_class]);
    }
    obstacles_ = found_.obstacles;
    obstacles_.insert(foreign_.begin(), foreign_.end());
    candidates_ = price_options(request_, book_, classes_, work_, found_, obstacles_);
    kinds_ = best_of_each_kind(request_, candidates_);
    if (request_.plans_only && request_.top == 1) return;  // shows no fronts
    front_ = pareto_front(request_, candidates_);
    // Simulation changes the numbers of a service, so only simulated options are compared.
    trade_off_ = trade_off(request_, serving_ ? confirmed_of(candidates_) : candidates_, kTradeOff);
  }

  // The exact check: the search only interpolates memory.
  bool fits(const PricedOption& c) {
    const catalog::Gpu& gpu = *c.machines->gpu;
    return memory::fits(memory_.need(c.option->job, gpu), gpu).verdict == memory::Verdict::kFits;
  }

  // Checks what `choose` returns, until that is known to meet the limits. Null: nothing is left.
  template <class Choose>
  const PricedOption* checked(const Choose& choose) {
    while (!cancelled()) {
      const PricedOption* chosen = choose();
      if (chosen == nullptr) return nullptr;
      if (serving_ && !chosen->option->confirmed)
        look_closer(*chosen, kinds_.size());
      else if (request_.work.kind == WorkKind::kTraining && !fits(*chosen))
        exclude(*chosen);
      else
        return chosen;
    }
    return nullptr;
  }

  template <class Wanted>
  const PricedOption* best_in(const std::vector<PricedOption>& options, const Wanted& wanted) const {
    const PricedOption* best = nullptr;
    for (const PricedOption& c : options)
      if (wanted(c) && (best == nullptr || is_better(request_, c, *best))) best = &c;
    return best;
  }

  // Computes the loss in chunks where memory is short, if the trainer's file can ask for it: the result is the same,
  // the time within 1 %. Whether it did.
  bool spare_memory(Option& option, const catalog::Gpu& gpu) {
    constexpr double kShort = 0.95;
    model::TrainSettings& train = option.job.train;
    const bool can = request_.loss_assumed && request_.model.image_size == 0 && !train.preference &&
                     request_.model.kind == model::ModelKind::kDecoder && option.job.stack == model::Stack::kHf;
    if (!can || train.cross_entropy != model::CrossEntropy::kEager || option.memory_used <= kShort) return false;
    train.cross_entropy = model::CrossEntropy::kChunked;
    const double used = memory_.need(option.job, gpu).high / gpu.capacity();
    const bool less = used < option.memory_used;
    if (!less) train.cross_entropy = model::CrossEntropy::kEager;
    option.memory_used = std::min(option.memory_used, used);
    return less;
  }

  // Ranks what is shown by its exact memory; false where that was known.
  bool refine_memory(std::size_t plans, bool front) {
    bool changed = false;
    for (const PricedOption* c : shown(plans, front)) {
      const double used = memory_.need(c->option->job, *c->machines->gpu).high / c->machines->gpu->capacity();
      Option& option = found_.options[static_cast<std::size_t>(c->option - found_.options.data())];
      changed |= std::abs(option.memory_used - used) > 1e-9;
      option.memory_used = used;
      changed |= spare_memory(option, *c->machines->gpu);
    }
    if (changed) rank();
    return changed;
  }

  // What will be shown: the first plans, of services also the next-best GPU whatever its rank, and the front.
  std::vector<const PricedOption*> shown(std::size_t plans, bool front) const {
    std::vector<const PricedOption*> all;
    for (std::size_t i = 0; i < std::min(plans, kinds_.size()); ++i) all.push_back(&kinds_[i]);
    for (const PricedOption* next : {rival(), next_gpu()})
      if (serving_ && plans > 1 && next != nullptr) all.push_back(next);
    // Separate workers lead only if they save enough over a plain plan, which is therefore simulated too.
    const PricedOption* plain = best_in(kinds_, [&](const PricedOption& c) { return !is_separated(request_, c); });
    if (plain != nullptr && is_separated(request_, kinds_.front())) all.push_back(plain);
    if (const PricedOption* extrapolation = front ? worth_testing() : nullptr) all.push_back(extrapolation);
    const std::size_t of_front = serving_ ? std::min(kFront, front_.size()) : front_.size();
    for (std::size_t i = 0; front && i < of_front; ++i) all.push_back(&front_[i]);
    for (std::size_t i = 0; front && i < trade_off_.size(); ++i) all.push_back(&trade_off_[i]);
    return all;
  }

  template <class Wanted>
  const PricedOption* first_shown(std::size_t plans, bool front, const Wanted& wanted) const {
    const std::vector<const PricedOption*> all = shown(plans, front);
    const auto found = std::find_if(all.begin(), all.end(), [&](const PricedOption* c) { return wanted(*c); });
    return found == all.end() ? nullptr : *found;
  }

  void exclude(const PricedOption& candidate) {
    const catalog::Gpu* gpu = candidate.machines->gpu;
    excluded_.insert(exclusion_key(candidate.option->job, *gpu));
    FoundOptions again = search(gpu);
    std::erase_if(found_.options, [&](const Option& o) { return classes_[o.machines_class].gpu == gpu; });
    for (Option& option : again.options) found_.options.push_back(std::move(option));
    found_.effort.estimates += again.effort.estimates;
    rank();
  }

  // Service plans are simulated before they are shown, so only this part of the front is shown.
  static constexpr std::size_t kFront = 8, kTradeOff = 12;

  // The most machines that an option may need before another would be shown instead. Beyond that, it is simulated only
  // if nothing better is left.
  int of_interest(const PricedOption& unsure, std::size_t plans) const {
    constexpr int kAny = 1'000'000;
    if (!(unsure.ranked_cost(request_) > 0)) return kAny;
    double next = 1e300;
    const auto consider = [&](const PricedOption& other) {
      if (other.option != unsure.option) next = std::min(next, other.ranked_cost(request_));
    };
    for (const PricedOption& other : candidates_)
      if (kind_of(other) == kind_of(unsure)) consider(other);
    for (std::size_t i = plans; i < kinds_.size(); ++i) consider(kinds_[i]);
    const double each = unsure.ranked_cost(request_) / unsure.option->machines;
    const double most = std::floor(next / each + 1e-9);
    return static_cast<int>(std::min<double>(most, kAny));
  }

  // The simulations that will probably be needed, in reverse order because the main thread begins with the first. Then
  // those of candidates that move up if earlier ones need more machines.
  std::vector<Look> looks_at(bool Option::*done, std::size_t plans, bool front) const {
    std::set<const Option*> seen;
    std::vector<Look> looks;
    const auto add = [&](const std::vector<PricedOption>& candidates, std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < std::min(to, candidates.size()); ++i) {
        const Option* option = candidates[i].option;
        if (option->*done || !seen.insert(option).second) continue;
        if (option->sized)
          looks.push_back([this, copy = *option, most_machines = of_interest(candidates[i], plans)] {
            serving_->look_ahead(copy, most_machines);
          });
        else
          looks.push_back([this, copy = *option]() mutable { serving_->size(copy); });
      }
    };
    add(kinds_, 0, plans);
    if (front) add(front_, 0, kFront);
    std::reverse(looks.begin(), looks.end());
    if (plans > 1) add(kinds_, plans, 3 * plans);
    return looks;
  }

  // An option that was only screened and would be first; null: none.
  const PricedOption* could_lead() const {
    if (kinds_.empty() || request_.objective != Objective::kCost) return nullptr;
    const double least = is_separated(request_, kinds_.front()) ? 1 - kLeastSavingOfSeparation : 1;
    return could_cost_less(kinds_.front().ranked_cost(request_) / least, any_plan);
  }

  // Whether the best plan is known to cost this or more. `sizing`: options that were only screened may cost less.
  bool costs_at_least(Usd most, bool sizing) const {
    const auto is_cheaper = [most](const PricedOption& kind) { return kind.cost < most; };
    if (!kinds_.front().option->sized || std::any_of(kinds_.begin(), kinds_.end(), is_cheaper)) return false;
    return !sizing || could_cost_less(in_usd(most), any_plan) == nullptr;
  }

  // The same for the next GPU. Conversations compare the GPUs that the list has: all layouts would have to be
  // simulated.
  const PricedOption* could_be_rival() const {
    const PricedOption* next = simulates_cache(request_) || request_.objective != Objective::kCost ? nullptr : rival();
    if (next == nullptr) return nullptr;
    return could_cost_less(next->ranked_cost(request_), [&](const auto& c) { return is_rival(c); });
  }

  // An option of those wanted that was only screened and would cost less than this if the formulas overestimate it as
  // much as those that were sized, of its GPU if there are any: the one that is then the cheapest. Null: none.
  template <class Wanted>
  const PricedOption* could_cost_less(double least, const Wanted& wanted) const {
    double usual = 0;
    for (const auto& [gpu, share] : needed_share_) usual += share / static_cast<double>(needed_share_.size());
    if (needed_share_.empty()) usual = 1;
    const PricedOption* best = nullptr;
    for (const PricedOption& c : candidates_) {
      if (c.option->sized || c.is_extrapolated() || !c.price->may_lead() || !wanted(c)) continue;
      const auto known = needed_share_.find(c.machines->gpu);
      // Formulas that ignore which prompts a prefix cache finds are off by a different factor for every layout.
      const double share = simulates_cache(request_) ? 0 : known == needed_share_.end() ? usual : known->second;
      const double machines = serving_->fewest_machines(*c.option, share);
      const double cost = c.ranked_cost(request_) * machines / c.option->machines;
      if (cost < least) least = cost, best = &c;
    }
    return best;
  }

  // Sizes an option, and learns which share of the replicas that the formulas ask for is needed. Not all replicas of
  // the last machine may be.
  void size(Option& option) {
    serving_->size(option);
    const double needed = option.replicas - 0.5 * (option.replicas_each - 1);
    const bool by_load = option.machines > serving_->fewest_machines(option, 0);  // the spare did not decide
    if (!(option.screened > 0) || !by_load) return;
    double& share = needed_share_.try_emplace(classes_[option.machines_class].gpu, 1).first->second;
    share = std::min(share, needed / option.screened);
  }

  // Sizes an option that was only screened, and confirms one that was sized.
  void look_closer(const PricedOption& unsure, std::size_t plans) {
    const auto index = unsure.option - found_.options.data();
    Option& option = found_.options[static_cast<std::size_t>(index)];
    option.gpu_power = {};
    if (!option.sized)
      size(option);
    else if (serving_->confirm(option, found_.obstacles, of_interest(unsure, plans)) ==
             ServingSearch::Confirmed::kNever)
      found_.options.erase(found_.options.begin() + index);
    else if (option.confirmed && classes_[option.machines_class].speed.basis == perf::Basis::kSpecification)
      serving_->find_slow_end(found_.options, option);  // the slow end decides the rank
    rank();
  }

  // Finds the cost of the listed plans at the slow end of their speed.
  void find_slow_ends(std::size_t plans) {
    for (std::size_t i = 0; i < std::min(plans, kinds_.size()); ++i) {
      Option& option = found_.options[static_cast<std::size_t>(kinds_[i].option - found_.options.data())];
      if (!option.machines_if_slow) serving_->find_slow_end(found_.options, option);
    }
    rank();
  }

  // Mean power of the GPUs of a service at its load.
  Watts power_at_load(const Deployment& d, const MachineClass& machines) const {
    if (request_.work.is_measured()) return {};
    const perf::GpuPower& gpu = machines.speed.power;
    if (perf::serves_batches(work_)) {
      const auto e = perf::estimate_batch(constants_, work_, d.job, machines.speed);
      return e && e->power.known() ? gpu.idle + (e->power.mean - gpu.idle) * std::clamp(d.load, 0.0, 1.0) : Watts{};
    }
    const auto e = estimate_service(constants_, work_, request_, d, machines);
    return e ? e->power.mean : Watts{};
  }

  // Time and energy of a unit of work. A service does the work that arrives, regardless of its speed.
  std::pair<double, double> time_and_energy(Plan plan, const MachineClass& machines) const {
    if (serving_) {
      plan.gpu_power = power_at_load(plan, machines);
      const auto e = estimate_service(constants_, work_, request_, plan, machines);
      return {e ? in_seconds(e->tpot) : 0, in_watts(power_of(plan, machines))};
    }
    const auto unit = perf::job_time(constants_, work_, plan.job, machines.speed, machines.cluster);
    if (!unit) return {0, 0};
    plan.gpu_power = unit->power.mean;
    return {in_seconds(unit->unit), in_seconds(unit->unit) * in_watts(power_of(plan, machines))};
  }

  // The effect of the power cap on the same machines with the same settings.
  std::optional<CapChoice> describe_cap(const MachineClass& machines, const Plan& plan) const {
    if (!machines.speed.power.capped() || perf::serves_batches(work_)) return std::nullopt;
    MachineClass free = machines;
    free.speed.power.cap = {};
    const auto [time, energy] = time_and_energy(plan, machines);
    const auto [free_time, free_energy] = time_and_energy(plan, free);
    CapChoice choice{machines.speed.power.cap, {}, {}};
    if (free_time > 0 && free_energy > 0) choice.time = time / free_time, choice.energy = energy / free_energy;
    return choice;
  }

  void describe_energy(const MachineClass& machines, Plan& plan) const {
    if (serving_) plan.gpu_power = power_at_load(plan, machines);
    plan.power = power_of(plan, machines);
    plan.cap = describe_cap(machines, plan);
    const double width = machines.speed.power.width;
    plan.power_interval = {std::exp(-width), std::exp(width)};
    plan.pue = pue_of(request_, *plan.offer.machine);
    plan.idle_power = idle_power_of(plan, machines);
    if (request_.carbon && plan.power > Watts{}) plan.carbon = request_.carbon->in(plan.offer.price->region);
  }

  void describe_run(const PricedOption& candidate, Plan& plan) {
    const MachineClass& machines = *candidate.machines;
    plan.memory = memory_.need(plan.job, *machines.gpu);
    plan.fit = memory::fits(plan.memory, *machines.gpu);
    const auto take = [&](const auto& estimate) {
      if (!estimate) return;
      plan.bound = estimate->bound;
      plan.notes = estimate->notes;
    };
    if (request_.work.kind == WorkKind::kTraining) {
      const auto estimate = perf::estimate_training(constants_, work_, plan.job, machines.speed, machines.cluster);
      take(estimate);
      if (estimate) plan.mfu = estimate->mfu;
    } else if (perf::serves_batches(work_)) {
      take(perf::estimate_batch(constants_, work_, plan.job, machines.speed));
    } else {
      take(estimate_service(constants_, work_, request_, plan, machines));
      const Sensitivity faster = sensitivity_of(constants_, work_, request_, plan, machines);
      plan.arithmetic_gain = faster.arithmetic;
      if (plan.bound == perf::Bound::kMemory && faster.arithmetic > faster.memory) plan.bound = perf::Bound::kCompute;
    }
    describe_energy(machines, plan);
  }

  const Request& request_;
  const market::PriceBook& book_;
  const perf::Constants& constants_;
  const perf::ModelWork& work_;
  memory::MemoryTable memory_;
  std::vector<market::Offer> offers_;
  std::vector<MachineClass> classes_;
  std::set<decltype(exclusion_key(model::Job(), catalog::Gpu()))> excluded_;
  std::optional<ServingSearch> serving_;
  std::map<const catalog::Gpu*, double> needed_share_;  // of the replicas that the formulas ask for: the least so far
  FoundOptions found_;
  Obstacles foreign_, obstacles_;
  std::vector<PricedOption> candidates_, kinds_, front_, trade_off_, confirmed_, narrowed_;
};

}  // namespace rightsize::plan
