#include "base/suggest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize {
namespace {

const std::vector<std::string> kGpus{"t4", "a10", "a10g", "a100-80gb-sxm", "l4", "h100-sxm", "h100-pcie", "h200-sxm"};

TEST(Suggest, PrefixesAreSuggestedBeforeNearMisses) {
  EXPECT_EQ(did_you_mean("h10", kGpus), "did you mean 'h100-sxm' or 'h100-pcie'?");
  EXPECT_EQ(did_you_mean("H100_SMX", kGpus), "did you mean 'h100-sxm'?");
  EXPECT_EQ(did_you_mean("h200sxm4", kGpus), "did you mean 'h200-sxm'?");
  EXPECT_EQ(did_you_mean("zebra", kGpus), "");
  EXPECT_EQ(did_you_mean("", kGpus), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'h'), kGpus), "");
}

TEST(EditDistance, CountsSwapsOnce) {
  EXPECT_EQ(edit_distance("smx", "sxm"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForEqual, (std::string a, std::string b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
}

}  // namespace
}  // namespace rightsize
