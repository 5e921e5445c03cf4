#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cancel.h"

namespace rightsize {

void in_threads(unsigned threads, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr problem;
  const auto guarded = [&, handed = cancellation()] {
    const CancelScope scope(handed);
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      problem = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    others.reserve(threads);
    while (others.size() + 1 < threads) others.emplace_back(guarded);
  } catch (const std::exception&) {  // cannot start more; the running threads do the work
  }
  guarded();
  for (std::thread& other : others) other.join();
  if (problem) std::rethrow_exception(problem);
}

void for_each_index(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  in_threads(static_cast<unsigned>(std::min<std::size_t>(threads, count)), [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  });
}

}  // namespace rightsize
