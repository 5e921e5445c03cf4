// Running the user's command, or waiting for a process of theirs, while the GPU is sampled.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rightsize::app {

// While one exists, Ctrl-C and a request to end are remembered instead of ending this program. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

// Runs the command to its end and gives its exit status, 128 + signal when a signal ended it. It sees our standard
// input and output; with `quiet_output` what it prints goes to standard error instead. Signals to us are passed on,
// Ctrl-C only where the terminal did not send it to the command itself. Fails when the command cannot be run.
Result<int> run_command(const std::vector<std::string>& words, bool quiet_output, unsigned& pid);

// Returns when the process has ended, after `limit`, or when interrupted. Nothing is no limit; process 0 is none.
void wait_for(unsigned pid, std::optional<Seconds> limit);
bool process_exists(unsigned pid);

// A process and everything it started that still runs.
std::set<unsigned> process_tree(unsigned root);

}  // namespace rightsize::app
