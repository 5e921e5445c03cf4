// The limit of address space ('ulimit -v'), where one is set.
#pragma once

#include <cstddef>

namespace rightsize {

bool memory_is_limited();

// Whether so many bytes can be had at this moment. For what cannot fail but only end the program without them: the
// growing stack of the first thread, libraries that do not look at whether they got memory.
bool has_memory(std::size_t bytes);

}  // namespace rightsize
