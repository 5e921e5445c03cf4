#include "portfolio/pool_pricing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>

namespace rightsize::portfolio {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLeast = 1e-9;                                // dollars that matter
constexpr std::array kParts = {1.0, 0.8, 0.6, 0.4, 0.2, 0.0};  // of the rates
constexpr std::size_t kBounds = kParts.size() + 1;

bool needs_no_more(const Option& a, const Option& b) {
  const auto at_most = [](const std::vector<int>& x, const std::vector<int>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > (i < y.size() ? y[i] : 0)) return false;
    }
    return true;
  };
  return at_most(a.gpus, b.gpus) && at_most(a.needs, b.needs);
}

}  // namespace

// Depth-first search over workloads, those with the highest value per GPU first.
//
// Bound: every GPU above the reservation costs its rate r. For values 0 <= v <= r of a GPU in each block, a set
// therefore costs at least the sum of v (use - reservation); with a quota q, v may be higher, less (v - r) q. Workloads
// are then independent, and the undecided ones add a sum over the rest of the list. The best values are those of the
// linear relaxation: a subgradient method finds them at the root and near it. A set also costs at least as much as its
// decided part, including whole machines; if v is a fraction of r, that fraction of the first bound and the rest of the
// second hold together. The lowest of these bounds counts.
struct PoolPricing::Search {
  struct Candidate {
    const Item* item;
    double value;
    std::uint32_t id, group;
    std::array<double, kBounds> adds = {};  // what it adds to each bound; see Frame
  };
  using Group = std::vector<Candidate>;  // of one workload

  // A part of the tree, with its values of a GPU.
  struct Frame {
    std::vector<Group> groups;
    std::vector<double> values;
    std::array<double, kBounds> sum = {};           // of the chosen set: each bound without the rest
    std::vector<std::array<double, kBounds>> rest;  // by position: what the groups from there on may add
  };

  const PoolPricing& pricing;
  const Pool& pool;
  int nodes;
  PoolUse use;
  PricedSet best = {};
  std::vector<User> chosen = {};
  double worth = 0;
  std::vector<double> load = {};                        // of the chosen set, by block
  std::vector<std::vector<std::uint32_t>> better = {};  // by candidate: see find_better()
  std::vector<char> taken = {};                         // by group: whether it is in the chosen set
  std::set<std::string> apart = {};

  static void number(std::vector<Group>& groups) {
    std::uint32_t id = 0, at = 0;
    for (Group& group : groups) {
      for (Candidate& c : group) c.id = id++, c.group = at;
      ++at;
    }
  }

  const std::string& apart_of(const Candidate& c) const {
    return pricing.costs_.organisation().workloads[c.item->user.workload].apart;
  }

  double cost_at(const std::vector<double>& values, const std::vector<double>& of) const {
    return std::inner_product(values.begin(), values.end(), of.begin(), 0.0);
  }
  // The value of the reservation and the quota.
  double free_at(const std::vector<double>& values) const {
    double sum = 0;
    for (std::size_t b = 0; b < values.size(); ++b) {
      sum += values[b] * pool.reserved;
      if (values[b] > pricing.rates_[b]) sum += (values[b] - pricing.rates_[b]) * pricing.quota_;
    }
    return sum;
  }

  // The bound at the frame's values; `used` becomes the GPUs of the chosen set and the additions of the rest.
  double limit_of(const Frame& frame, std::vector<double>& used) const {
    used = load;
    double limit = worth + free_at(frame.values) - cost_at(frame.values, load);
    for (const Group& group : frame.groups) {
      double most = 0;
      const Candidate* adds_most = nullptr;
      for (const Candidate& c : group) {
        const double adds = c.value - cost_at(frame.values, c.item->load);
        if (adds > most) most = adds, adds_most = &c;
      }
      limit += most;
      for (std::size_t b = 0; adds_most != nullptr && b < used.size(); ++b) used[b] += adds_most->item->load[b];
    }
    return limit;
  }

  // The decrease of the bound as the value of a GPU rises from `value`, if `used` GPUs are in use.
  double slope_at(double value, double rate, double used) const {
    const double over = used - pool.reserved;
    if (value > rate) return over - pricing.quota_;
    if (value == rate && over > 0) return std::max(0.0, over - pricing.quota_);
    return value <= 0 ? std::max(0.0, over) : over;
  }

  // Finds the values of a GPU with the lowest bound, starting from the given ones. The bound has a kink where they
  // equal the rate.
  void tune(Frame& frame, int steps) const {
    constexpr int kPatience = 4;
    std::vector<double> best_values = frame.values, used;
    double least = kNever, factor = 1;
    int since = 0;
    for (int step = 0; step < steps; ++step) {
      const double limit = limit_of(frame, used);
      if (limit < least - 1e-6)
        least = limit, best_values = frame.values, since = 0;
      else if (++since >= kPatience)
        factor /= 2, since = 0, frame.values = best_values;
      if (least <= best.value) break;
      double norm = 0;
      for (std::size_t b = 0; b < used.size(); ++b) {
        used[b] = slope_at(frame.values[b], pricing.rates_[b], used[b]);
        norm += used[b] * used[b];
      }
      if (norm == 0) break;
      const double length = factor * (limit - best.value) / norm;
      for (std::size_t b = 0; b < used.size(); ++b) {
        const double before = frame.values[b], rate = pricing.rates_[b], after = before + length * used[b];
        const bool crosses = (before < rate && after > rate) || (before > rate && after < rate);
        frame.values[b] = crosses ? rate : std::max(0.0, after);
      }
    }
    frame.values = best_values;
  }

  // Fills the bounds of a frame and drops candidates that cannot be in a set better than the best known. False if none
  // is left.
  bool prepare(Frame& frame) const {
    const auto most_of = [](const Group& group, std::size_t k) {
      double most = 0;
      for (const Candidate& c : group) most = std::max(most, c.adds[k]);
      return most;
    };
    for (std::size_t k = 0; k < kParts.size(); ++k)
      frame.sum[k] = worth + kParts[k] * (free_at(pricing.rates_) - cost_at(pricing.rates_, load));
    frame.sum[kParts.size()] = worth + free_at(frame.values) - cost_at(frame.values, load);
    for (Group& group : frame.groups) {
      for (Candidate& c : group) {
        for (std::size_t k = 0; k < kParts.size(); ++k) c.adds[k] = c.value - kParts[k] * c.item->at_rates;
        c.adds[kParts.size()] = c.value - cost_at(frame.values, c.item->load);
      }
    }
    for (const std::size_t k : {std::size_t{0}, kParts.size()}) {
      double all = frame.sum[k];
      for (const Group& group : frame.groups) all += most_of(group, k);
      if (all <= best.value + kLeast) return false;
      for (Group& group : frame.groups) {
        const double others = all - most_of(group, k);
        std::erase_if(group, [&](const Candidate& c) { return others + c.adds[k] <= best.value + kLeast; });
      }
    }
    std::erase_if(frame.groups, [](const Group& group) { return group.empty(); });
    frame.rest.assign(frame.groups.size() + 1, {});
    for (std::size_t g = frame.groups.size(); g-- > 0;) {
      for (std::size_t k = 0; k < kBounds; ++k) frame.rest[g][k] = frame.rest[g + 1][k] + most_of(frame.groups[g], k);
    }
    return true;
  }

  // An upper bound on the value of sets that extend the chosen one by workloads from `at` on. `cost` is that of the
  // chosen set or less.
  double bound(const Frame& frame, std::size_t at, double cost) const {
    double least = frame.sum[kParts.size()] + frame.rest[at][kParts.size()];
    for (std::size_t k = 0; k < kParts.size(); ++k)
      least = std::min(least, frame.sum[k] - (1 - kParts[k]) * cost + frame.rest[at][k]);
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

  void add(const Candidate& c, int times, Frame* frame = nullptr) {
    pricing.costs_.add(*c.item->option, use, times);
    for (std::size_t b = 0; b < load.size(); ++b) load[b] += times * c.item->load[b];
    worth += times * c.value;
    for (std::size_t k = 0; frame != nullptr && k < kBounds; ++k) frame->sum[k] += times * c.adds[k];
  }

  // The value of the chosen set; minus infinity above the quota.
  double value() const {
    const PoolCost now = cost();
    return now.excess > 0 ? -kNever : worth - now.usd;
  }

  using Set = std::vector<const Candidate*>;

  // Adds candidates that help, `first` first and then in order. The set stays chosen.
  void fill(const std::vector<Group>& groups, const Set& first, Set& in) {
    double now = value();
    const auto take = [&](const Candidate& c) {
      if (taken[c.group] != 0 || !apart_of(c).empty()) return;
      add(c, 1);
      if (const double with = value(); with > now + kLeast)
        now = with, taken[c.group] = 1, in.push_back(&c);
      else
        add(c, -1);
    };
    for (const Candidate* c : first) take(*c);
    for (const Group& group : groups) {
      for (const Candidate& c : group) take(c);
    }
  }

  // Replaces or removes single candidates as long as that helps.
  void exchange(const std::vector<Group>& groups, Set& in) {
    constexpr int kMostPasses = 5;
    bool better_found = true;
    for (int pass = 0; better_found && pass < kMostPasses; ++pass) {
      better_found = false;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const Candidate* out = in[i];
        double most = value() + kLeast;
        add(*out, -1), taken[out->group] = 0;
        const Candidate* into = out;
        if (const double without = value(); without > most) most = without, into = nullptr;
        for (const Group& group : groups) {
          for (const Candidate& c : group) {
            if (taken[c.group] != 0 || !apart_of(c).empty()) continue;
            add(c, 1);
            if (const double with = value(); with > most) most = with, into = &c;
            add(c, -1);
          }
        }
        better_found = better_found || into != out;
        if (into == nullptr) {
          in.erase(in.begin() + static_cast<std::ptrdiff_t>(i--));
        } else {
          add(*into, 1), taken[into->group] = 1, in[i] = into;
        }
      }
      if (better_found) fill(groups, {}, in);
    }
  }

  void keep_if_better(const Set& in) {
    const double now = value();
    if (now <= best.value) return;
    best.value = now, best.users.clear();
    for (const Candidate* c : in) best.users.push_back(c->item->user);
  }

  void clear(Set& in) {
    for (const Candidate* c : in) add(*c, -1), taken[c->group] = 0;
    in.clear();
  }

  // Initial sets, without which no branch can be excluded.
  void find_sets(const std::vector<Group>& groups, const std::vector<std::vector<User>>& known) {
    taken.assign(groups.size(), 0);
    Set in, best_in;
    fill(groups, {}, in);
    keep_if_better(in);
    best_in = in;
    clear(in);
    for (const std::vector<User>& users : known) {
      Set first;
      for (const Group& group : groups) {
        for (const Candidate& c : group) {
          if (std::ranges::find(users, c.item->user) != users.end()) first.push_back(&c);
        }
      }
      fill(groups, first, in);
      if (value() > best.value) best_in = in;
      keep_if_better(in);
      clear(in);
    }
    fill(groups, best_in, in);
    exchange(groups, in);
    keep_if_better(in);
    clear(in);
  }

  // The best set with a candidate contains every better candidate: one of an earlier workload that is worth more and
  // needs no more.
  void find_better(const std::vector<Group>& groups) {
    taken.assign(groups.size(), 0);
    for (const Group& group : groups) {
      for (const Candidate& c : group) {
        std::vector<std::uint32_t>& found = better.emplace_back();
        if (!apart_of(c).empty()) continue;
        for (std::uint32_t b = c.group; b-- > 0;) {
          const bool is_better = std::ranges::any_of(groups[b], [&](const Candidate& other) {
            return other.value >= c.value && apart_of(other).empty() &&
                   needs_no_more(*other.item->option, *c.item->option);
          });
          if (is_better) found.push_back(b);
        }
      }
    }
  }

  // Searches the sets that extend the chosen one by groups of `frame` from `at` on, in a new frame.
  void descend(const Frame& frame, std::size_t at, int depth) {
    constexpr int kSteps = 10, kNodes = 20;  // steps of the values; nodes that this costs
    nodes -= kNodes;
    Frame inner{{frame.groups.begin() + static_cast<std::ptrdiff_t>(at), frame.groups.end()}, frame.values, {}, {}};
    tune(inner, kSteps);
    if (!prepare(inner)) inner.groups.clear();
    run(inner, 0, depth);
  }

  void run(Frame& frame, std::size_t at, int depth) {
    constexpr int kTunedDepth = 3;
    constexpr std::size_t kFewGroups = 12, kLongRun = 10;  // with fewer, new values are not worth their time
    const PoolCost now = cost();
    if (now.excess > 0) return;  // use only grows
    if (worth - now.usd > best.value) best.value = worth - now.usd, best.users = chosen;
    // The next workload of the set is any of those from `at` on.
    for (std::size_t g = at; g < frame.groups.size(); ++g) {
      const double limit = bound(frame, g, now.usd);
      if (limit <= best.value + kLeast) return;
      if (--nodes < 0) {
        best.bound = std::max(best.bound, limit);
        return;
      }
      const bool tunes = depth < kTunedDepth && frame.groups.size() - g > kFewGroups;
      if (tunes && g - at >= kLongRun) return descend(frame, g, depth);
      for (const Candidate& c : frame.groups[g]) {
        if (std::ranges::any_of(better[c.id], [&](std::uint32_t b) { return taken[b] == 0; })) continue;
        const std::string& group = apart_of(c);
        if (!group.empty() && !apart.insert(group).second) continue;
        add(c, 1, &frame);
        if (bound(frame, g + 1, now.usd) > best.value + kLeast) {
          chosen.push_back(c.item->user);
          taken[c.group] = 1;
          tunes ? descend(frame, g + 1, depth + 1) : run(frame, g + 1, depth + 1);
          taken[c.group] = 0;
          chosen.pop_back();
        }
        add(c, -1, &frame);
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
    : costs_(costs), pool_(pool), quota_(kNever) {
  const Organisation& organisation = costs.organisation();
  const Pool& p = organisation.pools[pool];
  if (p.quota) quota_ = *p.quota / p.gpus_per_machine * p.gpus_per_machine;
  for (const Block& block : organisation.blocks) rates_.push_back(block.hours * p.usd_per_gpu_hour);
  values_ = rates_;
  for (const User& user : users) {
    const Option& option = costs.option(user);
    // A workload never chooses an option if another one costs no more and needs no more.
    const bool beaten = std::ranges::any_of(items_, [&](const Item& other) {
      return other.user.workload == user.workload && option.usd >= other.option->usd &&
             needs_no_more(*other.option, option);
    });
    if (beaten) continue;
    double slices = 0;
    for (std::size_t k = 0; k < option.needs.size(); ++k)
      slices += option.needs[k] * p.geometry->profile(p.geometry->plain_profiles()[k]).memory_slices;
    sliced_ = sliced_ || slices > 0;
    const double cut = slices == 0 ? 0 : slices / p.geometry->memory_slices();
    Item item{user, &option, {}, 0};
    for (int gpus : option.gpus) item.load.push_back(gpus + cut);
    item.at_rates = std::inner_product(rates_.begin(), rates_.end(), item.load.begin(), 0.0);
    items_.push_back(std::move(item));
  }
}

void PoolPricing::use_values(const double* by_block) {
  for (std::size_t b = 0; b < values_.size(); ++b)
    values_[b] = std::isfinite(quota_) ? std::max(0.0, by_block[b]) : std::clamp(by_block[b], 0.0, rates_[b]);
}

PricedSet PoolPricing::best(const std::vector<double>& prices, int nodes,
                            const std::vector<std::vector<User>>& known) const {
  Search search{
      .pricing = *this, .pool = costs_.organisation().pools[pool_], .nodes = nodes, .use = costs_.no_use(pool_)};
  search.load.assign(rates_.size(), 0);
  Search::Frame root{{}, values_, {}, {}};
  for (const Item& item : items_) {
    const double value = prices[item.user.workload] - item.option->usd;
    // If nothing can be shared, a workload pays for its GPUs in full.
    const bool alone = search.pool.reserved == 0 && search.pool.gpus_per_machine == 1 && !sliced_;
    if (value <= (alone ? item.at_rates : 0)) continue;
    const bool same = !root.groups.empty() && root.groups.back().front().item->user.workload == item.user.workload;
    if (!same) root.groups.emplace_back();
    root.groups.back().push_back({&item, value, 0, 0});
  }
  // Without a reservation, the rates are the best values, and often no set is worth them.
  const bool rented = search.pool.reserved == 0;
  const auto pays = [](const Search::Group& group) {
    return std::ranges::any_of(group, [](const Search::Candidate& c) { return c.value > c.item->at_rates; });
  };
  if (root.groups.empty() || (rented && std::ranges::none_of(root.groups, pays))) return {};
  constexpr int kSteps = 60;
  if (!rented || std::isfinite(quota_)) search.tune(root, kSteps);
  const auto density = [&](const Search::Group& group) {
    double most = 0;
    for (const Search::Candidate& c : group)
      most = std::max(most, c.value / (search.cost_at(root.values, c.item->load) + 1e-3 * c.item->at_rates + kLeast));
    return most;
  };
  std::ranges::stable_sort(root.groups, [&](const auto& a, const auto& b) { return density(a) > density(b); });
  Search::number(root.groups);
  search.find_sets(root.groups, known);
  if (search.prepare(root)) {
    Search::number(root.groups);
    search.find_better(root.groups);
    search.run(root, 0, 0);
  }
  search.best.bound = std::max(search.best.bound, search.best.value);
  return std::move(search.best);
}

}  // namespace rightsize::portfolio
