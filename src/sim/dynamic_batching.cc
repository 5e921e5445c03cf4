#include "sim/dynamic_batching.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::sim {
namespace {

bool is_preferred(const DynamicBatchConfig& config, std::int64_t size) {
  if (config.preferred_sizes.empty()) return size == config.max_batch;
  return std::binary_search(config.preferred_sizes.begin(), config.preferred_sizes.end(), size);
}

int largest_preferred(const DynamicBatchConfig& config) {
  return config.preferred_sizes.empty() ? config.max_batch : config.preferred_sizes.back();
}

// The state at the end of the walk over the queue.
struct Walk {
  std::size_t count = 0;     // requests added
  std::int64_t size = 0;     // the sum of their sizes
  std::size_t best = 0;      // requests up to the remembered point; 0: none
  bool cannot_grow = false;  // the next request would pass max_batch
  SimTime oldest = kNever;   // earliest arrival among those added
  SimTime closest_timeout = kNever;
};

Walk walk(std::span<const QueuedRequest> queue, const DynamicBatchConfig& config) {
  Walk w;
  for (const QueuedRequest& request : queue) {
    if (w.count > 0) {
      const std::int64_t grown = w.size + request.size;
      // No preferred size can be reached any more: Triton sends the current batch instead of waiting for one.
      if (grown > largest_preferred(config) && w.best == 0) w.best = w.count;
      if (grown > config.max_batch) {
        w.cannot_grow = true;
        break;
      }
    }
    w.size += request.size;
    ++w.count;
    w.oldest = std::min(w.oldest, request.arrived);
    if (request.timeout != 0) w.closest_timeout = std::min(w.closest_timeout, request.timeout);
    if (is_preferred(config, w.size)) w.best = w.count;
  }
  return w;
}

}  // namespace

Result<> check(const DynamicBatchConfig& config) {
  if (config.max_batch < 1) return fail(bad_input("the largest batch must be at least 1"));
  int last = 0;
  for (int size : config.preferred_sizes) {
    if (size <= last || size > config.max_batch) {
      return fail(bad_input(fmt::format(
          "preferred batch size {1} is out of order or larger than the largest batch ({0})", config.max_batch, size)));
    }
    last = size;
  }
  return {};
}

BatchDecision decide(std::span<const QueuedRequest> queue, SimTime now, const DynamicBatchConfig& config) {
  if (queue.empty()) return {};
  const Walk w = walk(queue, config);
  const bool delay_exceeded = config.max_delay != 0 && now - w.oldest >= config.max_delay;
  if (w.best != 0 && !delay_exceeded) return {w.best, kNever};
  if (w.cannot_grow || w.size >= largest_preferred(config) || delay_exceeded || config.max_delay == 0) {
    return {w.count, kNever};
  }
  // A timeout acts only when the clock is past it, so waking at the timeout itself would find nothing changed.
  const SimTime after_timeout = w.closest_timeout == kNever ? kNever : std::max(w.closest_timeout, now) + 1;
  return {0, std::min(w.oldest + config.max_delay, after_timeout)};
}

BatchDecision decide_uniform(std::size_t queued, SimTime oldest, SimTime now, const DynamicBatchConfig& config) {
  if (queued == 0) return {};
  const auto most = static_cast<std::size_t>(config.max_batch);
  const std::size_t pending = std::min(queued, most);
  const bool delay_exceeded = config.max_delay != 0 && now - oldest >= config.max_delay;
  std::size_t best = 0, largest = most;
  if (config.preferred_sizes.empty()) {
    best = pending == most ? most : 0;
  } else {
    largest = static_cast<std::size_t>(config.preferred_sizes.back());
    for (int size : config.preferred_sizes) {
      if (static_cast<std::size_t>(size) <= pending) best = static_cast<std::size_t>(size);
    }
  }
  if (best != 0 && !delay_exceeded) return {best, kNever};
  if (pending >= largest || delay_exceeded || config.max_delay == 0) return {pending, kNever};
  return {0, oldest + config.max_delay};
}

bool PolicyQueue::push(const QueuedRequest& request, int level) {
  Level& line = levels_[static_cast<std::size_t>(level)];
  if (policy_.max_queue != 0 && line.unexpired.size() + line.delayed.size() >= policy_.max_queue) return false;
  QueuedRequest queued = request;
  const bool own = policy_.allow_override && request.timeout != 0 && request.timeout < policy_.timeout;
  queued.timeout = policy_.timeout == 0 ? 0 : request.arrived + (own ? request.timeout : policy_.timeout);
  line.unexpired.push_back(queued);
  ++size_;
  return true;
}

std::size_t PolicyQueue::expire(SimTime now, std::vector<SimTime>& rejected) {
  if (policy_.timeout == 0) return 0;
  std::size_t count = 0;
  auto leaves = [&](Level& line, const QueuedRequest& request) {
    if (now <= request.timeout) return false;
    if (policy_.on_timeout == QueuePolicy::OnTimeout::kDelay) {
      line.delayed.push_back({request.arrived, 0, request.size});
    } else {
      rejected.push_back(request.arrived);
      ++count;
    }
    return true;
  };
  for (Level& line : levels_) {
    if (policy_.allow_override) {
      std::erase_if(line.unexpired, [&](const QueuedRequest& request) { return leaves(line, request); });
      continue;
    }
    // Every request of a level has the same timeout, so expired ones are at the front.
    while (!line.unexpired.empty() && leaves(line, line.unexpired.front())) line.unexpired.pop_front();
  }
  size_ -= count;
  return count;
}

std::span<const QueuedRequest> PolicyQueue::front(std::size_t most) {
  view_.clear();
  for (const Level& line : levels_) {
    for (const auto* part : {&line.unexpired, &line.delayed}) {
      const std::size_t take = std::min(part->size(), most - view_.size());
      view_.insert(view_.end(), part->begin(), part->begin() + static_cast<std::ptrdiff_t>(take));
    }
  }
  return view_;
}

void PolicyQueue::pop(std::size_t count) {
  size_ -= count;
  for (Level& line : levels_) {
    for (auto* part : {&line.unexpired, &line.delayed}) {
      const std::size_t take = std::min(part->size(), count);
      part->erase(part->begin(), part->begin() + static_cast<std::ptrdiff_t>(take));
      count -= take;
    }
  }
}

}  // namespace rightsize::sim
