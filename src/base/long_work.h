// Work that may take long says how far it is, and ends early with what it has when asked to.
//
//   LongWork work("settings", settings.size());
//   for (...) { if (LongWork::stopped()) break; ...; LongWork::step(); }
//
// Counting costs an atomic addition; who shows it (a terminal) and who asks to stop (Ctrl-C) is not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rightsize {

class LongWork {
 public:
  // `what` there is so much of, for people: "settings", "MB read". One at a time: the last one begun counts.
  LongWork(std::string what, std::uint64_t total);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // From any thread; nothing happens where no work is under way.
  static void step(std::uint64_t done = 1);
  static bool stopped();
  // From a signal handler, too. False where no work is under way that could stop.
  static bool ask_to_stop();

  struct State {
    std::string what;
    std::uint64_t done = 0, total = 0;
  };
  static std::optional<State> now();
};

}  // namespace rightsize
