#include "portfolio/pool_pricing.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

namespace rightsize::portfolio {
namespace {

constexpr std::array kParts = {1.0, 0.92, 0.84, 0.75, 0.65, 0.5, 0.35, 0.2, 0.0};  // of the rates

// Whether a workload would never choose `a` because of `b`.
bool is_worse(const Option& a, const Option& b) {
  const auto at_least = [](const std::vector<int>& x, const std::vector<int>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      if ((i < x.size() ? x[i] : 0) < y[i]) return false;
    }
    return true;
  };
  return a.usd >= b.usd && at_least(a.gpus, b.gpus) && at_least(a.needs, b.needs);
}

}  // namespace

// Depth first over workloads, the most valuable for their GPUs first.
//
// Bound: every GPU above the reservation costs its rate r, so that for weights 0 <= w <= r of each block, a set costs
// at least the sum of w (use - reservation). Then workloads are independent, and what those not yet decided add is a
// sum over the rest of the list. A set also costs at least what the part of it that is decided costs, whole machines
// included; if w is a part of r, that part of the first and the rest of the second hold together. The lowest bound of
// several weights counts.
struct PoolPricing::Search {
  struct Candidate {
    const Item* item;
    double value;
  };

  const PoolPricing& pricing;
  const Pool& pool;
  std::vector<std::vector<Candidate>> groups = {};  // by workload
  std::vector<std::vector<double>> rest = {};       // by weights and position: what groups from there on may add
  int nodes;
  PricedSet best = {};
  std::vector<User> chosen = {};
  PoolUse use;
  double worth = 0;
  std::vector<double> weighed = {};  // cost of the chosen by each of the weights, less the reservation
  std::set<std::string> apart = {};

  const std::string& apart_of(const Candidate& c) const {
    return pricing.costs_.organisation().workloads[c.item->user.workload].apart;
  }

  void fill_rest() {
    rest.assign(pricing.weights_.size(), std::vector<double>(groups.size() + 1, 0));
    for (std::size_t k = 0; k < rest.size(); ++k) {
      for (std::size_t g = groups.size(); g-- > 0;) {
        double most = 0;
        for (const Candidate& c : groups[g]) most = std::max(most, c.value - c.item->weighed[k]);
        rest[k][g] = rest[k][g + 1] + most;
      }
    }
  }

  // An upper bound on the value of sets that extend the chosen one by workloads from `at` on.
  // `cost` is that of the chosen set or less.
  double bound(std::size_t at, double cost) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < rest.size(); ++k)
      least = std::min(least, worth - weighed[k] - pricing.kept_[k] * cost + rest[k][at]);
    return least;
  }

  PoolCost cost() const {
    if (pricing.sliced_) return pricing.costs_.cost(pricing.pool_, use);
    PoolCost sum;
    for (std::size_t b = 0; b < use.gpus.size(); ++b) {
      const int over = use.gpus[b] - pool.reserved;
      if (over <= 0) continue;
      const int rented = (over + pool.gpus_per_machine - 1) / pool.gpus_per_machine * pool.gpus_per_machine;
      if (pool.quota) sum.excess = std::max(sum.excess, rented - *pool.quota);
      sum.usd += pricing.rates_[b] * rented;
    }
    return sum;
  }

  void add(const Candidate& c, int times) {
    pricing.costs_.add(*c.item->option, use, times);
    for (std::size_t k = 0; k < weighed.size(); ++k) weighed[k] += times * c.item->weighed[k];
    worth += times * c.value;
  }

  // Adds what helps, in order: a first set, without which nothing can be excluded.
  void fill_greedily() {
    double value = 0;
    std::vector<const Candidate*> taken;
    for (const std::vector<Candidate>& group : groups) {
      for (const Candidate& c : group) {
        if (!apart_of(c).empty()) continue;
        add(c, 1);
        const PoolCost now = cost();
        if (now.excess <= 0 && worth - now.usd > value) {
          value = worth - now.usd;
          chosen.push_back(c.item->user), taken.push_back(&c);
          break;
        }
        add(c, -1);
      }
    }
    best.value = value, best.users = chosen;
    for (const Candidate* c : taken) add(*c, -1);
    chosen.clear();
  }

  // Drops what cannot be in a set that is better than the best known.
  void drop_hopeless() {
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const double all = rest[k][0] - weighed[k];
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const double usual = rest[k][g] - rest[k][g + 1];
        std::erase_if(groups[g], [&](const Candidate& c) {
          return all - usual + c.value - c.item->weighed[k] <= best.value + 1e-9;
        });
      }
    }
    std::erase_if(groups, [](const std::vector<Candidate>& group) { return group.empty(); });
    fill_rest();
  }

  void run(std::size_t at) {
    const PoolCost now = cost();
    if (now.excess > 0) return;  // use only grows
    if (worth - now.usd > best.value) best.value = worth - now.usd, best.users = chosen;
    // The next workload of the set is any of those from `at` on.
    for (std::size_t g = at; g < groups.size(); ++g) {
      const double limit = bound(g, now.usd);
      if (limit <= best.value + 1e-9) return;
      if (--nodes < 0) {
        best.bound = std::max(best.bound, limit);
        return;
      }
      for (const Candidate& c : groups[g]) {
        const std::string& group = apart_of(c);
        if (!group.empty() && !apart.insert(group).second) continue;
        add(c, 1);
        if (bound(g + 1, now.usd) > best.value + 1e-9) {
          chosen.push_back(c.item->user);
          run(g + 1);
          chosen.pop_back();
        }
        add(c, -1);
        if (!group.empty()) apart.erase(group);
      }
    }
  }
};

std::vector<std::vector<User>> users_by_pool(const Organisation& organisation) {
  std::vector<std::vector<User>> users(organisation.pools.size());
  for (std::size_t w = 0; w < organisation.workloads.size(); ++w) {
    const Workload& workload = organisation.workloads[w];
    for (int i = 0; i < static_cast<int>(workload.options.size()); ++i) {
      const Option& option = workload.options[static_cast<std::size_t>(i)];
      if (option.in_pool() && workload.allows(i)) users[static_cast<std::size_t>(option.pool)].push_back({w, i});
    }
  }
  return users;
}

PoolPricing::PoolPricing(const CostModel& costs, std::size_t pool, const std::vector<User>& users)
    : costs_(costs), pool_(pool) {
  const Organisation& organisation = costs.organisation();
  const Pool& p = organisation.pools[pool];
  for (const Block& block : organisation.blocks) rates_.push_back(block.hours * p.usd_per_gpu_hour);
  for (const double part : kParts) {
    std::vector<double>& weights = weights_.emplace_back(rates_);
    for (double& weight : weights) weight *= part;
    kept_.push_back(1 - part);
    free_.push_back(std::accumulate(weights.begin(), weights.end(), 0.0) * p.reserved);
  }
  for (const User& user : users) {
    const Option& option = costs.option(user);
    const bool beaten = std::ranges::any_of(items_, [&](const Item& other) {
      return other.user.workload == user.workload && is_worse(option, *other.option);
    });
    if (beaten) continue;
    double slices = 0;
    for (std::size_t k = 0; k < option.needs.size(); ++k)
      slices += option.needs[k] * p.geometry->profile(p.geometry->plain_profiles()[k]).memory_slices;
    sliced_ = sliced_ || slices > 0;
    const double cut = slices == 0 ? 0 : slices / p.geometry->memory_slices();
    Item item{user, &option, {}, {}};
    for (int gpus : option.gpus) item.load.push_back(gpus + cut);
    weigh(item);
    items_.push_back(std::move(item));
  }
}

void PoolPricing::weigh(Item& item) const {
  item.weighed.clear();
  for (const std::vector<double>& weights : weights_)
    item.weighed.push_back(std::inner_product(weights.begin(), weights.end(), item.load.begin(), 0.0));
}

void PoolPricing::use_values(const double* by_block) {
  const int reserved = costs_.organisation().pools[pool_].reserved;
  if (reserved == 0) return;
  std::vector<double>& weights = weights_.emplace_back(rates_);
  for (std::size_t b = 0; b < weights.size(); ++b) weights[b] = std::clamp(by_block[b], 0.0, weights[b]);
  free_.push_back(std::accumulate(weights.begin(), weights.end(), 0.0) * reserved);
  kept_.push_back(0);
  for (Item& item : items_) weigh(item);
}

PricedSet PoolPricing::best(const std::vector<double>& prices, int nodes) const {
  Search search{
      .pricing = *this, .pool = costs_.organisation().pools[pool_], .nodes = nodes, .use = costs_.no_use(pool_)};
  for (const Item& item : items_) {
    const double value = prices[item.user.workload] - item.option->usd;
    if (value <= 0) continue;
    const bool same = !search.groups.empty() && search.groups.back().front().item->user.workload == item.user.workload;
    if (!same) search.groups.emplace_back();
    search.groups.back().push_back({&item, value});
  }
  if (search.groups.empty()) return {};
  for (double free : free_) search.weighed.push_back(-free);
  search.fill_rest();
  if (search.bound(0, 0) <= 1e-9) return {};
  const auto density = [](const std::vector<Search::Candidate>& group) {
    double most = 0;
    for (const Search::Candidate& c : group) most = std::max(most, c.value / (c.item->weighed[0] + 1e-9));
    return most;
  };
  std::ranges::stable_sort(search.groups, [&](const auto& a, const auto& b) { return density(a) > density(b); });
  search.fill_greedily();
  search.fill_rest();
  search.drop_hopeless();
  search.run(0);
  search.best.bound = std::max(search.best.bound, search.best.value);
  return std::move(search.best);
}

}  // namespace rightsize::portfolio
