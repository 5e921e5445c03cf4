#include "market/agreements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "market/price_book.h"

namespace rightsize::market {
namespace {

using catalog::Purchase;
using testing::HasSubstr;

constexpr const char* kHeader = "account,kind,provider,instance,gpu,region,purchase,percent,machines,until,note\n";

catalog::Catalog with(const std::string& rows, const char* day = "2026-11-15") {
  catalog::Catalog catalog = *catalog::load_catalog("");
  const auto read = read_agreements("agreements.csv", kHeader + rows, catalog);
  EXPECT_TRUE(read) << (read ? "" : describe(read.error()));
  if (read) apply_agreements(catalog, *read, *parse_date(day), "agreements.csv");
  return catalog;
}

double p5(const catalog::Catalog& catalog, Purchase purchase) {
  const PriceBook book(catalog);
  return in_usd_per_machine_hour(
      book.machine(*catalog.find_machine("aws", "p5.48xlarge"), purchase, "us-east-1")->rate);
}

TEST(Agreements, ADiscountLowersOnlyMatchingPrices) {
  const catalog::Catalog
      list = with(""),
      agreed = with("prod,discount,aws,,,,on-demand,12,,2027-06-30,\nprod,discount,aws,,h100-sxm,,on-demand,20,,,\n");
  EXPECT_NEAR(p5(agreed, Purchase::kOnDemand), 0.8 * p5(list, Purchase::kOnDemand), 1e-9);  // the larger, not both
  EXPECT_DOUBLE_EQ(p5(agreed, Purchase::kSpot), p5(list, Purchase::kSpot));
  EXPECT_DOUBLE_EQ(p5(with("prod,discount,aws,,,,on-demand,12,,2026-11-14,\n"), Purchase::kOnDemand),
                   p5(list, Purchase::kOnDemand));
}

TEST(Agreements, AReservationIsFreeUntilUsedUp) {
  const catalog::Catalog agreed = with("prod,reservation,aws,p5.48xlarge,,us-east-1,,,2,2027-01-31,\n");
  const PriceBook book(agreed);
  int found = 0;
  for (const Offer& offer : book.offers({.providers = {"aws"}, .gpus = {"h100-sxm"}})) {
    if (!offer.price->available) continue;
    ++found;
    EXPECT_EQ(*offer.price->available, 2);
    EXPECT_EQ(offer.rate(), UsdPerMachineSecond{});
    EXPECT_EQ(book.outlook(offer, days(1)).likely, UsdPerMachineSecond{});
  }
  EXPECT_EQ(found, 1);
  // Other machines keep their prices.
  EXPECT_GT(p5(agreed, Purchase::kOnDemand), 10);
  EXPECT_GT(book.gpu(*agreed.find_gpu("h100-sxm").value(), Purchase::kOnDemand)->rate, UsdPerGpuSecond{});
}

TEST(Agreements, APoolExcludesPlannedSpend) {
  const char* header = "account,kind,provider,percent,amount,planned,until\n";
  catalog::Catalog catalog = *catalog::load_catalog("");
  const double list = p5(catalog, Purchase::kOnDemand);
  const auto read = read_agreements("agreements.csv",
                                    header + std::string("prod,pool,aws,8,400000,250000,2027-06-30\n"
                                                         "prod,pool,gcp,,1000,2000,2027-06-30\n"
                                                         "prod,pool,azure,,1000,,2026-11-14\n"),
                                    catalog);
  ASSERT_TRUE(read) << describe(read.error());
  apply_agreements(catalog, *read, *parse_date("2026-11-15"), "agreements.csv");
  ASSERT_EQ(catalog.committed.size(), 1U);  // gcp's will be used up, azure's has ended
  EXPECT_DOUBLE_EQ(in_usd(catalog.committed[0].left), 150000);
  EXPECT_NEAR(p5(catalog, Purchase::kOnDemand), 0.92 * list, 1e-9);
  const auto wrong =
      read_agreements("agreements.csv", header + std::string("a,pool,aws,,,,\na,pool,aws,,-5,x,2027-06-30\n"), catalog);
  ASSERT_FALSE(wrong);
  for (const char* part : {"needs 'amount'", "needs 'until'", "dollars expected"})
    EXPECT_THAT(describe(wrong.error()), HasSubstr(part));
}

TEST(Agreements, EveryMistakeIsNamed) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const auto wrong = read_agreements(
      "agreements.csv",
      kHeader + std::string("a,discont,aws,,,,,12,,,\na,discount,awz,,,,,120,,,\na,reservation,aws,,,,,,0,soon,\n"),
      catalog);
  ASSERT_FALSE(wrong);
  const std::string text = describe(wrong.error());
  for (const char* part : {"did you mean 'discount'", "did you mean 'aws'", "greater than 0 and at most 100",
                           "names its machine", "names its region", "agreements.csv:4"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace rightsize::market
