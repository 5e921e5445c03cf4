#include "rightsize/progress.h"

#include <chrono>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/format.h"
#include "rightsize/command.h"

namespace rightsize::app {
namespace {

using Clock = std::chrono::steady_clock;

// The second Ctrl-C always ends the program.
void on_interrupt(int signal) {
  static volatile std::sig_atomic_t asked = 0;
  if (asked == 0 && program_work().is_counted()) {
    asked = 1;
    program_work().cancel();
    return;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string line_of(const Work::Progress& state, double seconds_so_far) {
  if (state.total == 0 || state.done == 0) return fmt::format("{} {}", state.done, state.what);
  const double share = static_cast<double>(state.done) / static_cast<double>(state.total);
  const double left = seconds_so_far * (1 - share) / share;
  return fmt::format("{} of {} {}, {} left; Ctrl-C stops and shows the results so far", state.done, state.total,
                     state.what, format_duration(seconds(left < 1 ? 1 : static_cast<double>(static_cast<long>(left)))));
}

}  // namespace

ProgressWatch::ProgressWatch() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  if (takes_escape_codes(STDERR_FILENO)) thread_ = std::thread([this] { show(); });
}

ProgressWatch::~ProgressWatch() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::signal(SIGINT, SIG_DFL);
}

void ProgressWatch::show() {
  using namespace std::chrono_literals;
  constexpr auto kSilence = 2s;
  constexpr auto kBetween = 500ms;
  const auto begun = Clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kSilence, [this] { return done_; });
  while (!done_) {
    if (const auto state = program_work().progress()) {
      const double so_far = std::chrono::duration<double>(Clock::now() - begun).count();
      std::fputs(("\r\033[K" + line_of(*state, so_far)).c_str(), stderr);
      shown = true;
    }
    wake_.wait_for(lock, kBetween, [this] { return done_; });
  }
  if (shown) std::fputs("\r\033[K", stderr);
}

}  // namespace rightsize::app
