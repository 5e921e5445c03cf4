// rightsize top: every GPU of this machine, live, with what binds it and what it costs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "diagnose/observer.h"
#include "diagnose/series.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/profile/child.h"
#include "rightsize/top/view.h"
#include "telemetry/read.h"
#include "telemetry/sampler.h"

namespace rightsize::app {
namespace {

using report::Json;
using Clock = std::chrono::steady_clock;

constexpr Seconds kWindow = seconds(30);  // the verdict looks back so far
constexpr Seconds kLasting = seconds(5);  // of the same make it what the GPU does now
constexpr std::size_t kMostRecent = 600;  // samples kept of each GPU

struct Flags {
  bool once = false;
  std::string replay, gpu, catalog, interval = "1s";
  double speed = 1, hertz = 10;
  PriceFlag price;
};

// The recent past of every GPU; filled by the sampler's thread, read by the screen.
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
    auto& recent = gpus_[static_cast<std::size_t>(device)].recent;
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

// The terminal in the state a screen needs, and back as it was.
class Screen {
 public:
  Screen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    put("\x1b[?25h\x1b[?1049l");
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Overwrites what is there, so that nothing flickers.
  void show(const std::string& frame) {
    std::string out = "\x1b[H";
    for (char c : frame) {
      if (c == '\n') out += "\x1b[K\r";
      out += c;
    }
    // No line feed behind the last line: it would scroll a full screen.
    if (out.ends_with('\n')) out.pop_back();
    put(out + "\x1b[J");
  }

 private:
  static void put(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  termios before_{};
};

TopSize size_of_terminal(bool terminal) {
  TopSize size;
  winsize window{};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    size.columns = window.ws_col;
    size.rows = window.ws_row;
  } else {
    size.rows = 10000;
  }
  size.colour = terminal && std::getenv("NO_COLOR") == nullptr;
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* value = std::getenv(name); locale.empty() && value != nullptr) locale = value;
  }
  size.blocks = to_lower(locale).find("utf") != std::string::npos;
  return size;
}

// A key that ends the program, waited for at most so long.
bool asked_to_quit(Seconds wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, static_cast<int>(in_milliseconds(wait))) <= 0) return false;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) <= 0) return (input.revents & POLLHUP) != 0;
  return key == 'q' || key == 'Q' || key == '\x1b';
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[16] = {};
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

// Everything but the samples of a screen: verdicts, prices, hardware.
class Judge {
 public:
  Judge(const market::PriceBook& prices, const catalog::Gpu* gpu) : prices_(prices), gpu_(gpu) {}

  void judge(TopGpu& gpu) const {
    gpu.gpu = gpu_ != nullptr ? gpu_ : diagnose::identify(prices_.catalog(), gpu.device);
    gpu.diagnosis = diagnose::classify(summary_of_now(gpu),
                                       gpu.gpu != nullptr ? diagnose::hardware_of(*gpu.gpu) : diagnose::Hardware{});
    const auto quote =
        gpu.gpu != nullptr ? prices_.gpu(*gpu.gpu, catalog::Purchase::kOnDemand) : prices_.own_gpu(gpu.device.name);
    if (quote) gpu.price = quote->rate;
  }

 private:
  // What the GPU does now: since the last lasting change within the time that is looked back. A job that began its work
  // five seconds ago is judged by these, not by the start-up before.
  static diagnose::Summary summary_of_now(const TopGpu& gpu) {
    const std::vector<telemetry::Sample> samples(gpu.recent.begin(), gpu.recent.end());
    const std::vector<diagnose::Phase> phases = diagnose::find_phases(samples, false);
    std::size_t first = 0;
    for (const diagnose::Phase& phase : phases) {
      const bool lasting = phase.end - phase.begin >= kLasting;
      if (lasting && phase.kind != diagnose::PhaseKind::kCheckpoint) first = phase.first;
    }
    first = std::max(first, last_turn(samples));
    diagnose::SummaryBuilder gathered;
    for (std::size_t i = first; i < samples.size(); ++i) gathered.add(samples[i]);
    return gathered.summary();
  }

  // Where the GPU last went from idle to busy or back, if it has stayed so for long enough; else 0. Short phases are
  // too few readings for find_phases().
  static std::size_t last_turn(const std::vector<telemetry::Sample>& samples) {
    constexpr double kBusy = 0.05;
    const auto is_busy = [](const telemetry::Sample& sample) {
      return sample.get(telemetry::Metric::kGpuUtil).value_or(0) > kBusy;
    };
    if (samples.empty()) return 0;
    std::size_t turn = samples.size() - 1;
    while (turn > 0 && is_busy(samples[turn - 1]) == is_busy(samples.back())) --turn;
    return samples.back().time - samples[turn].time >= kLasting ? turn : 0;
  }

  const market::PriceBook& prices_;
  const catalog::Gpu* gpu_;
};

Json json_of(const TopScreen& screen) {
  Json gpus = Json::array();
  for (const TopGpu& gpu : screen.gpus) {
    Json now = Json::object();
    if (!gpu.recent.empty()) {
      for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
        const auto metric = static_cast<telemetry::Metric>(i);
        if (auto value = gpu.recent.back().get(metric))
          now[std::string(telemetry::name_of(metric))] = report::json_number(*value);
      }
    }
    Json processes = Json::array();
    for (const telemetry::GpuProcess& process : gpu.processes) {
      processes.push_back({{"pid", process.pid},
                           {"name", process.name},
                           {"memory_bytes", report::json_number(process.memory, in_bytes)}});
    }
    gpus.push_back({{"index", gpu.device.index},
                    {"uuid", gpu.device.uuid},
                    {"name", gpu.device.name},
                    {"verdict", name_of(gpu.diagnosis.verdict)},
                    {"confidence", report::json_number(gpu.diagnosis.confidence)},
                    {"wasted", report::json_number(gpu.diagnosis.wasted)},
                    {"usd_per_hour", report::json_number(gpu.price, in_usd_per_gpu_hour)},
                    {"now", std::move(now)},
                    {"processes", std::move(processes)}});
  }
  return {{"schema", "rightsize/top/1"}, {"gpus", std::move(gpus)}};
}

// What is left on the terminal at the end, and all there is with --once.
Outcome last_picture(const TopScreen& screen) {
  TopSize size = size_of_terminal(false);
  Outcome outcome;
  outcome.report.title = "GPUs";
  outcome.report.blocks.emplace_back(report::Verbatim{"", draw_top(screen, size)});
  outcome.report.document = json_of(screen);
  return outcome;
}

// Where the samples of the screen come from.
class Feed {
 public:
  virtual ~Feed() = default;
  // The screen so long after the start.
  virtual void update(Seconds elapsed, TopScreen& screen) = 0;
  virtual Seconds settle() const = 0;  // until --once has something to show
};

class LiveFeed final : public Feed {
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

class ReplayFeed final : public Feed {
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
      while (next_[i] < samples.size() && samples[next_[i]].time <= until) {
        recent_.add(static_cast<int>(i), samples[next_[i]++]);
      }
    }
    screen.title = fmt::format("{} at {:.0f} s", name_, in_seconds(std::min(until, end_) - begin_));
    screen.gpus = recent_.copy();
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

Result<std::unique_ptr<Feed>> open_feed(const Flags& flags) {
  if (flags.replay.empty()) {
    RIGHTSIZE_TRY(auto source, telemetry::open_nvml());
    return std::make_unique<LiveFeed>(std::move(source), seconds(1 / flags.hertz));
  }
  diagnose::Observer observer;
  RIGHTSIZE_TRY(auto bytes, telemetry::open_bytes(flags.replay));
  RIGHTSIZE_TRY([[maybe_unused]] auto summary, telemetry::read_samples(flags.replay, *bytes, observer));
  const std::string name = flags.replay.substr(flags.replay.rfind('/') + 1);
  return std::make_unique<ReplayFeed>(std::move(observer), name, flags.speed);
}

Seconds since(Clock::time_point begin) { return seconds(std::chrono::duration<double>(Clock::now() - begin).count()); }

TopScreen watch(Feed& feed, const Judge& judge, Seconds interval) {
  TopScreen screen;
  Screen terminal;
  const auto begin = Clock::now();
  while (!InterruptGuard::interrupted()) {
    feed.update(since(begin), screen);
    for (TopGpu& gpu : screen.gpus) judge.judge(gpu);
    terminal.show(draw_top(screen, size_of_terminal(true)));
    if (asked_to_quit(interval)) break;
  }
  return screen;
}

Result<Seconds> parse_interval(const std::string& text) {
  RIGHTSIZE_TRY(const Seconds interval, parse_duration(text));
  if (interval < milliseconds(100) || interval > seconds(60)) {
    return fail(bad_input("--interval is between 100ms and 60s"));
  }
  return interval;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.price));
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    Result<const catalog::Gpu*> found = catalog.find_gpu(flags.gpu);
    if (!found) return fail(one(found.error()));
    gpu = *found;
  }
  Result<Seconds> interval = parse_interval(flags.interval);
  if (!interval) return fail(one(interval.error()));
  if (!(flags.speed > 0) || !(flags.hertz >= 1 && flags.hertz <= 100)) {
    return fail(one(bad_input("--speed must be above 0, and --hz between 1 and 100")));
  }
  Result<std::unique_ptr<Feed>> feed = open_feed(flags);
  if (!feed) return fail(one(feed.error()));
  const Judge judge(prices, gpu);
  InterruptGuard guard;
  if (!flags.once && isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0) {
    return last_picture(watch(**feed, judge, *interval));
  }
  const Seconds settle = (*feed)->settle();
  if (flags.replay.empty()) wait_for(0, settle);
  TopScreen screen;
  (*feed)->update(settle, screen);
  for (TopGpu& shown : screen.gpus) judge.judge(shown);
  return last_picture(screen);
}

}  // namespace

Run add_top(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_flag("--once", flags->once, "print one picture and end (also when the output is no terminal)");
  command.add_option("--replay", flags->replay, "no GPU: play a recording, or what a monitoring tool wrote");
  command.add_option("--speed", flags->speed, "how many times faster than it was recorded")->default_str("1");
  command.add_option("--interval", flags->interval, "time between pictures")->default_str("1s");
  command.add_option("--hz", flags->hertz, "readings a second, 1 to 100")->default_str("10");
  add_price_flag(command, flags->price);
  command.add_option("--gpu", flags->gpu, "which GPU it is, where the source does not say");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
