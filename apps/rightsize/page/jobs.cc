#include "rightsize/page/jobs.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/json.h"

namespace rightsize::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kKeptFor = std::chrono::minutes(10);
constexpr auto kTick = std::chrono::milliseconds(500);

}  // namespace

// Guarded by the mutex of JobQueue, except `work`.
struct JobQueue::Job {
  std::string id, command;
  std::string state = "waiting";  // running, done, failed, cancelled
  Clock::time_point begun = Clock::now(), ended = {};
  Cancellation work = std::make_shared<Work>();
  std::optional<http_server::Response> response;
  std::vector<std::shared_ptr<http_server::EventStream>> watchers;

  bool over() const { return state != "waiting" && state != "running"; }
  Json document() const {
    const Clock::time_point until = over() ? ended : Clock::now();
    return {{"id", id},
            {"command", command},
            {"state", state},
            {"seconds", std::chrono::duration<double>(until - begun).count()}};
  }
  void end(std::string how) {
    state = std::move(how), ended = Clock::now();
    for (const auto& watcher : watchers) send_end(*watcher);
    watchers.clear();
  }
  void send_end(http_server::EventStream& watcher) const {
    watcher.send(state, response && state != "cancelled" ? *response->body : document().dump());
    watcher.close();
  }
};

JobQueue::JobQueue() : ticker_([this] { tick(); }) {}

JobQueue::~JobQueue() { stop_within(std::chrono::hours(24)); }

bool JobQueue::stop_within(std::chrono::milliseconds limit) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [id, job] : jobs_) job->work->cancel();
  }
  stopping_changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  return pool_.stop_within(limit);
}

http_server::Response JobQueue::start(const std::string& command, Compute compute) {
  const auto job = std::make_shared<Job>();
  {
    const std::lock_guard lock(mutex_);
    erase_old();
    std::random_device random;  // other clients cannot guess the id
    job->id = fmt::format("{}-{:08x}{:08x}", command, random(), random());
    job->command = command;
    jobs_[job->id] = job;
  }
  if (!pool_.submit([this, job, compute = std::move(compute)] { run(*job, compute); })) {
    const std::lock_guard lock(mutex_);
    jobs_.erase(job->id);
    return http_server::error_response(503, "too many jobs are queued");
  }
  const std::lock_guard lock(mutex_);
  return http_server::json_response(202, job->document());
}

void JobQueue::run(Job& job, const Compute& compute) {
  {
    const std::lock_guard lock(mutex_);
    if (job.over()) return;
    job.state = "running", job.begun = Clock::now();
  }
  const CancelScope scope(job.work);
  http_server::Response response;
  try {
    response = compute();
  } catch (const std::exception& unexpected) {
    response = http_server::error_response(500, fmt::format("internal error: {}", unexpected.what()));
  }
  const std::lock_guard lock(mutex_);
  if (job.over()) return;
  if (job.work->is_cancelled()) return job.end("cancelled");
  job.response = std::move(response);
  job.end(job.response->status == 200 ? "done" : "failed");
}

http_server::Response JobQueue::show(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto job = find(id);
  if (!job) return http_server::error_response(404, "no such job, or its result has expired");
  return job->response ? *job->response : http_server::json_response(200, job->document());
}

http_server::Response JobQueue::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto job = find(id);
  if (!job) return http_server::error_response(404, "no such job, or its result has expired");
  job->work->cancel();
  if (!job->over()) job->end("cancelled");  // clients are notified at once; the work ends soon after
  return http_server::json_response(200, job->document());
}

bool JobQueue::exists(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return find(id) != nullptr;
}

void JobQueue::watch(const std::string& id, std::shared_ptr<http_server::EventStream> stream) {
  const std::lock_guard lock(mutex_);
  const auto job = find(id);
  if (!job) return stream->close();
  if (job->over()) return job->send_end(*stream);
  stream->send("progress", job->document().dump());
  job->watchers.push_back(std::move(stream));
}

std::shared_ptr<JobQueue::Job> JobQueue::find(const std::string& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

void JobQueue::erase_old() {
  const auto old = Clock::now() - kKeptFor;
  std::erase_if(jobs_, [&](const auto& entry) { return entry.second->over() && entry.second->ended < old; });
  while (jobs_.size() >= kMaxKept) {
    auto first = jobs_.end();
    for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
      if (job->second->over() && (first == jobs_.end() || job->second->ended < first->second->ended)) first = job;
    }
    if (first == jobs_.end()) return;
    jobs_.erase(first);
  }
}

void JobQueue::tick() {
  std::unique_lock lock(mutex_);
  while (!stopping_changed_.wait_for(lock, kTick, [this] { return stopping_; })) {
    for (const auto& [id, job] : jobs_) {
      if (job->over() || job->watchers.empty()) continue;
      Json document = job->document();
      if (const auto far = job->work->progress()) {
        document["what"] = far->what;
        document["done"] = far->done;
        document["total"] = far->total;
      }
      const std::string text = document.dump();
      for (const auto& watcher : job->watchers) watcher->send("progress", text);
      // A job that was watched is cancelled when its last watcher leaves.
      std::erase_if(job->watchers, [](const auto& watcher) { return !watcher->is_open(); });
      if (job->watchers.empty()) {
        job->work->cancel();
        job->end("cancelled");
      }
    }
  }
}

}  // namespace rightsize::app
