#include "base/trial_time.h"

#include <gtest/gtest.h>

namespace rightsize {
namespace {

TEST(TrialTime, CancelsWorkThatTakesTooLongAndNothingElse) {
  {
    const TrialTime time(0.05);
    EXPECT_FALSE(time.is_over());
    volatile double sum = 0;
    while (!cancelled()) sum = sum + 1;  // ends only if it is cancelled
    EXPECT_TRUE(time.is_over());
  }
  EXPECT_FALSE(cancelled());
  const TrialTime fresh(100);
  EXPECT_FALSE(fresh.is_over());
  EXPECT_FALSE(cancelled());
}

}  // namespace
}  // namespace rightsize
