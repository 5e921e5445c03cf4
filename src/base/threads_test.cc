#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <new>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rightsize {
namespace {

TEST(InThreads, EveryThreadWorks) {
  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    std::atomic<unsigned> calls{0};
    in_threads(threads, [&] { ++calls; });
    EXPECT_EQ(calls, std::max(1U, threads));
  }
}

TEST(InThreads, RethrowsAnExceptionAfterAllThreadsHaveEnded) {
  std::atomic<int> calls{0};
  EXPECT_THROW(in_threads(4,
                          [&] {
                            if (++calls == 2) throw std::bad_alloc();
                          }),
               std::bad_alloc);
  EXPECT_EQ(calls, 4);
}

// Sanitizers need memory too.
#if !defined(__SANITIZE_THREAD__) && !defined(__clang__)
[[noreturn]] void work_without_memory_for_threads() {
  rlimit none{};
  setrlimit(RLIMIT_AS, &none);
  int calls = 0;
  in_threads(8, [&] { ++calls; });
  _exit(calls == 1 ? 0 : 1);
}

TEST(InThreads, WorksWithFewerThreadsThanRequested) {
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // a separate process: this one keeps the stacks of threads that have ended
  EXPECT_EXIT(work_without_memory_for_threads(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace rightsize
