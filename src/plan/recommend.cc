// The planner, top to bottom: offers, classes, search, price, rank, verify, explain.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/threads.h"
#include "perf/job_time.h"
#include "plan/candidates.h"
#include "plan/explain.h"
#include "plan/mix.h"
#include "plan/plan.h"
#include "plan/power_caps.h"
#include "plan/search_serving.h"
#include "plan/session_rate.h"

namespace rightsize::plan {
namespace {

using model::Job;

class Stopwatch {
 public:
  // Seconds since the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return passed;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Settings of a job that were found too large on a GPU.
auto exclusion_key(const Job& job, const catalog::Gpu& gpu) {
  const model::Parallelism& p = job.parallel;
  return std::tuple(gpu.name, job.train.method, job.precision, job.train.recompute, p.tensor, p.pipeline, p.zero,
                    p.gpus, job.batch);
}

// Runs both at once where there is a second thread, else one after the other.
void at_once(const std::function<void()>& first, const std::function<void()>& second) {
  for_each_index(2, 2, [&](std::size_t mine) { (mine == 0 ? first : second)(); });
}

using Look = std::function<void()>;

// Does `work` while another thread simulates what it will probably ask for next. Simulations are
// kept, and their results do not depend on the thread.
void with_look_ahead(const std::vector<Look>& looks, const std::function<void()>& work) {
  constexpr std::size_t kWorthAThread = 3;
  if (looks.size() < kWorthAThread) return work();
  std::atomic<bool> done = false;
  struct AtEnd {  // also when `work` throws
    std::atomic<bool>& flag;
    ~AtEnd() { flag = true; }
  };
  at_once(
      [&] {
        const AtEnd end{done};
        work();
      },
      [&] {
        for (auto look = looks.begin(); look != looks.end() && !done; ++look) (*look)();
      });
}

bool is_on(const PricedOption& option, std::string_view gpu) { return option.machines->gpu->name == gpu; }

// One request taken through the search. It owns everything that candidates point to.
class Planning {
 public:
  Planning(const Request& request, const market::PriceBook& book, const perf::Constants& constants,
           const perf::ModelWork& work, std::shared_ptr<capacity::RunCache> run_cache)
      : request_(request),
        book_(book),
        constants_(constants),
        work_(work),
        memory_(request.model),
        offers_(book.offers(request.filter)) {
    drop_foreign_chips();
    classes_ = machine_classes(offers_, book, price_horizon(request), constants, request.own);
    cap_classes(request, classes_);
    if (request.work.kind == WorkKind::kServing) {
      serving_.emplace(request_, classes_, constants_, work_, std::move(run_cache));
    }
    found_ = serving_ ? serving_->screen() : search(nullptr);
    rank();
  }

  // Checks the first `plans` and the front. Training: their exact memory; what does not fit is excluded and that GPU is
  // searched again. Serving: simulates them, each with as many machines as its SLOs then need.
  void verify(std::size_t plans, bool front) {
    if (request_.work.kind == WorkKind::kTraining) {
      std::vector<MemoryTable::Asked> asked;
      for (const PricedOption* c : shown(plans, front)) asked.push_back({&c->option->job, c->machines->gpu});
      memory_.find_together(asked);
      const auto too_large = [this](const PricedOption& c) { return !fits(c); };
      while (const PricedOption* wrong = first_shown(plans, front, too_large)) exclude(*wrong);
    }
    if (!serving_) return;
    for (bool Option::*done : {&Option::sized, &Option::confirmed}) {
      with_look_ahead(looks_at(done, plans, front), [&] {
        const auto open = [done](const PricedOption& c) { return !(c.option->*done); };
        while (const PricedOption* next = first_shown(plans, front, open)) look_closer(*next, plans);
      });
    }
    if (front_.size() > kFront) front_.resize(kFront);
  }

  // The best candidate on this GPU that fits, or none.
  const PricedOption* best_on(std::string_view gpu) {
    while (true) {
      const auto found =
          std::find_if(kinds_.begin(), kinds_.end(), [&](const PricedOption& c) { return is_on(c, gpu); });
      if (found == kinds_.end()) return nullptr;
      if (serving_ && !found->option->confirmed) {
        look_closer(*found, kinds_.size());
      } else if (request_.work.kind == WorkKind::kTraining && !fits(*found)) {
        exclude(*found);
      } else {
        return &*found;
      }
    }
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
    plan.cost = candidate.cost;
    plan.side_cost = candidate.side_cost;
    plan.draws = draws_of(request_, book_, candidate);
    plan.cost_low = candidate.cost_low;
    plan.cost_high = candidate.cost_high;
    plan.extrapolated = candidate.is_extrapolated();
    add_terms(book_, request_, plan);
    if (!request_.work.is_measured()) describe_run(candidate, plan);
    return plan;
  }

  std::vector<int> machines_by_hour(const PricedOption& candidate) {
    return serving_ && !request_.work.rate_by_hour.empty() ? serving_->machines_by_hour(*candidate.option)
                                                           : std::vector<int>{};
  }

  // Several kinds of machines behind one router, where they are cheaper and meet every SLO when simulated together.
  std::vector<MixChoice> mix() {
    confirmed_ = confirmed_kinds();
    // Where commitments pay, the price per hour does not decide.
    const bool drawn = std::any_of(confirmed_.begin(), confirmed_.end(), [](const auto& c) { return c.drawn > Usd{}; });
    const auto choices = drawn ? std::vector<MixChoice>{} : cheapest_mix(request_, confirmed_);
    return choices.empty() || serving_->confirm_mix(choices) ? choices : std::vector<MixChoice>{};
  }

  static std::vector<PricedOption> confirmed_of(std::vector<PricedOption> options) {
    std::erase_if(options, [](const PricedOption& option) { return !option.option->confirmed; });
    return options;
  }
  std::vector<PricedOption> confirmed_kinds() const { return confirmed_of(kinds_); }

  // The cheapest extrapolation, where it is clearly cheaper than the first plan; null: none.
  const PricedOption* worth_testing() const {
    constexpr double kClearly = 0.95;
    const PricedOption* best = nullptr;
    for (const PricedOption& c : kinds_) {
      const bool cheaper = c.is_extrapolated() && c.price->may_lead() && c.cost < kinds_.front().cost * kClearly;
      if (cheaper && (best == nullptr || c.cost < best->cost)) best = &c;
    }
    return kinds_.empty() || kinds_.front().is_extrapolated() ? nullptr : best;
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
  // The modelled software runs on CUDA and ROCm.
  void drop_foreign_chips() {
    std::erase_if(offers_, [this](const market::Offer& offer) {
      const bool runs = offer.gpu->vendor == "NVIDIA" || offer.gpu->vendor == "AMD";
      if (!runs) {
        foreign_[{offer.gpu->name, RejectionStage::kSoftware}].add(
            1, 1, {.kind = Shortfall::Kind::kForeignChip, .stack = request_.job.stack});
      }
      return !runs;
    });
  }

  FoundOptions search(const catalog::Gpu* only) {
    if (request_.work.kind == WorkKind::kOffline) return search_offline(request_, classes_, constants_, work_);
    const Excluded excluded = [this](const Job& job, const catalog::Gpu& gpu) {
      return !excluded_.empty() && excluded_.contains(exclusion_key(job, gpu));
    };
    return search_training(request_, classes_, constants_, work_, memory_, excluded, only);
  }

  void rank() {
    // Services: the load of a replica decides its power, so it changes with every size that is tried.
    const bool all = request_.limits.power || request_.objective == Objective::kEnergy;
    for (Option& option : found_.options) {
      if (serving_ && (all || option.confirmed))
        option.gpu_power = power_at_load(option, classes_[option.machines_class]);
    }
    obstacles_ = found_.obstacles;
    obstacles_.insert(foreign_.begin(), foreign_.end());
    candidates_ = price_options(request_, book_, classes_, work_, found_, obstacles_);
    kinds_ = best_of_each_kind(request_, candidates_);
    front_ = pareto_front(request_, candidates_);
    if (request_.plans_only) return;
    // Services change when they are simulated, so only what was simulated is compared.
    trade_off_ = trade_off(request_, serving_ ? confirmed_of(candidates_) : candidates_, kTradeOff);
  }

  // Exactly: the surfaces that the search uses are interpolated.
  bool fits(const PricedOption& c) {
    const memory::MemoryNeed& need = memory_.need(c.option->job, *c.machines->gpu);
    return memory::fits(need, *c.machines->gpu).verdict == memory::Verdict::kFits;
  }

  // What will be shown: the first plans, of services also the next-best GPU whatever its rank, and the front.
  std::vector<const PricedOption*> shown(std::size_t plans, bool front) const {
    std::vector<const PricedOption*> all;
    for (std::size_t i = 0; i < std::min(plans, kinds_.size()); ++i) all.push_back(&kinds_[i]);
    const auto next_gpu = std::find_if(kinds_.begin(), kinds_.end(), [&](const PricedOption& c) {
      return c.machines->gpu != kinds_.front().machines->gpu;
    });
    if (serving_ && plans > 1 && next_gpu != kinds_.end()) all.push_back(&*next_gpu);
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

  // Plans of a service are simulated before they are shown, so only this much of the front is.
  static constexpr std::size_t kFront = 8, kTradeOff = 12;

  // The most machines an option may need before another one would be shown instead; with more it is only simulated when
  // nothing better is left.
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

  // The simulations that will probably be needed, last first because the main thread begins with the first; then those
  // that move up when earlier candidates turn out to need more machines.
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

  // Sizes an option that was only screened, and confirms one that was sized.
  void look_closer(const PricedOption& unsure, std::size_t plans) {
    const auto index = unsure.option - found_.options.data();
    Option& option = found_.options[static_cast<std::size_t>(index)];
    if (!option.sized)
      serving_->size(option);
    else if (serving_->confirm(option, found_.obstacles, of_interest(unsure, plans)) ==
             ServingSearch::Confirmed::kNever)
      found_.options.erase(found_.options.begin() + index);
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
    const auto e = estimate_service(d, machines);
    return e ? e->power.mean : Watts{};
  }

  // The formulas of separate workers are for requests in flight, which the simulation has counted.
  Result<perf::ServeEstimate> estimate_service(const Deployment& d, const MachineClass& machines) const {
    const bool rated = d.replicas > 0 && !d.job.serve.disaggregated;
    const RequestsPerSecond each = requests_per_s(rated ? d.requests_per_second / d.replicas : 0);
    return perf::estimate_serving(constants_, work_, d.job, machines.speed, machines.cluster,
                                  capacity::load_of(request_.model, d.job, *machines.gpu, each));
  }

  // Time and energy of a unit of work. A service does the work that arrives, whatever its speed.
  std::pair<double, double> time_and_energy(Plan plan, const MachineClass& machines) const {
    if (serving_) {
      plan.gpu_power = power_at_load(plan, machines);
      const auto e = estimate_service(plan, machines);
      return {e ? in_seconds(e->tpot) : 0, in_watts(power_of(plan, machines))};
    }
    const auto unit = perf::job_time(constants_, work_, plan.job, machines.speed, machines.cluster);
    if (!unit) return {0, 0};
    plan.gpu_power = unit->power.mean;
    return {in_seconds(unit->unit), in_seconds(unit->unit) * in_watts(power_of(plan, machines))};
  }

  // What the power cap changes on the same machines with the same settings.
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
    plan.pue = request_.pue.value_or(market::pue_of(plan.offer.machine->provider));
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
      take(estimate_service(plan, machines));
    }
    describe_energy(machines, plan);
  }

  const Request& request_;
  const market::PriceBook& book_;
  const perf::Constants& constants_;
  const perf::ModelWork& work_;
  MemoryTable memory_;
  std::vector<market::Offer> offers_;
  std::vector<MachineClass> classes_;
  std::set<decltype(exclusion_key(Job(), catalog::Gpu()))> excluded_;
  std::optional<ServingSearch> serving_;
  FoundOptions found_;
  Obstacles foreign_, obstacles_;
  std::vector<PricedOption> candidates_, kinds_, front_, trade_off_, confirmed_;
};

// A changed request and its planning, which refers to the request.
struct Explored {
  std::unique_ptr<PossibleChange> change;
  std::unique_ptr<Planning> planning;
};

std::vector<Explored> explore(std::vector<PossibleChange> changes, const market::PriceBook& book,
                              const perf::Constants& constants, const perf::ModelWork& work,
                              const std::shared_ptr<capacity::RunCache>& run_cache) {
  std::vector<Explored> explored(changes.size());
  for_each_index(explored.size(), std::thread::hardware_concurrency(), [&](std::size_t i) {
    Explored& one = explored[i] = {std::make_unique<PossibleChange>(std::move(changes[i])), nullptr};
    settle(one.change->request, [&](const Request& changed) {
      one.planning = std::make_unique<Planning>(changed, book, constants, work, run_cache);
      one.planning->verify(1, false);
      return one.planning->kinds().empty() ? Seconds{} : one.planning->kinds().front().option->latency;
    });
  });
  return explored;
}

// The flags that lead to this plan.
std::string flags_for(const PossibleChange& change, const PricedOption& plan) {
  return change.kind == RequestChangeKind::kMoreGpus ? fmt::format("--max-gpus {}", plan.option->gpus) : change.flags;
}

// The first change that makes this GPU work: with its plan, or only the flags where that is not worth simulating.
std::optional<Fix> nearest_fix(const std::string& gpu, std::vector<Explored>& explored, bool flags_only) {
  for (Explored& one : explored) {
    const std::vector<PricedOption>& kinds = one.planning->kinds();
    if (std::none_of(kinds.begin(), kinds.end(), [&](const PricedOption& c) { return is_on(c, gpu); })) continue;
    if (flags_only) return Fix{one.change->flags, std::nullopt};
    if (const PricedOption* best = one.planning->best_on(gpu))
      return Fix{flags_for(*one.change, *best), outline_of(*best)};
  }
  return std::nullopt;
}

// GPUs without an offer on these terms, then every obstacle; GPUs without any plan come first.
std::vector<Rejection> rejections(const Planning& planning, const catalog::Catalog& catalog) {
  std::set<std::string> sold, feasible;
  for (const market::Offer& offer : planning.offers()) sold.insert(offer.gpu->name);
  for (const auto& [key, obstacle] : planning.obstacles()) sold.insert(key.first);
  for (const PricedOption& kind : planning.kinds()) feasible.insert(kind.machines->gpu->name);
  std::vector<Rejection> out, in_part;
  for (const auto& [key, obstacle] : planning.obstacles()) {
    const auto& [gpu, stage] = key;
    // For a GPU without any plan, the last stage that an option reached decides; earlier ones are partial.
    const auto next = planning.obstacles().upper_bound(key);
    const bool decides = next == planning.obstacles().end() || next->first.first != gpu;
    const bool partly = feasible.contains(gpu) || !decides;
    Rejection row{stage, gpu, partly, obstacle.nearest, obstacle.count, {}};
    (partly ? in_part : out).push_back(std::move(row));
  }
  std::vector<std::string> unsold;
  const std::vector<std::string>& wanted = planning.request().filter.gpus;
  for (const catalog::Gpu& gpu : catalog.gpus) {
    const bool is_wanted = wanted.empty() || std::find(wanted.begin(), wanted.end(), gpu.name) != wanted.end();
    if (is_wanted && !sold.contains(gpu.name)) unsold.push_back(gpu.name);
  }
  std::sort(unsold.begin(), unsold.end());
  for (const std::string& gpu : unsold) out.push_back({RejectionStage::kPrice, gpu, false, {}, 1, {}});
  out.insert(out.end(), in_part.begin(), in_part.end());
  return out;
}

// Too expensive under every change to be worth simulating.
bool is_far_off(const std::string& gpu, const std::vector<Explored>& explored, const Plan* first) {
  constexpr double kFarOff = 2;
  if (first == nullptr) return false;
  for (const Explored& one : explored) {
    for (const PricedOption& c : one.planning->kinds())
      if (is_on(c, gpu) && c.cost < first->cost * kFarOff) return false;
  }
  return true;
}

void add_fixes(const Planning& planning, std::vector<Rejection>& rejected, std::vector<Explored>& explored,
               const Plan* first) {
  constexpr std::size_t kSimulated = 3;
  const bool serving = planning.request().work.kind == WorkKind::kServing;
  std::map<std::string, std::optional<Fix>> known;
  std::set<std::string> feasible;
  for (const PricedOption& kind : planning.kinds()) feasible.insert(kind.machines->gpu->name);
  for (Rejection& row : rejected) {
    if (row.stage == RejectionStage::kPrice || feasible.contains(row.gpu)) continue;
    if (!known.contains(row.gpu)) {
      const bool flags_only = serving && (known.size() >= kSimulated || is_far_off(row.gpu, explored, first));
      known[row.gpu] = nearest_fix(row.gpu, explored, flags_only);
    }
    row.fix = known[row.gpu];
  }
}

std::vector<Plan> build_all(Planning& planning, const std::vector<PricedOption>& candidates, std::size_t most) {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i) plans.push_back(planning.build(candidates[i]));
  return plans;
}

void add_changes(Recommendation& result, std::vector<Explored>& explored) {
  for (Explored& one : explored) {
    if (one.planning->kinds().empty()) continue;
    const PricedOption& best = one.planning->kinds().front();
    const bool has_bf16 = best.machines->gpu->peak(catalog::NumberFormat::kBf16).supported;
    if (one.change->kind == RequestChangeKind::kPureBf16 && !has_bf16) continue;
    // The first plan meets a later deadline too: what costs more than it is no change worth showing.
    const bool later = one.change->kind == RequestChangeKind::kTwiceDeadline;
    if (later && !result.plans.empty() && best.cost > result.plans.front().cost) continue;
    result.changes.push_back({one.change->kind, flags_for(*one.change, best), one.planning->build(best)});
  }
}

}  // namespace

Recommendation recommend(const Request& request, const market::PriceBook& book, const perf::Constants& constants) {
  Recommendation result;
  Stopwatch watch;
  const perf::ModelWork work = perf::work_of(request.model);
  const auto run_cache = std::make_shared<capacity::RunCache>();
  Planning planning(request, book, constants, work, run_cache);
  result.effort = planning.effort();
  result.effort.search_seconds = watch.lap();

  constexpr std::size_t kLeading = 8;
  std::vector<model::Job> leading;
  for (std::size_t i = 0; i < std::min(kLeading, planning.kinds().size()); ++i)
    leading.push_back(planning.kinds()[i].option->job);
  // Changes are explored while the plans are verified: neither depends on the other.
  std::vector<Explored> explored;
  at_once(
      [&] {
        planning.verify(static_cast<std::size_t>(request.top), !request.plans_only);
        result.plans = build_all(planning, planning.kinds(), static_cast<std::size_t>(request.top));
        if (!result.plans.empty())
          result.plans[0].machines_by_hour = planning.machines_by_hour(planning.kinds().front());
        if (!request.plans_only) result.pareto = build_all(planning, planning.front(), 100);
        result.trade_off = build_all(planning, planning.trade_off_front(), 100);
        result.effort.verify_seconds = watch.lap();
      },
      [&] {
        if (!request.plans_only)
          explored = explore(possible_changes(request, leading), book, constants, work, run_cache);
      });
  result.feasible = planning.feasible();

  const Plan* first = result.plans.empty() ? nullptr : &result.plans.front();
  result.rejected = rejections(planning, book.catalog());
  if (first != nullptr) {
    result.warnings = price_warnings(first->offer, book.catalog(), today());
    if (!first->offer.is_own()) result.availability = market::availability(book, first->offer);
  }
  if (request.plans_only) return result;
  if (result.plans.empty()) {
    std::vector<Explored> relaxed = explore(relaxed_limits(request), book, constants, work, run_cache);
    explored.insert(explored.begin(), std::make_move_iterator(relaxed.begin()), std::make_move_iterator(relaxed.end()));
  }
  add_fixes(planning, result.rejected, explored, first);
  add_changes(result, explored);
  const std::vector<PricedOption> kinds = planning.confirmed_kinds();
  if (const PricedOption* extrapolation = planning.worth_testing()) {
    Experiment experiment = experiment_of(request, planning.kinds().front(), *extrapolation);
    experiment.plan = planning.build(*extrapolation);
    if (experiment.pays()) result.experiment = std::move(experiment);
  }
  result.breakpoints = breakpoints_of(request, kinds, planning.front());
  result.confidence = confidence_of(request, kinds);
  if (request.work.kind == WorkKind::kServing) {
    for (const MixChoice& part : planning.mix())
      result.mix.push_back({planning.build(*part.kind, part.machines), part.share});
  }
  result.effort.explain_seconds = watch.lap();
  return result;
}

}  // namespace rightsize::plan
