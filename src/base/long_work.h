// Work that may take long says how far it is.
//
//   LongWork counted("settings", settings.size());
//   for (...) { if (cancelled()) break; ...; LongWork::step(); }
//
// Counting costs an atomic addition; who shows it (a terminal, a page) and who asks to stop is not known here.
#pragma once

#include "base/work.h"

namespace rightsize {

class LongWork {
 public:
  // `what` there is so much of, for people: "settings", "MB read". One at a time: the last one begun counts.
  LongWork(std::string what, std::uint64_t total);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // Of the work of this thread (base/work.h); nothing happens where none is under way.
  static void step(std::uint64_t done = 1);

 private:
  Work& work_;
};

}  // namespace rightsize
