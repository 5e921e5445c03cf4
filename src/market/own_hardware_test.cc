#include "market/own_hardware.h"

#include <gtest/gtest.h>

#include "market/price_book.h"

namespace rightsize::market {
namespace {

// 8 x 700 W + 1,500 W = 7.1 kW, x 1.3 = 9.23 kW x 0.12 = $1.1076; $280,000 / (4 x 8,760 x 0.7) = $11.4155.
TEST(HourlyCost, HourlyCostMatchesAHandCalculation) {
  OwnHardware own;
  own.price = usd(280000);
  EXPECT_NEAR(in_usd_per_machine_hour(hourly_cost(own, watts(7100))), 11.4155 + 1.1076, 1e-3);
}

TEST(AddOwnHardware, CompetesInThePriceBookAtItsHourlyCost) {
  catalog::Catalog catalog;
  catalog.gpus.resize(1);
  catalog.gpus[0].name = "h100-sxm";
  catalog.gpus[0].tdp = watts(700);
  OwnHardware own;
  own.gpu = "h100-sxm";
  own.price = usd(280000);
  ASSERT_TRUE(add_own_hardware(catalog, {own}));
  const PriceBook book(catalog);
  const auto quote = book.gpu(catalog.gpus[0], catalog::Purchase::kOnDemand);
  ASSERT_TRUE(quote && quote->offer);
  EXPECT_NEAR(in_usd_per_gpu_hour(quote->rate), (11.4155 + 1.1076) / 8, 1e-3);
  EXPECT_EQ(quote->offer->machine->provider, "own");
  EXPECT_TRUE(quote->offer->is_own());
  // The purchase price decides, not a rental price for such a GPU.
  OwnPrices rented;
  rented.gpus["h100-sxm"] = usd_per_gpu_hour(9);
  const PriceBook both(catalog, rented);
  EXPECT_EQ(both.machine(catalog.machines[0], catalog::Purchase::kOnDemand, "")->rate,
            hourly_cost(own, watts(7100)));
  catalog.gpus[0].tdp.reset();
  EXPECT_FALSE(add_own_hardware(catalog, {own}));
}

}  // namespace
}  // namespace rightsize::market
