// Cancellation and progress of one piece of work.
//
// Code that starts long work opens a CancelScope around it and can cancel it later from another thread. Work outside
// any scope belongs to the program and is cancelled by Ctrl-C. Long loops check cancelled() and return early with a
// partial result; the caller decides whether it is useful. A new thread must receive the cancellation() of the thread
// that starts it. LongWork (long_work.h) reports progress.
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
  // May be called from any thread and from a signal handler.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  struct Progress {
    std::string what;
    std::uint64_t done = 0, total = 0;
  };
  // Empty unless a LongWork exists.
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

using Cancellation = std::shared_ptr<Work>;  // null: the program's own

class CancelScope {
 public:
  explicit CancelScope(Cancellation work);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  Cancellation outer_;
};

Cancellation cancellation();
Work& program_work();
// Whether the work of this thread, or the whole program, was cancelled.
bool cancelled();

}  // namespace rightsize
