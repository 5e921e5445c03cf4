#include "sim/simulate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/cancel.h"
#include "base/random.h"

namespace rightsize::sim {
namespace {

// First come, first served, every request of size 1: a ring of arrival times.
class PlainQueue {
 public:
  PlainQueue(const Server& server) : config_(server.batching), ring_(256) {}

  bool push(const Arrival& arrival, int) {
    if (tail_ - head_ == ring_.size()) grow();
    ring_[tail_++ & (ring_.size() - 1)] = arrival.at;
    return true;
  }
  std::size_t size() const { return tail_ - head_; }
  std::size_t expire(SimTime, std::vector<SimTime>&) { return 0; }

  BatchDecision decide(SimTime now) const {
    return decide_uniform(size(), ring_[head_ & (ring_.size() - 1)], now, config_);
  }
  // Moves the front into a batch; returns how many items that is.
  int take(std::size_t count, std::vector<SimTime>& batch) {
    batch.resize(count);
    for (SimTime& arrived : batch) arrived = ring_[head_++ & (ring_.size() - 1)];
    return static_cast<int>(count);
  }

 private:
  void grow() {
    std::vector<SimTime> larger(ring_.size() * 2);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    head_ = 0;
    tail_ = count;
  }
  const DynamicBatchConfig& config_;
  std::vector<SimTime> ring_;  // its size is a power of two
  std::size_t head_ = 0, tail_ = 0;
};

// Priorities, timeouts, limits, sizes: the whole of Triton's rule.
class FullQueue {
 public:
  FullQueue(const Server& server)
      : config_(server.batching), queue_(server.queue, std::max(1, static_cast<int>(server.priorities.size()))) {}

  bool push(const Arrival& arrival, int level) {
    return queue_.push({arrival.at, SimTime{arrival.timeout_us} * 1000, std::min(arrival.size, config_.max_batch)},
                       level);
  }
  std::size_t size() const { return queue_.size(); }
  std::size_t expire(SimTime now, std::vector<SimTime>& rejected) { return queue_.expire(now, rejected); }
  BatchDecision decide(SimTime now) { return sim::decide(seen(), now, config_); }
  int take(std::size_t count, std::vector<SimTime>& batch) {
    batch.clear();
    int items = 0;
    for (const QueuedRequest& request : seen().first(count)) {
      batch.push_back(request.arrived);
      items += request.size;
    }
    queue_.pop(count);
    return items;
  }

 private:
  // One more than a batch can hold tells whether it could grow.
  std::span<const QueuedRequest> seen() { return queue_.front(static_cast<std::size_t>(config_.max_batch) + 1); }

  const DynamicBatchConfig& config_;
  PolicyQueue queue_;
};

// One running batch. `work` is what is left of it, in nanoseconds at full speed, as of the last change of speed.
struct Executor {
  std::vector<SimTime> batch;
  SimTime started = 0;
  SimTime done = kNever;  // kNever: idle
  double work = 0;
};

template <class Queue>
struct Replica {
  Replica(const Server& server, const GpuReplica& hardware, std::size_t position)
      : gpu(&hardware),
        index(position),
        max_batch(server.batching.max_batch),
        queue(server),
        executors(static_cast<std::size_t>(hardware.executors)),
        shares(hardware.executors > 1 && hardware.overlap < 1) {}

  // Time to serve one request, for the router.
  double weight() const { return gpu->times.mean(max_batch) / max_batch / gpu->executors; }

  const GpuReplica* gpu;
  std::size_t index;
  int max_batch;
  Queue queue;
  std::vector<Executor> executors;
  int busy = 0;
  std::size_t present = 0;  // waiting and running
  bool shares = false;      // executors slow one another
  SimTime speed_changed = 0;
  SimTime wake = kNever;  // the batcher's timer
};

template <class Queue>
class Engine {
 public:
  Engine(const Server& server, const ArrivalProcess& arrivals, const RunLength& length)
      : server_(server),
        length_(length),
        stream_(open_stream(arrivals, length.seed)),
        noise_(length.seed ^ 0x5bf03635u),
        levels_(length.seed ^ 0x2545f491u) {
    for (const GpuReplica& gpu : server.gpus) {
      replicas_.emplace_back(server, gpu, replicas_.size());
      weights_.push_back(replicas_.back().weight());
    }
    next_.assign(replicas_.size(), kNever);
    loads_ = weights_;
  }

  LatencyProfile run() {
    std::array<Arrival, 512> block;
    bool stop = false;
    while (!stop && profile_.requests < length_.requests) {
      const std::size_t want = std::min<std::uint64_t>(block.size(), length_.requests - profile_.requests);
      const std::size_t got = stream_->fill(std::span(block.data(), want));
      for (const Arrival& arrival : std::span(block.data(), got)) arrive(arrival);
      profile_.requests += got;
      stop = got < want || tight_enough() || cancelled();
    }
    advance(kNever);
    finish();
    return profile_;
  }

 private:
  using Site = Replica<Queue>;

  // Counts the time everybody present has spent since the last change.
  void integrate(SimTime now) {
    profile_.presence += static_cast<std::int64_t>(present_) * (now - last_change_);
    last_change_ = now;
  }

  void arrive(const Arrival& arrival) {
    advance(arrival.at);
    Site& site = replicas_.size() == 1 ? replicas_[0] : least_loaded();
    if (!site.queue.push(arrival, draw_level())) {
      ++profile_.rejected;
      return;
    }
    integrate(arrival.at);
    ++present_;
    set_present(site, site.present + 1);
    if (site.busy < site.gpu->executors) dispatch(site, arrival.at);
  }

  int draw_level() {
    if (server_.priorities.empty()) return 0;
    double left = levels_.uniform();
    for (std::size_t i = 0; i + 1 < server_.priorities.size(); ++i) {
      left -= server_.priorities[i];
      if (left < 0) return static_cast<int>(i);
    }
    return static_cast<int>(server_.priorities.size()) - 1;
  }

  // Ties go round, as a router's do, so that idle replicas share the work.
  Site& least_loaded() {
    std::size_t best = turn_;
    for (std::size_t i = turn_ + 1; i < loads_.size(); ++i) {
      if (loads_[i] < loads_[best]) best = i;
    }
    for (std::size_t i = 0; i < turn_; ++i) {
      if (loads_[i] < loads_[best]) best = i;
    }
    turn_ = turn_ + 1 == replicas_.size() ? 0 : turn_ + 1;
    return replicas_[best];
  }
  void set_present(Site& site, std::size_t count) {
    site.present = count;
    loads_[site.index] = static_cast<double>(count + 1) * weights_[site.index];
  }

  // Handles every event up to and including a time.
  void advance(SimTime until) {
    if (next_.size() == 1) {
      while (next_[0] <= until && next_[0] != kNever) handle(replicas_[0], next_[0]);
      return;
    }
    for (;;) {
      std::size_t first = 0;
      SimTime earliest = next_[0];
      for (std::size_t i = 1; i < next_.size(); ++i) {
        if (next_[i] < earliest) earliest = next_[i], first = i;
      }
      if (earliest > until || earliest == kNever) return;
      handle(replicas_[first], earliest);
    }
  }

  void handle(Site& site, SimTime now) {
    for (Executor& executor : site.executors) {
      if (executor.done <= now) complete(site, executor, now);
    }
    dispatch(site, now);
  }

  void complete(Site& site, Executor& executor, SimTime now) {
    integrate(now);
    for (SimTime arrived : executor.batch) statistics_.add(now - arrived);
    statistics_.checkpoint();
    present_ -= executor.batch.size();
    set_present(site, site.present - executor.batch.size());
    busy_time_ += now - executor.started;
    executor.done = kNever;
    if (site.shares) settle(site, now);
    --site.busy;
    if (site.shares) set_deadlines(site, now);
  }

  // Sends batches while the policy says so and an executor is free; leaves the site's next event up to date.
  void dispatch(Site& site, SimTime now) {
    site.wake = kNever;
    while (site.busy < site.gpu->executors && site.queue.size() > 0) {
      drop_expired(site, now);
      if (site.queue.size() == 0) break;
      const BatchDecision decision = site.queue.decide(now);
      if (decision.send == 0) {
        site.wake = decision.wake;
        break;
      }
      start(site, decision.send, now);
    }
    SimTime next = site.wake;
    for (const Executor& executor : site.executors) next = std::min(next, executor.done);
    next_[site.index] = next;
  }

  void drop_expired(Site& site, SimTime now) {
    rejected_.clear();
    const std::size_t count = site.queue.expire(now, rejected_);
    if (count == 0) return;
    integrate(now);
    for (SimTime arrived : rejected_) rejected_sum_ += now - arrived;
    present_ -= count;
    set_present(site, site.present - count);
    profile_.rejected += count;
  }

  void start(Site& site, std::size_t count, SimTime now) {
    Executor* executor = &site.executors[0];
    while (executor->done != kNever) ++executor;
    const auto items = static_cast<std::size_t>(site.queue.take(count, executor->batch));
    const ServiceTimes& times = site.gpu->times;
    SimTime taken = times.shortest[items];
    if (times.scale[items] > 0) taken += static_cast<SimTime>(times.scale[items] * noise_.exponential());
    items_ += items;
    ++profile_.batches;
    if (site.shares) settle(site, now);
    ++site.busy;
    executor->started = now;
    executor->work = static_cast<double>(taken);
    executor->done = now + taken;
    if (site.shares) set_deadlines(site, now);
  }

  // Executors that share a GPU (processor sharing): whenever their number changes, what is left of every batch is
  // brought up to date at the old speed and gets a new end at the new one, so that no end is approximated.
  static double slowdown(const Site& site) { return 1 + (site.busy - 1) * (1 - site.gpu->overlap); }
  void settle(Site& site, SimTime now) {
    const double done = site.busy > 0 ? static_cast<double>(now - site.speed_changed) / slowdown(site) : 0;
    for (Executor& executor : site.executors) executor.work = std::max(0.0, executor.work - done);
    site.speed_changed = now;
  }
  void set_deadlines(Site& site, SimTime now) {
    for (Executor& executor : site.executors) {
      if (executor.done != kNever)
        executor.done = now + static_cast<SimTime>(std::ceil(executor.work * slowdown(site)));
    }
  }

  // Intervals are looked at whenever the run has grown by a quarter: often enough to stop early, and so rarely that
  // stopping at a lucky look hardly narrows them.
  bool tight_enough() {
    if (length_.tight_enough <= 0 || statistics_.count() < next_look_) return false;
    next_look_ = statistics_.count() + statistics_.count() / 4;
    const double half = value_of(statistics_.intervals().half_widths(), length_.watched);
    const double value = value_of(statistics_.values(), length_.watched);
    profile_.tight = half <= length_.tight_enough * value;  // false while the interval is NaN
    return profile_.tight;
  }

  void finish() {
    profile_.completed = statistics_.count();
    profile_.latency_sum = statistics_.sum() + rejected_sum_;
    profile_.latency = statistics_.values();
    profile_.interval = statistics_.intervals();
    profile_.elapsed = last_change_;
    if (profile_.batches > 0) profile_.mean_batch = static_cast<double>(items_) / static_cast<double>(profile_.batches);
    int executors = 0;
    for (const GpuReplica& gpu : server_.gpus) executors += gpu.executors;
    if (profile_.elapsed > 0) {
      profile_.utilization = static_cast<double>(busy_time_) / (static_cast<double>(profile_.elapsed) * executors);
    }
  }

  const Server& server_;
  const RunLength& length_;
  std::unique_ptr<ArrivalStream> stream_;
  Random noise_, levels_;
  std::vector<Site> replicas_;
  // Of each replica, side by side because every event looks at all of them: its next event (a batch done, or the
  // batcher's timer), the work waiting and running there plus one request, and the work of one request.
  std::vector<SimTime> next_;
  std::vector<double> loads_, weights_;
  std::size_t turn_ = 0;
  std::size_t present_ = 0;
  SimTime last_change_ = 0;
  SimTime busy_time_ = 0;
  std::uint64_t items_ = 0;
  std::int64_t rejected_sum_ = 0;
  std::vector<SimTime> rejected_;
  LatencyStatistics statistics_;
  std::uint64_t next_look_ = 10'000;
  LatencyProfile profile_;
};

// Whether a queue of bare arrival times will do: nothing expires, no level goes first, every request is one item.
bool is_plain(const Server& server, const ArrivalProcess& arrivals) {
  if (!server.queue.never_acts() || server.priorities.size() > 1) return false;
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&arrivals);
  if (trace == nullptr) return true;
  return std::all_of((*trace)->arrivals.begin(), (*trace)->arrivals.end(),
                     [](const Arrival& a) { return a.size == 1; });
}

// A token count is no batch size: such a trace is replayed with one item a request.
ArrivalProcess as_items(const ArrivalProcess& arrivals) {
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&arrivals);
  if (trace == nullptr || !(*trace)->has_tokens) return arrivals;
  Trace items = **trace;
  for (Arrival& arrival : items.arrivals) arrival.size = 1;
  items.has_tokens = false;
  return std::make_shared<const Trace>(std::move(items));
}

// A trace may have several items a request.
double items_per_request(const ArrivalProcess& arrivals) {
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&arrivals);
  if (trace == nullptr || (*trace)->has_tokens) return 1;
  double items = 0;
  for (const Arrival& arrival : (*trace)->arrivals) items += arrival.size;
  return items / static_cast<double>((*trace)->arrivals.size());
}

}  // namespace

RequestsPerSecond capacity(const Server& server) {
  RequestsPerSecond total;
  for (const GpuReplica& gpu : server.gpus) {
    const double slowdown = 1 + (gpu.executors - 1) * (1 - gpu.overlap);
    total += gpu.times.rate(server.batching.max_batch) * gpu.executors / slowdown;
  }
  return total;
}

LatencyProfile simulate_anyway(const Server& server, const ArrivalProcess& arrivals, const RunLength& length) {
  const ArrivalProcess items = as_items(arrivals);
  if (is_plain(server, items)) return Engine<PlainQueue>(server, items, length).run();
  return Engine<FullQueue>(server, items, length).run();
}

std::optional<LatencyProfile> simulate(const Server& server, const ArrivalProcess& arrivals, const RunLength& length) {
  const RequestsPerSecond most = capacity(server) / items_per_request(arrivals);
  if (server.queue.never_acts() && overloads(arrivals, most)) return std::nullopt;
  return simulate_anyway(server, arrivals, length);
}

}  // namespace rightsize::sim
