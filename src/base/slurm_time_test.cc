#include "base/slurm_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize {
namespace {

TEST(SlurmTime, ReadsEveryFormOfTheManual) {
  EXPECT_EQ(parse_slurm_time("90"), seconds(90 * 60));
  EXPECT_EQ(parse_slurm_time("90", seconds(1)), seconds(90));
  EXPECT_EQ(parse_slurm_time("90:30"), seconds(90 * 60 + 30));
  EXPECT_EQ(parse_slurm_time("1:30:00"), hours(1.5));
  EXPECT_EQ(parse_slurm_time("1-12"), hours(36));
  EXPECT_EQ(parse_slurm_time("1-12:00"), hours(36));
  EXPECT_EQ(parse_slurm_time("2-12:00:30"), hours(60) + seconds(30));
  for (const char* wrong :
       {"", "-", "1-", "-1", "1:", "1:2:3:4", "UNLIMITED", "1h", "1-2-3", " 5", "+5", "1e3", "nan"}) {
    EXPECT_FALSE(parse_slurm_time(wrong)) << wrong;
  }
}

// Any duration is read back from the text that squeue prints.
RC_GTEST_PROP(SlurmTime, ReadsBackWhatSlurmPrints, ()) {
  const int day = *rc::gen::inRange(0, 400), second = *rc::gen::inRange(0, 86'400);
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
  const std::string text = day > 0 ? fmt::format("{}-{}", day, clock) : clock;
  RC_ASSERT(parse_slurm_time(text) == days(day) + seconds(second));
}

}  // namespace
}  // namespace rightsize
