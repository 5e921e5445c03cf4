// Long searches: started, watched as they run, cancelled, fetched when done.
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

#include "http_server/exchange.h"
#include "http_server/work_pool.h"

namespace rightsize::app {

// POST /api/jobs/COMMAND starts one; GET /api/jobs/ID tells how it is; GET /api/jobs/ID/events tells it as it happens:
// "progress" {"state", "seconds", and where it is known "done" of "total" "what"} twice a second, then "done", "failed"
// or "cancelled" with the answer; DELETE /api/jobs/ID cancels. What is done is kept for a while.
class Jobs {
 public:
  using Make = std::function<http_server::Response()>;

  Jobs();
  ~Jobs();  // cancels everything
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // The answer of POST: 202 with the id, or 503 where too many wait.
  http_server::Response start(const std::string& command, Make make);
  http_server::Response show(const std::string& id);
  http_server::Response cancel(const std::string& id);
  bool exists(const std::string& id);
  void watch(const std::string& id, std::shared_ptr<http_server::EventStream> stream);

 private:
  struct Job;

  std::shared_ptr<Job> find(const std::string& id);
  void run(Job& job, const Make& make);
  void forget_old();
  void tick();

  static constexpr std::size_t kWorkers = 2, kMostWaiting = 16, kMostKept = 64;
  std::mutex mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;
  std::uint64_t next_ = 0;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::thread ticker_;
  std::optional<http_server::WorkPool> pool_;
};

}  // namespace rightsize::app
