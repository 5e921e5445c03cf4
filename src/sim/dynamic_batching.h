// Triton's dynamic batcher as a pure function of the queue, the clock and the settings.
//
// The rule (triton-inference-server/core, dynamic_batch_scheduler.cc, GetDynamicBatch): walk the queue in order and add
// requests until the next one would pass max_batch; remember the last point at which the sum was a preferred size, or,
// if there is none, the point beyond which it would exceed every preferred size. If such a point was found and the
// oldest request of the batch has waited less than max_delay, send up to that point. Otherwise send everything that was
// added if the batch cannot grow, if it has reached the largest preferred size, if the oldest has waited max_delay, or
// if max_delay is zero. Otherwise sleep until the oldest has waited max_delay or a request's timeout comes. Shapes are
// assumed equal. The queue is examined whenever an executor is free.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/result.h"
#include "sim/sim_time.h"

namespace rightsize::sim {

struct DynamicBatchConfig {
  int max_batch = 1;                      // 1: no batching
  std::vector<int> preferred_sizes = {};  // ascending; empty means {max_batch}, which is what Triton fills in
  SimTime max_delay = 0;

  auto operator<=>(const DynamicBatchConfig&) const = default;
};

// The batcher's view of a waiting request.
struct QueuedRequest {
  SimTime arrived = 0;
  SimTime timeout = 0;  // when it expires; 0: never. In push(): how long it may wait, 0 for the policy's default
  std::int32_t size = 1;
};

struct BatchDecision {
  std::size_t send = 0;   // number of requests to send from the front of the queue; 0: wait
  SimTime wake = kNever;  // when waiting: the time to decide again, unless a request arrives first

  bool operator==(const BatchDecision&) const = default;
};

// Fails if a preferred size is below 1 or above max_batch, or if the sizes do not ascend.
Result<> check(const DynamicBatchConfig& config);

// The rule itself. `queue` is in order of service: by priority, and within a level unexpired before delayed requests.
BatchDecision decide(std::span<const QueuedRequest> queue, SimTime now, const DynamicBatchConfig& config);

// The same decision in constant time if every request has size 1 and none can expire.
BatchDecision decide_uniform(std::size_t queued, SimTime oldest, SimTime now, const DynamicBatchConfig& config);

// What happens to a request that waits too long or meets a full queue, per priority level.
struct QueuePolicy {
  enum class OnTimeout { kReject, kDelay };
  SimTime timeout = 0;  // 0: none
  OnTimeout on_timeout = OnTimeout::kReject;
  std::size_t max_queue = 0;  // requests of one level; 0: no limit
  // Triton's allow_timeout_override: a request's own timeout applies if it is shorter than `timeout`. A longer one, or
  // one without a `timeout`, is ignored (core, scheduler_utils.cc, PolicyQueue::Enqueue).
  bool allow_override = false;

  auto operator<=>(const QueuePolicy&) const = default;
  bool never_acts() const { return timeout == 0 && max_queue == 0; }
};

// One queue with priorities, timeouts and a limit: Triton's PriorityQueue. Level 0 is served first.
class PolicyQueue {
 public:
  PolicyQueue(const QueuePolicy& policy, int levels) : policy_(policy), levels_(static_cast<std::size_t>(levels)) {}

  // False if the level is full: the request is rejected.
  bool push(const QueuedRequest& request, int level);
  std::size_t size() const { return size_; }

  // Rejects expired requests, or moves them behind the others of their level. Returns the number of rejected requests
  // and appends their arrival times.
  std::size_t expire(SimTime now, std::vector<SimTime>& rejected);

  // The first waiting requests in order of service, at most `most`. Valid until the next change.
  std::span<const QueuedRequest> front(std::size_t most);
  void pop(std::size_t count);

 private:
  struct Level {
    std::deque<QueuedRequest> unexpired, delayed;
  };
  QueuePolicy policy_;
  std::vector<Level> levels_;
  std::vector<QueuedRequest> view_;
  std::size_t size_ = 0;
};

}  // namespace rightsize::sim
