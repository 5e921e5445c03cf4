#include "autoscale/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/threads.h"

namespace rightsize::autoscale {
namespace {

constexpr SimTime kScreenWidth = whole_seconds(5);

// The cheapest setting of each kind on mean traffic if only this share of capacity and of the limit on TPOT is usable,
// cheapest kind first.
std::vector<std::size_t> cheapest_of_kinds(const ClusterConfig& config, const DemandSeries& demand,
                                           const std::vector<Policy>& all, double share, unsigned threads) {
  std::vector<ScalingRun> screened(all.size());
  for_each_index(all.size(), threads, [&](std::size_t i) { screened[i] = screen(config, demand, all[i], share); });
  // A miss costs more than any saving, so the best of a kind without a feasible setting is its least bad one.
  constexpr double kMiss = 100;
  const auto paid = [&](std::size_t i) {
    const double misses = std::max(0.0, screened[i].over_share() - config.slo.allowed);
    return screened[i].paid_seconds * (1 + (misses > 0 ? kMiss * (1 + misses) : 0));
  };
  std::map<Kind, std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [at, is_new] = best.try_emplace(all[i].kind, i);
    if (!is_new && paid(i) < paid(at->second)) at->second = i;
  }
  std::vector<std::size_t> order;
  for (const auto& [kind, at] : best) order.push_back(at);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return paid(a) < paid(b); });
  return order;
}

// The fewest fixed replicas that meet the SLO on mean traffic; if none do, the fewest that come closest.
int fixed_on_average(const ClusterConfig& config, const DemandSeries& demand) {
  constexpr double kShare = 0.9, kClose = 0.001;
  constexpr int kMost = 4096;
  Policy policy;
  const auto over = [&](int n) {
    policy.replicas = n;
    return screen(config, demand, policy, kShare).over_share();
  };
  const double allowed = std::max(config.slo.allowed, over(kMost) + kClose);
  const auto meets = [&](int n) { return over(n) <= allowed; };
  int low = 0, high = 1;
  while (high < kMost && !meets(high)) low = high, high *= 2;
  while (low + 1 < high) {
    const int middle = (low + high) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

Policy fixed_of(int replicas) {
  Policy policy;
  policy.replicas = std::max(1, replicas);
  return policy;
}

std::vector<Policy> neighbours(const Policy& policy) {
  std::vector<Policy> near;
  const bool planned = policy.kind == Kind::kFixed || policy.kind == Kind::kSchedule;
  if (planned || policy.kind == Kind::kVariant) return near;
  // Two digits are precise enough and easy to read.
  const auto scaled = [](double value, double factor) {
    if (!(value > 0)) return value;
    const double unit = std::pow(10, std::floor(std::log10(value * factor)) - 1);
    return std::round(value * factor / unit) * unit;
  };
  for (const double factor : {0.82, 0.92, 1.08, 1.2}) {
    near.push_back(policy);
    near.back().target = scaled(policy.target, factor), near.back().rate = scaled(policy.rate, factor);
  }
  for (const int more : {-1, 1}) {
    if (policy.min + more < 1 || policy.min + more > policy.max) continue;
    near.push_back(policy);
    near.back().min += more;
    if (policy.initial) near.back().initial = std::max(near.back().min, *policy.initial);
  }
  for (const int times : {2, 4}) {
    near.push_back(policy);
    Policy& slower = near.back();
    slower.down *= times, slower.window *= times, slower.interval *= times, slower.down_delay *= times;
    near.push_back(policy);
    Policy& faster = near.back();
    for (SimTime Policy::*at : {&Policy::down, &Policy::window, &Policy::interval, &Policy::down_delay})
      faster.*at = std::max(std::min(policy.*at, whole_seconds(15)), policy.*at / times);
  }
  return near;
}

class Search {
 public:
  Search(const ClusterConfig& config, const Traffic& traffic, unsigned threads)
      : config_(config), traffic_(traffic), threads_(threads), demand_(demand_of(traffic, kScreenWidth)) {}

  PolicySearch run() {
    find_fixed();
    all_ = settings_for(config_, demand_, most_rate());
    found_.screened = all_.size();
    constexpr double kFewRequests = 2e7;  // over all settings: some seconds
    found_.all_simulated = demand_.total.requests * static_cast<double>(all_.size()) <= kFewRequests;
    if (found_.all_simulated) {
      try_all(all_);
      refine();
    } else {
      try_best();
    }
    for (auto& [kind, policy] : best_) found_.best.push_back(std::move(policy));
    std::ranges::sort(found_.best,
                      [&](const SimulatedPolicy& a, const SimulatedPolicy& b) { return better(a, b, config_.slo); });
    return std::move(found_);
  }

 private:
  void try_all(const std::vector<Policy>& policies) {
    for (SimulatedPolicy& policy : simulate_all(config_, traffic_, policies, threads_)) keep(std::move(policy));
  }
  void keep(SimulatedPolicy policy) {
    ++found_.simulated;
    const auto [at, is_new] = best_.try_emplace(policy.policy.kind, policy);
    if (!is_new && better(policy, at->second, config_.slo)) at->second = std::move(policy);
  }

  // Fixed replicas are too few as soon as more requests than allowed exceed the SLO, so the run can stop there.
  void try_fixed(const std::vector<int>& counts) {
    ClusterConfig config = config_;
    if (config.open_loop()) config.most_over = static_cast<std::uint64_t>(config.slo.allowed * demand_.total.requests);
    std::vector<Policy> policies;
    for (const int replicas : counts) policies.push_back(fixed_of(replicas));
    for (SimulatedPolicy& policy : simulate_all(config, traffic_, policies, threads_)) {
      const bool meets = policy.run.over <= config.most_over && policy.run.meets(config_.slo);
      fixed_.try_emplace(policy.policy.replicas, meets);
      if (meets) keep(std::move(policy));
    }
  }

  // The settings are a grid. Around the best one, each parameter is changed by itself for as long as that helps.
  void refine() {
    constexpr int kRounds = 6;
    const auto leader = [&] {
      const auto less = [&](const auto& a, const auto& b) { return better(a.second, b.second, config_.slo); };
      return std::ranges::min_element(best_, less)->second;
    };
    SimulatedPolicy best = leader();
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Policy> near = neighbours(best.policy);
      for (Policy& policy : near) policy = bounded(std::move(policy), config_);
      found_.screened += near.size();
      try_all(near);
      SimulatedPolicy next = leader();
      if (!better(next, best, config_.slo)) return;
      best = std::move(next);
    }
  }

  // The best of each kind; then, of the cheapest kinds, a setting with more headroom if they miss and one with less if
  // they are far from the limit. Both run as one task, so no thread waits for the others.
  void try_best() {
    constexpr double kUsual = 0.85, kRoomy = 0.65, kTight = 0.94, kFar = 0.3;
    const auto of = [&](double share) { return cheapest_of_kinds(config_, demand_, all_, share, threads_); };
    const std::vector<std::size_t> usual = of(kUsual);
    std::map<Kind, Policy> roomy, tight;
    for (const std::size_t at : of(kRoomy)) roomy.emplace(all_[at].kind, all_[at]);
    for (const std::size_t at : of(kTight)) tight.emplace(all_[at].kind, all_[at]);
    std::vector<std::vector<SimulatedPolicy>> tried(usual.size());
    for_each_index(usual.size(), threads_, [&](std::size_t i) {
      const Policy& first = all_[usual[i]];
      tried[i].push_back({first, simulate(config_, traffic_, first)});
      const double over = tried[i].front().run.over_share();
      const bool misses = over > config_.slo.allowed;
      if (i >= kSecondRound || (!misses && over > kFar * config_.slo.allowed)) return;
      const Policy& next = (misses ? roomy : tight).at(first.kind);
      if (describe(next) != describe(first)) tried[i].push_back({next, simulate(config_, traffic_, next)});
    });
    for (std::vector<SimulatedPolicy>& of_kind : tried)
      for (SimulatedPolicy& policy : of_kind) keep(std::move(policy));
  }

  // The fewest fixed replicas that meet the SLO: searches upwards from the need of mean traffic in growing steps, then
  // bisects.
  void find_fixed() {
    constexpr int kTries = 12;
    const int guess = fixed_on_average(config_, demand_);
    try_fixed(guess > 1 ? std::vector{guess, guess - 1} : std::vector{1});
    for (int i = 0; i < kTries; ++i) {
      int fails = 0, meets = 0;
      for (const auto& [replicas, good] : fixed_) {
        if (!good) fails = replicas;
        if (good && meets == 0) meets = replicas;
      }
      if (meets > 0 && fails >= meets - 1) break;
      const bool searches_down = fails == 0 && meets > 0;
      const int next = meets == 0 ? fails + 1 + fails / 3 : searches_down ? meets - 1 : (fails + meets) / 2;
      if (next < 1 || fixed_.contains(next)) break;
      try_fixed({next});
    }
    if (const auto meets = best_.find(Kind::kFixed); meets != best_.end())
      found_.fixed = meets->second;
    else  // the largest number tried comes closest
      try_all({fixed_of(fixed_.rbegin()->first)});
  }

  // Single requests vary more than their mean, so a replica can carry less than the mean allows. The fewest fixed
  // replicas show how much in the busiest minute.
  double most_rate() const {
    constexpr double kAbove = 1.3;  // an autoscaler may do a little better
    if (!found_.fixed) return std::numeric_limits<double>::infinity();
    const double busiest = busiest_rate(demand_);
    return busiest > 0 ? kAbove * busiest / found_.fixed->policy.replicas : std::numeric_limits<double>::infinity();
  }

  static constexpr std::size_t kSecondRound = 4;
  const ClusterConfig& config_;
  const Traffic& traffic_;
  unsigned threads_;
  DemandSeries demand_;
  std::vector<Policy> all_;
  std::map<Kind, SimulatedPolicy> best_;
  std::map<int, bool> fixed_;  // by replicas: whether the SLO is met
  PolicySearch found_;
};

}  // namespace

bool better(const SimulatedPolicy& a, const SimulatedPolicy& b, const Limits& slo) {
  const auto rank = [&](const SimulatedPolicy& p) {
    const bool misses = !p.run.meets(slo);
    return std::tuple(misses, misses ? p.run.over_share() : 0.0, p.run.paid_seconds);
  };
  return rank(a) < rank(b);
}

std::vector<SimulatedPolicy> simulate_all(const ClusterConfig& config, const Traffic& traffic,
                                          const std::vector<Policy>& policies, unsigned threads) {
  std::vector<SimulatedPolicy> all(policies.size());
  for_each_index(policies.size(), threads, [&](std::size_t i) {
    all[i] = {policies[i], simulate(config, traffic, policies[i])};
  });
  return all;
}

double cheapest_on_average(const ClusterConfig& config, const Traffic& traffic, unsigned threads) {
  constexpr double kShare = 0.85;
  const DemandSeries demand = demand_of(traffic, kScreenWidth);
  std::vector<Policy> all = settings_for(config, demand);
  std::erase_if(all, [](const Policy& p) { return p.kind == Kind::kSchedule || !p.plan.empty(); });
  std::vector<ScalingRun> screened(all.size());
  for_each_index(all.size(), threads, [&](std::size_t i) { screened[i] = screen(config, demand, all[i], kShare); });
  double least = 0;
  for (const ScalingRun& s : screened) {
    if (s.over_share() <= config.slo.allowed && (least == 0 || s.paid_seconds < least)) least = s.paid_seconds;
  }
  return least;
}

PolicySearch search(const ClusterConfig& config, const Traffic& traffic, unsigned threads) {
  return Search(config, traffic, threads).run();
}

}  // namespace rightsize::autoscale
