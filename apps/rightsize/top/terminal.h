// The terminal `rightsize top` draws on.
#pragma once

#include <string>

#include <termios.h>

#include "base/units.h"
#include "rightsize/top/view.h"

namespace rightsize::app {

// The terminal in the state a screen needs, and back as it was.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Overwrites what is there, so that nothing flickers.
  void show(const std::string& frame);

 private:
  termios before_{};
};

// Its size and what it can show; without a terminal all there is to see.
TopSize size_of_terminal(bool terminal);

// Whether a key that ends the program is pressed, waited for at most so long.
bool asked_to_quit(Seconds wait);

}  // namespace rightsize::app
