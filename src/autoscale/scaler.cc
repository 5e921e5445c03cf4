#include "autoscale/scaler.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace rightsize::autoscale {
namespace {

using sim::kNever;

class Fixed final : public Scaler {
 public:
  SimTime next() const override { return kNever; }
  int decide(const Seen& seen) override { return seen.wanted; }
};

class Schedule final : public Scaler {
 public:
  explicit Schedule(const Policy& policy) : policy_(policy) { advance(0); }

  SimTime next() const override { return next_; }
  int decide(const Seen& seen) override {
    advance(seen.now);
    return planned(policy_, seen.now);
  }

 private:
  // The next boundary of a slot, or of a slot as seen `lead` ahead.
  void advance(SimTime now) {
    const auto after = [&](SimTime t) {
      const SimTime slot = t / policy_.every + 1;
      return policy_.repeat || slot < static_cast<SimTime>(policy_.plan.size()) ? slot * policy_.every : kNever;
    };
    const SimTime ahead = after(now + policy_.lead);
    next_ = std::min(after(now), ahead == kNever ? kNever : ahead - policy_.lead);
  }

  Policy policy_;
  SimTime next_ = kNever;
};

// Kubernetes' HorizontalPodAutoscaler, and KEDA, which provides its metric and itself scales to and from zero.
class PodAutoscaler final : public Scaler {
 public:
  explicit PodAutoscaler(const Policy& policy) : policy_(policy), next_decision_(policy.period) {
    next_poll_ = policy.kind == Kind::kKeda ? policy.polling : kNever;
  }

  SimTime next() const override { return std::min(next_poll_, next_decision_); }

  int decide(const Seen& seen) override {
    if (next_poll_ <= next_decision_) {
      next_poll_ += policy_.polling;
      return poll(seen);
    }
    next_decision_ += policy_.period;
    return seen.wanted == 0 ? floor_at(seen.now) : scale(seen);
  }

 private:
  double metric(const Seen& seen) const {
    if (policy_.metric == Metric::kWaiting) return seen.waiting;
    return policy_.metric == Metric::kCacheUse ? seen.cache_use : seen.in_flight;
  }
  // The minimum number of replicas, from cron triggers if there are any.
  int floor_at(SimTime now) const {
    return std::clamp(policy_.plan.empty() ? 0 : planned(policy_, now), policy_.min, policy_.max);
  }

  int poll(const Seen& seen) {
    polled_ = metric(seen);
    if (polled_ > 0) active_ = seen.now;
    if (floor_at(seen.now) > 0) return seen.wanted;
    const bool wakes = seen.wanted == 0 && polled_ > 0;
    const bool sleeps = seen.wanted > 0 && polled_ <= 0 && seen.now - active_ >= policy_.cooldown;
    if (!wakes && !sleeps) return seen.wanted;
    wanted_.clear();
    return wakes ? 1 : 0;
  }

  int scale(const Seen& seen) {
    const double x = policy_.kind == Kind::kKeda ? polled_ : metric(seen);
    const int n = seen.wanted;
    constexpr double kRounding = 1e-9;
    int want = std::abs(x / (policy_.target * n) - 1) <= policy_.tolerance
                   ? n
                   : static_cast<int>(std::min(1e9, std::ceil(x / policy_.target - kRounding)));
    want = std::clamp(want, std::max(1, floor_at(seen.now)), policy_.max);
    wanted_.emplace_back(seen.now, want);
    while (wanted_.front().first < seen.now - policy_.down) wanted_.pop_front();
    int recent = 0;
    for (const auto& [at, count] : wanted_) recent = std::max(recent, count);
    want = std::max(want, std::min(n, recent));
    return want > n ? limited(n, want, seen.now) : want;
  }

  int limited(int n, int want, SimTime now) {
    if (policy_.up_most == 0) return std::min(want, std::max(n + 4, 2 * n));
    while (!added_.empty() && added_.front().first <= now - policy_.up_period) added_.pop_front();
    int before = n;
    for (const auto& [at, count] : added_) before -= count;
    want = std::min(want, before + policy_.up_most);
    if (want <= n) return n;
    added_.emplace_back(now, want - n);
    return want;
  }

  Policy policy_;
  SimTime next_poll_ = kNever, next_decision_ = 0, active_ = 0;
  double polled_ = 0;
  std::deque<std::pair<SimTime, int>> wanted_, added_;
};

}  // namespace

int planned(const Policy& policy, SimTime now) {
  const auto at = [&](SimTime t) {
    auto slot = static_cast<std::size_t>(t / policy.every);
    slot = policy.repeat ? slot % policy.plan.size() : std::min(slot, policy.plan.size() - 1);
    return policy.plan[slot];
  };
  return std::max(at(now), at(now + policy.lead));
}

std::unique_ptr<Scaler> make_scaler(const Policy& policy) {
  switch (policy.kind) {
    case Kind::kFixed:
      return std::make_unique<Fixed>();
    case Kind::kSchedule:
      return std::make_unique<Schedule>(policy);
    case Kind::kHpa:
    case Kind::kKeda:
      return std::make_unique<PodAutoscaler>(policy);
    case Kind::kKnative:
      return make_knative(policy);
    case Kind::kDynamo:
      return make_dynamo(policy);
    case Kind::kVariant:
      return make_variant(policy);
    case Kind::kSkyServe:
      return make_skyserve(policy);
  }
  return nullptr;
}

}  // namespace rightsize::autoscale
