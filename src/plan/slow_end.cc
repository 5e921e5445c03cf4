// What a service needs if its GPUs are slower than predicted: the pessimistic end of its cost.
#include <algorithm>

#include "plan/search_serving.h"

namespace rightsize::plan {
namespace {

// A layout of the same machines, and the machines it needs at its slow end by formulas.
struct Layout {
  double machines = 0;
  const Option* option = nullptr;
};

}  // namespace

// Slower steps by a factor are equivalent to the predicted steps with that factor more requests and limits shorter by
// the same factor.
ServingSearch::Slower& ServingSearch::slower_by(double factor) {
  if (const auto found = slower_.find(factor); found != slower_.end()) return found->second;
  capacity::Service service = service_of(request_, work_, in_requests_per_s(request_.work.rate) * factor);
  for (capacity::Slo& slo : service.slos) slo.limit = slo.limit / factor;
  return slower_.emplace(factor, Slower{capacity::Planner(std::move(service))}).first->second;
}

std::size_t ServingSearch::replica_in(Slower& slower, std::size_t replica) const {
  const auto [at, is_new] = slower.replicas.try_emplace(replica, 0);
  if (is_new) at->second = slower.planner.add(planner_.replicas()[replica]);
  return at->second;
}

void ServingSearch::find_slow_end(const std::vector<Option>& all, Option& option) {
  const double rate = in_requests_per_s(request_.work.rate);
  if (!(rate > 0)) return;
  std::vector<Layout> layouts;
  for (const Option& other : all) {
    const bool separated = other.job.serve.disaggregated.has_value() && &other != &option;
    if (other.machines_class != option.machines_class || other.job.precision != option.job.precision || separated)
      continue;
    Slower& slower = slower_by(other.speed.high);
    const double takes = slower.planner.screened(replica_in(slower, other.replica));
    if (takes > 0)
      layouts.push_back({rate * other.speed.high / takes / other.replicas_each * other.machines_each, &other});
  }
  // The cheapest layout by formula comes first. A layout that is much more expensive by formula would not need fewer
  // machines when simulated.
  std::sort(layouts.begin(), layouts.end(), [](const Layout& a, const Layout& b) { return a.machines < b.machines; });
  constexpr double kMuchMore = 1.2;
  const MachineClass& kind = classes_[option.machines_class];
  option.machines_if_slow = 0;
  for (const Layout& layout : layouts) {
    const int best = *option.machines_if_slow;
    if (best == option.machines || (best > 0 && layout.machines > best * kMuchMore)) break;
    const Option& tried = *layout.option;
    Slower& slower = slower_by(tried.speed.high);
    capacity::ReplicaCounts counts = counts_of(kind, tried);
    const int allowed = counts.most;
    if (!request_.limits.gpus) counts.at_least = least_replicas(tried, rate * tried.speed.high);
    // More than the limits allow can be rented, and costs more: the answer says how much, as it does without them.
    const bool can_grow = !request_.limits.gpus && kind.most_machines == 0;
    const int usual = std::max(PlanLimits{}.max_gpus / kind.gpus, 2 * option.machines);
    const int most = can_grow ? std::max(allowed, usual / tried.machines_each * tried.replicas_each) : allowed;
    counts.most = most + counts.step;  // if this many are needed, no number is enough
    const int needed = slower.planner.at_least(replica_in(slower, tried.replica), counts);
    if (needed > most) continue;
    const int machines = std::max(option.machines, needed / tried.replicas_each * tried.machines_each);
    if (best > 0 && best <= machines) continue;
    option.machines_if_slow = machines;
    option.slow_is_allowed = needed <= allowed;
  }
}

}  // namespace rightsize::plan
