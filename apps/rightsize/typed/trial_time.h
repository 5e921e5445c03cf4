// A limit on the processor time of trying out suggestions.
#pragma once

#include <memory>

#include "base/cancel.h"

namespace rightsize::app {

// Cancels what this thread does once the process has used `seconds` more of processor time. Processor time rather than
// time on the clock, so that a suggestion does not depend on how busy the machine is.
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

}  // namespace rightsize::app
