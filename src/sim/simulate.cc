#include "sim/simulate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/cancel.h"
#include "base/random.h"
#include "sim/least_of.h"
#include "sim/router.h"

namespace rightsize::sim {
namespace {

// First come, first served, every request of size 1: a ring of arrival times.
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

int gpus_of(const Server& server) {
  int sum = 0;
  for (const GpuReplica& gpu : server.gpus) sum += gpu.count;
  return sum;
}

}  // namespace

class BatchRun::Engine {
 public:
  virtual ~Engine() = default;
  // Until so many have arrived or nobody comes any more.
  virtual void feed(const RunLength& length) = 0;
  // Nobody comes any more: until the last has left.
  virtual void drain() = 0;
  virtual LatencyProfile profile() const = 0;
};

namespace {

template <class Queue>
class EngineOf : public BatchRun::Engine {
 public:
  EngineOf(const Server& server, const ArrivalProcess& arrivals, std::uint64_t seed, std::uint64_t warm_up)
      : server_(server),
        warm_up_(warm_up),
        stream_(open_stream(arrivals, seed)),
        noise_(seed ^ 0x5bf03635u),
        levels_(seed ^ 0x2545f491u),
        router_(seed ^ 0x7f4a7c15u),
        next_(static_cast<std::size_t>(gpus_of(server)), kNever) {
    replicas_.reserve(static_cast<std::size_t>(gpus_of(server)));
    for (const GpuReplica& gpu : server_.gpus) {
      for (int i = 0; i < gpu.count; ++i) {
        replicas_.emplace_back(server_, gpu, replicas_.size());
        router_.add(replicas_.back().weight());
      }
    }
  }

  void feed(const RunLength& length) override {
    std::array<Arrival, 512> block;
    while (!ended_ && seen_ < length.requests) {
      const std::uint64_t until = seen_ < warm_up_ ? std::min(warm_up_, length.requests) : length.requests;
      const std::size_t want = std::min<std::uint64_t>(block.size(), until - seen_);
      const std::size_t got = stream_->fill(std::span(block.data(), want));
      for (const Arrival& arrival : std::span(block.data(), got)) arrive(arrival);
      seen_ += got, profile_.requests += got;
      if (warm_up_ > 0 && seen_ == warm_up_) begin_to_count();
      ended_ = got < want || cancelled();
      if (tight_enough(length)) break;
    }
    if (ended_) drain();
  }

  void drain() override { advance(kNever); }

  LatencyProfile profile() const override {
    LatencyProfile p = profile_;
    p.completed = statistics_.count();
    p.latency_sum = statistics_.sum() + rejected_sum_;
    p.latency = statistics_.values();
    p.longest = statistics_.longest();
    p.interval = statistics_.intervals();
    p.elapsed = last_change_ - counted_since_;
    if (p.batches > 0) p.mean_batch = static_cast<double>(items_) / static_cast<double>(p.batches);
    int executors = 0;
    for (const GpuReplica& gpu : server_.gpus) executors += gpu.executors * gpu.count;
    if (p.elapsed > 0) p.utilization = static_cast<double>(busy_time_) / (static_cast<double>(p.elapsed) * executors);
    return p;
  }

 private:
  using Site = Replica<Queue>;

  void begin_to_count() {
    profile_ = {};
    statistics_ = LatencyStatistics(kFirstRun);
    items_ = 0, busy_time_ = 0, rejected_sum_ = 0;
    counted_since_ = last_change_;
    for (Site& site : replicas_)
      for (Executor& executor : site.executors) executor.started = last_change_;
  }

  // Counts the time everybody present has spent since the last change.
  void integrate(SimTime now) {
    profile_.presence += static_cast<std::int64_t>(present_) * (now - last_change_);
    last_change_ = now;
  }

  void arrive(const Arrival& arrival) {
    advance(arrival.at);
    Site& site = replicas_[router_.choose()];
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

  void set_present(Site& site, std::size_t count) {
    site.present = count;
    router_.set_present(site.index, count);
  }

  // Handles every event up to and including a time.
  void advance(SimTime until) {
    while (next_.least() <= until && next_.least() != kNever) handle(replicas_[next_.place()], next_.least());
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
    next_.set(site.index, next);
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
    profile_.largest_batch = std::max(profile_.largest_batch, static_cast<int>(items));
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
  bool tight_enough(const RunLength& length) {
    if (length.tight_enough <= 0 || statistics_.count() < next_look_) return false;
    next_look_ = statistics_.count() + statistics_.count() / 4;
    const double half = value_of(statistics_.intervals().half_widths(), length.watched);
    const double value = value_of(statistics_.values(), length.watched);
    profile_.tight = half <= length.tight_enough * value;  // false while the interval is NaN
    return profile_.tight;
  }

  const Server server_;
  const std::uint64_t warm_up_;
  std::uint64_t seen_ = 0;
  SimTime counted_since_ = 0;
  std::unique_ptr<ArrivalStream> stream_;
  Random noise_, levels_;
  Router router_;
  std::vector<Site> replicas_;
  LeastOf<SimTime> next_;  // of each replica its next event: a batch done, or the batcher's timer
  bool ended_ = false;
  std::size_t present_ = 0;
  SimTime last_change_ = 0;
  SimTime busy_time_ = 0;
  std::uint64_t items_ = 0;
  std::int64_t rejected_sum_ = 0;
  std::vector<SimTime> rejected_;
  // Short runs have intervals, too: waits are alike over dozens of requests.
  static constexpr std::uint64_t kFirstRun = 500;
  LatencyStatistics statistics_{kFirstRun};
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
    total += gpu.times.rate(server.batching.max_batch) * gpu.executors / slowdown * gpu.count;
  }
  return total;
}

bool overloads(const Server& server, const ArrivalProcess& arrivals) {
  return server.queue.never_acts() && overloads(arrivals, capacity(server) / items_per_request(arrivals));
}

BatchRun::BatchRun(const Server& server, const ArrivalProcess& arrivals, std::uint64_t seed, std::uint64_t warm_up) {
  const ArrivalProcess items = as_items(arrivals);
  if (is_plain(server, items))
    engine_ = std::make_unique<EngineOf<PlainQueue>>(server, items, seed, warm_up);
  else
    engine_ = std::make_unique<EngineOf<FullQueue>>(server, items, seed, warm_up);
}
BatchRun::BatchRun(BatchRun&&) noexcept = default;
BatchRun::~BatchRun() = default;

LatencyProfile BatchRun::until(std::uint64_t requests) {
  engine_->feed({requests, 0, 0, Statistic::kP99});
  return engine_->profile();
}

LatencyProfile BatchRun::to_the_end(const RunLength& length) {
  engine_->feed(length);
  engine_->drain();
  return engine_->profile();
}

LatencyProfile simulate_anyway(const Server& server, const ArrivalProcess& arrivals, const RunLength& length) {
  return BatchRun(server, arrivals, length.seed).to_the_end(length);
}

std::optional<LatencyProfile> simulate(const Server& server, const ArrivalProcess& arrivals, const RunLength& length) {
  if (overloads(server, arrivals)) return std::nullopt;
  return simulate_anyway(server, arrivals, length);
}

}  // namespace rightsize::sim
