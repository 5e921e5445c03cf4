// One piece of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace rightsize {

// Calls work() on `threads` threads, this one included, or on fewer if the system has no more. The threads share the
// cancellation of this one. An exception of any of them is rethrown here when all have ended.
void in_threads(unsigned threads, const std::function<void()>& work);

// Calls work(i) for every i below `count`, each on the next free one of these threads.
void for_each_index(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace rightsize
