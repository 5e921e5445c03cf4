#include "capacity/run_cache.h"

#include <algorithm>

#include "base/cancel.h"

namespace rightsize::capacity {
namespace {

bool same_arrivals(const sim::ArrivalProcess& a, const sim::ArrivalProcess& b) {
  const sim::Trace *one = sim::trace_of(a), *other = sim::trace_of(b);
  if (one == nullptr || other == nullptr) return a == b;
  return one == other ||
         (one->has_tokens == other->has_tokens && one->warm_up == other->warm_up && one->closed == other->closed &&
          one->prompts == other->prompts && one->arrivals == other->arrivals);
}

bool same_traffic(const Service& a, const Service& b) {
  return a.lengths == b.lengths && a.queue == b.queue && a.priorities == b.priorities &&
         a.cache_block == b.cache_block && a.routing == b.routing && a.shared_lower == b.shared_lower &&
         same_arrivals(a.arrivals, b.arrivals);
}

bool same_times(const Replica& a, const Replica& b) {
  return a.continuous == b.continuous && a.step == b.step && a.separate == b.separate && a.overlap == b.overlap &&
         a.times.shortest == b.times.shortest && a.times.scale == b.times.scale;
}

template <class T, class Same>
std::size_t number_of(std::vector<T>& known, const T& one, const Same& same) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const T& other) { return same(one, other); });
  const auto number = static_cast<std::size_t>(found - known.begin());
  if (found == known.end()) known.push_back(one);
  return number;
}

}  // namespace

sim::LatencyProfile SharedRun::at(std::size_t look, const Start& start) {
  const std::lock_guard lock(mutex_);
  while (seen_.size() <= look) {
    if (!run_) run_ = start();
    seen_.push_back(run_->until(looks_[seen_.size()]));
    if (!cancelled()) continue;
    // A cancelled run ends early. The next caller starts again.
    sim::LatencyProfile partial = std::move(seen_.back());
    run_.reset(), seen_.clear();
    return partial;
  }
  if (seen_.size() == looks_.size()) run_.reset();
  return seen_[look];
}

bool RunCache::is_full() const {
  constexpr std::size_t kMostTraffic = 64, kMostRuns = 500, kMostArrivals = 4'000'000;  // about 200 MB
  const std::lock_guard lock(mutex_);
  std::size_t arrivals = 0;
  for (const Service& service : traffic_) {
    if (const sim::Trace* trace = sim::trace_of(service.arrivals)) arrivals += trace->arrivals.size();
  }
  return traffic_.size() >= kMostTraffic || runs_.size() >= kMostRuns || arrivals >= kMostArrivals;
}

std::shared_ptr<RunCache> RunCache::of_process() {
  static std::mutex mutex;
  static std::shared_ptr<RunCache> cache;
  const std::lock_guard lock(mutex);
  if (!cache || cache->is_full()) cache = std::make_shared<RunCache>();
  return cache;
}

std::size_t RunCache::traffic_number(const Service& service) {
  const std::lock_guard lock(mutex_);
  return number_of(traffic_, service, same_traffic);
}

std::size_t RunCache::replica_number(const Replica& replica) {
  const std::lock_guard lock(mutex_);
  return number_of(replicas_, replica, same_times);
}

std::shared_ptr<SharedRun> RunCache::run(const Key& key, const std::function<std::vector<std::uint64_t>()>& looks) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<SharedRun>& run = runs_[key];
  if (!run) run = std::make_shared<SharedRun>(looks());
  return run;
}

}  // namespace rightsize::capacity
