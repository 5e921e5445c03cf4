#include "http_server/work_pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace rightsize::http_server {

WorkPool::WorkPool(std::size_t threads, std::size_t max_queued, int niceness) : max_queued_(max_queued) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([shared = shared_, niceness] {
      if (niceness != 0) ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);  // this thread only
      run(*shared);
    });
  }
}

WorkPool::~WorkPool() { stop_within(std::chrono::hours(24)); }

bool WorkPool::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopping || shared_->queue.size() >= max_queued_) return false;
    shared_->queue.push_back(std::move(work));
  }
  shared_->changed.notify_one();
  return true;
}

bool WorkPool::stop_within(std::chrono::milliseconds limit) {
  if (threads_.empty()) return true;
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->queue.clear();
  shared_->changed.notify_all();
  const bool idle = shared_->changed.wait_for(lock, limit, [this] { return shared_->running == 0; });
  lock.unlock();
  for (std::thread& thread : threads_) idle ? thread.join() : thread.detach();
  threads_.clear();
  return idle;
}

void WorkPool::run(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.changed.wait(lock, [&] { return shared.stopping || !shared.queue.empty(); });
    if (shared.stopping) return;
    std::function<void()> work = std::move(shared.queue.front());
    shared.queue.pop_front();
    ++shared.running;
    lock.unlock();
    try {
      work();
    } catch (...) {  // must not end the process
    }
    work = nullptr;  // destroyed outside the lock
    lock.lock();
    --shared.running;
    if (shared.stopping) shared.changed.notify_all();
  }
}

}  // namespace rightsize::http_server
