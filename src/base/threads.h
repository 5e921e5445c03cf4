// Runs work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace rightsize {

// Calls work() on `threads` threads, including this one, or on fewer if the system cannot start more. They share the
// cancellation of this thread. If work() throws on any thread, the exception is rethrown here after all have ended.
void in_threads(unsigned threads, const std::function<void()>& work);

// Calls work(i) for every i below `count`, each on the next free thread.
void for_each_index(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace rightsize
