#include <gtest/gtest.h>

#include "fleet/fleet.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

GpuRow row_of(const std::function<double(int)>& activity, int minutes, double memory = 60 * kGiB) {
  UseAccumulator sum({});
  live(sum, {.memory = memory}, minutes, activity);
  return judge(sum.finish(), book_at(2)).front();
}

TEST(VerdictsOverTime, ASteadyLoadHasTheSameVerdictInEveryPart) {
  for (const auto& life : {busy, nothing, trickle}) {
    const GpuRow row = row_of(life, 5 * kDay);
    const VerdictsOverTime found = verdicts_over_time(row);
    EXPECT_EQ(in_seconds(found.width), 86400);
    ASSERT_EQ(found.verdicts.size(), 5U);
    for (const auto& verdict : found.verdicts) EXPECT_EQ(verdict, row.verdict) << diagnose::name_of(row.verdict);
  }
}

TEST(VerdictsOverTime, AChangeShowsOnItsDay) {
  const auto two_busy_days = [](int minute) { return minute < 2 * kDay ? busy(minute) : 0.0; };
  const VerdictsOverTime found = verdicts_over_time(row_of(two_busy_days, 6 * kDay));
  ASSERT_EQ(found.verdicts.size(), 6U);
  for (int day = 0; day < 6; ++day) {
    const Verdict verdict = found.verdicts[static_cast<std::size_t>(day)].value_or(Verdict::kUnknown);
    EXPECT_EQ(verdict == Verdict::kIdleHeld, day >= 2) << day << ": " << diagnose::name_of(verdict);
  }
}

TEST(VerdictsOverTime, AShortRecordingIsCutIntoAFewParts) {
  const VerdictsOverTime found = verdicts_over_time(row_of(busy, 240));
  EXPECT_GE(found.verdicts.size(), 10U);
  EXPECT_LE(found.verdicts.size(), 40U);
}

}  // namespace
}  // namespace rightsize::fleet
