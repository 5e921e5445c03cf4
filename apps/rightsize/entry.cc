#include <csignal>
#include <cstddef>
#include <cstdio>

#include <malloc.h>
#include <sys/resource.h>

#include "base/memory_limit.h"
#include "rightsize/call.h"

namespace {

constexpr std::size_t kStack = 1 << 20;  // commands were seen to use an eighth of it

[[gnu::noinline]] void grow_stack() {
  [[maybe_unused]] volatile char deep[kStack];
  deep[0] = 0;
}

// The stack of the first thread grows as it is used, and where a limit of address space stops it the system ends the
// program by a signal. So all it may need is taken at once; false where it is not there.
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
    mallopt(M_ARENA_MAX, 1);  // each thread would set 64 MB aside
    if (!take_stack()) {
      std::fputs("error: not enough memory\n", stderr);
      return 3;
    }
  }
  // A file that may not grow is an error of the write, to be reported, and not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  // The catalogue is read in a few milliseconds, a twentieth of them spent on asking for memory and giving it back.
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  return rightsize::app::run_program(argc, argv);
}
