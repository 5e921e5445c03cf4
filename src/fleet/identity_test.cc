// Which series belong to one GPU: unknown labels must never merge GPUs silently, and copies must never add GPUs.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "fleet/test_fleet.h"
#include "gpu_use/accumulate.h"

namespace rightsize::fleet {
namespace {

using telemetry::Labels;
using telemetry::NameMap;
using telemetry::Point;

constexpr int kReadings = 60;

// One reading per minute from `first` on for every entry of `series`; readings and series are in random order.
struct ReadSeries {
  Labels labels;
  int first = 0;
};

UseAccumulator& add_series(UseAccumulator& sum, std::vector<ReadSeries> series, const NameMap& names, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::ranges::shuffle(series, random);
  for (const ReadSeries& one : series) {
    std::vector<Point> points;
    for (int i = 0; i < kReadings; ++i) points.push_back({kStart + seconds(60.0 * (one.first + i)), 0.25});
    std::ranges::shuffle(points, random);
    sum.add_points(sum.open(telemetry::device_of(one.labels, names)), Metric::kGpuUtil, points);
  }
  return sum;
}

RC_GTEST_PROP(Identity, AnUnknownLabelThatSeparatesGpusMustBeNamed, ()) {
  const auto label =
      *rc::gen::element<std::string>("slot", "board", "card_slot", "accelerator", "unit_number", "asset");
  const int gpus = *rc::gen::inRange(2, 9), seed = *rc::gen::inRange(0, 1000);
  const bool with_host = *rc::gen::arbitrary<bool>();
  std::vector<ReadSeries> series;
  for (int i = 0; i < gpus; ++i) {
    Labels labels{{label, "s" + std::to_string(i)}, {"job", "exporter"}};
    if (with_host) labels["node"] = "n1";
    series.push_back({labels});
  }
  UseAccumulator unnamed({});
  const Result<> merged = add_series(unnamed, series, {}, seed).identity();
  RC_ASSERT(!merged);
  RC_ASSERT(merged.error().message.find(label) != std::string::npos);
  const NameMap names = *telemetry::parse_name_map({"uuid=" + label});
  UseAccumulator named({.names = names});
  RC_ASSERT(add_series(named, series, names, seed).identity());
  const std::vector<GpuUse> uses = named.finish();
  RC_ASSERT(uses.size() == static_cast<std::size_t>(gpus));
  for (const GpuUse& use : uses) RC_ASSERT(std::abs(in_hours(use.covered) - 1) < 0.02);
}

RC_GTEST_PROP(Identity, CopiesAndChangingLabelsAreOneGpu, ()) {
  const int seed = *rc::gen::inRange(0, 1000);
  const bool with_id = *rc::gen::arbitrary<bool>();
  Labels labels{{"node", "n1"}, {"gpu", "3"}};
  if (with_id) labels["UUID"] = "GPU-1";
  std::vector<ReadSeries> series;
  // Copies by replicas and scrape jobs, at the same time.
  for (int copy = *rc::gen::inRange(1, 4); copy > 0; --copy) {
    Labels own = labels;
    own["prometheus_replica"] = "r" + std::to_string(copy);
    own["job"] = "j" + std::to_string(copy);
    series.push_back({own});
  }
  // A label that changes with an upgrade.
  Labels later = labels;
  later["firmware"] = "2";
  for (ReadSeries& one : series) one.labels["firmware"] = "1";
  series.push_back({later, kReadings});
  UseAccumulator sum({});
  RC_ASSERT(add_series(sum, series, {}, seed).identity());
  const std::vector<GpuUse> uses = sum.finish();
  RC_ASSERT(uses.size() == 1u);
  RC_ASSERT(std::abs(in_hours(uses[0].covered) - 2) < 0.04);
}

TEST(Identity, OwnersWithoutHostOrIdMayBeDifferentGpus) {
  const std::vector<ReadSeries> pods = {{{{"pod", "a-0"}, {"gpu", "0"}}}, {{{"pod", "b-0"}, {"gpu", "0"}}}};
  UseAccumulator sum({});
  const Result<> merged = add_series(sum, pods, {}, 1).identity();
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, testing::HasSubstr("pod (a-0, b-0)"));
  // On one host they share a GPU.
  std::vector<ReadSeries> shared = pods;
  for (ReadSeries& one : shared) one.labels["Hostname"] = "n1";
  UseAccumulator host({});
  ASSERT_TRUE(add_series(host, shared, {}, 1).identity());
  EXPECT_EQ(host.finish().size(), 1u);
}

TEST(Identity, SeveralLabelsTogetherNameAHost) {
  const std::vector<ReadSeries> clusters = {{{{"cluster", "a"}, {"node", "n1"}, {"gpu", "0"}}},
                                            {{{"cluster", "b"}, {"node", "n1"}, {"gpu", "0"}}}};
  UseAccumulator sum({});
  EXPECT_FALSE(add_series(sum, clusters, {}, 1).identity());
  const NameMap names = *telemetry::parse_name_map({"host=cluster+node"});
  UseAccumulator named({.names = names});
  ASSERT_TRUE(add_series(named, clusters, names, 1).identity());
  const std::vector<GpuUse> uses = named.finish();
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].device.host, "a/n1");
}

TEST(Identity, CloudExportersAreKnown) {
  const auto key = [](const Labels& labels) { return telemetry::device_of(labels, {}).key(); };
  EXPECT_EQ(key({{"accelerator_id", "GPU-7"}, {"pod_name", "x"}, {"cluster_name", "c"}}), "GPU-7");
  EXPECT_EQ(key({{"accelerator_id", "nvidia2"}, {"node_name", "n1"}}), "n1:2");
  EXPECT_EQ(key({{"nodeid", "tvm-1"}, {"deviceid", "3"}, {"runid", "r"}}), "tvm-1:3");
  EXPECT_EQ(key({{"clusterId", "c"}, {"gpu", "1"}, {"node", "dgx-1"}}), "dgx-1:1");
  EXPECT_EQ(key({{"gpu_id", "5"}, {"hostname", "mi300-2"}, {"serial_number", "s"}, {"card_model", "m"}}), "mi300-2:5");
}

// The peak of summed readings does not depend on their order.
RC_GTEST_PROP(FinePeaks, SumShowsTheSimultaneousPeak, ()) {
  const int gpus = *rc::gen::inRange(1, 6), minutes = *rc::gen::inRange(2, 400);
  std::vector<FinePeaks> fine(static_cast<std::size_t>(gpus));
  std::vector<double> truth(static_cast<std::size_t>(minutes), 0.0);
  std::mt19937 random(static_cast<unsigned>(*rc::gen::inRange(0, 10'000)));
  std::vector<std::pair<int, int>> order;
  for (int g = 0; g < gpus; ++g) {
    for (int m = 0; m < minutes; ++m) order.emplace_back(g, m);
  }
  std::vector<double> values(order.size());
  for (double& value : values) value = static_cast<double>(random() % 101) / 100;
  if (*rc::gen::arbitrary<bool>()) std::ranges::shuffle(order, random);
  for (const auto& [g, m] : order) {
    const double value = values[static_cast<std::size_t>(g * minutes + m)];
    fine[static_cast<std::size_t>(g)].add(2, kStart + seconds(60.0 * m + g), value);
    truth[static_cast<std::size_t>(m)] += value;
  }
  std::vector<const FinePeaks*> all;
  for (FinePeaks& one : fine) all.push_back(&one);
  const std::vector<double> sums = FinePeaks::sum(all, TimePoint{}, seconds(60));
  RC_ASSERT(std::abs(*std::ranges::max_element(sums) - *std::ranges::max_element(truth)) < 0.01 * gpus);
}

}  // namespace
}  // namespace rightsize::fleet
