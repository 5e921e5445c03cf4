#include "rightsize/input/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sweep, ARangeDoublesUpToItsEnd) {
  const Result<Sweep> sweep = parse_sweep("batch=3..20");
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->setting, "batch");
  EXPECT_THAT(sweep->values, ElementsAre("3", "6", "12", "20"));
}

TEST(Sweep, ARangeOfOneValueIsThatValue) { EXPECT_THAT(parse_sweep("batch=8..8")->values, ElementsAre("8")); }

TEST(Sweep, AListKeepsItsValues) { EXPECT_THAT(parse_sweep("isl=512,2k")->values, ElementsAre("512", "2k")); }

TEST(Sweep, ErrorsNameTheMistake) {
  EXPECT_THAT(describe(parse_sweep("batch").error()), HasSubstr("has no '='"));
  EXPECT_THAT(describe(parse_sweep("batch=8..2").error()), HasSubstr("is not a range from small to large"));
  EXPECT_THAT(describe(parse_sweep("batch=0..2").error()), HasSubstr("is not a range from small to large"));
  EXPECT_THAT(describe(parse_sweep("batch=").error()), HasSubstr("takes 1 to 200 values, not 0"));
  EXPECT_FALSE(parse_sweep("batch=a..b"));
}

}  // namespace
}  // namespace rightsize::app
