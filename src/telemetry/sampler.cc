#include "telemetry/sampler.h"

#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace rightsize::telemetry {
namespace {

Seconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return seconds(static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9);
}

}  // namespace

void Sampler::start() {
  report_ = {};
  stopping_ = false;
  opened_.clear();
  for (const Device& device : source_.devices()) opened_.push_back(sink_.open(device));
  gone_.assign(opened_.size(), false);
  report_.seen_by.resize(opened_.size());
  thread_ = std::thread([this] { run(); });
}

SamplerReport Sampler::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  return report_;
}

void Sampler::run() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  auto since = [&] { return seconds(std::chrono::duration<double>(Clock::now() - begin).count()); };
  const Seconds processor = processor_time();
  Seconds next, next_look;
  while (!stopping_) {
    read_all(since());
    constexpr Seconds kLook = seconds(1);  // between looks at the processes
    if (next >= next_look) {
      look_at_processes();
      next_look = next + kLook;
    }
    next += period_;
    if (const Seconds now = since(); now > next) {
      const auto missed = static_cast<std::uint64_t>((now - next) / period_);
      report_.late += missed;
      next += static_cast<double>(missed) * period_;
    }
    // Sleeps in slices: a slow pace must not delay the end.
    constexpr Seconds kSlice = milliseconds(100);
    while (!stopping_ && since() < next) {
      std::this_thread::sleep_for(std::chrono::duration<double>(in_seconds(std::min(kSlice, next - since()))));
    }
  }
  report_.wall = since();
  report_.processor = processor_time() - processor;
}

void Sampler::read_all(Seconds since_start) {
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (gone_[i]) continue;
    Result<Sample> sample = source_.read(i, TimePoint(since_start));
    if (sample) {
      sink_.add(opened_[i], *sample);
    } else {
      gone_[i] = true;
      report_.lost.push_back(fmt::format("{} (after {:.1f} s)", sample.error().message, in_seconds(since_start)));
    }
  }
}

void Sampler::look_at_processes() {
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (gone_[i]) continue;
    for (const GpuProcess& process : source_.processes(i)) report_.seen_by[i].insert(process.pid);
  }
}

}  // namespace rightsize::telemetry
