#include "sim/simulate.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "sim/min_tree.h"
#include "sim/router.h"

namespace rightsize::sim {
namespace {

// First come, first served, one item per request: a ring buffer of arrival times.
class PlainQueue {
 public:
  PlainQueue(const Server& server) : config_(server.batching), ring_(16) {}

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
  // Moves the front into a batch and returns its number of items.
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

// The complete rule of Triton: priorities, timeouts, queue limits, request sizes.
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
  // One more request than fits a batch shows whether the batch could grow.
  std::span<const QueuedRequest> seen() { return queue_.front(static_cast<std::size_t>(config_.max_batch) + 1); }

  const DynamicBatchConfig& config_;
  PolicyQueue queue_;
};

// One running batch. `work` is the remaining time at full speed, in nanoseconds, as of the last change of speed.
struct Executor {
  std::vector<SimTime> batch;
  SimTime started = 0;
  SimTime done = kNever;  // kNever: idle
  double work = 0;
};

template <class Queue>
struct BatchReplica {
  BatchReplica(const Server& server, const GpuPool& pool, std::size_t position)
      : gpu(&pool),
        index(position),
        max_batch(server.batching.max_batch),
        queue(server),
        executors(static_cast<std::size_t>(pool.executors)),
        shares(pool.executors > 1 && pool.overlap < 1) {}

  // Time to serve one request, for the router.
  double weight() const { return gpu->times.mean(max_batch) / max_batch / gpu->executors; }

  const GpuPool* gpu;
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

// All GPUs behind one router. `Queue` is PlainQueue or FullQueue.
template <class Queue>
class BatchingRun : public Run {
 public:
  BatchingRun(const Server& server, const ArrivalProcess& arrivals, std::uint64_t seed, std::uint64_t warm_up)
      : Run(arrivals, {}, seed, warm_up),
        server_(server),
        noise_(seed ^ 0x5bf03635u),
        levels_(seed ^ 0x2545f491u),
        router_(seed ^ 0x7f4a7c15u),
        next_(gpu_count(server), kNever) {
    replicas_.reserve(gpu_count(server));
    for (const GpuPool& pool : server_.gpus) {
      for (int i = 0; i < pool.count; ++i) {
        replicas_.emplace_back(server_, pool, replicas_.size());
        router_.add(replicas_.back().weight());
      }
    }
  }

 private:
  using Replica = BatchReplica<Queue>;

  static std::size_t gpu_count(const Server& server) {
    std::size_t count = 0;
    for (const GpuPool& pool : server.gpus) count += static_cast<std::size_t>(pool.count);
    return count;
  }

  LatencyProfile measured() const override {
    LatencyProfile p = profile_;
    p.completed = statistics_.count();
    p.latency_sum = statistics_.sum() + rejected_sum_;
    p.latency = statistics_.values();
    p.longest = statistics_.longest();
    p.interval = statistics_.intervals();
    p.elapsed = last_change_ - measured_since_;
    if (p.batches > 0) p.mean_batch = static_cast<double>(items_) / static_cast<double>(p.batches);
    int executors = 0;
    for (const GpuPool& pool : server_.gpus) executors += pool.executors * pool.count;
    if (p.elapsed > 0) p.utilization = static_cast<double>(busy_time_) / (static_cast<double>(p.elapsed) * executors);
    return p;
  }

  void start_measuring() override {
    profile_ = {};
    statistics_ = LatencyStatistics(kFirstRun);
    items_ = 0, busy_time_ = 0, rejected_sum_ = 0;
    measured_since_ = last_change_;
    for (Replica& replica : replicas_)
      for (Executor& executor : replica.executors) executor.started = last_change_;
  }

  void arrive(std::span<const Arrival> arrivals) override {
    for (const Arrival& arrival : arrivals) arrive(arrival);
  }

  void integrate(SimTime now) {
    profile_.presence += static_cast<std::int64_t>(present_) * (now - last_change_);
    last_change_ = now;
  }

  void arrive(const Arrival& arrival) {
    advance(arrival.at);
    Replica& replica = replicas_[router_.choose()];
    if (!replica.queue.push(arrival, draw_level())) {
      ++profile_.rejected;
      return;
    }
    integrate(arrival.at);
    ++present_;
    set_present(replica, replica.present + 1);
    if (replica.busy < replica.gpu->executors) dispatch(replica, arrival.at);
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

  void set_present(Replica& replica, std::size_t count) {
    replica.present = count;
    router_.set_present(replica.index, count);
  }

  void advance(SimTime until) override {
    while (next_.min() <= until && next_.min() != kNever) handle(replicas_[next_.position()], next_.min());
  }

  void handle(Replica& replica, SimTime now) {
    for (Executor& executor : replica.executors) {
      if (executor.done <= now) complete(replica, executor, now);
    }
    dispatch(replica, now);
  }

  void complete(Replica& replica, Executor& executor, SimTime now) {
    integrate(now);
    for (SimTime arrived : executor.batch) statistics_.add(now - arrived);
    statistics_.checkpoint();
    present_ -= executor.batch.size();
    set_present(replica, replica.present - executor.batch.size());
    busy_time_ += now - executor.started;
    executor.done = kNever;
    if (replica.shares) settle(replica, now);
    --replica.busy;
    if (replica.shares) set_deadlines(replica, now);
  }

  // Sends batches while the policy allows and an executor is free, then updates the time of the replica's next event.
  void dispatch(Replica& replica, SimTime now) {
    replica.wake = kNever;
    while (replica.busy < replica.gpu->executors && replica.queue.size() > 0) {
      drop_expired(replica, now);
      if (replica.queue.size() == 0) break;
      const BatchDecision decision = replica.queue.decide(now);
      if (decision.send == 0) {
        replica.wake = decision.wake;
        break;
      }
      start(replica, decision.send, now);
    }
    SimTime next = replica.wake;
    for (const Executor& executor : replica.executors) next = std::min(next, executor.done);
    next_.set(replica.index, next);
  }

  void drop_expired(Replica& replica, SimTime now) {
    rejected_.clear();
    const std::size_t count = replica.queue.expire(now, rejected_);
    if (count == 0) return;
    integrate(now);
    for (SimTime arrived : rejected_) rejected_sum_ += now - arrived;
    present_ -= count;
    set_present(replica, replica.present - count);
    profile_.rejected += count;
  }

  void start(Replica& replica, std::size_t count, SimTime now) {
    Executor* executor = &replica.executors[0];
    while (executor->done != kNever) ++executor;
    const auto items = static_cast<std::size_t>(replica.queue.take(count, executor->batch));
    const ServiceTimes& times = replica.gpu->times;
    SimTime taken = times.shortest[items];
    if (times.scale[items] > 0) taken += static_cast<SimTime>(times.scale[items] * noise_.exponential());
    items_ += items;
    profile_.largest_batch = std::max(profile_.largest_batch, static_cast<int>(items));
    ++profile_.batches;
    if (replica.shares) settle(replica, now);
    ++replica.busy;
    executor->started = now;
    executor->work = static_cast<double>(taken);
    executor->done = now + taken;
    if (replica.shares) set_deadlines(replica, now);
  }

  // Processor sharing between the executors of a GPU: when the number of busy ones changes, the remaining work of every
  // batch is updated at the old speed and its end is recomputed at the new one. No end is approximated.
  static double slowdown(const Replica& replica) { return 1 + (replica.busy - 1) * (1 - replica.gpu->overlap); }
  void settle(Replica& replica, SimTime now) {
    const double done = replica.busy > 0 ? static_cast<double>(now - replica.speed_changed) / slowdown(replica) : 0;
    for (Executor& executor : replica.executors) executor.work = std::max(0.0, executor.work - done);
    replica.speed_changed = now;
  }
  void set_deadlines(Replica& replica, SimTime now) {
    for (Executor& executor : replica.executors) {
      if (executor.done != kNever)
        executor.done = now + static_cast<SimTime>(std::ceil(executor.work * slowdown(replica)));
    }
  }

  const Server server_;
  SimTime measured_since_ = 0;
  Random noise_, levels_;
  Router router_;
  std::vector<Replica> replicas_;
  MinTree<SimTime> next_;  // the next event of each replica: a batch completes, or the batcher's timer fires
  std::size_t present_ = 0;
  SimTime last_change_ = 0;
  SimTime busy_time_ = 0;
  std::uint64_t items_ = 0;
  std::int64_t rejected_sum_ = 0;
  std::vector<SimTime> rejected_;
  // Waits are correlated over dozens of requests, so batch means of this length already give short runs an interval.
  static constexpr std::uint64_t kFirstRun = 500;
  LatencyStatistics statistics_{kFirstRun};
  LatencyProfile profile_;
};

// Whether a queue of arrival times is enough: no timeouts, no priorities, one item per request.
bool is_plain(const Server& server, const ArrivalProcess& arrivals) {
  if (!server.queue.never_acts() || server.priorities.size() > 1) return false;
  const Trace* trace = trace_of(arrivals);
  return trace == nullptr ||
         std::all_of(trace->arrivals.begin(), trace->arrivals.end(), [](const Arrival& a) { return a.size == 1; });
}

// Token counts are not batch items: a trace with tokens is replayed with one item per request.
ArrivalProcess as_items(const ArrivalProcess& arrivals) {
  const Trace* trace = trace_of(arrivals);
  if (trace == nullptr || !trace->has_tokens) return arrivals;
  Trace items = *trace;
  items.arrivals.change([](Arrival& arrival) { arrival.size = 1; });
  items.has_tokens = false;
  return std::make_shared<const Trace>(std::move(items));
}

// Requests of a trace may have several items.
double items_per_request(const ArrivalProcess& arrivals) {
  const Trace* trace = trace_of(arrivals);
  if (trace == nullptr || trace->has_tokens) return 1;
  double items = 0;
  for (const Arrival& arrival : trace->arrivals) items += arrival.size;
  return items / static_cast<double>(trace->arrivals.size());
}

}  // namespace

RequestsPerSecond GpuPool::capacity(int max_batch) const {
  const double slowdown = 1 + (executors - 1) * (1 - overlap);
  return times.rate(max_batch) * executors / slowdown * count;
}

RequestsPerSecond capacity(const Server& server) {
  RequestsPerSecond total;
  for (const GpuPool& pool : server.gpus) total += pool.capacity(server.batching.max_batch);
  return total;
}

bool overloads(const Server& server, const ArrivalProcess& arrivals) {
  return server.queue.never_acts() && overloads(arrivals, capacity(server) / items_per_request(arrivals));
}

std::unique_ptr<Run> start_run(const Server& server, const ArrivalProcess& arrivals, std::uint64_t seed,
                               std::uint64_t warm_up) {
  const ArrivalProcess items = as_items(arrivals);
  if (is_plain(server, items)) return std::make_unique<BatchingRun<PlainQueue>>(server, items, seed, warm_up);
  return std::make_unique<BatchingRun<FullQueue>>(server, items, seed, warm_up);
}

std::optional<LatencyProfile> simulate(const Server& server, const ArrivalProcess& arrivals, const RunLength& length) {
  if (overloads(server, arrivals)) return std::nullopt;
  return start_run(server, arrivals, length.seed)->to_the_end(length.requests);
}

}  // namespace rightsize::sim
