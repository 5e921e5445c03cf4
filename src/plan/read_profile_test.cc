#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/read_parts.h"

namespace rightsize::plan {
namespace {

using testing::HasSubstr;

constexpr const char* kProfile = R"({"schema": "rightsize/profile/1", "gpus": [{"gpu": "h200-sxm", "seconds": 60,
  "verdict": "memory-bound", "projections": [{"gpu": "l40s", "speed": 0.5, "low": 0.25, "high": 1, "fits": true},
  {"gpu": "t4", "speed": 0.1, "fits": false}]}]})";

TEST(ReadProfile, WorkIsMeasuredInTimeOfTheProfiledGpu) {
  PlanLimits limits;
  const Checked<Work> work = read_profile("p.json", kProfile, 10, limits);
  ASSERT_TRUE(work) << describe(work.error());
  EXPECT_EQ(work->amount, 36000);
  ASSERT_EQ(work->measured.size(), 3U);
  EXPECT_EQ(work->measured[0].units_per_second, 1);
  EXPECT_EQ(work->measured[1].units_per_second, 0.5);
  EXPECT_EQ(work->measured[1].interval.low, 0.5);
  EXPECT_EQ(work->measured[1].interval.high, 2);
  EXPECT_FALSE(work->measured[2].fits);
  EXPECT_THAT(work->measured_how, HasSubstr("memory-bound"));
}

TEST(ReadProfile, OtherDocumentsAreRefusedWithAPlace) {
  for (const char* text :
       {"", "[]", "{}", R"({"schema": "rightsize/fleet/1"})", R"({"schema": "rightsize/profile/1", "gpus": []})",
        R"({"schema": "rightsize/profile/1", "gpus": [{"gpu": null}]})",
        R"({"schema": "rightsize/profile/1", "gpus": [{"gpu": "t4", "projections": [{"gpu": "l4", "speed": -1}]}]})"}) {
    PlanLimits limits;
    const Checked<Work> work = read_profile("p.json", text, 1, limits);
    ASSERT_FALSE(work) << text;
    EXPECT_EQ(work.error().front().place.file, "p.json") << text;
  }
}

}  // namespace
}  // namespace rightsize::plan
