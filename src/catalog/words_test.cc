#include "catalog/words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/text.h"

namespace rightsize::catalog {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(Places, EveryRowOfTheTableIsRead) {
  const Csv table = *Csv::parse("places.csv", std::string(embedded_file("places.csv")));
  EXPECT_THAT(table.header(), ElementsAre("kind", "meaning", "names", "inside", "codes", "regions"));
  for (const CsvRow& row : table.rows()) {
    const std::string_view kind = table.cell(row, "kind"), meaning = table.cell(row, "meaning");
    EXPECT_THAT(kind, testing::AnyOf("part", "place", "outside-eu", "provider")) << row.line;
    EXPECT_EQ(meaning.empty(), kind == "place" || kind == "outside-eu") << row.line;
    for (const std::string_view region : split_list(table.cell(row, "regions"), ' ')) {
      if (kind == "part") {
        EXPECT_EQ(part_of_world(region), meaning);
      }
    }
    for (const std::string_view name : split_list(table.cell(row, "names"), ' ')) {
      EXPECT_EQ(fold_name(name), name) << row.line;
      if (kind != "provider") continue;
      EXPECT_THAT(*match_providers(name, {std::string(meaning)}), ElementsAre(meaning));
    }
  }
}

TEST(Places, EveryProvidersWayToNameRegions) {
  for (const char* us : {"us-east-1", "us-central1", "eastus2", "southcentralus", "US-1", "chicago-usa-2", "US"})
    EXPECT_EQ(part_of_world(us), "us") << us;
  for (const char* europe : {"eu-west-2", "europe-west4", "westeurope", "uksouth", "fr-par", "FIN-01", "eu-de", "WAW",
                             "no-kristiansand-1", "it-fr2", "oslo-norway-3", "germanywestcentral"})
    EXPECT_EQ(part_of_world(europe), "europe") << europe;
  for (const char* asia :
       {"ap-northeast-1", "asia-east1", "japaneast", "southeastasia", "koreacentral", "jp-tok", "IN"})
    EXPECT_EQ(part_of_world(asia), "asia") << asia;
  EXPECT_EQ(part_of_world("ap-southeast-2"), "oceania");
  EXPECT_EQ(part_of_world("Indiana, US, NA"), "us");
  EXPECT_EQ(part_of_world(", US, NA"), "us");
  EXPECT_EQ(part_of_world("Quebec, CA, NA"), "canada");
  EXPECT_EQ(part_of_world("Bulgaria, BG, EU"), "europe");
  EXPECT_EQ(part_of_world("Vietnam, VN, AS"), "asia");
  EXPECT_EQ(part_of_world("ca-central-1"), "canada");
  EXPECT_EQ(part_of_world("any"), "");
}

TEST(Places, RegionsByNameBeginningAndPartOfTheWorld) {
  const std::set<std::string> known{"ap-south-1", "eastus", "eu-west-1", "europe-west4", "us-east-1", "us-east-2"};
  EXPECT_THAT(*match_regions("us", known), ElementsAre("eastus", "us-east-1", "us-east-2"));
  EXPECT_THAT(*match_regions("EU", known), ElementsAre("eu-west-1", "europe-west4"));
  // The UK and Switzerland are in Europe, not in the EU, whatever a provider calls its regions there.
  const std::set<std::string> outside{"uk-south1",        "uksouth",        "eu-west-2",   "eu-central-2",
                                      "europe-west2",     "europe-west6",   "eu-gb",       "LON",
                                      "switzerlandnorth", "London, GB, EU", "uk-london-1", "eu-zurich-1"};
  const std::set<std::string> inside{"eu-west-1",  "europe-west4", "westeurope",      "fr-par",
                                     "norwayeast", "IS",           "Bulgaria, BG, EU"};
  std::set<std::string> both = outside;
  both.insert(inside.begin(), inside.end());
  EXPECT_THAT(*match_regions("eu", both), ElementsAreArray(inside));
  EXPECT_THAT(*match_regions("europe", both), ElementsAreArray(both));
  EXPECT_THAT(*match_regions("us-east-1,asia", known), ElementsAre("us-east-1", "ap-south-1"));
  const std::set<std::string> with_any{"any", "us-east-1", "us-west-2"};
  EXPECT_THAT(*match_regions("us", with_any), ElementsAre("us-east-1", "us-west-2"));
  EXPECT_THAT(*match_regions("us-east-1", with_any), ElementsAre("us-east-1"));
  EXPECT_THAT(*match_regions("us-east-1,any", with_any), ElementsAre("us-east-1", "any"));
  EXPECT_THAT(describe(match_regions("us-est-1", known).error()), HasSubstr("did you mean 'us-east-1'"));
}

// Every region of a country is in the part of the world that the country is in, and never in two countries.
TEST(Places, CountriesAreTheirRegions) {
  const Catalog catalog = *load_catalog("");
  const std::set<std::string> known = known_regions(catalog);
  std::set<std::string> taken;
  for (const char* country : {"germany", "france", "uk", "ireland", "netherlands", "belgium", "sweden", "finland",
                              "norway", "poland", "italy", "spain", "switzerland"}) {
    const auto regions = match_regions(country, known);
    if (!regions) continue;  // no price there
    for (const std::string& region : *regions) {
      EXPECT_EQ(part_of_world(region), "europe") << country << " " << region;
      EXPECT_TRUE(taken.insert(region).second) << country << " " << region;
    }
  }
  EXPECT_THAT(*match_regions("Germany", known), testing::IsSupersetOf({"eu-central-1", "europe-west3", "DE", "eu-de"}));
  EXPECT_THAT(*match_regions("de", known), ElementsAreArray(*match_regions("germany", known)));
  EXPECT_THAT(*match_regions("japan,korea", known), Contains("ap-northeast-2"));
}

// A city is a part of its country.
TEST(Places, CitiesArePartsOfTheirCountries) {
  const std::set<std::string> known = known_regions(*load_catalog(""));
  for (const auto& [city, country] : std::map<std::string, std::string>{{"Frankfurt", "germany"},
                                                                        {"London", "uk"},
                                                                        {"Paris", "france"},
                                                                        {"Dublin", "ireland"},
                                                                        {"Tokyo", "japan"},
                                                                        {"Sao Paulo", "brazil"},
                                                                        {"Virginia", "us"},
                                                                        {"Oregon", "us"}}) {
    const auto regions = match_regions(city, known);
    ASSERT_TRUE(regions) << city;
    EXPECT_FALSE(regions->empty()) << city;
    EXPECT_THAT(*match_regions(country, known), testing::IsSupersetOf(*regions)) << city;
  }
}

TEST(Places, ProvidersByTheirCompanies) {
  const std::set<std::string> known{"aws", "azure", "gcp", "lambda"};
  EXPECT_THAT(*match_providers("Amazon, google", known), ElementsAre("aws", "gcp"));
  EXPECT_THAT(describe(match_providers("azur", known).error()), HasSubstr("did you mean 'azure'"));
}

TEST(GpuWords, NumbersOfGpus) {
  EXPECT_EQ(split_gpu_count("H100:8").name, "H100");
  EXPECT_EQ(split_gpu_count("H100:8").count, 8);
  EXPECT_EQ(split_gpu_count("8xH100").count, 8);
  EXPECT_EQ(split_gpu_count("8 x H100").name, "H100");
  EXPECT_EQ(split_gpu_count("rtx-4090").count, std::nullopt);
  EXPECT_EQ(split_gpu_count("mi300x").name, "mi300x");
  EXPECT_EQ(split_gpu_count("h100:many").name, "h100:many");
  for (const char* four : {"h100x4", "h100*4", "h100:4", "4xh100", "4*h100", "4 x h100", "h100 x4"}) {
    EXPECT_EQ(split_gpu_count(four).name, "h100") << four;
    EXPECT_EQ(split_gpu_count(four).count, 4) << four;
  }
  EXPECT_EQ(split_gpu_count("4090x2").count, 2);
  EXPECT_EQ(split_gpu_count("2x4090").name, "4090");
  EXPECT_EQ(split_gpu_count("rtx4000").count, std::nullopt);
}

TEST(GpuWords, TheUsualMemberOfAFamily) {
  const Catalog catalog = *load_catalog("");
  EXPECT_EQ(usual_gpu(catalog, "h100")->gpu->name, "h100-sxm");
  EXPECT_EQ(usual_gpu(catalog, "A100")->gpu->name, "a100-80gb-sxm");
  EXPECT_EQ(usual_gpu(catalog, "A100")->others.size(), 3u);
  EXPECT_EQ(usual_gpu(catalog, "l4")->gpu->name, "l4");
  EXPECT_TRUE(usual_gpu(catalog, "l4")->others.empty());
  EXPECT_EQ(usual_gpu(catalog, "4090")->gpu->name, "rtx-4090");
  // A number of four digits is enough, with or without separators in the name.
  for (const Gpu& gpu : catalog.gpus) {
    const std::size_t number = gpu.name.find_first_of("0123456789");
    if (number == std::string::npos || number == 0 || gpu.name[number - 1] != '-') continue;
    std::string rest = gpu.name.substr(number);
    if (std::min(rest.find_first_not_of("0123456789"), rest.size()) < 4) continue;
    for (const char mark : {'+', '-'}) {
      std::erase(rest, mark);
      EXPECT_THAT(*catalog.match_gpus(rest), Contains(&gpu)) << rest;
    }
  }
  // A name may carry the memory, in any spelling: a100-80, rtx_3060_12gb.
  for (const Gpu& gpu : catalog.gpus) {
    if (gpu.name.starts_with("nvidia-")) continue;  // the vendor is no part of a name
    for (const char* unit : {"", "g", "gb", "GB"}) {
      const std::string name = fmt::format("{}_{:.0f}{}", gpu.name, in_gib(gpu.memory), unit);
      const auto found = catalog.match_gpus(name);
      ASSERT_TRUE(found) << name;
      for (const Gpu* one : *found)
        EXPECT_NEAR(in_gib(one->memory), in_gib(gpu.memory), 0.5) << name << " " << one->name;
    }
  }
  EXPECT_EQ(catalog.match_gpus("a100-80")->size(), 2u);
  // Schedulers combine a name with the architecture, the memory, its kind and the form, in any order.
  for (const Gpu& gpu : catalog.gpus) {
    const std::string family = gpu.name.substr(0, gpu.name.find('-'));
    if (gpu.vendor != "NVIDIA" || family.find_first_of("0123456789") == std::string::npos) continue;
    const std::string architecture = to_lower(gpu.architecture.substr(0, gpu.architecture.find(' ')));
    for (const std::string& name :
         {fmt::format("{}_{}", architecture, family), fmt::format("{}_{}", family, to_lower(gpu.memory_type)),
          fmt::format("nvidia_{}_{:.0f}gb_{}", family, in_gib(gpu.memory), to_lower(gpu.memory_type)),
          fmt::format("{}-sxm5-{:.0f}g", family, in_gib(gpu.memory))}) {
      if (name.find("sxm") != std::string::npos && !gpu.name.ends_with("-sxm")) continue;
      const auto found = catalog.match_gpus(name);
      ASSERT_TRUE(found) << name;
      // A driver's whole name may be that of one member.
      if (found->size() > 1) {
        EXPECT_THAT(*found, Contains(&gpu)) << name;
      }
      for (const Gpu* one : *found) EXPECT_EQ(one->name.substr(0, one->name.find('-')), family) << name;
    }
  }
  EXPECT_EQ(usual_gpu(catalog, "a100l")->gpu->name, "a100-80gb-sxm");
  EXPECT_EQ(usual_gpu(catalog, "v100l")->gpu->name, "v100-32gb-sxm");
  EXPECT_EQ(usual_gpu(catalog, "h100_nvl")->gpu->name, "h100-nvl");
  EXPECT_EQ(usual_gpu(catalog, "rtx_a6000")->gpu->name, "rtx-a6000");
  for (const char* wrong : {"l40l", "ampere_h100", "h100_40gb", "a100_gddr6", "sxm4", "hopper_80gb_pcie4x"})
    EXPECT_FALSE(catalog.match_gpus(wrong)) << wrong;
  EXPECT_FALSE(catalog.match_gpus("h100-17"));
  EXPECT_THAT(describe(usual_gpu(catalog, "h1000").error()), HasSubstr("did you mean 'h100'"));
}

}  // namespace
}  // namespace rightsize::catalog
