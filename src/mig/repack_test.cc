#include "mig/repack.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::mig {
namespace {

using testing::HasSubstr;

const Geometry& h100() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  static const Geometry kGeometry = *Geometry::of(kCatalog, **kCatalog.find_gpu("h100-sxm"));
  return kGeometry;
}

RunningGpus fleet(const std::string& text) {
  Checked<RunningGpus> read = read_current("now.txt", text, h100());
  EXPECT_TRUE(read) << (read ? "" : describe(read.error()));
  return read ? *read : RunningGpus{};
}

// Executes the steps one by one: nothing may ever overlap, and the final state must match the plan.
void expect_safe(const Repacking& result, const RunningGpus& before) {
  std::vector<std::map<int, std::string>> now(before.size());  // by start
  auto layout = [&](std::size_t g, const std::map<std::pair<std::size_t, int>, int>& profiles) {
    Layout there;
    for (const auto& [start, name] : now[g]) there.push_back({profiles.at({g, start}), start});
    return there;
  };
  std::map<std::pair<std::size_t, int>, int> profiles;
  for (std::size_t g = 0; g < before.size(); ++g) {
    for (const RunningInstance& i : before[g].instances)
      now[g][i.where.start] = i.workload, profiles[{g, i.where.start}] = i.where.profile;
  }
  for (const RepackStep& step : result.steps) {
    if (step.kind != RepackStep::Kind::kRemove) {
      EXPECT_TRUE(h100().may_join(layout(step.to_gpu, profiles), {step.profile, step.to_start}));
      now[step.to_gpu][step.to_start] = step.workload;
      profiles[{step.to_gpu, step.to_start}] = step.profile;
    }
    if (step.kind != RepackStep::Kind::kCreate) {
      EXPECT_EQ(now[step.from_gpu][step.from_start], step.workload);
      now[step.from_gpu].erase(step.from_start);
    }
  }
  for (std::size_t g = 0; g < before.size(); ++g) {
    std::map<int, std::string> planned;
    for (const RunningInstance& i : result.after[g].instances) planned[i.where.start] = i.workload;
    EXPECT_EQ(now[g], planned);
  }
}

TEST(Current, ReadsTheDriversTable) {
  const RunningGpus now = fleet(
      "+-------------------------------------------------------+\n"
      "| GPU instances:                                        |\n"
      "| GPU   Name             Profile  Instance   Placement  |\n"
      "|                          ID       ID       Start:Size |\n"
      "|=======================================================|\n"
      "|   0  MIG 1g.10gb         19        9          4:1     |\n"
      "+-------------------------------------------------------+\n"
      "|   0  MIG 3g.39gb          9        2          0:4     |\n"
      "+-------------------------------------------------------+\n"
      "|   1  MIG 7g.80gb          0        0          0:8     |\n");
  ASSERT_EQ(now.size(), 2u);
  EXPECT_EQ(now[0].instances.size(), 2u);
  EXPECT_EQ(now[0].instances[0].workload, "gpu0-gi9");
  EXPECT_EQ(h100().profile(now[0].instances[1].where.profile).profile, "3g.40gb");
}

// `nvidia-smi -L` names the GPU and its slices, but not where they start.
TEST(Current, ReadsTheDriversList) {
  const std::string text =
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5d5ba0d6)\n  MIG 3g.40gb     Device  0: (UUID: MIG-c6d4f1ef)\n"
      "  MIG 1g.10gb     Device  1: (UUID: MIG-cba663e8)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-8a77)\n";
  EXPECT_EQ(listed_gpu(text), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(listed_gpu("3g.40gb@0=chat\n"), "");
  const Checked<RunningGpus> gpus = read_current("list.txt", text, h100());
  ASSERT_TRUE(gpus);
  ASSERT_EQ(gpus->size(), 2U);
  EXPECT_EQ((*gpus)[0].instances.size(), 2U);
  EXPECT_TRUE((*gpus)[1].instances.empty());
  const std::string full = text + "  MIG 7g.80gb Device 0: (UUID: MIG-1)\n  MIG 1g.10gb Device 1: (UUID: MIG-2)\n";
  EXPECT_FALSE(read_current("list.txt", full, h100()));
}

TEST(Current, ReadsYamlAndLines) {
  const RunningGpus yaml =
      fleet("gpus:\n- name: n1\n  instances:\n  - {profile: 1g.10gb, start: 3, workload: a}\n- instances: []\n");
  ASSERT_EQ(yaml.size(), 2u);
  EXPECT_EQ(yaml[0].name, "n1");
  EXPECT_EQ(fleet("1g.10gb@3=a\n-\n").size(), 2u);
  const Checked<RunningGpus> overlap =
      read_current("now.txt", "3g.40gb@0=a, 1g.10gb@2=b\n2g.20gb@1\n1g.10gb\n", h100());
  ASSERT_FALSE(overlap);
  EXPECT_EQ(overlap.error().size(), 3u);
  EXPECT_THAT(overlap.error()[0].message, HasSubstr("does not fit next to"));
  EXPECT_EQ(overlap.error()[0].place.column, 14);
}

TEST(Repack, EmptiesAGpuWithOneMove) {
  const RunningGpus now = fleet("3g.40gb@0=a, 1g.10gb@4=b\n1g.10gb@0=c\n");
  const Repacking result = *repack(now, h100(), {});
  ASSERT_TRUE(result.feasible);
  EXPECT_TRUE(result.proved);
  EXPECT_EQ(result.moves, 1u);
  EXPECT_EQ(result.gpus_after, 1u);
  expect_safe(result, now);
}

// Of equal places it takes the last, on every processor.
TEST(Repack, ANewSliceTakesTheLastFreePlace) {
  const Repacking result = *repack(fleet("3g.40gb@0=a, 1g.10gb@4=b\n1g.10gb@2=c\n"), h100(), {});
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_EQ(result.steps[0].to_start, 6);
}

TEST(Repack, MakesRoomWithTheFewestMoves) {
  const RunningGpus now = fleet("1g.10gb@1=a, 1g.10gb@5=b\n");
  const Repacking result = *repack(now, h100(), {*parse_layout("3g.40gb", h100()), seconds(8)});
  ASSERT_TRUE(result.feasible);
  EXPECT_EQ(result.moves, 1u);
  ASSERT_EQ(result.room.size(), 1u);
  expect_safe(result, now);
  EXPECT_FALSE(repack(now, h100(), {*parse_layout("7g.80gb", h100()), seconds(8)})->feasible);
}

TEST(Repack, UnusedInstancesAreRemovedFirst) {
  const RunningGpus now = fleet("1g.10gb@1, 1g.10gb@5=b\n");
  const Repacking result = *repack(now, h100(), {*parse_layout("3g.40gb", h100()), seconds(8)});
  ASSERT_TRUE(result.feasible);
  EXPECT_EQ(result.moves, 0u);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_EQ(result.steps[0].kind, RepackStep::Kind::kRemove);
  expect_safe(result, now);
}

// On a full GPU, the 2g at 2 must move without any free space: a workload stops, and the plan names it.
TEST(Repack, NamesWorkloadsThatMustStop) {
  const RunningGpus now = fleet("2g.20gb@2=a, 1g.10gb@0=b, 1g.10gb@1=c, 2g.20gb@4=d, 1g.10gb@6=e\n");
  const Repacking result = *repack(now, h100(), {{}, seconds(8)});
  EXPECT_EQ(result.moves, 0u);
  expect_safe(result, now);
}

RC_GTEST_PROP(Repack, StepsNeverOverlapAndKeepEveryWorkload, ()) {
  RunningGpus now;
  const int gpus = *rc::gen::inRange(1, 4);
  int names = 0;
  for (int g = 0; g < gpus; ++g) {
    now.push_back({std::to_string(g), {}});
    const int tries = *rc::gen::inRange(0, 6);
    for (int k = 0; k < tries; ++k) {
      const int profile = *rc::gen::elementOf(h100().plain_profiles());
      const int start = *rc::gen::elementOf(h100().profile(profile).placements);
      if (!h100().may_join(now.back().layout(), {profile, start})) continue;
      now.back().instances.push_back({{profile, start}, "w" + std::to_string(names++)});
    }
  }
  RepackGoal goal;
  if (*rc::gen::inRange(0, 2) == 1) goal.make_room = {{*rc::gen::elementOf(h100().plain_profiles()), -1}};
  const Repacking result = *repack(now, h100(), goal);
  if (!result.feasible) return;
  expect_safe(result, now);
  RC_ASSERT(result.gpus_after <= result.gpus_before || !goal.make_room.empty());
  for (const RepackStep& step : result.steps)
    RC_ASSERT(step.from_gpu != step.to_gpu || step.from_start != step.to_start);
  for (const auto& [gpu, instance] : result.room) RC_ASSERT(h100().may_join(result.after[gpu].layout(), instance));
}

}  // namespace
}  // namespace rightsize::mig
