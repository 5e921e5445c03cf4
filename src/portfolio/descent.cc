#include "portfolio/descent.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/long_work.h"

namespace rightsize::portfolio {

namespace {
constexpr double kNever = std::numeric_limits<double>::infinity();
}

Descent::Descent(const CostModel& costs) : costs_(costs), organisation_(costs.organisation()), best_cost_(kNever) {
  for (std::size_t p = 0; p < organisation_.pools.size(); ++p) uses_.push_back(costs.no_use(p));
  pool_costs_.assign(organisation_.pools.size(), 0);
  cut_gpus_.assign(organisation_.pools.size(), 0);
  changed_.assign(organisation_.pools.size(), 0);
  choice_.assign(organisation_.workloads.size(), -1);
  std::map<std::string, int> names;
  for (const Workload& w : organisation_.workloads) {
    alone_.push_back(costs.alone(w));
    penalty_ = std::max(penalty_, 10 * alone_.back() + 1);
    groups_.push_back(w.apart.empty() ? -1 : names.try_emplace(w.apart, static_cast<int>(names.size())).first->second);
  }
  group_counts_.assign(names.size(), std::vector<int>(organisation_.pools.size(), 0));
}

double Descent::pool_cost(std::size_t pool, const PoolUse& use) const {
  const PoolCost cost = costs_.cost(pool, use);
  return cost.usd + penalty_ * std::max(0, cost.excess);
}

double Descent::cost_with(std::size_t pool, const Option& option) {
  PoolUse& use = uses_[pool];
  if (option.needs.empty()) {  // without counting slices again
    const Pool& p = organisation_.pools[pool];
    int excess = 0;
    double rented_hours = 0;
    for (std::size_t b = 0; b < use.gpus.size(); ++b) {
      const int rented = costs_.machines(pool, use.gpus[b] + cut_gpus_[pool] + option.gpus[b]) * p.gpus_per_machine;
      if (p.quota) excess = std::max(excess, rented - *p.quota);
      rented_hours += organisation_.blocks[b].hours * rented;
    }
    return rented_hours * p.usd_per_gpu_hour + penalty_ * excess;
  }
  costs_.add(option, use);
  const double cost = pool_cost(pool, use);
  costs_.add(option, use, -1);
  return cost;
}

void Descent::update(std::size_t pool) {
  cut_gpus_[pool] = costs_.cut_gpus(pool, uses_[pool]);
  pool_costs_[pool] = pool_cost(pool, uses_[pool]);
  changed_[pool] = 1;
}

void Descent::add(std::size_t workload, int option, int times) {
  const Workload& w = organisation_.workloads[workload];
  if (w.now && *w.now != option) moved_ += times;
  const Option& chosen = w.options[static_cast<std::size_t>(option)];
  if (!chosen.in_pool()) return;
  const auto pool = static_cast<std::size_t>(chosen.pool);
  costs_.add(chosen, uses_[pool], times);
  update(pool);
  if (groups_[workload] >= 0) group_counts_[static_cast<std::size_t>(groups_[workload])][pool] += times;
}

void Descent::put(std::size_t workload, int option) { add(workload, choice_[workload] = option, 1); }

void Descent::take(std::size_t workload) { add(workload, std::exchange(choice_[workload], -1), -1); }

void Descent::put_cheapest(std::size_t workload) {
  const Move move = cheapest(workload);
  // If the limit on moves is reached, no other option is allowed, so the current one stays.
  put(workload, move.option >= 0 ? move.option : organisation_.workloads[workload].now.value_or(0));
}

bool Descent::may_take(const Workload& workload, int option) const {
  if (!workload.allows(option)) return false;
  return !organisation_.moves || !workload.now || *workload.now == option || moved_ < *organisation_.moves;
}

Descent::Move Descent::cheapest(std::size_t workload, int except) {
  const Workload& w = organisation_.workloads[workload];
  Move best{-1, kNever};
  for (std::size_t i = 0; i < w.options.size(); ++i) {
    const Option& option = w.options[i];
    if (option.usd >= best.cost || !may_take(w, static_cast<int>(i))) continue;
    if (except >= 0 && option.pool == except) continue;
    double cost = option.usd;
    if (option.in_pool()) {
      const auto pool = static_cast<std::size_t>(option.pool);
      cost += cost_with(pool, option) - pool_costs_[pool];
      const int group = groups_[workload];
      if (group >= 0 && group_counts_[static_cast<std::size_t>(group)][pool] > 0) cost += penalty_;
    }
    if (cost < best.cost) best = {static_cast<int>(i), cost};
  }
  return best;
}

void Descent::note_best() {
  if (std::ranges::find(choice_, -1) != choice_.end()) return;
  const std::optional<double> cost = costs_.cost(choice_);
  if (cost && *cost < best_cost_ - 1e-9) best_cost_ = *cost, best_ = choice_;
}

void Descent::insert(std::vector<std::size_t> workloads) {
  std::ranges::stable_sort(workloads, [&](std::size_t a, std::size_t b) { return alone_[a] > alone_[b]; });
  for (std::size_t w : workloads) put_cheapest(w);
}

double Descent::penalized_cost() const {
  double sum = std::accumulate(pool_costs_.begin(), pool_costs_.end(), organisation_.reserved_usd());
  for (std::size_t w = 0; w < choice_.size(); ++w) sum += choice_[w] < 0 ? 0 : costs_.option({w, choice_[w]}).usd;
  return sum;
}

void Descent::build() {
  std::vector<std::size_t> all(choice_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  insert(std::move(all));
  improve();
}

void Descent::start_from(const Choice& choice) {
  for (std::size_t w = 0; w < choice_.size(); ++w) {
    if (choice_[w] == choice[w]) continue;
    if (choice_[w] >= 0) take(w);
    put(w, choice[w]);
  }
  note_best();
}

void Descent::improve(bool near) {
  constexpr double kLeast = 1e-7;
  constexpr int kMostSweeps = 100;
  bool better = true;
  for (int sweep = 0; better && sweep < kMostSweeps; ++sweep) {
    better = false;
    const std::vector<char> changed = std::exchange(changed_, std::vector<char>(changed_.size(), 0));
    for (std::size_t w = 0; w < choice_.size(); ++w) {
      const int now = choice_[w];
      const Option& option = costs_.option({w, now});
      if (near && (!option.in_pool() || changed[static_cast<std::size_t>(option.pool)] == 0)) continue;
      const double before = option.in_pool() ? pool_costs_[static_cast<std::size_t>(option.pool)] : 0;
      const bool was_changed = option.in_pool() && changed_[static_cast<std::size_t>(option.pool)] != 0;
      take(w);
      const double released =
          option.usd + before - (option.in_pool() ? pool_costs_[static_cast<std::size_t>(option.pool)] : 0);
      const Move move = cheapest(w);
      const bool moves = move.option >= 0 && move.option != now && move.cost < released - kLeast;
      put(w, moves ? move.option : now);
      if (!moves && option.in_pool()) changed_[static_cast<std::size_t>(option.pool)] = was_changed ? 1 : 0;
      better = better || moves;
    }
  }
  note_best();
}

bool Descent::refill(const PoolPricing& pricing) {
  constexpr int kNodes = 3'000;
  const Choice before = choice_;
  const double cost_before = penalized_cost();
  const auto here = static_cast<int>(pricing.pool());
  std::vector<double> worth(choice_.size(), 0);
  double held = -pool_costs_[pricing.pool()];
  for (std::size_t w = 0; w < choice_.size(); ++w) {
    const Option& option = costs_.option({w, choice_[w]});
    if (option.pool == here) {
      const int now = choice_[w];
      take(w);
      const Move other = cheapest(w, here);
      put(w, now);
      worth[w] = other.option >= 0 ? other.cost : penalty_;
      held += worth[w] - option.usd;
    } else {
      worth[w] = option.usd;
      if (option.in_pool()) {
        const auto pool = static_cast<std::size_t>(option.pool);
        PoolUse& use = uses_[pool];
        costs_.add(option, use, -1);
        worth[w] += pool_costs_[pool] - pool_cost(pool, use);
        costs_.add(option, use);
      }
    }
  }
  const PricedSet set = pricing.best(worth, kNodes);
  if (set.value <= held + 1e-6) return false;
  std::vector<std::size_t> moved;
  for (std::size_t w = 0; w < choice_.size(); ++w) {
    if (costs_.option({w, choice_[w]}).pool == here) take(w), moved.push_back(w);
  }
  for (const User& user : set.users) {
    if (choice_[user.workload] >= 0) take(user.workload);
    put(user.workload, user.option);
  }
  std::erase_if(moved, [&](std::size_t w) { return choice_[w] >= 0; });
  insert(std::move(moved));
  if (penalized_cost() < cost_before - 1e-6) {
    note_best();
    return true;
  }
  start_from(before);
  return false;
}

void Descent::perturb(int rounds, const std::function<bool()>& stop) {
  const std::size_t count = choice_.size();
  if (count < 2) return;
  for (int round = 0; round < rounds && !stop(); ++round) {
    if (!best_.empty()) start_from(best_);
    const std::size_t number = std::min(count, 2 + static_cast<std::size_t>(random_.uniform() * 6));
    std::vector<std::size_t> removed;
    while (removed.size() < number) {
      const auto w = std::min(count - 1, static_cast<std::size_t>(random_.uniform() * static_cast<double>(count)));
      if (choice_[w] < 0) continue;
      take(w);
      removed.push_back(w);
    }
    // In random order, each at its cheapest place: the order differs from build()'s.
    for (std::size_t w : removed) put_cheapest(w);
    constexpr int kFullEvery = 20;
    improve(round % kFullEvery != 0);
    LongWork::step();
  }
}

}  // namespace rightsize::portfolio
