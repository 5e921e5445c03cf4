#include "rightsize/top/terminal.h"

#include <cstdio>
#include <cstdlib>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace rightsize::app {
namespace {

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

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

bool asked_to_quit(Seconds wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, static_cast<int>(in_milliseconds(wait))) <= 0) return false;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) <= 0) return (input.revents & POLLHUP) != 0;
  return key == 'q' || key == 'Q' || key == '\x1b';
}

}  // namespace rightsize::app
