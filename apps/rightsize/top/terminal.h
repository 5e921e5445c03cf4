// The terminal `rightsize top` draws on.
#pragma once

#include <string>

#include <termios.h>

#include "base/units.h"
#include "rightsize/top/view.h"

namespace rightsize::app {

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

// The size of the terminal and what it can show; unlimited without one.
TopSize size_of_terminal(bool terminal);

// Waits for at most `wait`; true if the user pressed q or Escape.
bool asked_to_quit(Seconds wait);

}  // namespace rightsize::app
