#include "feeds/price_store.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::feeds {
namespace {

using catalog::Purchase;

// One file: the newest prices of some offers of one feed.
struct PriceFile {
  std::string feed;
  int day = 0;
  bool complete = false, dated = true;
  std::vector<std::pair<int, int>> prices = {};  // offer, cents per hour
};

constexpr int kOffers = 6;

catalog::Catalog few_machines() {
  catalog::Catalog catalog;
  catalog.gpus.emplace_back().name = "h100";
  for (int i = 0; i < kOffers / 2; ++i) {
    catalog::Machine& machine = catalog.machines.emplace_back();
    machine.provider = i == 0 ? "other" : "acme", machine.instance = "m" + std::to_string(i), machine.gpu = "h100";
    machine.gpus = 1;
  }
  return catalog;
}

Import import_of(const PriceFile& file) {
  Import import;
  for (const auto& [offer, cents] : file.prices) {
    ImportedPrice& price = import.prices.emplace_back();
    price.provider = offer / 2 == 0 ? "other" : "acme";
    price.instance = import.shared->text("m" + std::to_string(offer / 2));
    price.region = offer % 2 == 0 ? "east" : "west";
    price.usd_per_hour = cents / 100.0;
    price.date = Date{file.day};
    price.undated = !file.dated;
    import.providers.emplace(price.provider);
  }
  std::ranges::sort(import.prices, ByOffer());
  return import;
}

// The catalogue after importing these files in this order: offer, cents, day.
std::set<std::tuple<std::string, std::string, int, int>> outcome(const std::vector<PriceFile>& files) {
  PriceStore store = *PriceStore::open(":memory:", store::Access::kWrite);
  for (const PriceFile& file : files) {
    const Result<Audit> saved =
        store.save(import_of(file), {file.feed, "file", Date{file.day}, file.complete, file.dated});
    if (!saved) throw std::runtime_error(saved.error().message);
  }
  catalog::Catalog catalog = few_machines();
  if (const Result<> added = store.add_to(catalog); !added) throw std::runtime_error(added.error().message);
  std::set<std::tuple<std::string, std::string, int, int>> found;
  for (const catalog::Price& price : catalog.prices) {
    found.emplace(price.instance, price.region,
                  static_cast<int>(std::lround(100 * in_usd_per_machine_hour(price.machine_price))),
                  price.provenance.date->day);
  }
  return found;
}

std::vector<PriceFile> random_files() {
  std::vector<PriceFile> files;
  const int count = *rc::gen::inRange(1, 7);
  for (int i = 0; i < count; ++i) {
    PriceFile& file = files.emplace_back();
    file.complete = *rc::gen::arbitrary<bool>();
    file.feed = file.complete ? "skypilot" : *rc::gen::element("csv", "aws");
    file.day = 20'000 + 10 * i + *rc::gen::inRange(0, 9);  // a different day for each file
    for (int offer = 0; offer < kOffers; ++offer) {
      if (*rc::gen::inRange(0, 3) > 0) file.prices.emplace_back(offer, *rc::gen::inRange(50, 5000));
    }
  }
  return files;
}

RC_GTEST_PROP(PriceStore, TheOrderOfImportsDoesNotMatter, ()) {
  std::vector<PriceFile> files = random_files();
  const auto in_order = outcome(files);
  std::shuffle(files.begin(), files.end(), std::mt19937(static_cast<unsigned>(*rc::gen::inRange(0, 1'000'000))));
  RC_ASSERT(outcome(files) == in_order);
}

// Neither an older price nor one of an unknown day replaces a newer one, from any feed.
RC_GTEST_PROP(PriceStore, OlderDataNeverReplacesNewer, ()) {
  std::vector<PriceFile> files = random_files();
  const auto before = outcome(files);
  PriceFile old;
  old.feed = *rc::gen::element("skypilot", "csv", "aws");
  old.complete = old.feed == "skypilot";
  old.dated = *rc::gen::arbitrary<bool>();
  old.day = old.dated ? 19'000 : 21'000;
  old.prices.emplace_back(*rc::gen::inRange(0, kOffers), *rc::gen::inRange(50, 5000));
  files.push_back(old);
  const auto after = outcome(files);
  for (const auto& price : before) RC_ASSERT(after.contains(price));
}

TEST(PriceStore, AListPriceInAnotherCurrencyIsKeptAsListed) {
  PriceStore store = *PriceStore::open(":memory:", store::Access::kWrite);
  Import import = import_of({"csv", 20'000, false, true, {{1, 116}}});
  import.prices.front().rate = import.shared->rate({"EUR", 1.16, Date{19'999}, "ecb-rates"});
  import.prices.front().list_price = 1;
  ASSERT_TRUE(store.save(import, {"csv", "file", Date{20'000}, false}));
  catalog::Catalog catalog = few_machines();
  ASSERT_TRUE(store.add_to(catalog));
  ASSERT_EQ(catalog.prices.size(), 1U);
  ASSERT_TRUE(catalog.prices.front().converted);
  EXPECT_EQ(catalog.prices.front().converted->rate.currency, "EUR");
  EXPECT_EQ(catalog.prices.front().converted->rate.date.day, 19'999);
  EXPECT_DOUBLE_EQ(catalog.prices.front().converted->amount, 1);
}

}  // namespace
}  // namespace rightsize::feeds
