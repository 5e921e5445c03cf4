#include "plan/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::plan {
namespace {

using testing::IsEmpty;

catalog::Catalog three_regions() {
  catalog::Catalog catalog;
  for (const auto& [region, usd] : {std::pair("a", 10.0), std::pair("b", 20.0), std::pair("c", 24.0)}) {
    catalog::Price price;
    price.provider = "cloud", price.instance = "m", price.region = region, price.machine_price = usd_per_hour(usd);
    price.provenance.date = *parse_date("2026-11-01");
    catalog.prices.push_back(price);
  }
  return catalog;
}

market::Offer offer_of(const catalog::Price& price) { return {nullptr, nullptr, &price}; }

// 10 against a middle of 24 (the upper of 20 and 24): 2.4x; 20 against 24 or 10: nothing to say.
TEST(PriceWarnings, ARegionFarBelowTheOthers) {
  const catalog::Catalog catalog = three_regions();
  const Date today = *parse_date("2026-11-15");
  const std::vector<PriceWarning> warnings = price_warnings(offer_of(catalog.prices[0]), catalog, today);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].kind, PriceWarning::Kind::kFarBelowOtherRegions);
  EXPECT_DOUBLE_EQ(in_usd_per_hour(warnings[0].elsewhere), 24);
  EXPECT_DOUBLE_EQ(warnings[0].times, 2.4);
  EXPECT_THAT(price_warnings(offer_of(catalog.prices[1]), catalog, today), IsEmpty());
}

TEST(PriceWarnings, OldAndUnconfirmedPrices) {
  catalog::Catalog catalog = three_regions();
  catalog.prices[2].provenance.unverified = {"price"};
  const auto warnings = price_warnings(offer_of(catalog.prices[2]), catalog, *parse_date("2027-03-01"));
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].kind, PriceWarning::Kind::kUnconfirmed);
  EXPECT_EQ(warnings[1].kind, PriceWarning::Kind::kOld);
  EXPECT_EQ(warnings[1].age_days, 120);
}

}  // namespace
}  // namespace rightsize::plan
