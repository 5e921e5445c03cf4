#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "portfolio/organisation.h"

namespace rightsize::portfolio {
namespace {

// A pool's price has its usual name too; a number of GPUs must say whether they are reserved.
TEST(Portfolio, KeysOfPoolsAsPeopleWriteThem) {
  const auto organisation = [](const std::string& pool) {
    return read_organisation("o.yaml",
                             "pools:\n  - {name: p, gpu: h100-sxm, " + pool +
                                 "}\nworkloads:\n  - {name: w, options: [{where: p, gpus: 1}]}\n",
                             built_in_catalog());
  };
  for (int price = 1; price < 9; ++price) {
    const auto priced = organisation(fmt::format("provider: gcp, price: {}", price));
    ASSERT_TRUE(priced);
    EXPECT_EQ(priced->pools[0].usd_per_gpu_hour, price);
    EXPECT_EQ(priced->notes.size(), 1U) << "the provider is named as unused";
    for (const char* key : {"gpus", "count", "size"}) {
      const auto counted = organisation(fmt::format("price: 2, {}: {}", key, price));
      ASSERT_FALSE(counted);
      ASSERT_EQ(counted.error().size(), 1U);
      EXPECT_NE(describe(counted.error()).find(fmt::format("'reserved: {}'", price)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace rightsize::portfolio
