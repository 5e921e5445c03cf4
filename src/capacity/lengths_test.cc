#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/service.h"

namespace rightsize::capacity {
namespace {

using ::testing::HasSubstr;

TEST(Lengths, AreReadAsMeanFixedOrSpread) {
  EXPECT_EQ(parse_length("1k")->mean, 1000);
  EXPECT_FALSE(parse_length("1k")->variation.has_value());
  EXPECT_EQ(parse_length("1024,fixed")->variation, 0);
  const Length spread = *parse_length("1k,p95=8k");
  EXPECT_NEAR(sim::median_of(spread.mean, *spread.variation), 1000, 1e-6);
}

TEST(Lengths, ErrorsShowACorrectValue) {
  EXPECT_THAT(parse_length("1k,p96=8k").error().hints[0], HasSubstr("1k,p95=8k"));
  EXPECT_THAT(parse_length("8k,p95=1k").error().message, HasSubstr("above the median"));
  EXPECT_FALSE(parse_length("0"));
  EXPECT_FALSE(parse_length("1,2,3"));
}

// The assumed variation is within the measured range: data/request_lengths.csv.
TEST(Lengths, UsualVariationIsRead) {
  EXPECT_NEAR(usual_variation().prompt, 1, 0.1);
  EXPECT_NEAR(usual_variation().answer, 1, 0.2);
}

}  // namespace
}  // namespace rightsize::capacity
