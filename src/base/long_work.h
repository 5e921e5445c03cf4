// Progress of long work.
//
//   LongWork counted("settings", settings.size());
//   for (...) { if (cancelled()) break; ...; LongWork::step(); }
//
// Counting costs one atomic addition. The front end (a terminal, a page) shows it.
#pragma once

#include "base/cancel.h"

namespace rightsize {

class LongWork {
 public:
  // `what` is being counted, for people: "settings", "MB read". The LongWork started last is the one shown.
  LongWork(std::string what, std::uint64_t total);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // Of the work of this thread (base/cancel.h); nothing happens where none is under way.
  static void step(std::uint64_t done = 1);

 private:
  Work& work_;
};

}  // namespace rightsize
