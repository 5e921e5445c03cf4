// rightsize top: every GPU of this machine, live, with what limits it and what it costs.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>

#include <unistd.h>

#include "base/parse_units.h"
#include "rightsize/command.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/profile/child.h"
#include "rightsize/top/feed.h"
#include "rightsize/top/judge.h"
#include "rightsize/top/terminal.h"

namespace rightsize::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Flags {
  bool once = false;
  std::string replay, gpu, catalog, interval = "1s";
  double speed = 1, hertz = 10;
  PriceFlag price;
};

// The last screen, or the only one with --once.
Outcome last_picture(const TopScreen& screen) {
  TopSize size = size_of_terminal(false);
  Outcome outcome;
  outcome.report.title = "GPUs";
  outcome.report.blocks.emplace_back(report::Verbatim{"", draw_top(screen, size)});
  outcome.report.document = top_document(screen);
  return outcome;
}

Seconds since(Clock::time_point begin) { return seconds(std::chrono::duration<double>(Clock::now() - begin).count()); }

TopScreen watch(TopFeed& feed, const std::function<void(TopScreen&)>& judge, Seconds interval) {
  TopScreen screen;
  Screen terminal;
  const auto begin = Clock::now();
  while (!InterruptGuard::interrupted()) {
    feed.update(since(begin), screen);
    judge(screen);
    terminal.show(draw_top(screen, size_of_terminal(true)));
    if (asked_to_quit(interval)) break;
  }
  return screen;
}

Result<Seconds> parse_interval(const std::string& text) {
  RIGHTSIZE_TRY(const Seconds interval, parse_duration(text));
  if (interval < milliseconds(100) || interval > seconds(60)) {
    return fail(bad_input("--interval must be between 100ms and 60s"));
  }
  return interval;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.price));
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(gpu, named_gpu(catalog, flags.gpu));
  }
  RIGHTSIZE_TRY(const Seconds interval, parse_interval(flags.interval));
  if (!(flags.speed > 0) || !(flags.hertz >= 1 && flags.hertz <= 100)) {
    return fail(bad_input("--speed must be greater than 0, and --hz between 1 and 100"));
  }
  RIGHTSIZE_TRY(const std::unique_ptr<TopFeed> feed, flags.replay.empty()
                                                         ? open_live_feed(seconds(1 / flags.hertz))
                                                         : open_replay_feed(flags.replay, flags.speed));
  const auto judge = [&](TopScreen& screen) { judge_gpus(screen.gpus, prices, gpu); };
  InterruptGuard guard;
  const char* kind = std::getenv("TERM");
  const bool full_screen =
      isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0 && kind != nullptr && kind != std::string_view("dumb");
  if (!flags.once && full_screen) {
    return last_picture(watch(*feed, judge, interval));
  }
  const Seconds settle = feed->settle();
  if (flags.replay.empty()) wait_for(0, settle);
  TopScreen screen;
  feed->update(settle, screen);
  judge(screen);
  return last_picture(screen);
}

}  // namespace

Run add_top(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_flag("--once", flags->once, "print one screen and exit; the default if the output is not a terminal");
  command.add_option("--replay", flags->replay, "replay a recording or the log of a monitoring tool");
  command.add_option("--speed", flags->speed, "speed of the replay")->default_str("1");
  command.add_option("--interval", flags->interval, "time between updates")->default_str("1s");
  command.add_option("--hz", flags->hertz, "samples per second, 1 to 100")->default_str("10");
  add_price_flag(command, flags->price);
  command.add_option("--gpu", flags->gpu, "the GPU, if the source does not name it");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
