// Progress of long work.
//
//   LongWork counted("settings", settings.size());
//   for (const Setting& setting : settings) {
//     if (cancelled()) break;
//     evaluate(setting);
//     LongWork::step();
//   }
//
// Counting costs one atomic addition. The front end (a terminal or a page) shows the progress.
#pragma once

#include "base/cancel.h"

namespace rightsize {

class LongWork {
 public:
  // `what` names the items that are counted: "settings", "MB read". The LongWork that started last is shown.
  LongWork(std::string what, std::uint64_t total);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // Counts items of this thread's work (base/cancel.h). Does nothing if there is no LongWork.
  static void step(std::uint64_t done = 1);

 private:
  Work& work_;
};

}  // namespace rightsize
