#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace rightsize {
namespace {

TEST(MemoryLimit, AllocationsBeyondTheLimitFail) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  constexpr std::size_t kLarge = std::size_t{1} << 50;
  EXPECT_EQ(memory_is_limited(), before.rlim_cur != RLIM_INFINITY);
  EXPECT_TRUE(has_memory(1 << 20));
  EXPECT_FALSE(has_memory(kLarge));
  rlimit limited = before;
  limited.rlim_cur = kLarge;  // more than a sanitizer needs
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_TRUE(memory_is_limited());
  EXPECT_TRUE(has_memory(1 << 20));
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace
}  // namespace rightsize
