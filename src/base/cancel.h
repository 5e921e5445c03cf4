// Work that nobody waits for any more.
//
// Whoever starts long work may open a CancelScope around it and set its flag later, from another thread. Long loops ask
// cancelled() now and then and end early; what they return is then worthless, and whoever set the flag throws it away.
// A thread of one's own is handed cancellation() of the thread that starts it.
#pragma once

#include <atomic>
#include <memory>

namespace rightsize {

using Cancellation = std::shared_ptr<const std::atomic<bool>>;  // null: cannot be cancelled

class CancelScope {
 public:
  explicit CancelScope(Cancellation flag);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  Cancellation outer_;
};

Cancellation cancellation();
bool cancelled();

}  // namespace rightsize
