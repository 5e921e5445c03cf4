// Long-running commands in the background.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "http_server/message.h"
#include "http_server/work_pool.h"

namespace rightsize::app {

// POST /api/jobs/COMMAND starts a job, GET /api/job/ID shows its state or result, DELETE /api/job/ID cancels it, and
// GET /api/job-events/ID streams "progress" twice a second {"state", "seconds", and if known "done" of "total" "what"},
// then "done", "failed" or "cancelled" with the result. Results are kept for ten minutes.
class JobQueue {
 public:
  using Compute = std::function<http_server::Response()>;

  JobQueue();
  ~JobQueue();  // cancels all jobs
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // 202 with the id, or 503 if the queue is full.
  http_server::Response start(const std::string& command, Compute compute);
  http_server::Response show(const std::string& id);
  http_server::Response cancel(const std::string& id);
  bool exists(const std::string& id);
  void watch(const std::string& id, std::shared_ptr<http_server::EventStream> stream);

  // Cancels all jobs. False if one of them still runs after `limit`.
  bool stop_within(std::chrono::milliseconds limit);

 private:
  struct Job;

  std::shared_ptr<Job> find(const std::string& id);
  void run(Job& job, const Compute& compute);
  void erase_old();
  void tick();

  static constexpr std::size_t kWorkers = 2, kMaxQueued = 16, kMaxKept = 64;
  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool stopping_ = false;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::thread ticker_;
  http_server::WorkPool pool_{kWorkers, kMaxQueued};
};

}  // namespace rightsize::app
