// Stopping what ended or was never needed.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FleetAnalysis analysed(UseAccumulator& sum) {
  const DevicePrices book = book_at(2);
  return analyse(sum.finish(), {book, speeds()});
}

// A job that crashed on its third day and holds its GPU ever since is stopped; one with nights of rest is not.
TEST(Stops, WorkThatEndedIsStopped) {
  UseAccumulator sum({});
  live(sum, {.uuid = "GPU-ended", .pod = "4001"}, 8 * kDay, [](int m) { return m < 3 * kDay ? 0.9 : 0.0; });
  live(sum, {.uuid = "GPU-nights", .pod = "4002", .index = 1}, 8 * kDay, mornings);
  const FleetAnalysis a = analysed(sum);
  ASSERT_FALSE(a.actions.empty());
  EXPECT_EQ(a.actions[0].kind, ActionKind::kStop);
  EXPECT_TRUE(a.actions[0].counted);
  EXPECT_THAT(a.actions[0].gpu_ids, ElementsAre("GPU-ended"));
  EXPECT_THAT(a.actions[0].commands, ElementsAre("scontrol write batch_script 4001 job-4001.sh", "scancel 4001"));
  for (const FleetAction& action : a.actions)
    EXPECT_THAT(action.commands, testing::Not(testing::Contains("scancel 4002")));
}

// Replicas on several kinds of GPUs leave with one command: two numbers of replicas would contradict each other.
TEST(Stops, AWorkloadIsStoppedAsAWhole) {
  UseAccumulator sum({});
  live(sum, {.uuid = "GPU-a", .pod = "chat-7d4b9c6f5-x2x5z"}, 2 * kDay, nothing);
  live(sum, {.uuid = "GPU-b", .pod = "chat-7d4b9c6f5-b4b7c", .memory = 20 * kGiB, .model = "NVIDIA L4", .host = "n2"},
       2 * kDay, nothing);
  const FleetAnalysis a = analysed(sum);
  ASSERT_EQ(a.actions.size(), 1U);
  EXPECT_THAT(a.actions[0].what, HasSubstr("1 h100-sxm and 1 l4"));
  EXPECT_THAT(a.actions[0].commands, ElementsAre("kubectl -n a scale deployment/chat --replicas=0"));
}

TEST(Stops, NotebooksAreEndedByTheirHub) {
  UseAccumulator sum({});
  live(sum, {.uuid = "GPU-n", .pod = "jupyter-ann"}, 4 * kDay, [](int m) { return m / 60 % 24 == 10 ? 0.5 : 0.0; });
  const FleetAnalysis a = analysed(sum);
  ASSERT_FALSE(a.actions.empty());
  EXPECT_THAT(a.actions[0].manifest, HasSubstr("cull:\n  enabled: true\n  timeout: 14400"));
  EXPECT_THAT(a.actions[0].commands, ElementsAre(HasSubstr("helm -n a upgrade")));
}

}  // namespace
}  // namespace rightsize::fleet
