// The scalers of LLM platforms.
#include <algorithm>
#include <cmath>
#include <deque>

#include "autoscale/scaler.h"

namespace rightsize::autoscale {
namespace {

int whole_replicas(double value) {
  constexpr double kRounding = 1e-9;
  return static_cast<int>(std::clamp(std::ceil(value - kRounding), 0.0, 1e9));
}

// Decides at equal intervals.
class Periodic : public Scaler {
 public:
  Periodic(const Policy& policy, SimTime period) : policy_(policy), period_(period), next_(period) {}

  SimTime next() const final { return next_; }
  int decide(const Seen& seen) final {
    next_ += period_;
    return wanted(seen);
  }

 protected:
  virtual int wanted(const Seen& seen) = 0;
  int within(int replicas) const { return std::clamp(replicas, policy_.min, policy_.max); }

  Policy policy_;
  SimTime period_;

 private:
  SimTime next_;
};

constexpr SimTime kKnativeTick = whole_seconds(2);

class Knative final : public Periodic {
 public:
  explicit Knative(const Policy& policy) : Periodic(policy, kKnativeTick) {}

 private:
  double mean_over(SimTime window, SimTime now) const {
    double sum = 0;
    int count = 0;
    for (auto at = samples_.rbegin(); at != samples_.rend() && at->first > now - window; ++at)
      sum += at->second, ++count;
    return count > 0 ? sum / count : 0;
  }

  int wanted(const Seen& seen) override {
    samples_.emplace_back(seen.now, seen.in_flight);
    while (samples_.front().first <= seen.now - policy_.window) samples_.pop_front();
    const auto short_window = static_cast<SimTime>(static_cast<double>(policy_.window) * policy_.panic_window);
    const int ready = std::max(1, seen.ready);
    const int stable = limited(whole_replicas(mean_over(policy_.window, seen.now) / policy_.target), ready);
    const int at_once =
        limited(whole_replicas(mean_over(std::max(short_window, kKnativeTick), seen.now) / policy_.target), ready);
    if (at_once >= policy_.panic * ready) panicked_ = seen.now, panics_ = true;
    if (panics_ && seen.now - panicked_ > policy_.window) panics_ = false, most_ = 0;
    int want = stable;
    if (panics_) want = most_ = std::max({most_, at_once, seen.wanted});
    if (want > 0 || seen.in_flight > 0) active_ = seen.now;
    // The last replica stays for the grace period.
    if (want == 0 && seen.wanted > 0 && seen.now - active_ < policy_.grace) want = 1;
    if (seen.wanted == 0 && seen.in_flight > 0) want = std::max(want, 1);
    return within(want);
  }

  // Removes at most half at a time.
  static int limited(int want, int ready) { return std::max(want, ready > 1 ? ready / 2 : 0); }

  std::deque<std::pair<SimTime, double>> samples_;
  bool panics_ = false;
  SimTime panicked_ = 0, active_ = 0;
  int most_ = 0;
};

class Dynamo final : public Periodic {
 public:
  explicit Dynamo(const Policy& policy) : Periodic(policy, policy.interval) {}

 private:
  int wanted(const Seen& seen) override {
    counts_.push_back(seen.arrived - arrived_);
    arrived_ = seen.arrived;
    const auto season = static_cast<std::size_t>(std::max<SimTime>(1, policy_.season / policy_.interval));
    const std::size_t kept = 2 * season + 64;
    if (counts_.size() > 2 * kept) counts_.erase(counts_.begin(), counts_.end() - static_cast<std::ptrdiff_t>(kept));
    const double next = policy_.predictor == Predictor::kLastValue ? last_value(counts_)
                        : policy_.predictor == Predictor::kTrend   ? trend(counts_)
                                                                   : seasonal(counts_, season);
    return within(whole_replicas(next / (static_cast<double>(policy_.interval) * 1e-9) / policy_.rate));
  }

  std::vector<double> counts_;
  double arrived_ = 0;
};

class Variant final : public Periodic {
 public:
  explicit Variant(const Policy& policy) : Periodic(policy, policy.period) {}
  bool needs_loads() const override { return true; }

 private:
  int wanted(const Seen& seen) override {
    int free = 0;
    double cache = 0, queue = 0, cache_room = 0, queue_room = 0;
    for (const ReplicaLoad& load : seen.loads) {
      if (load.cache_use >= policy_.kv_limit || load.waiting >= policy_.queue_limit) continue;
      ++free;
      cache += load.cache_use, queue += load.waiting;
      cache_room += policy_.kv_limit - load.cache_use, queue_room += policy_.queue_limit - load.waiting;
    }
    const auto short_of = [&](double cache_mean, double queue_mean) {
      return cache_mean < policy_.kv_spare || queue_mean < policy_.queue_spare;
    };
    const bool tight = free == 0 || short_of(cache_room / free, queue_room / free);
    if (tight) {
      reduced_since_ = sim::kNever;
      return within(seen.ready < seen.wanted || seen.ready == 0 ? seen.wanted : seen.wanted + 1);
    }
    // With one replica fewer, its load goes to the others.
    const double others = free - 1;
    const bool can_spare =
        free >= 2 && !short_of(policy_.kv_limit - cache / others, policy_.queue_limit - queue / others);
    if (!can_spare || seen.wanted <= policy_.min) {
      reduced_since_ = sim::kNever;
      return within(seen.wanted);
    }
    if (reduced_since_ == sim::kNever) reduced_since_ = seen.now;
    if (seen.now - reduced_since_ < policy_.down) return within(seen.wanted);
    return within(seen.wanted - 1);
  }

  SimTime reduced_since_ = sim::kNever;
};

constexpr SimTime kSkyServeTick = whole_seconds(20), kSkyServeWindow = whole_seconds(60);

class SkyServe final : public Periodic {
 public:
  explicit SkyServe(const Policy& policy) : Periodic(policy, kSkyServeTick) {}

 private:
  int wanted(const Seen& seen) override {
    arrived_.emplace_back(seen.now, seen.arrived);
    while (arrived_.size() > 1 && arrived_[1].first <= seen.now - kSkyServeWindow) arrived_.pop_front();
    const double before = arrived_.front().first > seen.now - kSkyServeWindow ? 0 : arrived_.front().second;
    const double per_second = (seen.arrived - before) / (static_cast<double>(kSkyServeWindow) * 1e-9);
    const int want = within(whole_replicas(per_second / policy_.rate));
    if (want <= seen.wanted) more_since_ = sim::kNever;
    if (want >= seen.wanted) fewer_since_ = sim::kNever;
    if (want == seen.wanted) return want;
    SimTime& since = want > seen.wanted ? more_since_ : fewer_since_;
    if (since == sim::kNever) since = seen.now;
    if (seen.now - since < (want > seen.wanted ? policy_.up_delay : policy_.down_delay)) return seen.wanted;
    since = sim::kNever;
    return want;
  }

  std::deque<std::pair<SimTime, double>> arrived_;
  SimTime more_since_ = sim::kNever, fewer_since_ = sim::kNever;
};

}  // namespace

double last_value(const std::vector<double>& counts) { return counts.empty() ? 0 : counts.back(); }

double trend(const std::vector<double>& counts) {
  constexpr std::size_t kFitted = 24;
  const std::size_t n = counts.size();
  if (n < 4) return last_value(counts);
  double products = 0, squares = 0;
  for (std::size_t i = std::max<std::size_t>(2, n > kFitted ? n - kFitted : 0); i < n; ++i) {
    const double now = counts[i] - counts[i - 1], before = counts[i - 1] - counts[i - 2];
    products += now * before, squares += before * before;
  }
  const double slope = squares > 0 ? std::clamp(products / squares, -1.0, 1.0) : 0;
  return std::max(0.0, counts[n - 1] + slope * (counts[n - 1] - counts[n - 2]));
}

double seasonal(const std::vector<double>& counts, std::size_t season) {
  const std::size_t n = counts.size();
  constexpr std::size_t kCompared = 4;
  if (n < season + kCompared) return trend(counts);
  double now = 0, before = 0;
  for (std::size_t i = 1; i <= kCompared; ++i) now += counts[n - i], before += counts[n - i - season];
  return counts[n - season] * (before > 0 ? std::clamp(now / before, 0.25, 4.0) : 1);
}

std::unique_ptr<Scaler> make_knative(const Policy& policy) { return std::make_unique<Knative>(policy); }
std::unique_ptr<Scaler> make_dynamo(const Policy& policy) { return std::make_unique<Dynamo>(policy); }
std::unique_ptr<Scaler> make_variant(const Policy& policy) { return std::make_unique<Variant>(policy); }
std::unique_ptr<Scaler> make_skyserve(const Policy& policy) { return std::make_unique<SkyServe>(policy); }

}  // namespace rightsize::autoscale
