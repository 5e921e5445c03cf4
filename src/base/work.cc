#include "base/work.h"

#include <utility>

#include "base/long_work.h"

namespace rightsize {
namespace {

Work program;
thread_local WorkHandle current;

Work& here() { return current ? *current : program; }

}  // namespace

std::optional<Work::Progress> Work::progress() const {
  if (!is_counted()) return std::nullopt;
  const std::lock_guard lock(name_mutex_);
  return Progress{name_, done_, total_};
}

WorkScope::WorkScope(WorkHandle work) : outer_(std::exchange(current, std::move(work))) {}
WorkScope::~WorkScope() { current = std::move(outer_); }

WorkHandle current_work() { return current; }
Work& program_work() { return program; }
bool cancelled() { return program.is_cancelled() || (current && current->is_cancelled()); }

LongWork::LongWork(std::string what, std::uint64_t total) : work_(here()) {
  const std::lock_guard lock(work_.name_mutex_);
  work_.name_ = std::move(what);
  work_.done_ = 0;
  work_.total_ = total;
  ++work_.under_way_;
}

LongWork::~LongWork() { --work_.under_way_; }

void LongWork::step(std::uint64_t done) { here().done_.fetch_add(done, std::memory_order_relaxed); }

}  // namespace rightsize
