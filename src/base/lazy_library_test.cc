#include "base/lazy_library.h"

#include <cmath>

#include <gtest/gtest.h>

namespace rightsize {
namespace {

struct Absent : LazyLibrary {
  Absent() : LazyLibrary("librightsize-absent.so.1") {}
  RIGHTSIZE_SYMBOL(, cos);
};

struct Incomplete : LazyLibrary {
  Incomplete() : LazyLibrary("libm.so.6") {}
  RIGHTSIZE_SYMBOL(, cos);
  void* absent = find<void>("rightsize_absent");
};

// Exit code 3: a library that is missing on this machine is not a bug in rightsize.
TEST(LazyLibrary, AMissingLibraryOrFunctionIsAnError) {
  const Absent absent;
  ASSERT_FALSE(absent.loaded());
  EXPECT_EQ(exit_code(absent.loaded().error()), 3);
  EXPECT_EQ(absent.cos, nullptr);
  const Incomplete incomplete;
  ASSERT_FALSE(incomplete.loaded());
  EXPECT_EQ(exit_code(incomplete.loaded().error()), 3);
  EXPECT_NE(incomplete.cos, nullptr);
}

}  // namespace
}  // namespace rightsize
