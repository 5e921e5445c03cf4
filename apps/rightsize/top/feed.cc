#include "rightsize/top/feed.h"

#include <ctime>
#include <mutex>

#include <fmt/format.h>

#include "diagnose/observer.h"
#include "rightsize/profile/watch.h"
#include "telemetry/feeds/read_feed.h"
#include "telemetry/read.h"
#include "telemetry/sampler.h"

namespace rightsize::app {
namespace {

constexpr Seconds kWindow = seconds(30);  // for the verdict
constexpr std::size_t kMostRecent = 600;  // samples per GPU

void add_energy(TopGpu& gpu, const telemetry::Sample& sample) {
  const std::optional<double> power = sample.get(telemetry::Metric::kPower);
  if (!power || gpu.recent.empty()) return;
  const Seconds since = sample.time - gpu.recent.back().time;
  if (!(since > Seconds{}) || since > kWindow) return;
  gpu.energy += watts(*power) * since;
  gpu.powered += since;
}

// The recent samples of every GPU. The sampler's thread adds them, the screen reads them.
class Recent final : public telemetry::SampleSink {
 public:
  int open(const telemetry::Device& device) override {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (gpus_[i].device.key() == device.key()) return static_cast<int>(i);
    }
    gpus_.push_back({});
    gpus_.back().device = device;
    return static_cast<int>(gpus_.size()) - 1;
  }
  void add(int device, const telemetry::Sample& sample) override {
    const std::lock_guard lock(mutex_);
    TopGpu& gpu = gpus_[static_cast<std::size_t>(device)];
    auto& recent = gpu.recent;
    add_energy(gpu, sample);
    recent.push_back(sample);
    while (recent.size() > kMostRecent || recent.back().time - recent.front().time > kWindow) recent.pop_front();
  }
  std::vector<TopGpu> copy() const {
    const std::lock_guard lock(mutex_);
    return gpus_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<TopGpu> gpus_;
};

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[16] = {};
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

class LiveFeed final : public TopFeed {
 public:
  LiveFeed(std::unique_ptr<telemetry::LiveSource> source, Seconds period)
      : source_(std::move(source)), sampler_(*source_, recent_, period) {
    sampler_.start();
  }
  ~LiveFeed() override { sampler_.stop(); }
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  void update(Seconds, TopScreen& screen) override {
    screen.title = clock_text();
    screen.gpus = recent_.copy();
    for (std::size_t i = 0; i < screen.gpus.size(); ++i) screen.gpus[i].processes = source_->processes(i);
  }
  Seconds settle() const override { return seconds(2.05); }

 private:
  std::unique_ptr<telemetry::LiveSource> source_;
  Recent recent_;
  telemetry::Sampler sampler_;
};

class ReplayFeed final : public TopFeed {
 public:
  ReplayFeed(diagnose::Observer observer, std::string name, double speed)
      : observer_(std::move(observer)), name_(std::move(name)), speed_(speed), next_(observer_.gpus().size(), 0) {
    for (const diagnose::Observed& gpu : observer_.gpus()) {
      recent_.open(gpu.device);
      begin_ = std::min(begin_, gpu.series.samples().front().time);
      end_ = std::max(end_, gpu.series.samples().back().time);
    }
  }

  void update(Seconds elapsed, TopScreen& screen) override {
    const TimePoint until = begin_ + elapsed * speed_;
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const auto& samples = observer_.gpus()[i].series.samples();
      while (next_[i] < samples.size() && samples[next_[i]].time <= until)
        recent_.add(static_cast<int>(i), samples[next_[i]++]);
    }
    screen.title = fmt::format("{} at {:.0f} s", name_, in_seconds(std::min(until, end_) - begin_));
    screen.gpus = recent_.copy();
    screen.ended = until > end_;
  }
  Seconds settle() const override { return (end_ - begin_) / speed_ + seconds(1); }

 private:
  diagnose::Observer observer_;
  std::string name_;
  double speed_;
  std::vector<std::size_t> next_;
  Recent recent_;
  TimePoint begin_ = unix_seconds(1e300), end_ = unix_seconds(-1e300);
};

}  // namespace

Result<std::unique_ptr<TopFeed>> open_live_feed(Seconds period) {
  RIGHTSIZE_TRY(auto source, open_gpus());
  return std::make_unique<LiveFeed>(std::move(source), period);
}

Result<std::unique_ptr<TopFeed>> open_replay_feed(const std::string& file, double speed) {
  diagnose::Observer observer;
  RIGHTSIZE_TRY(auto bytes, open_bytes(file));
  RIGHTSIZE_TRY([[maybe_unused]] auto summary, telemetry::read_samples(file, *bytes, observer));
  return std::make_unique<ReplayFeed>(std::move(observer), file.substr(file.rfind('/') + 1), speed);
}

}  // namespace rightsize::app
