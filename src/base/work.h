// A piece of work: whether anybody still waits for it, and how far it is.
//
// Whoever starts long work for somebody else opens a WorkScope around it and may cancel it later, from another thread;
// outside of any scope it is the program's own, which Ctrl-C cancels. Long loops ask cancelled() now and then and end
// early with what they have; whoever cancelled decides whether that is worth anything. A thread of one's own is handed
// current_work() of the thread that starts it. How far work is, LongWork tells (long_work.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rightsize {

class Work {
 public:
  // From any thread, and from a signal handler.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  struct Progress {
    std::string what;
    std::uint64_t done = 0, total = 0;
  };
  // Nothing where no LongWork is under way.
  std::optional<Progress> progress() const;
  bool is_counted() const { return under_way_.load() > 0; }

 private:
  friend class LongWork;

  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> done_{0}, total_{0};
  std::atomic<int> under_way_{0};
  mutable std::mutex name_mutex_;
  std::string name_;
};

using WorkHandle = std::shared_ptr<Work>;  // null: the program's own

class WorkScope {
 public:
  explicit WorkScope(WorkHandle work);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  WorkHandle outer_;
};

WorkHandle current_work();
Work& program_work();
// Whether the work of this thread, or the whole program, was cancelled.
bool cancelled();

}  // namespace rightsize
