#include "rightsize/top/view.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "catalog/test_catalog.h"
#include "rightsize/top/judge.h"

namespace rightsize::app {
namespace {

using telemetry::Metric;
using testing::HasSubstr;

// Ten readings per second; each load level comes with its duration in seconds.
TopGpu gpu_at(const std::vector<std::pair<double, int>>& levels) {
  TopGpu gpu;
  gpu.device.name = "NVIDIA H100 80GB HBM3";
  int tick = 0;
  for (const auto& [level, length] : levels) {
    for (int i = 0; i < 10 * length; ++i) {
      telemetry::Sample sample;
      sample.time = unix_seconds(0.1 * tick++);
      for (Metric metric : {Metric::kGpuUtil, Metric::kGraphicsActive, Metric::kSmActive, Metric::kTensorActive}) {
        sample.set(metric, level);
      }
      sample.set(Metric::kDramActive, 0.3 * level);
      sample.set(Metric::kMemoryUsed, in_bytes(gib(40)));
      gpu.recent.push_back(sample);
    }
  }
  return gpu;
}

TEST(TopView, SparklinesEndWithTheNewestAndLeaveUnknownValuesBlank) {
  EXPECT_EQ(sparkline({0.0, std::nullopt, 1.0}, 2, false).size(), 2u);
  EXPECT_EQ(sparkline({std::nullopt}, 3, false), "   ");
  EXPECT_NE(sparkline({0.0}, 1, false), sparkline({1.0}, 1, false));
}

TEST(TopView, GpusThatDoNotFitAreCounted) {
  TopScreen screen;
  for (int i = 0; i < 40; ++i) screen.gpus.push_back(gpu_at({{0.9, 6}}));
  const std::string drawn = draw_top(screen, {.columns = 100, .rows = 12, .blocks = false});
  EXPECT_LE(std::count(drawn.begin(), drawn.end(), '\n'), 12);
  EXPECT_THAT(drawn, HasSubstr("more"));
}

TEST(TopView, TheDocumentHoldsTheLatestReadingOfEveryMetric) {
  TopScreen screen;
  screen.gpus = {gpu_at({{0.2, 1}, {0.9, 1}})};
  const report::Json document = top_document(screen);
  EXPECT_THAT(document.dump(), HasSubstr("\"sm_active\": 0.9"));
}

TEST(TopJudge, AGpuIsJudgedSinceItsLastLastingChange) {
  std::vector<TopGpu> gpus = {gpu_at({{0.0, 20}, {0.95, 6}}), gpu_at({{0.95, 20}, {0.0, 6}})};
  judge_gpus(gpus, market::PriceBook(built_in_catalog(), {}), nullptr);
  EXPECT_EQ(gpus[0].diagnosis.verdict, diagnose::Verdict::kComputeBound);
  EXPECT_EQ(gpus[1].diagnosis.verdict, diagnose::Verdict::kIdleHeld);
  EXPECT_TRUE(gpus[0].price);
}

// However a GPU is partitioned, its instances together cost at most one GPU.
TEST(TopJudge, TheInstancesOfAGpuCostOneGpu) {
  std::vector<TopGpu> whole = {gpu_at({{0.9, 6}})};
  judge_gpus(whole, market::PriceBook(built_in_catalog(), {}), nullptr);
  for (const char* profile : {"3g.71gb", ""}) {  // some sources do not report the profile
    for (int count : {1, 2, 3}) {
      TopScreen screen;
      for (int i = 0; i < count; ++i) {
        screen.gpus.push_back(gpu_at({{0.9, 6}}));
        telemetry::Device& device = screen.gpus.back().device;
        device.mig_id = std::to_string(i);
        device.mig_profile = profile;
        device.uuid = "MIG-" + device.mig_id;
      }
      judge_gpus(screen.gpus, market::PriceBook(built_in_catalog(), {}), nullptr);
      UsdPerSecond sum;
      for (const TopGpu& gpu : screen.gpus) sum += *gpu.price;
      EXPECT_LE(sum, *whole[0].price * 1.0001) << profile << " x " << count;
      EXPECT_THAT(draw_top(screen, {.columns = 200, .rows = 50, .blocks = false}), HasSubstr("  1 GPU (")) << count;
    }
  }
}

}  // namespace
}  // namespace rightsize::app
