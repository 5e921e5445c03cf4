#include "rightsize/top/view.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "rightsize/top/judge.h"

namespace rightsize::app {
namespace {

using telemetry::Metric;
using testing::HasSubstr;

const catalog::Catalog& facts() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

// Ten readings a second, at each level for so many seconds.
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

TEST(TopView, SparklinesShowTheNewestOnTheRightAndBlanksForNothing) {
  EXPECT_EQ(sparkline({0.0, std::nullopt, 1.0}, 2, false).size(), 2u);
  EXPECT_EQ(sparkline({std::nullopt}, 3, false), "   ");
  EXPECT_NE(sparkline({0.0}, 1, false), sparkline({1.0}, 1, false));
}

TEST(TopView, GpusWithoutRoomAreCounted) {
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

TEST(TopJudge, AGpuIsJudgedByWhatItHasDoneSinceTheLastLastingChange) {
  std::vector<TopGpu> gpus = {gpu_at({{0.0, 20}, {0.95, 6}}), gpu_at({{0.95, 20}, {0.0, 6}})};
  judge_gpus(gpus, market::PriceBook(facts(), {}), nullptr);
  EXPECT_EQ(gpus[0].diagnosis.verdict, diagnose::Verdict::kComputeBound);
  EXPECT_EQ(gpus[1].diagnosis.verdict, diagnose::Verdict::kIdleHeld);
  EXPECT_TRUE(gpus[0].price);
}

}  // namespace
}  // namespace rightsize::app
