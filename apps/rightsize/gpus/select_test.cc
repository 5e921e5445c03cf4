#include "rightsize/gpus/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "settings/setting.h"

namespace rightsize::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

catalog::Gpu gpu(const char* name, const char* vendor, Bytes memory, int year) {
  catalog::Gpu made;
  made.name = name, made.vendor = vendor, made.memory = memory, made.year = year;
  return made;
}

catalog::Catalog three() {
  catalog::Catalog catalog;
  catalog.gpus = {gpu("l4", "NVIDIA", gib(24), 2023), gpu("mi300x", "AMD", gib(192), 2023),
                  gpu("t4", "NVIDIA", gib(16), 2018)};
  return catalog;
}

std::vector<std::string> names(const GpuChoice& choice) {
  const catalog::Catalog catalog = three();
  const std::vector<const catalog::Gpu*> gpus = select_gpus(choice, catalog).value();
  std::vector<std::string> found;
  for (const catalog::Gpu* each : gpus) found.push_back(each->name);
  return found;
}

TEST(SelectGpus, WithoutAFilterListsAllGpusInCatalogueOrder) {
  EXPECT_THAT(names({}), ElementsAre("l4", "mi300x", "t4"));
}

TEST(SelectGpus, VendorNamesIgnoreCase) {
  EXPECT_THAT(names({.gpus = {}, .vendor = "nvidia"}), ElementsAre("l4", "t4"));
}

TEST(SelectGpus, MemoryIsALowerBound) {
  EXPECT_THAT(names({.gpus = {}, .vendor = "", .min_memory = gib(24)}), ElementsAre("l4", "mi300x"));
}

TEST(SelectGpus, ASizeThatNoGpuHasIsAName) {
  const catalog::Catalog catalog = three();
  EXPECT_FALSE(select_gpus({.gpus = {"4070ti"}, .vendor = ""}, catalog));  // not 4,070 TiB
  EXPECT_EQ(select_gpus({.gpus = {"24GB"}, .vendor = ""}, catalog)->size(), 2u);
}

TEST(SelectGpus, BandwidthIsALowerBound) {
  catalog::Catalog catalog = three();
  catalog.gpus[0].bandwidth = gb_per_s(300);
  catalog.gpus[1].bandwidth = gb_per_s(5300);
  const auto found = select_gpus({.gpus = {}, .vendor = "", .min_bandwidth = gb_per_s(301)}, catalog).value();
  EXPECT_THAT(found, ElementsAre(&catalog.gpus[1]));
}

TEST(SelectGpus, PowerIsAnUpperBoundAndMustBeKnown) {
  catalog::Catalog catalog = three();
  catalog.gpus[0].tdp = watts(72);
  catalog.gpus[1].tdp = watts(750);
  const auto found = select_gpus({.gpus = {}, .vendor = "", .max_watts = 350}, catalog).value();
  EXPECT_THAT(found, ElementsAre(&catalog.gpus[0]));
}

TEST(SelectGpus, EveryNumberFormatSelectsTheGpusThatSupportIt) {
  catalog::Catalog catalog = three();
  for (int i = 0; i < catalog::kNumberFormats; ++i) {
    const std::string format(name_of(static_cast<catalog::NumberFormat>(i)));
    ASSERT_TRUE(settings::read(settings::get("supports"), format)) << format;
    catalog.gpus[1].peaks[i].supported = true;
    EXPECT_THAT(select_gpus({.gpus = {}, .vendor = "", .supports = format}, catalog).value(),
                ElementsAre(&catalog.gpus[1]));
    catalog.gpus[1].peaks[i].supported = false;
  }
}

TEST(SelectGpus, TheLargestComesFirstAndEqualsKeepTheirOrder) {
  EXPECT_THAT(names({.gpus = {}, .vendor = "", .sort = "memory"}), ElementsAre("mi300x", "l4", "t4"));
  EXPECT_THAT(names({.gpus = {}, .vendor = "", .sort = "year"}), ElementsAre("l4", "mi300x", "t4"));
}

TEST(SelectGpus, MistakesGetASuggestion) {
  const catalog::Catalog catalog = three();
  const auto said = [&](const GpuChoice& choice) { return describe(select_gpus(choice, catalog).error()); };
  EXPECT_THAT(said({.gpus = {}, .vendor = "NVIDA"}), HasSubstr("NVIDIA"));
  EXPECT_THAT(said({.gpus = {}, .vendor = "", .sort = "memry"}), HasSubstr("memory"));
}

TEST(SelectGpus, TheCheapestComesFirstAndUnpricedGpusLast) {
  const catalog::Catalog& catalog = built_in_catalog();
  const market::PriceBook book(catalog);
  for (const char* name : {"price", "cost", "cheapest"}) {
    const GpuChoice choice{.gpus = {}, .vendor = "", .sort = name};
    EXPECT_TRUE(sorts_by_price(choice));
    const auto found = select_gpus(choice, catalog, &book).value();
    ASSERT_EQ(found.size(), catalog.gpus.size());
    double before = 0;
    for (const catalog::Gpu* each : found) {
      const auto price = price_of(*each, &book);
      const double usd = price ? in_usd_per_gpu_hour(*price) : std::numeric_limits<double>::infinity();
      EXPECT_GE(usd, before) << each->name;
      before = usd;
    }
  }
  EXPECT_FALSE(sorts_by_price({.gpus = {}, .vendor = "", .sort = "memory"}));
}

}  // namespace
}  // namespace rightsize::app
