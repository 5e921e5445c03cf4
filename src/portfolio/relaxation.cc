#include "portfolio/relaxation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/threads.h"
#include "solve/mip.h"

namespace rightsize::portfolio {
namespace {

constexpr std::size_t kMostSets = 20;  // kept for each pool, the latest ones

// The cheapest option that is bought by itself; -1 if there is none.
int bought(const Workload& w) {
  int best = -1;
  for (std::size_t i = 0; i < w.options.size(); ++i) {
    if (w.options[i].in_pool() || !w.allows(static_cast<int>(i))) continue;
    if (best < 0 || w.options[i].usd < w.options[static_cast<std::size_t>(best)].usd) best = static_cast<int>(i);
  }
  return best;
}

}  // namespace

Relaxation::Relaxation(const CostModel& costs, const RatePrices& start)
    : costs_(costs),
      organisation_(costs.organisation()),
      prices_(start.prices),
      best_prices_(start.prices),
      direction_(start.prices.size(), 0),
      bound_(start.bound) {
  const std::vector<std::vector<User>> users = users_by_pool(organisation_);
  for (std::size_t p = 0; p < organisation_.pools.size(); ++p) {
    pools_.emplace_back(costs, p, users[p]);
    pools_.back().use_values(&start.values[p * organisation_.blocks.size()]);
  }
  sets_.resize(pools_.size());
}

void Relaxation::keep(std::size_t pool, const std::vector<User>& users) {
  std::vector<std::vector<User>>& sets = sets_[pool];
  if (users.empty() || std::ranges::find(sets, users) != sets.end()) return;
  if (sets.size() == kMostSets) sets.erase(sets.begin());
  sets.push_back(users);
}

Relaxation::Step Relaxation::evaluate(const std::vector<double>& prices, const std::function<bool()>& stop) {
  constexpr int kNodes = 2'000'000;  // half a second; most pools need fewer
  constexpr unsigned kThreads = 2;
  std::vector<PricedSet> found(pools_.size());
  std::atomic<bool> stopped = false;
  const auto price = [&](std::size_t p) {
    if (stopped || !pools_[p].has_users()) return;
    if (stop())
      stopped = true;
    else
      found[p] = pools_[p].best(prices, kNodes, sets_[p]);
  };
  std::vector<std::size_t> together;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    if (pools_[p].has_slices())
      price(p);  // these pools share counts of slices
    else
      together.push_back(p);
  }
  for_each_index(together.size(), kThreads, [&](std::size_t i) { price(together[i]); });
  Step step{std::accumulate(prices.begin(), prices.end(), organisation_.reserved_usd()),
            std::vector<int>(prices.size(), 0)};
  if (stopped) {
    step.bound = -std::numeric_limits<double>::infinity();
    return step;
  }
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    step.bound -= found[p].bound;
    for (const User& user : found[p].users) ++step.covered[user.workload];
    keep(p, found[p].users);
  }
  for (std::size_t w = 0; w < prices.size(); ++w) {
    const int option = bought(organisation_.workloads[w]);
    if (option < 0) continue;
    const double gain = prices[w] - organisation_.workloads[w].options[static_cast<std::size_t>(option)].usd;
    if (gain < 0) continue;
    step.bound -= gain;
    if (gain > 0 || step.covered[w] == 0) ++step.covered[w];
  }
  return step;
}

void Relaxation::improve(double best_cost, double gap, const std::function<bool()>& stop) {
  constexpr double kLeastFactor = 5e-3, kShorter = 1 / 1.5, kInertia = 0.6;
  constexpr int kPatience = 6;
  int since = 0;
  while (!stop() && factor_ > kLeastFactor && best_cost > bound_ * (1 + gap)) {
    const Step step = evaluate(prices_, stop);
    if (!std::isfinite(step.bound)) return;
    since = step.bound > bound_ * (1 + 1e-5) ? 0 : since + 1;
    if (step.bound > bound_) bound_ = std::min(step.bound, best_cost), best_prices_ = prices_;
    if (since >= kPatience) {
      factor_ *= kShorter, since = 0, prices_ = best_prices_;
      std::ranges::fill(direction_, 0);
    }
    // Earlier directions count with decreasing weight: they keep prices from oscillating.
    double norm = 0;
    for (std::size_t w = 0; w < prices_.size(); ++w) {
      direction_[w] = kInertia * direction_[w] + (1 - step.covered[w]);
      norm += direction_[w] * direction_[w];
    }
    if (norm == 0) break;  // every workload runs once: the bound is a plan's cost
    const double length = factor_ * std::max(1e-6 * best_cost, best_cost - step.bound) / norm;
    for (std::size_t w = 0; w < prices_.size(); ++w) prices_[w] = std::max(0.0, prices_[w] + length * direction_[w]);
  }
}

Choice Relaxation::combine(const Choice& incumbent, double seconds) const {
  struct Column {
    int column;
    std::vector<User> users;
  };
  solve::Model model;
  std::vector<int> rows;
  for (std::size_t w = 0; w < organisation_.workloads.size(); ++w) rows.push_back(model.add_row(1, solve::kInfinity));
  std::vector<Column> columns;
  const auto add = [&](std::vector<User> users, double cost) {
    for (const User& user : users) cost += costs_.option(user).usd;
    const int column = model.add_column(cost, 0, 1, true);
    for (const User& user : users) model.add_entry(rows[user.workload], column, 1);
    columns.push_back({column, std::move(users)});
    return column;
  };
  std::vector<std::vector<User>> present(pools_.size());
  for (std::size_t w = 0; w < incumbent.size(); ++w) {
    const Option& option = organisation_.workloads[w].options[static_cast<std::size_t>(incumbent[w])];
    if (option.in_pool()) present[static_cast<std::size_t>(option.pool)].push_back({w, incumbent[w]});
    const int other = bought(organisation_.workloads[w]);
    if (other >= 0) add({{w, other}}, 0);
    if (!option.in_pool() && other != incumbent[w]) add({{w, incumbent[w]}}, 0);
  }
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    std::vector<std::vector<User>> sets = sets_[p];
    if (!present[p].empty()) sets.push_back(present[p]);
    if (sets.empty()) continue;
    const int one = model.add_row(-solve::kInfinity, 1);
    for (const std::vector<User>& set : sets) {
      PoolUse use = costs_.no_use(p);
      for (const User& user : set) costs_.add(costs_.option(user), use);
      const PoolCost cost = costs_.cost(p, use);
      if (cost.excess > 0) continue;
      model.add_entry(one, add(set, cost.usd), 1);
    }
  }
  const Result<solve::Solution> solved =
      solve::solve(model, {.nodes = 100'000, .seconds = seconds, .relative_gap = 1e-4});
  if (!solved || solved->values.empty()) return {};
  Choice choice(incumbent.size(), -1);
  for (const Column& column : columns) {
    if (solved->values[static_cast<std::size_t>(column.column)] < 0.5) continue;
    for (const User& user : column.users) choice[user.workload] = user.option;
  }
  return choice;
}

}  // namespace rightsize::portfolio
