#include "portfolio/rate_prices.h"

#include <algorithm>
#include <limits>

namespace rightsize::portfolio {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class RateSearch {
 public:
  explicit RateSearch(const CostModel& costs)
      : organisation_(costs.organisation()), blocks_(organisation_.blocks.size()) {
    for (const Pool& pool : organisation_.pools) {
      scarce_.push_back(pool.reserved > 0 || pool.quota ? 1 : 0);
      for (const Block& block : organisation_.blocks) rates_.push_back(block.hours * pool.usd_per_gpu_hour);
    }
    values_ = rates_;
    for (std::size_t w = 0; w < organisation_.workloads.size(); ++w) add_options(w);
  }

  // The bound at the current values; fills choice, prices and the GPUs used.
  double evaluate() {
    used_.assign(values_.size(), 0);
    double bound = organisation_.reserved_usd();
    for (std::size_t w = 0; w < fixed_.size(); ++w) {
      double least = fixed_[w].second;
      const Candidate* chosen = nullptr;
      for (const Candidate& c : candidates_[w]) {
        const double* value = &values_[c.pool * blocks_];
        const double* load = &loads_[c.load];
        double cost = c.usd;
        for (std::size_t b = 0; b < blocks_; ++b) cost += value[b] * load[b];
        if (cost < least) least = cost, chosen = &c;
      }
      prices[w] = least;
      bound += least;
      choice[w] = chosen == nullptr ? fixed_[w].first : chosen->option;
      if (chosen == nullptr) continue;
      for (std::size_t b = 0; b < blocks_; ++b) used_[chosen->pool * blocks_ + b] += loads_[chosen->load + b];
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Pool& pool = organisation_.pools[i / blocks_];
      if (scarce_[i / blocks_] == 0) continue;
      bound -= values_[i] * pool.reserved + std::max(0.0, values_[i] - rates_[i]) * pool.quota.value_or(0);
    }
    return bound;
  }

  // Moves the values along the subgradient. False if it is zero.
  bool move(double length) {
    std::vector<double> slope(values_.size(), 0);
    double norm = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Pool& pool = organisation_.pools[i / blocks_];
      if (scarce_[i / blocks_] == 0) continue;
      double s = used_[i] - pool.reserved;
      // At the on-demand rate, more is rented; a value above it is possible only if the quota is exhausted.
      if (s > 0 && values_[i] >= rates_[i]) s = pool.quota ? std::max(0.0, s - *pool.quota) : 0;
      if (values_[i] > rates_[i]) s = used_[i] - pool.reserved - pool.quota.value_or(0);
      if (s < 0 && values_[i] <= 0) s = 0;
      slope[i] = s;
      norm += s * s;
    }
    if (norm == 0) return false;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Pool& pool = organisation_.pools[i / blocks_];
      values_[i] = std::max(0.0, values_[i] + length * slope[i] / norm);
      if (!pool.quota) values_[i] = std::min(values_[i], rates_[i]);
    }
    return true;
  }

  std::vector<double>& values() { return values_; }
  Choice choice;
  std::vector<double> prices;

 private:
  struct Candidate {
    int option;
    std::size_t pool;
    std::size_t load;  // start of its GPUs by block in loads_
    double usd;
  };

  // Among options without scarce GPUs, only the cheapest matters.
  void add_options(std::size_t w) {
    const Workload& workload = organisation_.workloads[w];
    std::pair<int, double> cheapest{-1, kNever};
    std::vector<Candidate>& candidates = candidates_.emplace_back();
    for (std::size_t i = 0; i < workload.options.size(); ++i) {
      const Option& option = workload.options[i];
      if (!workload.allows(static_cast<int>(i))) continue;
      const auto pool = static_cast<std::size_t>(std::max(0, option.pool));
      const double cut = option.in_pool() ? slice_gpus(option) : 0;
      if (option.in_pool() && scarce_[pool] != 0) {
        candidates.push_back({static_cast<int>(i), pool, loads_.size(), option.usd});
        for (int gpus : option.gpus) loads_.push_back(gpus + cut);
        continue;
      }
      double cost = option.usd;
      for (std::size_t b = 0; option.in_pool() && b < blocks_; ++b)
        cost += rates_[pool * blocks_ + b] * (option.gpus[b] + cut);
      if (cost < cheapest.second) cheapest = {static_cast<int>(i), cost};
    }
    fixed_.push_back(cheapest);
    prices.push_back(0);
    choice.push_back(cheapest.first);
  }

  double slice_gpus(const Option& option) const {
    if (option.needs.empty()) return 0;
    const mig::Geometry& geometry = *organisation_.pools[static_cast<std::size_t>(option.pool)].geometry;
    double slices = 0;
    for (std::size_t k = 0; k < option.needs.size(); ++k)
      slices += option.needs[k] * geometry.profile(geometry.plain_profiles()[k]).memory_slices;
    return slices / geometry.memory_slices();
  }

  const Organisation& organisation_;
  std::size_t blocks_;
  std::vector<char> scarce_;                   // by pool
  std::vector<double> rates_, values_, used_;  // by pool and block
  std::vector<double> loads_;
  std::vector<std::vector<Candidate>> candidates_;  // by workload
  std::vector<std::pair<int, double>> fixed_;       // by workload: option and cost; -1: none
};

}  // namespace

RatePrices find_rate_prices(const CostModel& costs, double best_cost, const std::function<bool()>& stop) {
  constexpr int kMostSteps = 600, kPatience = 10;
  constexpr double kLeastFactor = 1e-3;
  RateSearch search(costs);
  RatePrices best{-kNever, {}, {}, {}};
  std::vector<double> best_values = search.values();
  double factor = 1;
  int since = 0;
  for (int step = 0; step < kMostSteps && factor > kLeastFactor; ++step) {
    const double bound = search.evaluate();
    const bool better = bound > best.bound + 1e-9;
    since = better && (step == 0 || bound > best.bound + 1e-5 * best_cost) ? 0 : since + 1;
    if (better) best = {bound, search.prices, search.choice, search.values()}, best_values = search.values();
    if (stop()) break;
    if (since >= kPatience) {
      factor /= 2, since = 0;
      search.values() = best_values;
      search.evaluate();
    }
    if (!search.move(factor * std::max(1e-6 * best_cost, 1.01 * best_cost - bound))) break;
  }
  return best;
}

}  // namespace rightsize::portfolio
