// One piece of work on several threads.
#pragma once

#include <functional>

namespace rightsize {

// Calls work() on as many threads at once, this one among them; on fewer where the system has no more. What one of them
// throws, as where memory runs out, is thrown here when all have ended.
void in_threads(unsigned threads, const std::function<void()>& work);

}  // namespace rightsize
