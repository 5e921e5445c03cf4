#include "mig/geometry.h"

#include <functional>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "mig/current.h"

namespace rightsize::mig {
namespace {

using testing::HasSubstr;

Geometry geometry_of(const std::string& name) {
  return *Geometry::of(built_in_catalog(), **built_in_catalog().find_gpu(name));
}

// The oracle: every subset of (profile, start) pairs that do not overlap, by plain recursion. It shares only the table
// with the code under test.
struct Oracle {
  std::set<std::vector<int>> feasible, maximal;

  explicit Oracle(const Geometry& geometry, const std::set<std::string>& without = {}) {
    std::vector<std::pair<std::size_t, unsigned>> pairs;  // profile, slices as bits
    std::vector<int> compute;
    int most_compute = 0;
    for (std::size_t i = 0; i < geometry.plain_profiles().size(); ++i) {
      const catalog::MigProfile& p = geometry.profile(geometry.plain_profiles()[i]);
      compute.push_back(p.compute_slices);
      most_compute = std::max(most_compute, p.compute_slices);
      if (without.count(p.profile) > 0) continue;
      for (int start : p.placements) pairs.emplace_back(i, ((1u << p.memory_slices) - 1u) << start);
    }
    std::vector<int> counts(compute.size(), 0);
    std::function<void(std::size_t, unsigned, int)> choose = [&](std::size_t at, unsigned taken, int used) {
      if (at == pairs.size()) {
        if (used > 0) feasible.insert(counts);
        return;
      }
      choose(at + 1, taken, used);
      const auto& [profile, bits] = pairs[at];
      if ((taken & bits) != 0 || used + compute[profile] > most_compute) return;
      ++counts[profile];
      choose(at + 1, taken | bits, used + compute[profile]);
      --counts[profile];
    };
    choose(0, 0, 0);
    for (const std::vector<int>& one : feasible) {
      bool more = false;
      for (std::size_t i = 0; i < one.size(); ++i) {
        std::vector<int> next = one;
        ++next[i];
        more = more || feasible.count(next) > 0;
      }
      if (!more) maximal.insert(one);
    }
  }
};

TEST(Geometry, CombinationsMatchExhaustiveSearchOnEveryGpu) {
  int gpus = 0;
  for (const catalog::Gpu& gpu : built_in_catalog().gpus) {
    const std::optional<Geometry> geometry = Geometry::of(built_in_catalog(), gpu);
    if (!geometry) continue;
    ++gpus;
    const Oracle oracle(*geometry);
    std::set<std::vector<int>> feasible, maximal;
    for (const SliceSet& combination : geometry->combinations()) {
      EXPECT_TRUE(feasible.insert(combination.counts).second);
      if (combination.maximal) maximal.insert(combination.counts);
    }
    EXPECT_EQ(feasible, oracle.feasible) << gpu.name;
    EXPECT_EQ(maximal, oracle.maximal) << gpu.name;
    const bool quarters = geometry->compute_slices() == 4;
    EXPECT_EQ(feasible.size(), quarters ? 9u : 77u) << gpu.name;
    EXPECT_EQ(maximal.size(), quarters ? 4u : 28u) << gpu.name;
  }
  EXPECT_GE(gpus, 14);
}

TEST(Geometry, A100WithoutDoubleMemoryProfilesHas37Combinations) {
  const Oracle oracle(geometry_of("a100-80gb-sxm"), {"1g.20gb"});
  EXPECT_EQ(oracle.feasible.size(), 37u);
  // The oracle's own notion of maximal, without that profile.
  EXPECT_EQ(oracle.maximal.size(), 12u);
}

TEST(Geometry, RenamedProfilesAreFoundByTheirSlices) {
  const Geometry a100 = geometry_of("a100-80gb-sxm");
  EXPECT_EQ(a100.profile(*a100.find_profile("3g.39gb")).profile, "3g.40gb");
  EXPECT_EQ(a100.profile(*a100.find_profile("7g.79gb")).profile, "7g.80gb");
  EXPECT_EQ(a100.profile(*a100.find_profile("MIG 1g.10gb+me")).profile, "1g.10gb+me");
  EXPECT_EQ(a100.profile(*a100.find_profile("14")).profile, "2g.20gb");
  const Geometry gb300 = geometry_of("gb300");
  EXPECT_EQ(gb300.profile(*gb300.find_profile("4g.126gb")).profile, "4g.139gb");
  const Result<int> other_gpu = a100.find_profile("3g.20gb");  // that of the 40 GB part
  ASSERT_FALSE(other_gpu);
  EXPECT_THAT(other_gpu.error().message, HasSubstr("no MIG profile '3g.20gb'"));
}

TEST(Geometry, PlacesInstancesNextToExistingOnes) {
  const Geometry g = geometry_of("h100-sxm");
  const Layout there = *parse_layout("1g.10gb@1, 1g.10gb@5", g);
  EXPECT_FALSE(g.place(*parse_layout("3g.40gb", g), there));
  EXPECT_EQ(g.free_for(*g.find_profile("3g.40gb"), there, false), 0);
  EXPECT_EQ(g.free_for(*g.find_profile("3g.40gb"), there, true), 1);
  const std::optional<Layout> placed = g.place(*parse_layout("2g.20gb, 1g.10gb", g), there);
  ASSERT_TRUE(placed);
  EXPECT_EQ((*placed)[0].start, 2);
  EXPECT_THAT(fragmentation(g, there).sentence, HasSubstr("6 of 8 memory slices"));
  EXPECT_FALSE(g.place(*parse_layout("3g.40gb, 3g.40gb, 1g.10gb", g)));
  EXPECT_TRUE(g.place(*parse_layout("4g.40gb, 3g.40gb", g)));
}

TEST(Geometry, MediaVariantsKeepTheirLimits) {
  const Geometry g = geometry_of("h100-sxm");
  EXPECT_TRUE(g.place(*parse_layout("1g.10gb+me, 6x1g.10gb", g)));
  EXPECT_FALSE(g.place(*parse_layout("1g.10gb+me, 1g.10gb+me", g)));
  const Geometry rtx = geometry_of("rtx-pro-6000");
  EXPECT_FALSE(rtx.place(*parse_layout("1g.24gb+me.all, 1g.24gb+me", rtx)));
  EXPECT_TRUE(rtx.place(*parse_layout("1g.24gb+me.all, 3x1g.24gb-me", rtx)));
}

TEST(Geometry, ReadsEveryLayoutNotationAndReportsMistakesWithTheirPlace) {
  const Geometry g = geometry_of("h100-sxm");
  EXPECT_EQ(*parse_layout("2x1g.10gb", g), *parse_layout("1g.10gb, 1g.10gb", g));
  EXPECT_EQ(*parse_layout("1g.10gb*2", g), *parse_layout("1g.10gb: 2", g));
  EXPECT_EQ(*parse_layout("3g.40gb+1g.10gb+me", g), *parse_layout("3g.40gb, 1g.10gb+me", g));
  EXPECT_EQ(describe_layout(*parse_layout("3g.40gb@4, 2x1g.10gb", g), g), "3g.40gb@4, 2x1g.10gb");
  const Checked<Layout> wrong = parse_layout("3g.40gb, 5g.50gb, 2g.20gb@1", g);
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.error().size(), 2u);
  EXPECT_EQ(wrong.error()[0].place.column, 10);
  EXPECT_THAT(wrong.error()[1].message, HasSubstr("cannot start at slice '1'"));
  EXPECT_FALSE(parse_layout("", g));
}

// nvidia-smi's two tables, generated from our own: reading them must give the same table.
std::string as_nvidia_smi(const Geometry& geometry) {
  std::string text =
      "+-----------------------------------------------------------------------------+\n"
      "| GPU instance profiles:                                                      |\n"
      "| GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  |\n"
      "|                              Free/Total   GiB              CE    JPEG  OFA  |\n"
      "|=============================================================================|\n";
  std::string placements;
  for (const catalog::MigProfile& p : geometry.profiles()) {
    text += fmt::format(
        "|   0  MIG {}   {}   {}/{}   {:.2f}   No   {}   1   0   |\n|              1     1     0   |\n+---+\n",
        p.profile, p.id, p.instances, p.instances, in_gib(p.memory), p.sms.value_or(0));
    placements += fmt::format("GPU  0 Profile ID {:2} Placement{}: {{{}}}:{}\n", p.id,
                              p.placements.size() == 1 ? " " : "s", fmt::join(p.placements, ","), p.memory_slices);
  }
  return text + placements;
}

TEST(ProfileList, DriverListsOfEveryGpuMatchOurTable) {
  for (const catalog::Gpu& gpu : built_in_catalog().gpus) {
    const std::optional<Geometry> geometry = Geometry::of(built_in_catalog(), gpu);
    if (!geometry) continue;
    const Checked<std::vector<ListedProfile>> listed = read_profile_list("lgip.txt", as_nvidia_smi(*geometry));
    ASSERT_TRUE(listed) << gpu.name << describe(listed.error());
    EXPECT_EQ(listed->size(), geometry->profiles().size());
    EXPECT_THAT(differences(*listed, *geometry), testing::IsEmpty()) << gpu.name;
  }
}

TEST(ProfileList, DifferencesFromOurTableAreNamed) {
  const Geometry h200 = geometry_of("h200-sxm"), a30 = geometry_of("a30");
  const Checked<std::vector<ListedProfile>> listed = read_profile_list("lgip.txt", as_nvidia_smi(h200));
  EXPECT_FALSE(differences(*listed, a30).empty());
  std::string text = as_nvidia_smi(h200);
  text.replace(text.find("{0,2,4,6}:2"), 11, "{0,2,4}:2");
  EXPECT_THAT(differences(*read_profile_list("lgip.txt", text), h200),
              testing::ElementsAre("1g.35gb: placements 0,2,4 in the list, 0,2,4,6 in our table"));
  EXPECT_FALSE(read_profile_list("lgip.txt", "nothing"));
}

}  // namespace
}  // namespace rightsize::mig
