#include "base/usage_units.h"

#include <gtest/gtest.h>

namespace rightsize {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

static_assert(Addable<TimePoint, Seconds>);
static_assert(!Addable<TimePoint, TimePoint>, "two moments have no sum");
static_assert(!Addable<TimePoint, double>, "a length names its unit");
static_assert(!Addable<GpuTime, Seconds>, "GPU-hours are no hours");
static_assert(sizeof(TimePoint) == sizeof(double));

TEST(UsageUnits, TheDifferenceOfTwoTimesIsADuration) {
  const TimePoint start = unix_seconds(1767225600);
  EXPECT_EQ(start + hours(3) - start, hours(3));
  EXPECT_LT(start - seconds(1), start);
  EXPECT_EQ(in_unix_seconds(start), 1767225600);
}

TEST(UsageUnits, ARateTimesGpuTimeIsABill) {
  EXPECT_DOUBLE_EQ(in_usd(usd_per_gpu_hour(2.5) * gpu_hours(8)), 20);
  EXPECT_DOUBLE_EQ(in_gpu_hours(gpus(8) * hours(3)), 24);
}

TEST(UsageUnits, DollarsPerMonthUseAMonthOf730Hours) {
  EXPECT_DOUBLE_EQ(in_usd_per_month(usd_per_hour(1)), in_hours(kMonth));
  EXPECT_DOUBLE_EQ(in_usd_per_month(usd_per_month(12)), 12);
}

}  // namespace
}  // namespace rightsize
