// A fixed number of threads and a queue of bounded length, for what takes longer than the network thread may wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rightsize::http_server {

class WorkPool {
 public:
  WorkPool(std::size_t threads, std::size_t most_waiting);
  ~WorkPool();  // what was begun is finished, what waits is dropped
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // False: too much is waiting already.
  bool take(std::function<void()> work);

 private:
  void run();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rightsize::http_server
