// A limit on the processor time of trying out suggestions.
#pragma once

#include <memory>

#include "base/cancel.h"

namespace rightsize {

// Cancels the work of this thread once the process has used `seconds` more of processor time.
// Processor time makes suggestions independent of the load of the machine.
class TrialTime {
 public:
  explicit TrialTime(double seconds);
  ~TrialTime();
  TrialTime(const TrialTime&) = delete;
  TrialTime& operator=(const TrialTime&) = delete;

  bool is_over() const;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
  CancelScope scope_;
};

}  // namespace rightsize
