#include "telemetry/sample.h"

#include <gtest/gtest.h>

namespace rightsize::telemetry {
namespace {

TEST(Sample, MissingIsNotZero) {
  Sample sample;
  EXPECT_TRUE(sample.empty());
  EXPECT_EQ(sample.get(Metric::kPower), std::nullopt);
  sample.set(Metric::kPower, 0);
  EXPECT_EQ(sample.get(Metric::kPower), 0);
  sample.set(Metric::kNvlinkTx, 5);
  EXPECT_EQ(sample.get(Metric::kNvlinkTx), 5);
  sample.clear(Metric::kPower);
  EXPECT_FALSE(sample.has(Metric::kPower));
}

TEST(Device, KeyIsTheUuidOrHostAndIndexWithTheInstance) {
  EXPECT_EQ((Device{.index = 3}).key(), "3");
  EXPECT_EQ((Device{.index = 3, .host = "n1"}).key(), "n1:3");
  EXPECT_EQ((Device{.index = 3, .uuid = "GPU-a", .host = "n1", .mig_id = "7"}).key(), "GPU-a/7");
}

}  // namespace
}  // namespace rightsize::telemetry
