#include "portfolio/pool_pricing.h"

#include <algorithm>
#include <array>
#include <set>

namespace rightsize::portfolio {

// Depth first over workloads, the most valuable first. Three bounds hold at a node whose set S is decided. Every GPU
// above the reservation costs at least its rate, or any part of it below the reservation is given up for: that is the
// linear bound, for several parts. Every further GPU above the reservation costs its rate; and so does every further
// GPU beyond the machines that S already pays for. The last two are convex in use, so that the costs of further
// workloads, each taken alone, never exceed their cost together.
struct PoolPricing::Search {
  struct Candidate {
    const Item* item;
    double value;
  };

  const PoolPricing& pricing;
  std::vector<std::vector<Candidate>> groups;  // by workload
  int nodes;
  PricedSet best = {};
  std::vector<User> chosen = {};
  PoolUse use;
  std::vector<double> load;
  double worth = 0, rate = 0;
  double reserved_rate = 0;  // dollars of the reservation on demand
  std::set<std::string> apart = {};

  const Pool& pool() const { return pricing.costs_.organisation().pools[pricing.pool_]; }
  const Workload& workload(const Candidate& c) const {
    return pricing.costs_.organisation().workloads[c.item->user.workload];
  }

  // The cost of `more` GPUs by block above `paid`.
  double beyond(const std::vector<double>& more, const std::vector<double>& paid) const {
    double cost = 0;
    for (std::size_t b = 0; b < more.size(); ++b) {
      const double before = std::max(0.0, load[b] - paid[b]), after = std::max(0.0, load[b] + more[b] - paid[b]);
      cost += pricing.rates_[b] * (after - before);
    }
    return cost;
  }

  // cost(use) >= part x rate x (use - reserved), whatever the part.
  double linear_bound(std::size_t at) const {
    constexpr std::array kParts = {1.0, 0.9, 0.75, 0.5, 0.25};
    std::array<double, kParts.size()> sums;
    for (std::size_t k = 0; k < kParts.size(); ++k) sums[k] = worth - kParts[k] * (rate - reserved_rate);
    for (std::size_t g = at; g < groups.size(); ++g) {
      for (std::size_t k = 0; k < kParts.size(); ++k) {
        double most = 0;
        for (const Candidate& c : groups[g]) most = std::max(most, c.value - kParts[k] * c.item->rate);
        sums[k] += most;
      }
    }
    return *std::ranges::min_element(sums);
  }

  // An upper bound on the value of sets that extend the chosen one by workloads from `at` on.
  double bound(std::size_t at, double cost) const {
    const double linear_part = linear_bound(at);
    if (linear_part <= best.value + 1e-9) return linear_part;
    const std::size_t blocks = load.size();
    const int cut = pricing.costs_.cut_gpus(pricing.pool_, use);
    std::vector<double> reserved(blocks, pool().reserved), paid(blocks);
    double linear = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      const int used = use.gpus[b] + cut;
      paid[b] = pool().reserved + pool().gpus_per_machine * pricing.costs_.machines(pricing.pool_, used);
      linear += pricing.rates_[b] * std::max(0.0, load[b] - pool().reserved);
    }
    double above_reserved = worth - linear, above_paid = worth - cost;
    for (std::size_t g = at; g < groups.size(); ++g) {
      double most = 0, most_paid = 0;
      for (const Candidate& c : groups[g]) {
        most = std::max(most, c.value - beyond(c.item->load, reserved));
        most_paid = std::max(most_paid, c.value - beyond(c.item->load, paid));
      }
      above_reserved += most, above_paid += most_paid;
    }
    return std::min({linear_part, above_reserved, above_paid});
  }

  void add(const Candidate& c, int times) {
    pricing.costs_.add(*c.item->option, use, times);
    for (std::size_t b = 0; b < load.size(); ++b) load[b] += times * c.item->load[b];
    worth += times * c.value;
    rate += times * c.item->rate;
  }

  void run(std::size_t at) {
    const PoolCost cost = pricing.costs_.cost(pricing.pool_, use);
    if (cost.excess > 0) return;  // use only grows
    if (worth - cost.usd > best.value) best.value = worth - cost.usd, best.users = chosen;
    if (at == groups.size()) return;
    const double limit = bound(at, cost.usd);
    if (limit <= best.value + 1e-9) return;
    if (--nodes < 0) {
      best.bound = std::max(best.bound, limit);
      return;
    }
    for (const Candidate& c : groups[at]) {
      const std::string& group = workload(c).apart;
      if (!group.empty() && !apart.insert(group).second) continue;
      add(c, 1);
      chosen.push_back(c.item->user);
      run(at + 1);
      chosen.pop_back();
      add(c, -1);
      if (!group.empty()) apart.erase(group);
    }
    run(at + 1);
  }
};

PoolPricing::PoolPricing(const CostModel& costs, std::size_t pool) : costs_(costs), pool_(pool) {
  const Organisation& organisation = costs.organisation();
  const Pool& p = organisation.pools[pool];
  for (const Block& block : organisation.blocks) rates_.push_back(block.hours * p.usd_per_gpu_hour);
  for (std::size_t w = 0; w < organisation.workloads.size(); ++w) {
    const Workload& workload = organisation.workloads[w];
    for (std::size_t i = 0; i < workload.options.size(); ++i) {
      const Option& option = workload.options[i];
      if (option.pool != static_cast<int>(pool) || !workload.allows(static_cast<int>(i))) continue;
      double slices = 0;
      for (std::size_t k = 0; k < option.needs.size(); ++k)
        slices += option.needs[k] * p.geometry->profile(p.geometry->plain_profiles()[k]).memory_slices;
      const double cut = slices == 0 ? 0 : slices / p.geometry->memory_slices();
      Item item{{w, static_cast<int>(i)}, &option, {}};
      for (int gpus : option.gpus) {
        item.rate += rates_[item.load.size()] * (gpus + cut);
        item.load.push_back(gpus + cut);
      }
      items_.push_back(std::move(item));
    }
  }
}

PricedSet PoolPricing::best(const std::vector<double>& prices, int work) const {
  constexpr int kLeastNodes = 10;
  Search search{.pricing = *this,
                .groups = {},
                .nodes = kLeastNodes,
                .use = costs_.no_use(pool_),
                .load = std::vector<double>(rates_.size(), 0)};
  std::vector<double> surplus;  // of each group above what its GPUs cost on demand
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const double value = prices[item.user.workload] - item.option->usd;
    if (value <= 0) continue;
    const double cost = item.rate;
    const bool same = !search.groups.empty() && search.groups.back().front().item->user.workload == item.user.workload;
    if (!same) search.groups.emplace_back(), surplus.push_back(value - cost);
    search.groups.back().push_back({&item, value});
    surplus.back() = std::max(surplus.back(), value - cost);
  }
  std::vector<std::size_t> order(surplus.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return surplus[a] > surplus[b]; });
  std::vector<std::vector<Search::Candidate>> sorted;
  for (std::size_t g : order) sorted.push_back(std::move(search.groups[g]));
  search.groups = std::move(sorted);
  for (double r : rates_) search.reserved_rate += r * search.pool().reserved;
  if (!search.groups.empty()) search.nodes = std::max(kLeastNodes, work / static_cast<int>(search.groups.size()));
  search.run(0);
  search.best.bound = std::max(search.best.bound, search.best.value);
  return std::move(search.best);
}

}  // namespace rightsize::portfolio
