#include "autoscale/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/threads.h"

namespace rightsize::autoscale {
namespace {

constexpr SimTime kScreenWidth = whole_seconds(5);

// The replicas that each slot of `width` needs if each takes `rate` requests per second.
std::vector<double> needed(const DemandSeries& demand, SimTime width, double rate) {
  std::vector<double> all;
  const auto each = static_cast<std::size_t>(std::max<SimTime>(1, width / demand.width));
  for (std::size_t i = 0; i < demand.slots.size(); i += each) {
    double requests = 0;
    for (std::size_t j = i; j < std::min(i + each, demand.slots.size()); ++j) requests += demand.slots[j].requests;
    all.push_back(requests / (static_cast<double>(width) * 1e-9) / rate);
  }
  return all;
}

// Replicas by slot; over several days, the most that the same time of day needs on any of them.
std::vector<int> plan_for(const std::vector<double>& need, std::size_t day, double use) {
  std::vector<int> plan(std::min(need.size(), day), 1);
  for (std::size_t i = 0; i < need.size(); ++i) {
    int& slot = plan[i % plan.size()];
    slot = std::max(slot, static_cast<int>(std::ceil(need[i] / use)));
  }
  return plan;
}

class Settings {
 public:
  Settings(const ClusterConfig& config, const DemandSeries& demand)
      : demand_(demand),
        startup_(config.startup),
        replica_(config, demand.mean_prompt(), demand.mean_output()),
        running_(replica_.running_within(config.slo.tpot)),
        rate_(replica_.rate(running_)) {
    const std::vector<double> minutes = needed(demand, whole_seconds(60), rate_);
    const double peak = minutes.empty() ? 1 : *std::max_element(minutes.begin(), minutes.end());
    most_ = static_cast<int>(std::ceil(1.5 * peak)) + 2;
    const std::vector<double> hours = needed(demand, whole_seconds(3600), rate_);
    base_ = std::max(1, static_cast<int>(hours.empty() ? 1 : *std::min_element(hours.begin(), hours.end())));
    idle_ = std::count(minutes.begin(), minutes.end(), 0.0) >= kIdleMinutes;
    const std::vector<double> slots = needed(demand, whole_seconds(600), rate_);
    first_ = slots.empty() ? 1 : static_cast<int>(std::ceil(slots.front() / kFirstUse));
  }

  std::vector<Policy> all() {
    pods(), planned_ones(), knative(), dynamo(), others();
    return std::move(made_);
  }

 private:
  Policy make(Kind kind) const {
    Policy p;
    p.kind = kind, p.max = most_;
    // The traffic does not begin when the service does.
    if (kind != Kind::kSchedule) p.initial = std::clamp(first_, 1, most_);
    return p;
  }
  // The sequences of a replica at a share of the throughput within the limit on TPOT. Near it they grow without bound,
  // so equal steps of load are worth more than equal steps of sequences.
  double target(double load) const {
    double exact = running_ * load;
    for (int i = 0; i < 8; ++i) exact = std::min(running_, replica_.running_at(rate_ * load, exact));
    return exact >= 10 ? std::round(exact) : std::max(0.5, std::round(2 * exact) / 2);
  }
  std::set<int> bases() const { return {1, base_}; }

  void pods() {
    for (const double share : {0.4, 0.5, 0.6, 0.7, 0.8, 0.87, 0.93, 1.0}) {
      for (const std::int64_t down : {60, 300}) {
        for (const int min : bases()) {
          Policy p = make(Kind::kHpa);
          p.target = target(share), p.down = whole_seconds(down), p.min = min;
          made_.push_back(p);
          p.kind = Kind::kKeda, p.polling = whole_seconds(15);
          made_.push_back(p);
        }
        if (!idle_) continue;
        Policy zero = make(Kind::kKeda);
        zero.initial.reset();
        zero.target = target(share), zero.down = whole_seconds(down), zero.polling = whole_seconds(15), zero.min = 0;
        made_.push_back(zero);
      }
    }
    for (const double waiting : {1.0, 2.0, 5.0}) {
      Policy p = make(Kind::kHpa);
      p.metric = Metric::kWaiting, p.target = waiting;
      made_.push_back(p);
    }
    for (const double use : {0.5, 0.7, 0.85}) {
      Policy p = make(Kind::kHpa);
      p.metric = Metric::kCacheUse;
      p.target = use;
      made_.push_back(p);
    }
  }

  // Schedules, and KEDA with cron triggers below its metric.
  void planned_ones() {
    for (const std::int64_t every : {900, 3600}) {
      const std::vector<double> need = needed(demand_, whole_seconds(every), rate_);
      const auto day = static_cast<std::size_t>(86400 / every);
      if (need.size() < 2) continue;
      for (const double use : {0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0}) {
        for (const SimTime lead : {startup_, 2 * startup_ + whole_seconds(60)}) {
          Policy p = make(Kind::kSchedule);
          p.every = whole_seconds(every), p.lead = lead;
          p.plan = plan_for(need, day, use), p.repeat = need.size() > day;
          made_.push_back(p);
        }
      }
      for (const double use : {0.8, 1.0}) {
        Policy p = make(Kind::kKeda);
        p.every = whole_seconds(every), p.lead = startup_;
        p.plan = plan_for(need, day, use), p.repeat = need.size() > day;
        p.target = target(0.7), p.polling = whole_seconds(15), p.down = whole_seconds(60);
        made_.push_back(p);
      }
    }
  }

  void knative() {
    for (const double share : {0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
      for (const std::int64_t window : {60, 120}) {
        Policy p = make(Kind::kKnative);
        p.target = target(share), p.window = whole_seconds(window), p.min = idle_ ? 0 : 1;
        made_.push_back(p);
      }
    }
  }

  void dynamo() {
    for (const double share : {0.5, 0.6, 0.7, 0.8, 0.9}) {
      for (const Predictor predictor : {Predictor::kLastValue, Predictor::kTrend, Predictor::kSeasonal}) {
        for (const std::int64_t interval : {60, 180}) {
          if (predictor == Predictor::kSeasonal && !lasts_days()) continue;
          Policy p = make(Kind::kDynamo);
          p.rate = rate_ * share, p.predictor = predictor, p.interval = whole_seconds(interval);
          made_.push_back(p);
        }
      }
    }
  }

  void others() {
    for (const double kv : {0.4, 0.6, 0.8}) {
      for (const std::int64_t down : {60, 300}) {
        Policy p = make(Kind::kVariant);
        p.kv_limit = kv, p.down = whole_seconds(down), p.period = whole_seconds(60);
        made_.push_back(p);
      }
    }
    for (const double share : {0.5, 0.6, 0.7, 0.8, 0.9}) {
      for (const std::int64_t delay : {60, 300}) {
        Policy p = make(Kind::kSkyServe);
        p.rate = rate_ * share, p.up_delay = whole_seconds(delay), p.down_delay = whole_seconds(4 * delay);
        made_.push_back(p);
      }
    }
  }

  bool lasts_days() const { return static_cast<SimTime>(demand_.slots.size()) * demand_.width > whole_seconds(86400); }

  static constexpr std::ptrdiff_t kIdleMinutes = 10;
  static constexpr double kFirstUse = 0.8;
  const DemandSeries& demand_;
  SimTime startup_;
  SteadyReplica replica_;
  double running_, rate_;
  int most_ = 1, base_ = 1, first_ = 1;
  bool idle_ = false;
  std::vector<Policy> made_;
};

// The cheapest setting of each kind on mean traffic if this share of capacity and of the limit on TPOT is left by
// chance, cheapest kind first.
std::vector<std::size_t> cheapest_of_kinds(const ClusterConfig& config, const DemandSeries& demand,
                                           const std::vector<Policy>& all, double share, unsigned threads) {
  std::vector<Screened> screened(all.size());
  for_each_index(all.size(), threads, [&](std::size_t i) { screened[i] = screen(config, demand, all[i], share); });
  // A miss costs more than any saving, so the best of a kind without a feasible setting is its least bad one.
  constexpr double kMiss = 100;
  const auto paid = [&](std::size_t i) {
    const double misses = std::max(0.0, screened[i].over_share - config.slo.allowed);
    return screened[i].paid_seconds * (1 + (misses > 0 ? kMiss * (1 + misses) : 0));
  };
  std::map<Kind, std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [at, is_new] = best.try_emplace(all[i].kind, i);
    if (!is_new && paid(i) < paid(at->second)) at->second = i;
  }
  std::vector<std::size_t> order;
  for (const auto& [kind, at] : best) order.push_back(at);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return paid(a) < paid(b); });
  return order;
}

// The fewest fixed replicas that meet the SLO on mean traffic.
int fixed_on_average(const ClusterConfig& config, const DemandSeries& demand) {
  constexpr double kShare = 0.9;
  constexpr int kMost = 4096;
  Policy policy;
  const auto meets = [&](int n) {
    policy.replicas = n;
    return screen(config, demand, policy, kShare).over_share <= config.slo.allowed;
  };
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

class Search {
 public:
  Search(const ClusterConfig& config, const Traffic& traffic, unsigned threads)
      : config_(config), traffic_(traffic), threads_(threads), demand_(demand_of(traffic, kScreenWidth)) {}

  PolicySearch run() {
    all_ = settings_for(config_, demand_);
    found_.screened = all_.size();
    constexpr double kFewRequests = 2e7;  // over all settings: some seconds
    found_.all_simulated = demand_.total.requests * static_cast<double>(all_.size()) <= kFewRequests;
    if (found_.all_simulated)
      try_all(all_);
    else
      try_best();
    find_fixed();
    for (auto& [kind, policy] : best_) found_.best.push_back(std::move(policy));
    std::sort(found_.best.begin(), found_.best.end(),
              [&](const SimulatedPolicy& a, const SimulatedPolicy& b) { return better(a, b, config_.slo); });
    return std::move(found_);
  }

 private:
  void try_all(const std::vector<Policy>& policies) {
    for (SimulatedPolicy& policy : simulate_all(config_, traffic_, policies, threads_)) {
      if (policy.policy.kind == Kind::kFixed) fixed_.try_emplace(policy.policy.replicas, policy.run.meets(config_.slo));
      const auto [at, is_new] = best_.try_emplace(policy.policy.kind, policy);
      if (!is_new && better(policy, at->second, config_.slo)) at->second = std::move(policy);
    }
    found_.simulated += policies.size();
  }

  // The best of each kind; then, of the kinds that miss, a setting with more room, and of those far from the limit one
  // with less.
  void try_best() {
    constexpr double kUsual = 0.85, kRoomy = 0.65, kTight = 0.94, kFar = 0.3;
    const auto of = [&](double share) { return cheapest_of_kinds(config_, demand_, all_, share, threads_); };
    std::vector<Policy> first;
    const int guess = fixed_on_average(config_, demand_);
    first.push_back(fixed_of(guess)), first.push_back(fixed_of(guess - 1));
    for (const std::size_t at : of(kUsual)) first.push_back(all_[at]);
    try_all(first);
    std::map<Kind, Policy> roomy, tight;
    for (const std::size_t at : of(kRoomy)) roomy.emplace(all_[at].kind, all_[at]);
    for (const std::size_t at : of(kTight)) tight.emplace(all_[at].kind, all_[at]);
    std::vector<const SimulatedPolicy*> order;
    for (const auto& [kind, policy] : best_)
      if (kind != Kind::kFixed) order.push_back(&policy);
    std::sort(order.begin(), order.end(), [](const SimulatedPolicy* a, const SimulatedPolicy* b) {
      return a->run.paid_seconds < b->run.paid_seconds;
    });
    std::vector<Policy> second;
    for (const SimulatedPolicy* policy : order) {
      const double over = policy->run.over_share();
      const bool misses = over > config_.slo.allowed;
      if (!misses && over > kFar * config_.slo.allowed) continue;
      const Policy& next = (misses ? roomy : tight).at(policy->policy.kind);
      if (describe(next) != describe(policy->policy) && second.size() < kSecondRound) second.push_back(next);
    }
    try_all(second);
  }

  // The fewest fixed replicas that meet the SLO, from the guess upwards or downwards.
  void find_fixed() {
    constexpr int kTries = 12;
    if (fixed_.empty()) try_all({fixed_of(fixed_on_average(config_, demand_))});
    for (int i = 0; i < kTries; ++i) {
      const auto fewest = std::find_if(fixed_.begin(), fixed_.end(), [](const auto& f) { return f.second; });
      const int next = fewest == fixed_.end() ? fixed_.rbegin()->first + 1 : fewest->first - 1;
      if (next < 1 || fixed_.contains(next)) break;
      try_all({fixed_of(next)});
    }
    if (best_.at(Kind::kFixed).run.meets(config_.slo)) found_.fixed = best_.at(Kind::kFixed);
  }

  static constexpr std::size_t kSecondRound = 3;
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

std::vector<Policy> settings_for(const ClusterConfig& config, const DemandSeries& demand) {
  return Settings(config, demand).all();
}

double rate_within(const ClusterConfig& config, const DemandSeries& demand) {
  const SteadyReplica replica(config, demand.mean_prompt(), demand.mean_output());
  return replica.rate(replica.running_within(config.slo.tpot));
}

double cheapest_on_average(const ClusterConfig& config, const Traffic& traffic, unsigned threads) {
  constexpr double kShare = 0.85;
  const DemandSeries demand = demand_of(traffic, kScreenWidth);
  std::vector<Policy> all = settings_for(config, demand);
  std::erase_if(all, [](const Policy& p) { return p.kind == Kind::kSchedule || !p.plan.empty(); });
  std::vector<Screened> screened(all.size());
  for_each_index(all.size(), threads, [&](std::size_t i) { screened[i] = screen(config, demand, all[i], kShare); });
  double least = 0;
  for (const Screened& s : screened) {
    if (s.over_share <= config.slo.allowed && (least == 0 || s.paid_seconds < least)) least = s.paid_seconds;
  }
  return least;
}

PolicySearch search(const ClusterConfig& config, const Traffic& traffic, unsigned threads) {
  return Search(config, traffic, threads).run();
}

}  // namespace rightsize::autoscale
