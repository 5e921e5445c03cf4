// The limit on address space ('ulimit -v'), if one is set.
#pragma once

#include <cstddef>

namespace rightsize {

bool memory_is_limited();

// Whether this many bytes can be allocated now. For allocations that end the program if they fail: the stack of the
// main thread, and libraries that do not check.
bool has_memory(std::size_t bytes);

}  // namespace rightsize
