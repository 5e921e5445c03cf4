// The settings that a search compares.
#include <algorithm>
#include <cmath>
#include <set>

#include "autoscale/search.h"

namespace rightsize::autoscale {
namespace {

// The replicas that each slot of `width` needs if a replica serves `rate` requests per second.
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

// Replicas by slot; with several days of traffic, the maximum over days for each time of day.
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
  Settings(const ClusterConfig& config, const DemandSeries& demand, double most_rate)
      : demand_(demand),
        startup_(config.startup),
        replica_(config, demand.mean_prompt(), demand.mean_output()),
        running_(replica_.running_within(config.slo.tpot)),
        rate_(std::min(most_rate, replica_.rate(running_))) {
    const std::vector<double> minutes = needed(demand, whole_seconds(60), rate_);
    const double peak = minutes.empty() ? 1 : *std::ranges::max_element(minutes);
    most_ = static_cast<int>(std::ceil(1.5 * peak)) + 2;
    const std::vector<double> hours = needed(demand, whole_seconds(3600), rate_);
    base_ = std::max(1, static_cast<int>(hours.empty() ? 1 : *std::ranges::min_element(hours)));
    idle_ = std::ranges::count(minutes, 0.0) >= kIdleMinutes;
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
    // The service was already running when the traffic began.
    if (kind != Kind::kSchedule) p.initial = std::clamp(first_, 1, most_);
    return p;
  }
  // The sequences of a replica at a share of the throughput within the limit on TPOT. Near the limit their number grows
  // without bound, so equal steps of load are more useful than equal steps of sequences.
  double target(double load) const {
    double exact = running_ * load;
    for (int i = 0; i < 8; ++i) exact = std::min(running_, replica_.running_at(rate_ * load, exact));
    return rounded(exact);
  }
  // From few sequences to as many as the limit on TPOT allows, in equal ratios: for bursts, few sequences, or many with
  // a high floor of replicas, work best.
  double between(double share) const {
    return rounded(target(kLowLoad) * std::pow(running_ / target(kLowLoad), share));
  }
  static double rounded(double exact) {
    return exact >= 10 ? std::round(exact) : std::max(0.5, std::round(2 * exact) / 2);
  }
  // Minimum replicas to try: one, the need of the quietest hour and, for bursts, half and most of the need of the
  // busiest minute.
  std::set<int> bases() const { return {1, base_, std::max(1, most_ / 3), std::max(1, most_ / 2)}; }

  void pods() {
    for (const double share : {0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0}) {
      for (const std::int64_t down : {60, 300}) {
        for (const int min : bases()) {
          Policy p = make(Kind::kHpa);
          p.target = between(share), p.down = whole_seconds(down), p.min = min;
          p.initial = std::max(min, *p.initial);
          made_.push_back(p);
          p.kind = Kind::kKeda, p.polling = whole_seconds(15);
          made_.push_back(p);
        }
        if (!idle_) continue;
        Policy zero = make(Kind::kKeda);
        zero.initial.reset();
        zero.target = between(share), zero.down = whole_seconds(down), zero.polling = whole_seconds(15), zero.min = 0;
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
  static constexpr double kFirstUse = 0.8, kLowLoad = 0.4;
  const DemandSeries& demand_;
  SimTime startup_;
  SteadyReplica replica_;
  double running_, rate_;
  int most_ = 1, base_ = 1, first_ = 1;
  bool idle_ = false;
  std::vector<Policy> made_;
};

}  // namespace

double busiest_rate(const DemandSeries& demand) {
  double busiest = 0;
  for (const double rate : needed(demand, whole_seconds(60), 1)) busiest = std::max(busiest, rate);
  return busiest;
}

std::vector<Policy> settings_for(const ClusterConfig& config, const DemandSeries& demand, double most_rate) {
  std::vector<Policy> all = Settings(config, demand, most_rate).all();
  for (Policy& policy : all) {
    policy = bounded(std::move(policy), config);
    // A limit that the user stated is the policy's own.
    if (config.most_replicas != Policy{}.max) policy.max = config.most_replicas;
  }
  return all;
}

Policy bounded(Policy policy, const ClusterConfig& config) {
  const int least = config.least_replicas, most = config.most_replicas;
  const auto within = [&](int replicas) { return std::clamp(replicas, least, most); };
  policy.replicas = std::clamp(policy.replicas, std::max(1, least), most);
  policy.min = within(policy.min), policy.max = within(policy.max);
  if (policy.initial) policy.initial = within(*policy.initial);
  for (int& planned : policy.plan) planned = within(planned);
  return policy;
}

double rate_within(const ClusterConfig& config, const DemandSeries& demand) {
  const SteadyReplica replica(config, demand.mean_prompt(), demand.mean_output());
  return replica.rate(replica.running_within(config.slo.tpot));
}

}  // namespace rightsize::autoscale
