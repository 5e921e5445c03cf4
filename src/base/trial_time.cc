#include "base/trial_time.h"

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>

namespace rightsize {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

struct TrialTime::Watch {
  explicit Watch(double seconds) : end(processor_seconds() + seconds) {
    try {
      thread = std::thread([this] { wait(); });
    } catch (const std::system_error&) {  // no more threads: a trial that runs too long is the last one
    }
  }
  ~Watch() {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    ended.notify_all();
    if (thread.joinable()) thread.join();
  }
  void wait() {
    constexpr auto kPause = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kPause, [this] { return done; })) {
      if (processor_seconds() > end) return work->cancel();
    }
  }

  double end;
  Cancellation work = std::make_shared<Work>();
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread thread;
};

TrialTime::TrialTime(double seconds) : watch_(std::make_unique<Watch>(seconds)), scope_(watch_->work) {}
TrialTime::~TrialTime() = default;

bool TrialTime::is_over() const { return processor_seconds() > watch_->end; }

}  // namespace rightsize
