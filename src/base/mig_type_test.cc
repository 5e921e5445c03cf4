#include "base/mig_type.h"

#include <gtest/gtest.h>

namespace rightsize {
namespace {

TEST(MigType, IsAGpuAndAProfile) {
  const struct {
    const char *type, *gpu, *profile;
  } kCases[] = {{"a100_3g.20gb", "a100", "3g.20gb"},
                {"nvidia_h100_80gb_hbm3_1g.10gb", "nvidia_h100_80gb_hbm3", "1g.10gb"},
                {"h100-mig-1g.10gb", "h100", "1g.10gb"},
                {"1g.10gb", "", "1g.10gb"},
                {"mig-1g.10gb", "", "1g.10gb"},
                {"a100", "a100", ""},
                {"", "", ""},
                {"g.5", "g.5", ""}};
  for (const auto& each : kCases) {
    EXPECT_EQ(split_mig_type(each.type).gpu, each.gpu) << each.type;
    EXPECT_EQ(split_mig_type(each.type).profile, each.profile) << each.type;
  }
}

}  // namespace
}  // namespace rightsize
