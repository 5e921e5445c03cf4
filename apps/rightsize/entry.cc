#include <csignal>
#include <cstddef>
#include <cstdio>

#include <malloc.h>
#include <sys/resource.h>

#include "base/memory_limit.h"
#include "rightsize/call.h"

namespace {

constexpr std::size_t kStack = 1 << 20;  // commands use about an eighth of this

[[gnu::noinline]] void grow_stack() {
  [[maybe_unused]] volatile char deep[kStack];
  deep[0] = 0;
}

// The stack of the main thread grows on demand, and if an address-space limit stops it, the system kills the program.
// The program therefore reserves its stack up front. Returns false if there is not enough memory.
bool take_stack() {
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < 2 * kStack) return true;
  if (!rightsize::has_memory(kStack)) return false;
  grow_stack();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (rightsize::memory_is_limited()) {
    mallopt(M_ARENA_MAX, 1);  // otherwise each thread reserves 64 MB
    if (!take_stack()) {
      std::fputs("error: not enough memory\n", stderr);
      return 3;
    }
  }
  // Exceeding a file size limit makes the write fail; without this it would kill the program.
  std::signal(SIGXFSZ, SIG_IGN);
  // Reading the catalogue takes a few milliseconds; fewer system calls for memory save a twentieth of that.
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  return rightsize::app::run_program(argc, argv);
}
