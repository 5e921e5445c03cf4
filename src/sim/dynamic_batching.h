// Triton's dynamic batcher as a pure function of the queue, the clock and the settings.
//
// The rule (triton-inference-server/core, dynamic_batch_scheduler.cc, GetDynamicBatch): walk the queue in order and add
// requests until the next one would pass max_batch; remember the last point at which the sum was a preferred size, or
// failing that the point past which it would exceed every preferred size. If such a point was found and the oldest
// request of the batch has waited less than max_delay, send up to there. Otherwise send everything that was added if
// the batch cannot grow, if it has reached the largest preferred size, if the oldest has waited max_delay, or if
// max_delay is zero. Otherwise sleep until the oldest has waited max_delay or a request's timeout comes.
// Shapes are taken as equal. The queue is examined whenever an executor is free.
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
};

// What a batcher sees of a waiting request.
struct QueuedRequest {
  SimTime arrived = 0;
  SimTime timeout = 0;  // when it expires; 0: never. Given to push(): how long it may wait, 0 for as the policy says
  std::int32_t size = 1;
};

struct BatchDecision {
  std::size_t send = 0;   // so many requests from the front of the queue; 0: wait
  SimTime wake = kNever;  // when waiting: look again then, or when a request arrives

  bool operator==(const BatchDecision&) const = default;
};

// Fails when a preferred size is below 1 or above max_batch, or the sizes do not ascend.
Result<> check(const DynamicBatchConfig& config);

// The rule itself. `queue` is in the order of service: by priority, in each the unexpired before the delayed.
BatchDecision decide(std::span<const QueuedRequest> queue, SimTime now, const DynamicBatchConfig& config);

// The same answer in constant time when every request has size 1 and none can expire.
BatchDecision decide_uniform(std::size_t queued, SimTime oldest, SimTime now, const DynamicBatchConfig& config);

// What happens to a request that waits too long or meets a full queue, per priority level.
struct QueuePolicy {
  enum class OnTimeout { kReject, kDelay };
  SimTime timeout = 0;  // 0: none
  OnTimeout on_timeout = OnTimeout::kReject;
  std::size_t max_queue = 0;  // requests of one level; 0: no limit
  // Triton's allow_timeout_override: a request's own timeout counts where it is shorter than `timeout`. It cannot be
  // longer, and without a `timeout` it counts for nothing (core, scheduler_utils.cc, PolicyQueue::Enqueue).
  bool allow_override = false;

  bool never_acts() const { return timeout == 0 && max_queue == 0; }
};

// One waiting line with priorities, timeouts and a limit: Triton's PriorityQueue. Level 0 is served first.
class PolicyQueue {
 public:
  PolicyQueue(const QueuePolicy& policy, int levels) : policy_(policy), levels_(static_cast<std::size_t>(levels)) {}

  // False when the level is full: the request is refused.
  bool push(const QueuedRequest& request, int level);
  std::size_t size() const { return size_; }

  // Applies timeouts: expired requests are rejected, or moved behind the others of their level, wherever they stand.
  // Returns how many were rejected and appends when they had arrived.
  std::size_t expire(SimTime now, std::vector<SimTime>& rejected);

  // The waiting requests in the order of service, at most `most` of them. Valid until the next change.
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
