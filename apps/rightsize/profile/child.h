// Runs the user's command, or waits for a process, while the GPU is sampled.
#pragma once

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rightsize::app {

// While this object exists, SIGINT, SIGTERM and SIGHUP are recorded and do not end the program. Only one may exist.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

// Runs the command and returns its exit status, or 128 + signal if a signal ended it. The command uses our standard
// input and output; with `quiet_output` its output goes to standard error. Signals are passed on, except a Ctrl-C that
// the terminal already sent to the command. Fails if the command cannot be run.
Result<int> run_command(const std::vector<std::string>& words, bool quiet_output, std::atomic<unsigned>& pid);

// Returns when the process has ended (0: no process), after `limit` if set, or when interrupted.
void wait_for(unsigned pid, std::optional<Seconds> limit);
bool process_exists(unsigned pid);

// A process and its descendants that still run.
std::set<unsigned> process_tree(unsigned root);

}  // namespace rightsize::app
