// C++ code without Python's lock: Ctrl-C interrupts it, and fork() waits for it.
#pragma once

#include <string>
#include <vector>

#include "rightsize/call.h"

namespace rightsize::python {

// Held by C++ code that runs without Python's lock. fork() waits until no thread holds one, because a lock that a
// thread of the parent holds at that moment would stay locked in the child. Held only without Python's lock, which
// fork() holds.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
};

// app::call, with Python's lock on entry and return. Python's main thread waits for it on another thread, so a signal
// can raise at once; the work is then cancelled and ends later. Throws Raised if a signal handler raised.
Checked<app::Outcome> call_interruptibly(const std::string& command, const std::vector<std::string>& words);

// Once, when the module is loaded.
void prepare_calls();

}  // namespace rightsize::python
