// When actions on whole machines count: commitments, and returning them.
#include <gtest/gtest.h>

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

// Busy GPUs of one a3-highgpu-8g, one reading every ten minutes.
std::vector<GpuUse> busy_machine(int gpus, int days) {
  UseAccumulator sum({});
  for (int i = 0; i < gpus; ++i) {
    Device device{.index = i, .uuid = "G" + std::to_string(i), .host = "n1"};
    device.labels = {{"instance_type", "a3-highgpu-8g"},
                     {"region", "us-central1"},
                     {"pod", "train-" + std::to_string(i)},
                     {"namespace", "a"}};
    const int number = sum.open(device);
    for (int m = 0; m < days * kDay; m += 10)
      sum.add(number, Metric::kGraphicsActive, kStart + seconds(60.0 * m), 0.98);
  }
  return sum.finish();
}

// A year is bought for a whole machine, and not because of a few days.
TEST(Commit, CountsForWholeMachinesAfterAWeek) {
  const DevicePrices book(facts(), {});
  const struct {
    int gpus, days;
    bool counted;
  } kCases[] = {{8, 7, true}, {8, 2, false}, {3, 7, false}};
  for (const auto& each : kCases) {
    const FleetAnalysis a = analyse(busy_machine(each.gpus, each.days), {book, speeds()});
    int commitments = 0;
    for (const FleetAction& action : a.actions) {
      if (action.kind != ActionKind::kCommit) continue;
      ++commitments;
      EXPECT_EQ(action.counted, each.counted) << each.gpus << " GPUs, " << each.days << " days";
    }
    EXPECT_EQ(commitments, 1) << each.gpus << " GPUs, " << each.days << " days";
  }
}

// A GPU is rented with its machine: unused ones are given back only if they are all of it.
TEST(Stop, UnusedGpusAreGivenBackWithTheirMachine) {
  for (const double busy : {0.0, 0.9}) {
    UseAccumulator sum({});
    live(sum, {.uuid = "A", .team = "", .memory = 0.5 * kGiB}, 2 * kDay, nothing);
    live(sum, {.uuid = "B", .team = busy > 0 ? "a" : "", .memory = 0.5 * kGiB, .index = 1}, 2 * kDay,
         [&](int) { return busy; });
    int released = 0;
    for (const FleetAction& action : analyse(sum.finish(), {book_at(2), speeds()}).actions) {
      if (!action.what.starts_with("release")) continue;
      ++released;
      EXPECT_EQ(action.counted, busy == 0);
      ASSERT_FALSE(action.commands.empty());
      EXPECT_EQ(action.commands.back().ends_with("what keeps the machine in use"), busy > 0);
      EXPECT_EQ(action.commands.back().starts_with("sudo shutdown"), busy == 0);
    }
    EXPECT_EQ(released, 1);
  }
}

}  // namespace
}  // namespace rightsize::fleet
