// A fixed number of threads with a bounded queue, for work that would block the network thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rightsize::http_server {

class WorkPool {
 public:
  // `niceness` lowers the priority of the threads and of those they start.
  WorkPool(std::size_t threads, std::size_t max_queued, int niceness = 0);
  ~WorkPool();  // waits for running work
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // False if the queue is full. Work reports its own failures: an exception that leaves it is dropped.
  bool submit(std::function<void()> work);
  // Drops queued work and waits for running work. False if some still runs after `limit`; its threads are then
  // abandoned, and the process must end without destroying the objects they use.
  bool stop_within(std::chrono::milliseconds limit);

 private:
  struct Shared {  // outlives the pool if threads were abandoned
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    std::size_t running = 0;
    bool stopping = false;
  };
  static void run(Shared& shared);

  const std::size_t max_queued_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::thread> threads_;
};

}  // namespace rightsize::http_server
