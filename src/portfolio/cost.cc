#include "portfolio/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "solve/mip.h"

namespace rightsize::portfolio {
namespace {

bool is_none(const std::vector<int>& counts) {
  return std::ranges::all_of(counts, [](int count) { return count == 0; });
}

int ceil_divide(int value, int by) { return (value + by - 1) / by; }

}  // namespace

SliceCounter::SliceCounter(const mig::Geometry& geometry) {
  for (const mig::SliceSet& set : geometry.combinations()) {
    if (set.maximal) layouts_.push_back(set.counts);
  }
  by_size_.resize(geometry.plain_profiles().size());
  std::iota(by_size_.begin(), by_size_.end(), 0);
  // plain_profiles() ascends by size.
  std::ranges::reverse(by_size_);
}

int SliceCounter::fewest(const std::vector<int>& counts) {
  if (is_none(counts)) return 0;
  if (const auto found = known_.find(counts); found != known_.end()) return found->second;
  constexpr int kMostSearched = 16;  // instances; with more, the solver is faster
  const int total = std::accumulate(counts.begin(), counts.end(), 0);
  const int answer = total <= kMostSearched ? search(counts) : solve_large(counts);
  return known_[counts] = answer;
}

// The largest instance must be on some GPU, and a maximal layout is at least as good as any other.
int SliceCounter::search(const std::vector<int>& counts) {
  const auto largest = std::ranges::find_if(by_size_, [&](int p) { return counts[static_cast<std::size_t>(p)] > 0; });
  int best = std::numeric_limits<int>::max();
  for (const std::vector<int>& layout : layouts_) {
    if (layout[static_cast<std::size_t>(*largest)] == 0) continue;
    std::vector<int> rest = counts;
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = std::max(0, rest[i] - layout[i]);
    best = std::min(best, 1 + fewest(rest));
    if (best == 1) break;
  }
  return best;
}

int SliceCounter::solve_large(const std::vector<int>& counts) const {
  solve::Model model;
  for (int count : counts) model.add_row(count, solve::kInfinity);
  int upper = 0;
  for (int count : counts) upper += count;
  for (const std::vector<int>& layout : layouts_) {
    const int column = model.add_column(1, 0, upper, true);
    for (std::size_t i = 0; i < layout.size(); ++i) model.add_entry(static_cast<int>(i), column, layout[i]);
  }
  const Result<solve::Solution> solved = solve::solve(model, {});
  // Without the solver, one GPU per instance still holds everything.
  return solved && !solved->values.empty() ? static_cast<int>(std::lround(solved->objective)) : upper;
}

CostModel::CostModel(const Organisation& organisation) : organisation_(&organisation) {
  std::map<const catalog::Gpu*, std::shared_ptr<SliceCounter>> counters;
  for (const Pool& pool : organisation.pools) {
    if (!pool.geometry) {
      slices_.push_back(nullptr);
      continue;
    }
    std::shared_ptr<SliceCounter>& counter = counters[pool.gpu];
    if (!counter) counter = std::make_shared<SliceCounter>(*pool.geometry);
    slices_.push_back(counter);
  }
}

PoolUse CostModel::no_use(std::size_t pool) const {
  const std::optional<mig::Geometry>& geometry = organisation_->pools[pool].geometry;
  return {std::vector<int>(organisation_->blocks.size(), 0),
          std::vector<int>(geometry ? geometry->plain_profiles().size() : 0, 0)};
}

void CostModel::add(const Option& option, PoolUse& use, int times) const {
  for (std::size_t b = 0; b < use.gpus.size(); ++b) use.gpus[b] += times * option.gpus[b];
  for (std::size_t i = 0; i < option.needs.size(); ++i) use.needs[i] += times * option.needs[i];
}

std::vector<PoolUse> CostModel::uses(const Choice& choice) const {
  std::vector<PoolUse> uses;
  for (std::size_t p = 0; p < organisation_->pools.size(); ++p) uses.push_back(no_use(p));
  for (std::size_t w = 0; w < choice.size(); ++w) {
    const Option& option = organisation_->workloads[w].options[static_cast<std::size_t>(choice[w])];
    if (option.in_pool()) add(option, uses[static_cast<std::size_t>(option.pool)]);
  }
  return uses;
}

int CostModel::cut_gpus(std::size_t pool, const PoolUse& use) const {
  return slices_[pool] == nullptr ? 0 : slices_[pool]->fewest(use.needs);
}

int CostModel::machines(std::size_t pool, int used) const {
  const Pool& p = organisation_->pools[pool];
  return used <= p.reserved ? 0 : ceil_divide(used - p.reserved, p.gpus_per_machine);
}

PoolCost CostModel::cost(std::size_t pool, const PoolUse& use) const {
  const Pool& p = organisation_->pools[pool];
  const int cut = cut_gpus(pool, use);
  PoolCost cost;
  for (std::size_t b = 0; b < use.gpus.size(); ++b) {
    const int rented = machines(pool, use.gpus[b] + cut) * p.gpus_per_machine;
    if (p.quota) cost.excess = std::max(cost.excess, rented - *p.quota);
    cost.usd += organisation_->blocks[b].hours * p.usd_per_gpu_hour * rented;
  }
  return cost;
}

std::optional<double> CostModel::cost(const Choice& choice) const {
  if (!meets_rules(*organisation_, choice)) return std::nullopt;
  double sum = organisation_->reserved_usd();
  for (std::size_t w = 0; w < choice.size(); ++w)
    sum += organisation_->workloads[w].options[static_cast<std::size_t>(choice[w])].usd;
  const std::vector<PoolUse> used = uses(choice);
  for (std::size_t p = 0; p < used.size(); ++p) {
    const PoolCost pool = cost(p, used[p]);
    if (pool.excess > 0) return std::nullopt;
    sum += pool.usd;
  }
  return sum;
}

double CostModel::alone(const Option& option) const {
  if (!option.in_pool()) return option.usd;
  const auto index = static_cast<std::size_t>(option.pool);
  const Pool& pool = organisation_->pools[index];
  PoolUse use = no_use(index);
  add(option, use);
  const int cut = cut_gpus(index, use);
  double sum = option.usd;
  for (std::size_t b = 0; b < use.gpus.size(); ++b)
    sum += organisation_->blocks[b].hours * pool.usd_per_gpu_hour * pool.gpus_per_machine *
           ceil_divide(use.gpus[b] + cut, pool.gpus_per_machine);
  return sum;
}

double CostModel::cheapest(const Workload& workload, bool reserved) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < workload.options.size(); ++i) {
    const Option& option = workload.options[i];
    const bool rentable =
        !option.in_pool() || organisation_->pools[static_cast<std::size_t>(option.pool)].usd_per_gpu_hour > 0;
    if (workload.allows(static_cast<int>(i)) && (reserved || rentable)) least = std::min(least, alone(option));
  }
  return least;
}

bool meets_rules(const Organisation& organisation, const Choice& choice) {
  std::set<std::pair<std::string_view, int>> taken;
  int moved = 0;
  for (std::size_t w = 0; w < choice.size(); ++w) {
    const Workload& workload = organisation.workloads[w];
    const Option& option = workload.options[static_cast<std::size_t>(choice[w])];
    if (!workload.allows(choice[w])) return false;
    if (!workload.apart.empty() && option.in_pool() && !taken.emplace(workload.apart, option.pool).second) return false;
    moved += workload.now && *workload.now != choice[w] ? 1 : 0;
  }
  return !organisation.moves || moved <= *organisation.moves;
}

}  // namespace rightsize::portfolio
