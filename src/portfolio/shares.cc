#include <algorithm>
#include <numeric>

#include "portfolio/optimum.h"

namespace rightsize::portfolio {
namespace {

// GPU-hours that an option occupies of its pool, by block. Slices count as their share of the partitioned GPUs.
double part_of_cut(const CostModel& costs, const Option& option, const PoolUse& use) {
  if (option.needs.empty()) return 0;
  const mig::Geometry& geometry = *costs.organisation().pools[static_cast<std::size_t>(option.pool)].geometry;
  double own = 0, all = 0;
  for (std::size_t i = 0; i < option.needs.size(); ++i) {
    const double size = geometry.profile(geometry.plain_profiles()[i]).memory_slices;
    own += size * option.needs[i];
    all += size * use.needs[i];
  }
  return all > 0 ? own / all : 0;
}

// Lowers shares above their limits and raises the others in proportion to the room below theirs. The limits add up to
// at least the sum of the shares.
void cap(std::vector<double>& shares, const std::vector<double>& limits) {
  double over = 0, room = 0;
  for (std::size_t w = 0; w < shares.size(); ++w) {
    over += std::max(0.0, shares[w] - limits[w]);
    room += std::max(0.0, limits[w] - shares[w]);
  }
  const double part = room > 0 ? std::min(1.0, over / room) : 0;
  if (part == 0) return;
  for (std::size_t w = 0; w < shares.size(); ++w) {
    const double free = limits[w] - shares[w];
    shares[w] = free < 0 ? limits[w] : shares[w] + part * free;
  }
}

}  // namespace

std::vector<double> cost_shares(const CostModel& costs, const Choice& choice) {
  const Organisation& organisation = costs.organisation();
  const std::vector<PoolUse> uses = costs.uses(choice);
  const double month = organisation.month_hours();
  std::vector<double> shares, alone;
  double total = organisation.reserved_usd();
  for (std::size_t p = 0; p < uses.size(); ++p) total += costs.cost(p, uses[p]).usd;
  for (std::size_t w = 0; w < choice.size(); ++w) {
    const Option& option = organisation.workloads[w].options[static_cast<std::size_t>(choice[w])];
    alone.push_back(costs.alone(organisation.workloads[w]));
    shares.push_back(option.usd);
    total += option.usd;
    if (!option.in_pool()) continue;
    const auto p = static_cast<std::size_t>(option.pool);
    const Pool& pool = organisation.pools[p];
    const int cut = costs.cut_gpus(p, uses[p]);
    for (std::size_t b = 0; b < organisation.blocks.size(); ++b) {
      const int used = uses[p].gpus[b] + cut;
      const double own = option.gpus[b] + cut * part_of_cut(costs, option, uses[p]);
      if (used == 0 || own == 0) continue;
      const double hours = organisation.blocks[b].hours;
      const double rented = hours * pool.usd_per_gpu_hour * pool.gpus_per_machine * costs.machines(p, used);
      const double reserved =
          pool.reserved == 0 ? 0 : pool.reserved_usd * hours / month * std::min(used, pool.reserved) / pool.reserved;
      shares.back() += (rented + reserved) * own / used;
    }
  }
  const double alone_total = std::accumulate(alone.begin(), alone.end(), 0.0);
  const double idle = total - std::accumulate(shares.begin(), shares.end(), 0.0);
  for (std::size_t w = 0; w < shares.size(); ++w)
    shares[w] += idle * (alone_total > 0 ? alone[w] / alone_total : 1.0 / static_cast<double>(shares.size()));
  std::vector<double> limits = alone;
  const double factor = alone_total > 0 ? std::max(1.0, total / alone_total) : 1;
  for (double& limit : limits) limit *= factor;
  if (alone_total > 0) cap(shares, limits);
  return shares;
}

}  // namespace rightsize::portfolio
