#include "rightsize/page/live.h"

#include <chrono>

#include "base/json.h"
#include "rightsize/top/judge.h"

namespace rightsize::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPeriod = std::chrono::seconds(1);

}  // namespace

LiveGpus::~LiveGpus() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& watcher : watchers_) watcher->close();
  }
  if (thread_.joinable()) thread_.join();
}

void LiveGpus::watch(std::shared_ptr<http_server::EventStream> stream) {
  const std::lock_guard lock(mutex_);
  watchers_.push_back(std::move(stream));
  if (running_) return;
  running_ = true;
  if (thread_.joinable()) thread_.join();  // it has ended: clearing running_ was its last step
  thread_ = std::thread([this] { run(); });
}

// The thread ends when this returns false.
bool LiveGpus::has_watchers() {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [](const auto& watcher) { return !watcher->is_open(); });
  if (!stopping_ && !watchers_.empty()) return true;
  running_ = false;
  return false;
}

void LiveGpus::send(const std::string& event, const std::string& text) {
  const std::lock_guard lock(mutex_);
  for (const auto& watcher : watchers_) watcher->send(event, text);
}

void LiveGpus::run() {
  Result<std::unique_ptr<TopFeed>> feed =
      replay_.empty() ? open_live_feed(seconds(0.1)) : open_replay_feed(replay_, speed_);
  const auto begun = Clock::now();
  auto next = begun;
  while (has_watchers()) {
    if (feed) {
      TopScreen screen;
      (*feed)->update(seconds(std::chrono::duration<double>(Clock::now() - begun).count()), screen);
      judge_gpus(screen.gpus, prices_, nullptr);
      send("gpus", top_document(screen).dump());
    } else {
      const Json why = {{"error", feed.error().message}, {"hints", feed.error().hints}};
      send("unavailable", why.dump());
    }
    next += kPeriod;
    std::this_thread::sleep_until(next);
  }
}

}  // namespace rightsize::app
