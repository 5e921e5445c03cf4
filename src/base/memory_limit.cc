#include "base/memory_limit.h"

#include <sys/mman.h>
#include <sys/resource.h>

namespace rightsize {

bool memory_is_limited() {
  rlimit space{};
  return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
}

bool has_memory(std::size_t bytes) {
  void* room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

}  // namespace rightsize
