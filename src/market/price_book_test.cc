#include "market/price_book.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/words.h"
#include "market/availability.h"

namespace rightsize::market {
namespace {

using catalog::Catalog;
using catalog::Purchase;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<Purchase> kPurchases = {Purchase::kOnDemand, Purchase::kSpot, Purchase::kOneYear,
                                          Purchase::kThreeYears};

void add_gpu(Catalog& catalog, const std::string& name) { catalog.gpus.emplace_back().name = name; }

void add_machine(Catalog& catalog, const std::string& name, const std::string& gpu, int gpus, bool retired = false,
                 const std::string& provider = "cloud") {
  catalog::Machine& made = catalog.machines.emplace_back();
  made.provider = provider, made.instance = name, made.gpu = gpu, made.gpus = gpus, made.retired = retired;
}

void add_price(Catalog& catalog, const std::string& name, const std::string& region, Purchase purchase, double usd,
               const std::string& provider = "cloud") {
  catalog::Price& made = catalog.prices.emplace_back();
  made.provider = provider, made.instance = name, made.region = region, made.purchase = purchase;
  made.machine_price = usd_per_machine_hour(usd);
  made.provenance.date = *parse_date("2026-08-22");
}

Catalog small_catalog() {
  Catalog catalog;
  add_gpu(catalog, "l4");
  add_gpu(catalog, "a100-40gb");
  add_gpu(catalog, "a100-80gb");
  add_machine(catalog, "one", "l4", 1);
  add_machine(catalog, "eight", "l4", 8);
  add_machine(catalog, "old", "l4", 1, true);
  add_machine(catalog, "Big.8", "a100-80gb", 8);
  add_price(catalog, "one", "east", Purchase::kOnDemand, 0.8);
  add_price(catalog, "one", "west", Purchase::kOnDemand, 0.7);
  add_price(catalog, "one", "west", Purchase::kSpot, 0.3);
  add_price(catalog, "eight", "any", Purchase::kOnDemand, 5.6);
  add_price(catalog, "old", "east", Purchase::kOnDemand, 0.1);
  add_price(catalog, "Big.8", "east", Purchase::kOnDemand, 30);
  add_price(catalog, "Big.8", "west", Purchase::kOnDemand, 24);
  add_price(catalog, "Big.8", "east", Purchase::kOneYear, 20);
  return catalog;
}

PriceBook book_with(const Catalog& catalog, const std::vector<std::string>& prices) {
  return PriceBook(catalog, *parse_own_prices(prices, catalog));
}

const catalog::Gpu& gpu(const Catalog& catalog, const char* name) { return **catalog.find_gpu(name); }
const catalog::Machine& machine(const Catalog& catalog, const char* name) {
  return *catalog.find_machine("cloud", name);
}

TEST(Offers, RetiredMachinesAreLeftOutByDefault) {
  const Catalog catalog = small_catalog();
  EXPECT_EQ(PriceBook(catalog).offers({}).size(), 7U);
  EXPECT_EQ(PriceBook(catalog).offers({.retired = true}).size(), 8U);
}

// A region name belongs to one provider; a price without a region matches every part of the world.
TEST(Offers, APriceWithoutARegionMatchesEveryPartOfTheWorld) {
  const Catalog catalog = small_catalog();
  const auto named = PriceBook(catalog).offers({.regions = {"west"}, .purchases = {Purchase::kOnDemand}});
  EXPECT_TRUE(std::all_of(named.begin(), named.end(), [](const Offer& o) { return o.price->region == "west"; }));
  const auto found = PriceBook(catalog).offers({.regions = {"west", "any"}, .purchases = {Purchase::kOnDemand}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].machine->instance, "Big.8");
  EXPECT_EQ(found[1].machine->instance, "eight");
  EXPECT_EQ(found[2].price->region, "west");
}

TEST(Offers, TheOrderOfRowsDoesNotMatter) {
  Catalog catalog = small_catalog();
  const auto names = [](const Catalog& of) {
    std::vector<std::string> texts;
    for (const Offer& o : PriceBook(of).offers({})) texts.push_back(describe(o));
    return texts;
  };
  const auto before = names(catalog);
  std::mt19937 random(1);
  std::shuffle(catalog.machines.begin(), catalog.machines.end(), random);
  std::shuffle(catalog.prices.begin(), catalog.prices.end(), random);
  EXPECT_EQ(names(catalog), before);
}

// Spot prices and commitments stay: they are other ways to buy the same machine.
TEST(Offers, AnOwnPriceReplacesTheOnDemandPricesOfItsMachine) {
  const Catalog catalog = small_catalog();
  const PriceBook book = book_with(catalog, {"big.8=16", "l4=0.5"});
  std::vector<std::string> own;
  for (const Offer& offer : book.offers({})) {
    EXPECT_EQ(offer.is_own(), offer.price->purchase == Purchase::kOnDemand) << describe(offer);
    if (offer.is_own()) own.push_back(describe(offer));
  }
  ASSERT_EQ(own.size(), 3U);
  EXPECT_THAT(own[0], StartsWith("cloud Big.8 (8 GPUs), any, on-demand"));
  EXPECT_EQ(in_usd_per_machine_hour(book.offers({.gpus = {"l4"}}).front().rate()), 4) << "8 GPUs at 0.50";
  EXPECT_EQ(book.offers({.purchases = {Purchase::kOneYear}}).size(), 1U);
}

// 5.6 / 8 = 0.70, as in the west: the smaller machine is chosen.
TEST(GpuPrice, AtEqualPricesTheSmallerMachineIsChosen) {
  const Catalog catalog = small_catalog();
  const PriceBook book(catalog);
  const auto best = book.gpu(gpu(catalog, "l4"), Purchase::kOnDemand);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->source(), "cloud one (1 GPU), west, on-demand, 2026-08-22");
  EXPECT_EQ(*best->date(), *parse_date("2026-08-22"));
  EXPECT_FALSE(best->is_own());
  EXPECT_FALSE(book.gpu(gpu(catalog, "a100-40gb"), OfferFilter{})) << "no offer";
  EXPECT_FALSE(book.gpu(gpu(catalog, "l4"), Purchase::kThreeYears));
}

// The order: price of the GPU, of a machine with it, of every GPU, then the catalogue.
TEST(GpuPrice, TheMostSpecificOwnPriceComesFirst) {
  const Catalog catalog = small_catalog();
  const auto price = [&](const std::vector<std::string>& own, const char* name) {
    const auto quote = book_with(catalog, own).gpu(gpu(catalog, name), Purchase::kSpot);
    return quote ? fmt::format("{:.2f} {}", in_usd_per_gpu_hour(quote->rate), quote->source()) : "none";
  };
  EXPECT_EQ(price({"a100-80gb=3", "big.8=16", "9"}, "a100-80gb"), "3.00 own: --price a100-80gb");
  EXPECT_EQ(price({"BIG.8=16", "9"}, "a100-80gb"), "2.00 own: --price big.8");
  EXPECT_EQ(price({"one=0.9", "eight=6.4"}, "l4"), "0.80 own: --price eight");
  EXPECT_EQ(price({"*=9"}, "a100-80gb"), "9.00 own: --price *");
  EXPECT_EQ(price({"big.8=16"}, "l4"), "0.30 cloud one (1 GPU), west, spot, 2026-08-22");
  EXPECT_EQ(price({"big.8=16"}, "a100-40gb"), "none");
}

TEST(OwnGpu, AFamilyWithOnePriceIsPricedByItsName) {
  const Catalog catalog = small_catalog();
  const auto price = [&](const std::vector<std::string>& own, const char* name) {
    const auto quote = book_with(catalog, own).own_gpu(name);
    return quote ? in_usd_per_gpu_hour(quote->rate) : 0;
  };
  EXPECT_DOUBLE_EQ(price({"a100=2"}, "a100"), 2);
  EXPECT_DOUBLE_EQ(price({"a100=2", "a100-80gb=3"}, "a100"), 0) << "its members cost differently";
  EXPECT_DOUBLE_EQ(price({"a100-80gb=3"}, "a100"), 0) << "one of its members has no price";
  EXPECT_DOUBLE_EQ(price({"a100=2", "*=1"}, "Voodoo 2"), 1);
  EXPECT_DOUBLE_EQ(price({}, "a100"), 0);
}

TEST(MachinePrice, OwnPriceThenTheRegionsThenTheCheapest) {
  const Catalog catalog = small_catalog();
  const catalog::Machine& big = machine(catalog, "Big.8");
  const PriceBook book(catalog);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(book.machine(big, Purchase::kOnDemand, "east")->rate), 30);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(book.machine(big, Purchase::kOnDemand, "mars")->rate), 24);
  EXPECT_FALSE(book.machine(big, Purchase::kSpot, "east"));
  EXPECT_TRUE(book.machine(machine(catalog, "old"), Purchase::kOnDemand, "")) << "someone still runs it";
  const PriceBook own = book_with(catalog, {"a100=2"});
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(own.machine(big, Purchase::kOnDemand, "east")->rate), 16);
  EXPECT_EQ(own.machine(big, Purchase::kSpot, "east")->source(), "own: --price a100-80gb");
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(own.list_price(big, Purchase::kOneYear, "east")->rate), 20);
}

Catalog random_catalog() {
  Catalog catalog;
  const int gpus = *rc::gen::inRange(1, 5), machines = *rc::gen::inRange(1, 8), prices = *rc::gen::inRange(0, 30);
  for (int i = 0; i < gpus; ++i) add_gpu(catalog, fmt::format("gpu-{}", i));
  for (int i = 0; i < machines; ++i) {
    add_machine(catalog, fmt::format("m{}", i), fmt::format("gpu-{}", *rc::gen::inRange(0, gpus)),
                *rc::gen::element(1, 2, 4, 8),
                *rc::gen::weightedOneOf<bool>({{4, rc::gen::just(false)}, {1, rc::gen::just(true)}}),
                i % 2 == 0 ? "aws" : "gcp");
  }
  for (int i = 0; i < prices; ++i) {
    const catalog::Machine& of = catalog.machines[*rc::gen::inRange<std::size_t>(0, catalog.machines.size())];
    // The range is less than tenfold: a spot price at a tenth of on-demand is a launch floor, which never leads.
    add_price(catalog, of.instance, *rc::gen::element<std::string>("any", "east", "west"),
              *rc::gen::elementOf(kPurchases), *rc::gen::inRange(6, 56) * 0.25, of.provider);
    catalog.prices.back().provenance.date = today();  // old prices of commitments do not lead
  }
  return catalog;
}

OfferFilter random_filter() {
  OfferFilter filter;
  if (*rc::gen::arbitrary<bool>()) filter.providers = {*rc::gen::element<std::string>("aws", "gcp")};
  if (*rc::gen::arbitrary<bool>()) filter.regions = {*rc::gen::element<std::string>("east", "west")};
  if (*rc::gen::arbitrary<bool>()) filter.purchases = {*rc::gen::elementOf(kPurchases)};
  filter.retired = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) filter.excluded = {*rc::gen::element<std::string>("aws", "gcp", "gpu-0", "gpu-1")};
  return filter;
}

template <class T>
bool matches(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || wanted.front() == value;
}

// A row-by-row lookup, as a reader of the tables would do it.
std::optional<double> cheapest_by_hand(const Catalog& catalog, const std::string& name, const OfferFilter& filter) {
  std::optional<double> best;
  for (const catalog::Price& row : catalog.prices) {
    const catalog::Machine& of = *catalog.find_machine(row.provider, row.instance);
    if (of.gpu != name || (of.retired && !filter.retired) || !matches(filter.providers, row.provider)) continue;
    if (!filter.excluded.empty() && (filter.excluded.front() == row.provider || filter.excluded.front() == of.gpu))
      continue;
    if (!matches(filter.purchases, row.purchase) || !matches(filter.regions, row.region)) continue;
    const double each = in_usd_per_machine_hour(row.machine_price) / of.gpus;
    best = std::min(best.value_or(each), each);
  }
  return best;
}

// Every lookup (one GPU, its cheapest offer, all offers, every machine's list price) gives the same price.
RC_GTEST_PROP(PriceBook, EveryLookUpGivesTheSamePrice, ()) {
  const Catalog catalog = random_catalog();
  const OfferFilter filter = random_filter();
  const PriceBook book(catalog);
  for (const catalog::Gpu& each : catalog.gpus) {
    const std::optional<double> truth = cheapest_by_hand(catalog, each.name, filter);
    const auto quote = book.gpu(each, filter);
    const auto offer = book.cheapest_offer(each.name, filter);
    RC_ASSERT(quote.has_value() == truth.has_value());
    RC_ASSERT(offer.has_value() == truth.has_value());
    std::optional<UsdPerGpuSecond> least;
    for (const Offer& one : book.offers(filter)) {
      if (one.gpu->name == each.name) least = std::min(least.value_or(one.rate_per_gpu()), one.rate_per_gpu());
    }
    RC_ASSERT(least.has_value() == truth.has_value());
    if (!truth) continue;
    RC_ASSERT(std::abs(in_usd_per_gpu_hour(quote->rate) - *truth) < 1e-9);
    RC_ASSERT(quote->rate == offer->rate_per_gpu());
    RC_ASSERT(quote->rate == *least);
    // The named machine has that list price in the named region.
    const auto listed = book.list_price(*offer->machine, offer->price->purchase, offer->price->region);
    RC_ASSERT(listed.has_value());
    RC_ASSERT(listed->rate <= offer->rate());
  }
}

// GPUs that share a model are priced on machines that have that number, if there are such machines.
RC_GTEST_PROP(PriceBook, GpusTogetherArePricedOnAMachineThatHasThem, ()) {
  const Catalog catalog = random_catalog();
  const PriceBook book(catalog);
  const int together = *rc::gen::inRange(1, 20);
  const Purchase purchase = *rc::gen::elementOf(kPurchases);
  for (const catalog::Gpu& each : catalog.gpus) {
    std::optional<UsdPerGpuSecond> least;
    for (const Offer& one : book.offers({.purchases = {purchase}, .gpus = {each.name}})) {
      if (one.machine->gpus >= together) least = std::min(least.value_or(one.rate_per_gpu()), one.rate_per_gpu());
    }
    const auto quote = book.gpu(each, purchase, together), any = book.gpu(each, purchase);
    RC_ASSERT(quote.has_value() == any.has_value());
    if (least) RC_ASSERT(quote->rate == *least);
    if (quote) RC_ASSERT(quote->rate >= any->rate);
  }
}

// An own price of a GPU applies to all its machines, times their number of GPUs, with any filter.
RC_GTEST_PROP(PriceBook, AnOwnPriceHoldsInEveryLookUp, ()) {
  const Catalog catalog = random_catalog();
  const OfferFilter filter = random_filter();
  const double usd = *rc::gen::inRange(1, 400) * 0.05;
  const catalog::Gpu& mine = catalog.gpus[*rc::gen::inRange<std::size_t>(0, catalog.gpus.size())];
  const PriceBook book = book_with(catalog, {fmt::format("{}={}", mine.name, usd)});
  RC_ASSERT(std::abs(in_usd_per_gpu_hour(book.gpu(mine, filter)->rate) - usd) < 1e-9);
  for (const catalog::Machine& each : catalog.machines) {
    const auto quote = book.machine(each, Purchase::kOnDemand, "east");
    if (each.gpu != mine.name) {
      const auto listed = PriceBook(catalog).machine(each, Purchase::kOnDemand, "east");
      RC_ASSERT(quote.has_value() == listed.has_value());
      if (quote) RC_ASSERT(quote->rate == listed->rate);
      continue;
    }
    RC_ASSERT(quote->is_own());
    RC_ASSERT(std::abs(in_usd_per_machine_hour(quote->rate) - usd * each.gpus) < 1e-9);
  }
  for (const Offer& offer : book.offers(filter)) {
    if (offer.machine->gpu != mine.name || offer.price->purchase != Purchase::kOnDemand) continue;
    RC_ASSERT(offer.is_own());
    RC_ASSERT(std::abs(in_usd_per_gpu_hour(offer.rate_per_gpu()) - usd) < 1e-9);
  }
}

// A floor price of an offer that has existed for longer than a launch is an ordinary price.
TEST(PriceBook, OnlyALaunchFloorNeverLeads) {
  catalog::Catalog catalog = *catalog::load_catalog("");
  const auto floor = std::find_if(catalog.prices.begin(), catalog.prices.end(), [](const catalog::Price& price) {
    return price.instance == "g7e.2xlarge" && price.zone == "aps1-az3" && price.purchase == Purchase::kSpot;
  });
  ASSERT_NE(floor, catalog.prices.end());
  const auto may_lead = [&](std::optional<int> known_days) {
    floor->since.reset();
    if (known_days) floor->since = Date{floor->provenance.date->day - *known_days};
    const PriceBook book(catalog);
    for (const Offer& offer : book.offers({.gpus = {"rtx-pro-6000"}}))
      if (offer.price == &*floor) return book.outlook(offer, days(1)).may_lead();
    ADD_FAILURE() << "not offered";
    return false;
  };
  EXPECT_FALSE(may_lead(std::nullopt));
  EXPECT_FALSE(may_lead(kLaunchDays - 1));
  EXPECT_TRUE(may_lead(kLaunchDays));
}

// For any requested part of the world, every offer has a region of its provider there, and offers for region "any" are
// either placed or reported.
TEST(Offers, APartOfTheWorldIsMeantLiterally) {
  const Catalog catalog = *catalog::load_catalog("");
  const PriceBook book(catalog);
  const OfferFilter everywhere{.regions = {std::string(catalog::kAnyRegion)}, .community = true};
  for (const char* part : {"us", "europe", "asia", "canada", "oceania", "middle-east"}) {
    OfferFilter filter;
    filter.community = true;
    filter.regions = *catalog::match_regions(part, catalog::known_regions(catalog));
    std::set<const catalog::Machine*> placed;
    for (const Offer& offer : book.offers(filter)) {
      EXPECT_EQ(catalog::part_of_world(offer.price->region), part) << describe(offer);
      placed.insert(offer.machine);
    }
    std::set<const catalog::Machine*> unplaced;
    for (const Offer& offer : book.unplaced(filter)) unplaced.insert(offer.machine);
    for (const Offer& offer : book.offers(everywhere))
      EXPECT_NE(placed.contains(offer.machine), unplaced.contains(offer.machine)) << part << " " << describe(offer);
  }
}

// A placed offer keeps the provider's global price, and only machines with the named GPU are placed.
TEST(Offers, APlacedOfferIsTheSamePrice) {
  Catalog catalog = small_catalog();
  catalog.gpu_regions.push_back({"cloud", "l4", "eu-west-9", {{"docs"}, today(), {}, {}, {}, 0}});
  const PriceBook book(catalog);
  const auto there = book.offers({.regions = {"eu-west-9"}});
  ASSERT_EQ(there.size(), 1U);
  EXPECT_EQ(there.front().machine->instance, "eight");
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(there.front().rate()), 5.6);
  EXPECT_EQ(book.offers({}).size(), 7U);
  EXPECT_EQ(book.cheapest_offer("l4", {.regions = {"eu-west-9"}})->price->region, "eu-west-9");
  EXPECT_TRUE(book.unplaced({.regions = {"eu-west-9"}}).empty());
  EXPECT_EQ(book.unplaced({.regions = {"elsewhere"}}).size(), 1U);
}

// The fallback never needs the capacity of the first choice.
TEST(Availability, AFallbackNeedsOtherCapacity) {
  const Catalog catalog = *catalog::load_catalog("");
  const PriceBook book(catalog);
  int found = 0;
  for (const Offer& offer : book.offers({.purchases = {Purchase::kOnDemand}})) {
    const std::optional<Offer> other = fallback(book, offer, {});
    if (++found > 200) break;
    if (!other) continue;
    EXPECT_TRUE(other->gpu != offer.gpu || other->machine->provider != offer.machine->provider) << describe(offer);
    EXPECT_GE(other->gpu->memory, offer.gpu->memory) << describe(offer);
    EXPECT_TRUE(book.outlook(*other, Seconds{}).may_lead()) << describe(offer);
  }
  EXPECT_THAT(availability(book, book.offers({.providers = {"aws"}}).front()).capacity, HasSubstr("8 weeks"));
}

}  // namespace
}  // namespace rightsize::market
