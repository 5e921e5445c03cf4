#include "market/price_outlook.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "market/price_book.h"

namespace rightsize::market {
namespace {

using catalog::Catalog;
using catalog::Purchase;
using testing::HasSubstr;

constexpr const char* kTable =
    "kind,age_days,weight,low,likely,high,pairs\n"
    "list,0,1,1,1,1,0\nlist,100,1,0.8,1,1.2,9\n"
    "spot,0,1,1,1,1,0\nspot,100,0.8,0.5,1.1,1.5,9\n"
    "cheap,0,1,1,1,1,0\ncheap,100,0.5,0.5,1.1,2,9\n"
    "floor,0,1,1,1,1,0\nfloor,100,1,1,2,4,9\n";

OutlookTable table() { return *OutlookTable::parse("t.csv", kTable); }

TEST(OutlookTable, BuiltInRowsAreWhole) {
  const OutlookTable& built_in = OutlookTable::built_in();
  EXPECT_GT(built_in.spot.size(), 8U);
  // Result of the backtest: the older a cheap zone's price, the closer it moves to the median.
  EXPECT_LT(built_in.cheap.back().weight, built_in.cheap[3].weight);
  EXPECT_LT(built_in.cheap.back().weight, built_in.spot.back().weight);
}

TEST(OutlookTable, MistakesAreNamed) {
  const auto wrong =
      OutlookTable::parse("t.csv", "kind,age_days,weight,low,likely,high\nspt,0,1,1,1,1\nspot,x,1,1,1,1\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(describe(wrong.error()), HasSubstr("list, spot, cheap or floor"));
  EXPECT_THAT(describe(wrong.error()), HasSubstr("t.csv:3"));
}

// $1 with a median of $4, 100 days old: 4 x (1/4)^0.5 = $2, likely 1.1 times that.
TEST(OutlookTable, ACheapZoneGoesBackTowardsTheMedian) {
  PriceReading reading{.now = 1, .median = 4, .age_days = 100, .kind = PriceReading::kSpot};
  const PriceInterval found = table().predict(reading);
  EXPECT_NEAR(found.likely, 2.2, 1e-9);
  EXPECT_NEAR(found.low, 1, 1e-9);
  EXPECT_NEAR(found.high, 4, 1e-9);
  reading.age_days = 0;
  EXPECT_DOUBLE_EQ(table().predict(reading).likely, 1);
  reading.age_days = 50;  // halfway between the rows: weight 0.75, likely 1.05
  EXPECT_NEAR(table().predict(reading).likely, 4 * std::pow(0.25, 0.75) * 1.05, 1e-9);
  reading.age_days = 1000;  // as at the last row
  EXPECT_NEAR(table().predict(reading).likely, 2.2, 1e-9);
}

TEST(OutlookTable, NoSpotPriceIsAboveOnDemand) {
  const PriceReading reading{.now = 9, .median = 9, .most = 9.5, .age_days = 100, .kind = PriceReading::kSpot};
  const PriceInterval found = table().predict(reading);
  EXPECT_DOUBLE_EQ(found.likely, 9.5);
  EXPECT_DOUBLE_EQ(found.high, 9.5);
  EXPECT_NEAR(found.low, 4.5, 1e-9);
}

RC_GTEST_PROP(OutlookTable, AHigherPriceNeverHasALowerOutlook, ()) {
  PriceReading reading;
  reading.now = *rc::gen::inRange(1, 500) / 10.0;
  reading.median = *rc::gen::inRange(1, 500) / 10.0;
  reading.age_days = *rc::gen::inRange(0, 500);
  reading.kind = *rc::gen::element(PriceReading::kList, PriceReading::kSpot, PriceReading::kFloor);
  if (*rc::gen::arbitrary<bool>()) reading.most = *rc::gen::inRange(1, 900) / 10.0;
  const OutlookTable& built_in = OutlookTable::built_in();
  const PriceInterval cheap = built_in.predict(reading);
  RC_ASSERT(cheap.low <= cheap.likely);
  RC_ASSERT(cheap.likely <= cheap.high);
  reading.now += *rc::gen::inRange(1, 100) / 10.0;
  RC_ASSERT(built_in.predict(reading).likely >= cheap.likely - 1e-9);
}

TEST(SpotFloor, IsExactlyATenth) {
  EXPECT_TRUE(is_spot_floor(11.3933, 113.9328));  // as feeds round it
  EXPECT_FALSE(is_spot_floor(11.50, 113.9328));
  EXPECT_FALSE(is_spot_floor(1, 0));
}

// A machine in five regions; ages are counted from the day the test runs.
struct Market {
  Catalog catalog;

  Market() {
    catalog.gpus.emplace_back().name = "h100";
    catalog::Machine& machine = catalog.machines.emplace_back();
    machine.provider = "aws", machine.instance = "p5", machine.gpu = "h100", machine.gpus = 8;
  }
  catalog::Price& add(const char* region, Purchase purchase, double usd, int age) {
    catalog::Price& price = catalog.prices.emplace_back();
    price.provider = "aws", price.instance = "p5", price.region = region, price.purchase = purchase;
    price.machine_price = usd_per_machine_hour(usd);
    price.provenance.date = Date{today().day - age};
    return price;
  }
  PriceOutlook outlook(const char* region, Purchase purchase, Seconds job = hours(1)) const {
    const PriceBook book(catalog);
    for (const Offer& offer : book.offers({.regions = {region}, .purchases = {purchase}}))
      return book.outlook(offer, job);
    return {};
  }
};

TEST(Outlooks, AFloorIsNotEvidenceForTheCostOfAMachine) {
  Market market;
  for (const char* region : {"a", "b", "c"}) {
    market.add(region, Purchase::kOnDemand, 100, 60);
    market.add(region, Purchase::kSpot, 40, 60);
  }
  market.add("d", Purchase::kOnDemand, 100, 60);
  market.add("d", Purchase::kSpot, 10, 60);
  const PriceOutlook floor = market.outlook("d", Purchase::kSpot), normal = market.outlook("a", Purchase::kSpot);
  EXPECT_TRUE(floor.floor);
  EXPECT_FALSE(floor.may_lead());
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(floor.median), 40);  // floors are left out
  EXPECT_EQ(floor.peers, 3);
  EXPECT_GT(in_usd_per_machine_hour(floor.likely), 15);  // 2.6 times as high eight weeks later
  EXPECT_FALSE(normal.floor);
  EXPECT_TRUE(normal.may_lead());
  EXPECT_LE(in_usd_per_machine_hour(normal.high), 100);
  // The cheapest offer is one with a sound price.
  const PriceBook book(market.catalog);
  EXPECT_NE(book.cheapest_offer("h100", {.purchases = {Purchase::kSpot}})->price->region, "d");
}

TEST(Outlooks, ARowOverAYearOldLosesToAFreshOne) {
  Market market;
  market.add("east", Purchase::kOnDemand, 17.64, 6);
  market.add("west", Purchase::kOnDemand, 13.96, 430);
  const PriceOutlook old = market.outlook("west", Purchase::kOnDemand);
  EXPECT_TRUE(old.outdated);
  EXPECT_FALSE(old.may_lead());
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(old.likely), 17.64);  // this year's price of the machine
  EXPECT_LE(in_usd_per_machine_hour(old.low), 13.96);
  EXPECT_FALSE(market.outlook("east", Purchase::kOnDemand).outdated);
  EXPECT_EQ(PriceBook(market.catalog).gpu(market.catalog.gpus[0], Purchase::kOnDemand)->offer->price->region, "east");
}

TEST(Outlooks, WithoutAFreshRowAnOldOneIsUsedButDoesNotLead) {
  Market market;
  market.add("west", Purchase::kOnDemand, 13.96, 430);
  EXPECT_FALSE(market.outlook("west", Purchase::kOnDemand).may_lead());
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(market.outlook("west", Purchase::kOnDemand).likely), 13.96);
}

TEST(Outlooks, UnconfirmedAndPeerHostedPricesAreMarked) {
  Market market;
  market.add("east", Purchase::kOnDemand, 5, 1).provenance.unverified = {"price"};
  EXPECT_TRUE(market.outlook("east", Purchase::kOnDemand).unconfirmed);
  EXPECT_FALSE(market.outlook("east", Purchase::kOnDemand).may_lead());
  market.catalog.machines[0].community = true;
  const PriceBook book(market.catalog);
  EXPECT_TRUE(book.offers({}).empty());
  ASSERT_EQ(book.offers({.community = true}).size(), 1U);
  EXPECT_TRUE(book.outlook(book.offers({.community = true})[0], hours(1)).community);
}

TEST(Outlooks, ALongerJobIsLessCertain) {
  Market market;
  for (const char* region : {"a", "b", "c"}) market.add(region, Purchase::kSpot, 40, 0);
  const PriceOutlook hour = market.outlook("a", Purchase::kSpot),
                     month = market.outlook("a", Purchase::kSpot, days(60));
  EXPECT_LT(month.low, hour.low);
  EXPECT_GT(month.high, hour.high);
}

// Providers with one machine each; prices are per hour of its one GPU.
struct Providers {
  Catalog catalog;

  Providers() { catalog.gpus.emplace_back().name = "h100"; }
  void add(double usd, int age, std::vector<std::string> sources, bool doubted = false) {
    const std::string name = "p" + std::to_string(catalog.machines.size());
    catalog::Machine& machine = catalog.machines.emplace_back();
    machine.provider = name, machine.instance = "m", machine.gpu = "h100", machine.gpus = 1;
    catalog::Price& price = catalog.prices.emplace_back();
    price.provider = name, price.instance = "m", price.region = "r";
    price.machine_price = usd_per_machine_hour(usd);
    price.provenance.date = Date{today().day - age};
    price.provenance.sources = std::move(sources);
    if (doubted) price.provenance.unverified = {"price"};
  }
  void add_random(int oldest) {
    std::vector<std::string> sources{"a"};
    if (*rc::gen::inRange(0, 5) == 0) sources.emplace_back("b");
    add(*rc::gen::inRange(100, 400) / 100.0, *rc::gen::inRange(0, oldest), std::move(sources),
        *rc::gen::inRange(0, 8) == 0);
  }
};

// The rule as a user would state it, for each offer of a random market.
RC_GTEST_PROP(Outlooks, AnOldPriceLeadsOnlyWithASecondSource, ()) {
  Providers market;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) market.add_random(200);
  const PriceBook book(market.catalog);
  for (const Offer& offer : book.offers()) {
    const PriceOutlook outlook = book.outlook(offer, hours(1));
    int agreeing = 0;
    bool fresher = false;
    for (const Offer& other : book.offers()) {
      RC_PRE(std::fabs(std::fabs(other.rate() / offer.rate() - 1) - kAgreement) > 1e-9);  // rounding decides
      const bool recent = today() - *other.price->provenance.date <= kAgedDays;
      fresher = fresher || recent;
      if (other.machine != offer.machine && recent && other.is_confirmed() &&
          std::fabs(other.rate() / offer.rate() - 1) <= kAgreement)
        ++agreeing;
    }
    const int sources = static_cast<int>(offer.price->provenance.sources.size()) + agreeing;
    RC_ASSERT(outlook.sources == sources);
    const bool old = today() - *offer.price->provenance.date > kAgedDays;
    RC_ASSERT(outlook.may_lead() == (offer.is_confirmed() && (!old || sources >= 2 || !fresher)));
  }
}

// An old price from a single source does not change today's price of a GPU, however low it is.
RC_GTEST_PROP(Outlooks, AnAddedOlderRowNeverLeads, ()) {
  Providers market;
  market.add(*rc::gen::inRange(200, 400) / 100.0, *rc::gen::inRange(0, kAgedDays), {"a"});
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) market.add_random(200);
  const auto lead = [&] { return describe(*PriceBook(market.catalog).cheapest_offer("h100", {})); };
  const std::string before = lead();
  double least = 1e9;
  for (const catalog::Price& price : market.catalog.prices)
    least = std::min(least, in_usd_per_machine_hour(price.machine_price));
  market.add(least * *rc::gen::element(0.1, 0.3, 0.5, 0.7), kAgedDays + *rc::gen::inRange(1, 400), {"c"});
  RC_ASSERT(lead() == before);
}

// A doubtful list price neither limits spot prices nor makes them floors.
RC_GTEST_PROP(Outlooks, ADoubtfulListPriceDoesNotAffectSpot, ()) {
  Market market;
  const int age = *rc::gen::inRange(0, 200);
  market.add("a", Purchase::kSpot, *rc::gen::inRange(10, 50), age);
  market.add("b", Purchase::kSpot, *rc::gen::inRange(10, 50), age);
  const PriceOutlook before = market.outlook("a", Purchase::kSpot);
  market.add("a", Purchase::kOnDemand, *rc::gen::inRange(1, 600), age).provenance.unverified = {"price"};
  const PriceOutlook after = market.outlook("a", Purchase::kSpot);
  RC_ASSERT(before.low == after.low && before.likely == after.likely && before.high == after.high);
  RC_ASSERT(before.floor == after.floor);
}

}  // namespace
}  // namespace rightsize::market
