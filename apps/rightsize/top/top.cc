// rightsize top: every GPU of this machine, live, with its bottleneck and its cost.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "rightsize/command.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/profile/child.h"
#include "rightsize/top/feed.h"
#include "rightsize/top/judge.h"

namespace rightsize::app {
namespace {

using Clock = std::chrono::steady_clock;

struct TopFlags {
  bool once = false;
  std::string replay, gpu, catalog;
  Seconds interval;
  double speed = 1, hertz = 10;
  PriceFlag price;
};

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Switches the terminal to a full screen, and back.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Overwrites the previous frame, to avoid flicker.
  void show(const std::string& frame);

 private:
  termios before_{};
};

Screen::Screen() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  put("\x1b[?1049h\x1b[?25l");
}

Screen::~Screen() {
  put("\x1b[?25h\x1b[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Screen::show(const std::string& frame) {
  std::string out = "\x1b[H";
  for (char c : frame) {
    if (c == '\n') out += "\x1b[K\r";
    out += c;
  }
  // A line feed after the last line would scroll a full screen.
  if (out.ends_with('\n')) out.pop_back();
  put(out + "\x1b[J");
}

// The size of the terminal and what it can show; unlimited without one.
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

// Waits for at most `wait`; true if the user pressed q or Escape.
bool asked_to_quit(Seconds wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, static_cast<int>(in_milliseconds(wait))) <= 0) return false;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) <= 0) return (input.revents & POLLHUP) != 0;
  return key == 'q' || key == 'Q' || key == '\x1b';
}

// The last screen, or the only one with --once.
Outcome last_picture(const TopScreen& screen) {
  TopSize size = size_of_terminal(false);
  Outcome outcome{{.title = "GPUs"}};
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

Checked<Outcome> run_top(const TopFlags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.price));
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(gpu, named_gpu(catalog, flags.gpu));
  }
  RIGHTSIZE_TRY(const std::unique_ptr<TopFeed> feed, flags.replay.empty()
                                                         ? open_live_feed(seconds(1 / flags.hertz))
                                                         : open_replay_feed(flags.replay, flags.speed));
  const auto judge = [&](TopScreen& screen) { judge_gpus(screen.gpus, prices, gpu); };
  InterruptGuard guard;
  if (!flags.once && takes_escape_codes(STDOUT_FILENO) && isatty(STDIN_FILENO) != 0)
    return last_picture(watch(*feed, judge, flags.interval));
  const Seconds settle = feed->settle();
  if (flags.replay.empty()) wait_for(0, settle);
  TopScreen screen;
  feed->update(settle, screen);
  judge(screen);
  return last_picture(screen);
}

}  // namespace

Run add_top(FlagSet& command) {
  auto flags = std::make_shared<TopFlags>();
  command.add("once", flags->once)->meaning("print one screen and exit; the default if the output is not a terminal");
  command.add("replay", flags->replay)->meaning("replay a recording or the log of a monitoring tool")->argument("file");
  command.add("speed", flags->speed);
  command.add("interval", flags->interval);
  command.add("hz", flags->hertz);
  add_price_flag(command, flags->price);
  command.add("gpu", flags->gpu)->one_value()->meaning("the GPU, if the source does not name it");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_top(*flags); };
}

}  // namespace rightsize::app
