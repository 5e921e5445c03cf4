#include "market/offers.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::market {
namespace {

using catalog::Purchase;

catalog::Catalog two_machines() {
  catalog::Catalog catalog;
  catalog.gpus.resize(2);
  catalog.gpus[0].name = "l4";
  catalog.gpus[1].name = "a100";
  const auto machine = [&](const char* name, const char* gpu, int gpus, bool retired = false) {
    catalog::Machine made;
    made.provider = "cloud", made.instance = name, made.gpu = gpu, made.gpus = gpus, made.retired = retired;
    catalog.machines.push_back(made);
  };
  machine("one", "l4", 1);
  machine("eight", "l4", 8);
  machine("old", "l4", 1, true);
  machine("big", "a100", 8);
  const auto price = [&](const char* name, const char* region, Purchase purchase, double usd) {
    catalog::Price made;
    made.provider = "cloud", made.instance = name, made.region = region, made.purchase = purchase;
    made.machine_price = usd_per_hour(usd);
    catalog.prices.push_back(made);
  };
  price("one", "east", Purchase::kOnDemand, 0.8);
  price("one", "west", Purchase::kOnDemand, 0.7);
  price("one", "west", Purchase::kSpot, 0.3);
  price("eight", "any", Purchase::kOnDemand, 5.6);
  price("old", "east", Purchase::kOnDemand, 0.1);
  price("big", "east", Purchase::kOnDemand, 30);
  return catalog;
}

TEST(Offers, RetiredMachinesAreLeftOutUnlessAskedFor) {
  const catalog::Catalog catalog = two_machines();
  EXPECT_EQ(offers(catalog, {}).size(), 5U);
  EXPECT_EQ(offers(catalog, {.retired = true}).size(), 6U);
}

TEST(Offers, APriceForAnyRegionAnswersEveryRegion) {
  const catalog::Catalog catalog = two_machines();
  const auto found = offers(catalog, {.regions = {"west"}, .purchases = {Purchase::kOnDemand}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].machine->instance, "eight");
  EXPECT_EQ(found[1].price->region, "west");
}

TEST(Offers, OrderOfRowsDoesNotMatter) {
  catalog::Catalog catalog = two_machines();
  const auto names = [](const std::vector<Offer>& list) {
    std::vector<std::string> texts;
    for (const Offer& o : list) texts.push_back(o.machine->instance + o.price->region);
    return texts;
  };
  const auto before = names(offers(catalog, {}));
  std::mt19937 random(1);
  std::shuffle(catalog.machines.begin(), catalog.machines.end(), random);
  std::shuffle(catalog.prices.begin(), catalog.prices.end(), random);
  EXPECT_EQ(names(offers(catalog, {})), before);
}

// 5.6 / 8 = 0.70 as in the west: the smaller machine is taken.
TEST(CheapestGpu, EqualSharesGoToTheSmallerMachine) {
  const catalog::Catalog catalog = two_machines();
  const auto best = cheapest_gpu(offers(catalog, {.purchases = {Purchase::kOnDemand}}), "l4");
  ASSERT_TRUE(best);
  EXPECT_EQ(best->machine->instance, "one");
  EXPECT_EQ(best->price->region, "west");
  EXPECT_FALSE(cheapest_gpu(offers(catalog, {}), "h100"));
}

}  // namespace
}  // namespace rightsize::market
