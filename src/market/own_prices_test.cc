#include "market/own_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"

namespace rightsize::market {
namespace {

using testing::HasSubstr;

double gpu_price(const std::string& text, const char* gpu = "h100-sxm") {
  const Checked<OwnPrices> own = parse_own_prices({text}, built_in_catalog());
  if (!own) return 0;
  const auto found = own->gpus.find(gpu);
  return found == own->gpus.end() ? 0 : in_usd_per_gpu_hour(found->second);
}

std::string mistake(const std::vector<std::string>& texts) {
  const Checked<OwnPrices> own = parse_own_prices(texts, built_in_catalog());
  return own ? "" : describe(own.error());
}

TEST(OwnPrices, AmountsAreDollarsPerHourInEverySpelling) {
  for (const char* amount : {"2.49", "2.49USD/h", "2.49 USD/h", "2.49usd/h", "$2.49", "$2.49/h", "2.49$/h", " 2.49 "}) {
    EXPECT_DOUBLE_EQ(gpu_price(std::string("h100-sxm=") + amount), 2.49) << amount;
  }
}

TEST(OwnPrices, NamesMayBeAliasesAndFamilies) {
  for (const char* name : {"h100-sxm", "H100-SXM", "h100", "NVIDIA H100 80GB HBM3"}) {
    EXPECT_DOUBLE_EQ(gpu_price(std::string(name) + "=2"), 2) << name;
  }
  EXPECT_DOUBLE_EQ(gpu_price("a100=2", "a100-80gb-sxm"), 2);
  EXPECT_DOUBLE_EQ(gpu_price("a100=2", "a100-40gb-pcie"), 2);
  const Checked<OwnPrices> machine = parse_own_prices({"P5.48xlarge=55.04"}, built_in_catalog());
  ASSERT_TRUE(machine);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(machine->machines.at("p5.48xlarge")), 55.04);
  EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(*parse_own_prices({"*=2"}, built_in_catalog())->every_gpu), 2);
  EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(*parse_own_prices({"$2"}, built_in_catalog())->every_gpu), 2);
}

TEST(OwnPrices, AGpusOwnPriceOverridesItsFamilys) {
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{"a100=2", "a100-80gb-sxm=3"}, {"a100-80gb-sxm=3", "a100=2"}}) {
    const Checked<OwnPrices> own = parse_own_prices(order, built_in_catalog());
    ASSERT_TRUE(own);
    EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(own->gpus.at("a100-80gb-sxm")), 3);
    EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(own->gpus.at("a100-80gb-pcie")), 2);
  }
}

TEST(OwnPrices, EveryMistakeIsReportedWithACorrection) {
  EXPECT_THAT(mistake({"h100-smx=2"}), HasSubstr("did you mean 'h100-sxm'?"));
  EXPECT_THAT(mistake({"p5.48xlarg=2"}), HasSubstr("did you mean 'p5.48xlarge'?"));
  EXPECT_THAT(mistake({"h100-sxm"}), HasSubstr("expected NAME=PRICE"));
  EXPECT_THAT(mistake({"h100-sxm=cheap"}), HasSubstr("'cheap' is not a number"));
  EXPECT_THAT(mistake({"h100-sxm=2EUR/h"}), HasSubstr("unknown unit 'EUR/h'"));
  EXPECT_THAT(mistake({"h100-sxm=0"}), HasSubstr("above 0 and at most 10,000"));
  EXPECT_NE(mistake({"h100-sxm=-1"}), "");
  EXPECT_NE(mistake({"h100-sxm=nan"}), "");
  EXPECT_NE(mistake({""}), "");
  EXPECT_THAT(mistake({"2", "3"}), HasSubstr("--price '3': that already has a price"));
  EXPECT_THAT(mistake({"h100-sxm=2", "H100-SXM=3"}), HasSubstr("already has a price"));
  const Checked<OwnPrices> three = parse_own_prices({"h10=5", "h100-sxm", "h100-sxm=cheap"}, built_in_catalog());
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().size(), 3U);
  const Checked<OwnPrices> spot = parse_own_prices({"x=1"}, built_in_catalog(), "--spot-price");
  EXPECT_THAT(describe(spot.error()), HasSubstr("--spot-price 'x'"));
}

}  // namespace
}  // namespace rightsize::market
