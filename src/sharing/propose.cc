#include <algorithm>
#include <map>

#include "base/cancel.h"
#include "base/list_of.h"
#include "sharing/sharing.h"
#include "solve/mip.h"

namespace rightsize::sharing {
namespace {

constexpr std::size_t kMany = 2000;  // replicas: with more, fewer orders and no solver

// Fills GPUs with replicas in a given order, each into the first GPU that can take it.
class Filler {
 public:
  Filler(const Demand& demand, Mechanism how, std::size_t gpu) : demand_(demand), how_(how), gpu_(gpu) {
    std::map<Tenant, std::size_t> known;
    for (const Tenant& tenant : demand.tenants[gpu])
      kind_.push_back(known.try_emplace(tenant, known.size()).first->second);
  }

  // Places replicas that belong together; they are left out if they do not fit even alone.
  void place(const std::vector<std::size_t>& unit) {
    std::size_t tried = 0;
    const std::vector<std::size_t>* before = nullptr;
    // GPUs with the same content are tried once, the latest first.
    const std::size_t last = groups_.size() - std::min(groups_.size(), kMany);
    for (std::size_t g = groups_.size(); g-- > last && tried < most_tried();) {
      if (before != nullptr && kinds_[g] == *before) continue;
      before = &kinds_[g];
      ++tried;
      std::vector<std::size_t> tenants = groups_[g].tenants;
      tenants.insert(tenants.end(), unit.begin(), unit.end());
      std::optional<Group> more = judged(std::move(tenants));
      if (!more) continue;
      groups_[g] = *std::move(more);
      kinds_[g] = kinds_of(groups_[g].tenants);
      return;
    }
    std::optional<Group> fresh = judged(unit);
    if (!fresh) return;
    groups_.push_back(*std::move(fresh));
    kinds_.push_back(kinds_of(unit));
  }
  std::vector<Group> take() { return std::move(groups_); }

 private:
  std::size_t most_tried() const { return demand_.count() > kMany ? 3 : 60; }

  std::vector<std::size_t> kinds_of(const std::vector<std::size_t>& replicas) const {
    return list_of(replicas, [&](std::size_t r) { return kind_[r]; });
  }

  // Groups of equal replicas are evaluated only once.
  std::optional<Group> judged(std::vector<std::size_t> replicas) {
    const auto [at, fresh] = known_.try_emplace(kinds_of(replicas));
    if (fresh) {
      std::vector<const Tenant*> tenants;
      for (std::size_t r : replicas) tenants.push_back(&demand_.tenants[gpu_][r]);
      at->second = evaluate(how_, tenants, demand_.gpus[gpu_]);
    }
    std::optional<Group> group = at->second;
    if (group) group->gpu = gpu_, group->tenants = std::move(replicas);
    return group;
  }

  const Demand& demand_;
  Mechanism how_;
  std::size_t gpu_;
  std::vector<Group> groups_;
  std::vector<std::size_t> kind_;                // by replica: a number that equal ones share
  std::vector<std::vector<std::size_t>> kinds_;  // of each group: the kinds of its replicas
  std::map<std::vector<std::size_t>, std::optional<Group>> known_;
};

void append(std::vector<Group>& all, std::vector<Group> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// For each replica the cheapest candidate with it alone; then shared ones as long as they save money.
SharingPlan greedy(const std::vector<Group>& candidates, std::size_t count) {
  std::vector<const Group*> order;
  for (const Group& group : candidates) order.push_back(&group);
  std::ranges::stable_sort(order, {},
                           [](const Group* g) { return g->usd_per_hour / static_cast<double>(g->tenants.size()); });
  SharingPlan plan;
  std::vector<char> placed(count, 0);
  for (const Group* group : order) {
    if (std::ranges::any_of(group->tenants, [&](std::size_t t) { return placed[t] != 0; })) continue;
    for (std::size_t t : group->tenants) placed[t] = 1;
    plan.groups.push_back(*group);
    plan.usd_per_hour += group->usd_per_hour;
  }
  for (std::size_t t = 0; t < count; ++t) {
    if (placed[t] == 0) plan.unplaced.push_back(t);
  }
  return plan;
}

// Replicas that are in two groups stay in the first.
void drop_repeats(SharingPlan& plan, std::size_t count) {
  std::vector<char> placed(count, 0);
  for (Group& group : plan.groups) {
    for (std::size_t i = group.tenants.size(); i-- > 0;) {
      const std::size_t t = group.tenants[i];
      if (placed[t] != 0 && group.tenants.size() > 1) {
        group.tenants.erase(group.tenants.begin() + static_cast<std::ptrdiff_t>(i));
        group.served.erase(group.served.begin() + static_cast<std::ptrdiff_t>(i));
      }
      placed[t] = 1;
    }
    if (group.tenants.size() == 1 && group.how != Mechanism::kMig && group.how != Mechanism::kScaleToZero)
      group.how = Mechanism::kOwnGpu;
  }
}

// At equal cost, models that do not slow each other down are better.
double cost_in_solver(const Group& group) {
  constexpr double kDisturbed = 1e-6;
  const bool isolated = group.how == Mechanism::kOwnGpu || group.how == Mechanism::kMig;
  return group.usd_per_hour * (isolated ? 1 : 1 + kDisturbed);
}

}  // namespace

std::vector<Group> pack(const Demand& demand, Mechanism how, std::size_t gpu, bool by_memory) {
  struct Unit {
    std::vector<std::size_t> replicas;
    double size = 0;
    std::string base;
  };
  std::vector<Unit> units;
  std::map<int, std::size_t> unit_of;
  for (std::size_t r = 0; r < demand.count(); ++r) {
    const Tenant& t = demand.tenants[gpu][r];
    const double memory = t.memory / demand.gpus[gpu].memory, busy = t.busy * (1 + t.headroom);
    const bool all_awake = how != Mechanism::kSleep && how != Mechanism::kLora;
    const auto [at, fresh] = unit_of.try_emplace(demand.together[r], units.size());
    if (fresh || demand.together[r] < 0) units.emplace_back();
    Unit& unit = fresh || demand.together[r] < 0 ? units.back() : units[at->second];
    unit.replicas.push_back(r);
    unit.size += by_memory ? memory : std::max(busy, all_awake ? memory : 0);
    unit.base = t.base;
  }
  std::ranges::stable_sort(units, [&](const Unit& a, const Unit& b) {
    // Adapters of one base next to each other.
    if (how == Mechanism::kLora && a.base != b.base) return a.base < b.base;
    return a.size > b.size;
  });
  Filler filler(demand, how, gpu);
  for (const Unit& unit : units) {
    if (cancelled()) break;
    filler.place(unit.replicas);
  }
  return filler.take();
}

std::vector<Group> propose(const Demand& demand) {
  std::vector<Group> all;
  for (std::size_t g = 0; g < demand.gpus.size(); ++g) {
    for (const Mechanism how : {Mechanism::kOwnGpu, Mechanism::kScaleToZero}) append(all, pack(demand, how, g, true));
    for (const Mechanism how : {Mechanism::kMps, Mechanism::kTimeSlicing, Mechanism::kSleep, Mechanism::kLora}) {
      append(all, pack(demand, how, g, true));
      if (demand.count() <= kMany) append(all, pack(demand, how, g, false));
    }
  }
  return all;
}

Result<SharingPlan> cheapest(const std::vector<Group>& candidates, std::size_t count) {
  SharingPlan best = greedy(candidates, count);
  if (!best.unplaced.empty() && count <= kMany) {
    // Replicas that are already in other groups: the solver below decides.
    std::vector<char> held(count, 0);
    for (const Group& group : candidates) {
      for (std::size_t t : group.tenants) held[t] = 1;
    }
    std::erase_if(best.unplaced, [&](std::size_t t) { return held[t] != 0; });
  }
  constexpr std::size_t kMostColumns = 20'000;
  if (count > kMany || candidates.size() > kMostColumns || candidates.empty()) return best;
  // Every replica must be in at least one group; a duplicate can be dropped, because fewer replicas on a GPU are never
  // slower.
  solve::Model model;
  std::vector<char> unplaced(count, 0);
  for (std::size_t t : best.unplaced) unplaced[t] = 1;
  for (std::size_t t = 0; t < count; ++t) model.add_row(unplaced[t] != 0 ? 0 : 1, solve::kInfinity);
  for (const Group& group : candidates) {
    const int column = model.add_column(cost_in_solver(group), 0, 1, true);
    for (std::size_t t : group.tenants) model.add_entry(static_cast<int>(t), column, 1);
  }
  RIGHTSIZE_TRY(const solve::Solution solution, solve::solve(model, {.nodes = 2000, .seconds = 10}));
  if (solution.values.empty()) return best;
  SharingPlan plan;
  plan.unplaced = best.unplaced;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (solution.values[c] < 0.5) continue;
    plan.groups.push_back(candidates[c]);
    plan.usd_per_hour += candidates[c].usd_per_hour;
  }
  drop_repeats(plan, count);
  return plan;
}

}  // namespace rightsize::sharing
