#include "fleet/fleet.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/test_fleet.h"
#include "gpu_use/accumulate.h"

namespace rightsize::fleet {
namespace {

TEST(UseAccumulator, CountsHoursIdlenessAndOwners) {
  UseAccumulator sum({});
  live(sum, {.memory = 30 * kGiB}, kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  ASSERT_EQ(gpus.size(), 1u);
  const GpuUse& gpu = gpus[0];
  EXPECT_DOUBLE_EQ(in_seconds(gpu.covered), 86400);
  EXPECT_DOUBLE_EQ(in_seconds(gpu.interval), 60);
  EXPECT_NEAR(gpu.idle_share, 16.0 / 24, 1e-9);
  EXPECT_NEAR(gpu.held_share, 16.0 / 24, 0.02);
  EXPECT_NEAR(gpu.metric(Metric::kGraphicsActive)->mean, 0.2, 1e-6);
  EXPECT_EQ(gpu.changes, 1);
  EXPECT_NEAR(*gpu.metric(Metric::kGraphicsActive)->p95, 0.6, 0.02);
  ASSERT_EQ(gpu.tenancies.size(), 1u);
  EXPECT_EQ(gpu.tenancies[0].owner.shown(), "a/job");
  EXPECT_LE(gpu.profile.steps(), 512u);
}

TEST(UseAccumulator, OrderAndDuplicatesDoNotMatter) {
  auto feed = [](bool backwards, int times) {
    UseAccumulator sum({});
    for (int copy = 0; copy < times; ++copy) {
      const int number = sum.open({.uuid = "G", .labels = {{"replica", std::to_string(copy)}}});
      for (int i = 0; i < 1000; ++i) {
        const int m = backwards ? 999 - i : i;
        sum.add(number, Metric::kGpuUtil, kStart + seconds(60 * m + copy), m % 10 == 0 ? 0.5 : 0.0);
      }
    }
    return sum.finish().at(0);
  };
  const GpuUse forward = feed(false, 1), back = feed(true, 1), twice = feed(false, 2);
  EXPECT_EQ(forward.covered, back.covered);
  EXPECT_DOUBLE_EQ(forward.idle_share, back.idle_share);
  EXPECT_EQ(forward.profile.activity.max, back.profile.activity.max);
  EXPECT_TRUE(twice.duplicated);
  EXPECT_NEAR(in_seconds(twice.covered), in_seconds(forward.covered), 61);
  EXPECT_NEAR(twice.idle_share, forward.idle_share, 1e-4);
}

TEST(UseAccumulator, DropsImpossibleReadings) {
  UseAccumulator sum({});
  const int number = sum.open({.uuid = "G"});
  sum.add(number, Metric::kGpuUtil, kStart, std::nan(""));
  sum.add(number, Metric::kGpuUtil, kStart, 42);
  sum.add(number, Metric::kMemoryUsed, kStart, 1e18);
  sum.add(number, Metric::kGpuUtil, unix_seconds(1e12), 0.5);
  EXPECT_EQ(sum.refused(), 1u) << "the time that is none";
  EXPECT_EQ(sum.readings(), 0u);
  const GpuUse gpu = sum.finish().at(0);
  EXPECT_EQ(gpu.dropped, 3u);
  EXPECT_DOUBLE_EQ(in_seconds(gpu.covered), 30) << "whatever it said, the GPU was there";
  EXPECT_FALSE(gpu.metric(Metric::kGpuUtil));
}

// Adding readings in blocks gives the same result as one by one, in any order and with gaps of any size.
RC_GTEST_PROP(UseAccumulator, AddingReadingsInBlocksEqualsOneByOne, ()) {
  const auto times = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40 * 86400));
  std::vector<telemetry::Point> points;
  for (int s : times) points.push_back({kStart + seconds(s), (s * 37 % 107) / 50.0 - 0.1});  // some of them invalid
  UseAccumulator one({}), many({});
  const int a = one.open({.uuid = "G"}), b = many.open({.uuid = "G"});
  for (const telemetry::Point& p : points) one.add(a, Metric::kSmActive, p.time, p.value);
  many.add_points(b, Metric::kSmActive, points);
  RC_PRE(!points.empty());
  RC_ASSERT(one.readings() == many.readings());
  RC_ASSERT(one.refused() == many.refused());
  const GpuUse left = one.finish().at(0), right = many.finish().at(0);
  RC_ASSERT(left.covered == right.covered);
  RC_ASSERT(left.idle_share == right.idle_share);
  RC_ASSERT(left.changes == right.changes);
  RC_ASSERT(left.profile.steps() == right.profile.steps());
  for (std::size_t i = 0; i < left.profile.steps(); ++i) {
    const float x = left.profile.activity.mean[i], y = right.profile.activity.mean[i];
    RC_ASSERT(x == y || (std::isnan(x) && std::isnan(y)));
  }
}

// The mean of a step does not depend on the number of readings or the order in which steps are merged.
RC_GTEST_PROP(UseAccumulator, CurvesKeepTheMeanAndThePeak, ()) {
  const int count = *rc::gen::inRange(1, 3000);
  const int gap = *rc::gen::element(1, 7, 30, 300, 3600);
  UseAccumulator sum({});
  const int number = sum.open({.uuid = "G"});
  double total = 0;
  for (int i = 0; i < count; ++i) {
    const double value = (i * 37 % 101) / 100.0;
    total += value;
    sum.add(number, Metric::kSmActive, kStart + seconds(static_cast<double>(i) * gap), value);
  }
  const GpuUse gpu = sum.finish().at(0);
  RC_ASSERT(gpu.profile.steps() <= 512u);
  RC_ASSERT(std::abs(gpu.metric(Metric::kSmActive)->mean - total / count) < 1e-6);
  double peak = 0;
  for (float v : gpu.profile.activity.max) peak = std::max(peak, std::isnan(v) ? 0.0 : static_cast<double>(v));
  RC_ASSERT(std::abs(peak - gpu.metric(Metric::kSmActive)->max) < 1e-6);
}

TEST(Use, AlignedProfilesShareAnAxis) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A"}, kDay, mornings);
  live(sum, {.uuid = "B"}, 3 * kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  align(gpus);
  ASSERT_EQ(gpus[0].profile.steps(), gpus[1].profile.steps());
  EXPECT_EQ(gpus[0].profile.start, gpus[1].profile.start);
  EXPECT_TRUE(std::isnan(gpus[0].profile.activity.max.back()));
  EXPECT_NEAR(gpus[0].profile.activity.max[0], 0.6, 1e-6);
  EXPECT_NEAR(gpus[1].profile.activity.max[0], 0.6, 1e-6);
}

TEST(Use, WorkloadIsThePodNameWithoutItsSuffixes) {
  EXPECT_EQ(workload_of_pod("chat-7d4b9c6f5-x2x5z"), "chat");
  EXPECT_EQ(workload_of_pod("chat-7d4b9c6f5-48692"), "chat");
  EXPECT_EQ(workload_of_pod("chat-7d4b9c6f5-aaaa1"), "chat");
  EXPECT_EQ(workload_of_pod("train-0"), "train");
  EXPECT_EQ(workload_of_pod("train-24567"), "train");
  EXPECT_EQ(workload_of_pod("big-model-12"), "big-model");
  EXPECT_EQ(workload_of_pod("daemon-kx8zq"), "daemon");
  EXPECT_EQ(workload_of_pod("notebook-alice"), "notebook-alice");
  EXPECT_EQ(workload_of_pod("solo"), "solo");
}

TEST(Use, OwnersAreReadFromLabels) {
  auto owner = [](std::map<std::string, std::string> labels) {
    return owner_of({.labels = std::move(labels)}).shown();
  };
  EXPECT_EQ(owner({{"exported_namespace", "ml"},
                   {"exported_pod", "chat-0"},
                   {"pod", "nvidia-dcgm-exporter-abcde"},
                   {"namespace", "gpu-operator"}}),
            "ml/chat");
  EXPECT_EQ(owner({{"pod", "nvidia-dcgm-exporter-x2x5z"}, {"namespace", "gpu-operator"}}), "(unowned)");
  EXPECT_EQ(owner({{"user", "ann"}, {"account", "vision"}, {"jobid", "7"}, {"job_name", "train"}}), "vision/train");
  EXPECT_EQ(owner({{"hpc_job", "99"}}), "job 99");
  EXPECT_EQ(owner({{"namespace", "ml"}, {"pod", "raycluster-x-worker-gpu-k2k5z"}, {"label_ray_io_cluster", "sweep"}}),
            "ml/sweep");
  EXPECT_EQ(owner({{"namespace", "sky"}, {"pod", "sky-1a2b-ann-head"}, {"skypilot_cluster_name", "finetune"}}),
            "sky/finetune");
  EXPECT_EQ(owner({{"job", "dcgm"}}), "(unowned)");  // Prometheus's own label
}

TEST(Analyse, InstancesAndFreePartOfAGpuAddUpToOneGpu) {
  UseAccumulator sum({});
  for (int i = 0; i < 3; ++i) {
    live(sum, {.uuid = "GPU-0", .memory = 5 * kGiB, .mig_profile = "1g.10gb", .mig_id = std::to_string(7 + i)}, kDay,
         busy);
  }
  live(sum, {.uuid = "GPU-0", .team = ""}, kDay, busy);  // the whole GPU reports, too
  const DevicePrices book = book_at(7);
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  EXPECT_EQ(a.gpus.size(), 4u);
  EXPECT_NEAR(in_usd(a.totals.spend), 7 * 24, 1e-6);
  EXPECT_NEAR(in_gpu_hours(a.totals.gpu_time), 24, 1e-6);
  EXPECT_NEAR(in_usd(a.ledger[static_cast<std::size_t>(Category::kIdle)].spend), 7 * 24 * 4.0 / 7, 1e-6);
}

TEST(Analyse, SharedGpusAreSplitByTimeBetweenOwners) {
  UseAccumulator sum({});
  live(sum, {.uuid = "GPU-0", .team = "a", .pod = "x-0"}, kDay / 2, busy);
  live(sum, {.uuid = "GPU-0", .team = "b", .pod = "y-0"}, kDay, busy);
  const DevicePrices book = book_at(3);
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  ASSERT_EQ(a.owners.size(), 2u);
  EXPECT_NEAR(in_usd(a.owners[0].spend) + in_usd(a.owners[1].spend), in_usd(a.totals.spend), 1e-9);
  EXPECT_NEAR(in_gpu_hours(a.totals.gpu_time), 24, 0.1);
}

}  // namespace
}  // namespace rightsize::fleet
