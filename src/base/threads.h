// One piece of work on several threads.
#pragma once

#include <functional>

namespace rightsize {

// Calls work() on `threads` threads, this one included, or on fewer if the system has no more. The threads share the
// cancellation of this one. An exception of any of them is rethrown here when all have ended.
void in_threads(unsigned threads, const std::function<void()>& work);

}  // namespace rightsize
