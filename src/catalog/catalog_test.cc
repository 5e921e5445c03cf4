// Walks the whole built-in catalogue, and the ways an overlay changes it.
#include "catalog/catalog.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/suggest.h"

namespace rightsize::catalog {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const Catalog& built_in() {
  static const Catalog kCatalog = [] {
    Checked<Catalog> loaded = load_catalog("");
    if (!loaded) ADD_FAILURE() << describe(loaded.error());
    return loaded ? *std::move(loaded) : Catalog{};
  }();
  return kCatalog;
}

const Gpu& gpu(std::string_view name) { return **built_in().find_gpu(name); }

TEST(Catalogue, EveryGpuOfTheContractIsPresent) {
  for (const char* name :
       {"t4",           "v100-16gb-sxm", "v100-32gb-sxm",  "a10",           "a10g",           "a30",
        "a40",          "a100-40gb-sxm", "a100-40gb-pcie", "a100-80gb-sxm", "a100-80gb-pcie", "l4",
        "l40",          "l40s",          "rtx-3090",       "rtx-4090",      "rtx-5090",       "rtx-6000-ada",
        "rtx-pro-6000", "h100-sxm",      "h100-pcie",      "h100-nvl",      "h200-sxm",       "h200-nvl",
        "gh200-96gb",   "gh200-144gb",   "b200-sxm",       "b300-sxm",      "gb200",          "gb300",
        "mi250x",       "mi300x",        "mi325x",         "mi355x"}) {
    EXPECT_TRUE(built_in().find_gpu(name)) << name;
  }
}

TEST(Catalogue, CardsPeopleNameAreFound) {
  const std::map<std::string, std::string> words{{"MI350X", "mi350x"},
                                                 {"H200 NVL", "h200-nvl"},
                                                 {"NVIDIA RTX A6000", "rtx-a6000"},
                                                 {"RTX 4080 SUPER", "rtx-4080-super"},
                                                 {"RTX PRO 6000 Max-Q", "rtx-pro-6000-max-q"},
                                                 {"RTX 5000 Ada Generation", "rtx-5000-ada"},
                                                 {"Quadro RTX 8000", "quadro-rtx-8000"},
                                                 {"A800", "a800-80gb-sxm"},
                                                 {"H800", "h800-sxm"},
                                                 {"H20", "h20"},
                                                 {"L20", "l20"},
                                                 {"A16", "a16"},
                                                 {"NVIDIA A2", "nvidia-a2"},
                                                 {"T4G", "t4"}};
  for (const auto& [word, name] : words) {
    Result<const Gpu*> found = built_in().find_gpu(word);
    ASSERT_TRUE(found) << word;
    EXPECT_EQ((*found)->name, name) << word;
  }
}

TEST(Catalogue, ProviderSpellingsAreAliases) {
  const std::map<std::string, std::string> spellings{{"A100-SXM4-80GB", "a100-80gb-sxm"},
                                                     {"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                                     {"nvidia-tesla-t4", "t4"},
                                                     {"NVIDIA A10G", "a10g"},
                                                     {"nvidia h200", "h200-sxm"},
                                                     {"NVIDIA L40S", "l40s"},
                                                     {"Tesla V100-SXM2-16GB", "v100-16gb-sxm"},
                                                     {"H100_SXM", "h100-sxm"}};
  for (const auto& [spelling, name] : spellings) {
    Result<const Gpu*> found = built_in().find_gpu(spelling);
    ASSERT_TRUE(found) << spelling;
    EXPECT_EQ((*found)->name, name) << spelling;
  }
}

TEST(Catalogue, AliasesMeanOneGpu) {
  std::map<std::string, std::string> meaning;
  for (const Gpu& g : built_in().gpus) {
    std::vector<std::string> names = g.aliases;
    names.push_back(g.name);
    for (const std::string& name : names) {
      auto [entry, is_new] = meaning.emplace(fold_name(name), g.name);
      EXPECT_EQ(entry->second, g.name) << "'" << name << "' means two GPUs";
    }
  }
}

// Narrower numbers are not slower, sparse peaks are above dense ones, and no measurement exceeds the peak.
TEST(Catalogue, SparseExceedsDenseAndNarrowFormatsAreNotSlower) {
  for (const Gpu& g : built_in().gpus) {
    auto dense = [&](NumberFormat f) { return g.peak(f).dense; };
    for (const Peak& peak : g.peaks) {
      if (peak.dense && peak.sparse) {
        EXPECT_GT(*peak.sparse, *peak.dense) << g.name;
      }
      if (peak.dense && peak.measured) {
        EXPECT_LT(*peak.measured, *peak.dense * 1.1)  // GeForce clocks exceed the nominal boost
            << g.name;
      }
    }
    if (dense(NumberFormat::kFp16) && dense(NumberFormat::kFp8)) {
      EXPECT_GE(*dense(NumberFormat::kFp8), *dense(NumberFormat::kFp16)) << g.name;
    }
    if (dense(NumberFormat::kFp32) && dense(NumberFormat::kFp16)) {
      EXPECT_GT(*dense(NumberFormat::kFp16), *dense(NumberFormat::kFp32)) << g.name;
    }
  }
}

// Facts that are often misquoted.
TEST(Catalogue, FormatsAndRatesThatAreOftenMisquotedAreRight) {
  EXPECT_FALSE(gpu("t4").peak(NumberFormat::kBf16).supported);
  EXPECT_FALSE(gpu("v100-16gb-sxm").peak(NumberFormat::kBf16).supported);
  EXPECT_FALSE(gpu("a100-80gb-sxm").peak(NumberFormat::kFp8).supported);
  EXPECT_TRUE(gpu("l4").peak(NumberFormat::kFp8).supported);
  EXPECT_FALSE(gpu("h100-sxm").peak(NumberFormat::kFp4).supported);
  EXPECT_TRUE(gpu("b200-sxm").peak(NumberFormat::kFp4).supported);
  EXPECT_NEAR(in_tflop_per_s(*gpu("a100-80gb-sxm").peak(NumberFormat::kFp32).dense), 19.5, 0.01);
  EXPECT_NEAR(in_tflop_per_s(*gpu("h100-sxm").peak(NumberFormat::kBf16).dense), 989.4, 0.5);
  EXPECT_DOUBLE_EQ(in_gib(gpu("a10g").memory), 24);
  EXPECT_EQ(gpu("a10g").memory_type, "GDDR6");
  EXPECT_LT(*gpu("b300-sxm").peak(NumberFormat::kInt8).dense, tflop_per_s(200));
}

TEST(Catalogue, MemoryAgreesWithWhatDriversReport) {
  for (const Gpu& g : built_in().gpus) {
    if (!g.usable_memory) continue;
    EXPECT_GT(*g.usable_memory / g.memory, 0.9) << g.name;
    EXPECT_LT(*g.usable_memory / g.memory, 1.02) << g.name;
  }
}

TEST(Catalogue, MigProfilesFitTheirGpu) {
  std::set<std::string> partitioned;
  for (const MigProfile& p : built_in().mig) {
    const Gpu& g = gpu(p.gpu);
    partitioned.insert(p.gpu);
    int slices = 0;  // of the whole GPU: those of its largest profile
    for (const MigProfile& other : built_in().mig) {
      if (other.gpu == p.gpu) slices = std::max(slices, other.memory_slices);
    }
    EXPECT_LE(p.compute_slices, g.mig_instances) << p.gpu << " " << p.profile;
    EXPECT_LE(p.memory, g.memory) << p.gpu << " " << p.profile;
    EXPECT_FALSE(p.placements.empty()) << p.gpu << " " << p.profile;
    for (int start : p.placements) EXPECT_LE(start + p.memory_slices, slices) << p.gpu << " " << p.profile;
    if (p.sms && g.sms) {
      EXPECT_LE(*p.sms, *g.sms) << p.gpu << " " << p.profile;
    }
    if (!p.media) {
      EXPECT_LE(p.instances, static_cast<int>(p.placements.size())) << p.gpu << " " << p.profile;
    }
  }
  for (const Gpu& g : built_in().gpus) EXPECT_EQ(partitioned.count(g.name) > 0, g.mig_instances > 0) << g.name;
}

TEST(Catalogue, MachinesArePlausible) {
  const std::set<int> counts{1, 2, 3, 4, 5, 6, 8, 10, 12, 16};
  std::set<std::string> providers;
  for (const Machine& m : built_in().machines) {
    const std::string name = m.provider + " " + m.instance;
    providers.insert(m.provider);
    EXPECT_TRUE(counts.count(m.gpus)) << name << " has " << m.gpus << " GPUs";
    if (m.memory) {
      EXPECT_GE(*m.memory, gib(1) * m.gpus) << name;
    }
    if (m.gpus == 1) {
      EXPECT_THAT(m.interconnect, testing::AnyOf("none", "")) << name;
    }
    if (m.gpus > 1) {
      EXPECT_NE(m.interconnect, "none") << name;
    }
  }
  for (const char* provider : {"aws", "gcp", "azure", "lambda", "coreweave", "runpod", "nebius"}) {
    EXPECT_TRUE(providers.count(provider)) << provider;
  }
}

TEST(Catalogue, SpotAndCommitmentsCostNoMoreThanOnDemand) {
  std::map<std::string, UsdPerMachineSecond> on_demand;
  auto key = [](const Price& p) { return p.provider + " " + p.instance + " " + p.region; };
  for (const Price& p : built_in().prices) {
    if (p.purchase == Purchase::kOnDemand) on_demand[key(p)] = p.machine_price;
  }
  int compared = 0;
  for (const Price& p : built_in().prices) {
    auto full = on_demand.find(key(p));
    if (p.purchase == Purchase::kOnDemand || full == on_demand.end()) continue;
    EXPECT_LE(p.machine_price, full->second * 1.0001) << key(p) << " " << name_of(p.purchase);
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(Catalogue, EveryPriceHasASourceAndADate) {
  EXPECT_GT(built_in().prices.size(), 1000u);
  for (const Price& p : built_in().prices) {
    EXPECT_FALSE(p.provenance.sources.empty()) << p.instance;
    ASSERT_TRUE(p.provenance.date) << p.instance;
    EXPECT_LE(*p.provenance.date, today()) << p.instance;
  }
}

TEST(FindGpu, AFamilyNameFindsItsMembersAndAWrongNameGetsASuggestion) {
  EXPECT_EQ(built_in().match_gpus("a100")->size(), 4u);
  EXPECT_EQ(built_in().match_gpus("a10")->size(), 1u);
  EXPECT_EQ(built_in().match_gpus("Blackwell Ultra")->size(), 2u);
  EXPECT_GT(built_in().match_gpus("blackwell")->size(), 2u);
  for (const Gpu& gpu : built_in().gpus) {
    const auto alike = built_in().match_gpus(gpu.architecture);
    ASSERT_TRUE(alike) << gpu.architecture;
    EXPECT_THAT(*alike, testing::Contains(&gpu)) << gpu.architecture;
  }
  EXPECT_THAT(built_in().match_gpus("h10").error().hints[0], HasSubstr("did you mean 'h100'"));
  EXPECT_THAT(built_in().find_gpu("a100").error().message, HasSubstr("could be any of"));
  EXPECT_FALSE(built_in().match_gpus(""));
}

// A folder of overlay files that disappears with the test.
class Overlay {
 public:
  Overlay() {
    std::string pattern = (fs::temp_directory_path() / "rightsize-overlay-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::create_directories(folder_ / "prices");
  }
  ~Overlay() { fs::remove_all(folder_); }
  Overlay& write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return *this;
  }
  std::string path() const { return folder_.string(); }

 private:
  fs::path folder_;
};

TEST(Overlay, RowsReplaceByKeyAndMissingColumnsInherit) {
  Overlay overlay;
  overlay.write("gpus.csv", "name,tdp\nh100-sxm,650W\n")
      .write("machines.csv", "provider,instance,gpu,gpus\nacme,box-8,h100-sxm,8\n")
      .write("prices/acme.csv", "instance,region,purchase,price\nbox-8,any,on-demand,20USD/h\n")
      .write("prices/aws.csv", "instance,region,purchase,price\np5.48xlarge,us-east-1,on-demand,30USD/h\n");
  Checked<Catalog> catalog = load_catalog(overlay.path());
  ASSERT_TRUE(catalog) << describe(catalog.error());
  const Gpu& h100 = **catalog->find_gpu("h100-sxm");
  EXPECT_DOUBLE_EQ(in_watts(*h100.tdp), 650);
  EXPECT_EQ(h100.memory, gpu("h100-sxm").memory) << "columns the overlay lacks keep their value";
  EXPECT_EQ(catalog->gpus.size(), built_in().gpus.size());
  EXPECT_NE(catalog->find_machine("acme", "box-8"), nullptr);
  int replaced = 0;
  for (const Price& p : catalog->prices) {
    if (p.provider != "aws" || p.instance != "p5.48xlarge" || p.region != "us-east-1" ||
        p.purchase != Purchase::kOnDemand)
      continue;
    EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(p.machine_price), 30);
    EXPECT_THAT(p.provenance.file, HasSubstr("prices/aws.csv"));
    EXPECT_FALSE(p.provenance.date) << "the user's price is not as old as the one it replaces";
    EXPECT_THAT(p.provenance.file, testing::Not(testing::StartsWith("data/")));
    ++replaced;
  }
  EXPECT_EQ(replaced, 1);
  EXPECT_EQ(catalog->prices.size(), built_in().prices.size() + 1);
}

// A fast reader reads the built-in prices at every start. An overlay file without rows makes the loader use the general
// one, which checks each row; both must agree.
TEST(Overlay, TheFastReaderAgreesWithTheGeneralOne) {
  Overlay overlay;
  std::set<std::string> providers;
  for (const Price& price : built_in().prices) providers.insert(price.provider);
  for (const std::string& provider : providers) {
    overlay.write("prices/" + provider + ".csv", "instance,region,purchase,price\n");
  }
  Checked<Catalog> checked = load_catalog(overlay.path());
  ASSERT_TRUE(checked) << describe(checked.error());
  ASSERT_EQ(checked->prices.size(), built_in().prices.size());
  for (std::size_t i = 0; i < checked->prices.size(); ++i) {
    const Price &a = checked->prices[i], &b = built_in().prices[i];
    ASSERT_EQ(std::tie(a.provider, a.instance, a.region, a.zone, a.purchase),
              std::tie(b.provider, b.instance, b.region, b.zone, b.purchase));
    ASSERT_DOUBLE_EQ(in_usd_per_machine_hour(a.machine_price), in_usd_per_machine_hour(b.machine_price));
    ASSERT_EQ(a.provenance.sources, b.provenance.sources);
    ASSERT_EQ(a.provenance.date, b.provenance.date);
    ASSERT_EQ(a.provenance.unverified, b.provenance.unverified);
    ASSERT_EQ(a.provenance.note, b.provenance.note);
    ASSERT_EQ(a.provenance.line, b.provenance.line);
  }
}

TEST(Overlay, APriceOfARegionReplacesThoseOfItsZones) {
  Overlay overlay;
  overlay.write("prices/aws.csv", "instance,region,purchase,price\np5.48xlarge,us-east-1,spot,12USD/h\n");
  Checked<Catalog> catalog = load_catalog(overlay.path());
  ASSERT_TRUE(catalog) << describe(catalog.error());
  int found = 0;
  for (const Price& p : catalog->prices) {
    if (p.provider != "aws" || p.instance != "p5.48xlarge" || p.region != "us-east-1" || p.purchase != Purchase::kSpot)
      continue;
    EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(p.machine_price), 12);
    ++found;
  }
  EXPECT_EQ(found, 1);
}

TEST(Overlay, EveryMistakeIsListedWithItsPlace) {
  Overlay overlay;
  overlay.write("gpus.csv", "name,memory,bandwith\nh100-sxm,80GiB,1GB/s\n")
      .write("machines.csv",
             "provider,instance,gpu,gpus,network\nacme,a,h10,8,100\nacme,b,h100-sxm,-1,100Gbit/s\nacme,b,h100-sxm,1,\n")
      .write("prices/acme.csv", "instance,region,purchase,price,date\nc,any,on-demnd,20,2026-02-30\n");
  Checked<Catalog> catalog = load_catalog(overlay.path());
  ASSERT_FALSE(catalog);
  const std::string text = describe(catalog.error());
  for (const char* expected :
       {"gpus.csv:1:13: unknown column 'bandwith'", "did you mean 'bandwidth'?", "machines.csv:2:14: '100' has no unit",
        "machines.csv:3:17: gpus of -1 is not between 1 and 128", "the same provider and instance is in line 3 already",
        "machines.csv:2:8: unknown GPU 'h10'", "prices/acme.csv:2:7: 'on-demnd' is not a known purchase",
        "'20' has no unit", "'2026-02-30' is not a date", "acme has no machine 'c'"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
}

TEST(Overlay, AMachinePriceThatDisagreesWithItsGpuPriceIsRefused) {
  Overlay overlay;
  overlay.write("prices/aws.csv",
                "instance,region,purchase,price,per_gpu\np5.48xlarge,us-east-1,on-demand,55.04USD/h,55.04USD/h\n");
  Checked<Catalog> catalog = load_catalog(overlay.path());
  ASSERT_FALSE(catalog);
  EXPECT_THAT(describe(catalog.error()), HasSubstr("per GPU times 8 GPUs is not"));
}

TEST(Overlay, AMissingFolderIsAnError) {
  EXPECT_EQ(overlay_directory("/no/such/folder").error().code, ErrorCode::kUnreadableSource);
}

}  // namespace
}  // namespace rightsize::catalog
