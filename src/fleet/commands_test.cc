#include "fleet/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Owner pod(std::string name) { return {"team", workload_of_pod(name), "", std::move(name)}; }

TEST(Commands, KubernetesObjectsAreReadFromThePodName) {
  EXPECT_EQ(kubernetes_object(pod("chat-7d4b9c6f5-x2x5z")), "deployment/chat");
  EXPECT_EQ(kubernetes_object(pod("train-3")), "statefulset/train");
  EXPECT_EQ(kubernetes_object(pod("notebook-alice")), "pod/notebook-alice");
  EXPECT_EQ(kubernetes_object(pod("train-x2x5z")), "pod/train-x2x5z");        // of a Job, a DaemonSet ...
  EXPECT_EQ(kubernetes_object(pod("train-worker-1")), "pod/train-worker-1");  // of a PyTorchJob
}

TEST(Commands, StopCommandsMatchTheSchedulerAndKind) {
  EXPECT_THAT(stop_commands(pod("chat-7d4b9c6f5-x2x5z")),
              ElementsAre("kubectl -n team scale deployment/chat --replicas=0"));
  EXPECT_THAT(stop_commands(pod("notebook-alice")),
              ElementsAre("kubectl -n team get pod/notebook-alice -o yaml > notebook-alice.yaml",
                          "kubectl -n team delete pod/notebook-alice"));
  // An operator would create a worker again, so its job is deleted.
  const std::vector<std::string> job = stop_commands(pod("train-worker-1"));
  ASSERT_EQ(job.size(), 2u);
  EXPECT_THAT(job[0], HasSubstr("ownerReferences"));
  EXPECT_THAT(job[0], testing::EndsWith("-o yaml > train.yaml"));
  EXPECT_THAT(job[1], HasSubstr("delete \"$(kubectl -n team get pod/train-worker-1 "));
  // The worker of a LeaderWorkerSet's group has no StatefulSet that could be scaled.
  EXPECT_FALSE(is_scalable(pod("chat-0-1")));
  EXPECT_TRUE(is_scalable(pod("chat-0")));
  EXPECT_EQ(undo_command(pod("chat-7d4b9c6f5-x2x5z")), "kubectl -n team rollout undo deployment/chat");
  EXPECT_THAT(stop_commands({"acct", "train", "ann", "4001_3"}),
              ElementsAre("scontrol write batch_script 4001_3 job-4001_3.sh", "scancel 4001_3"));
  EXPECT_THAT(stop_commands({"acct", "train", "ann", "4001+0"}), testing::Contains("scancel 4001+0"));
  EXPECT_EQ(restart_command({"acct", "train", "ann", "4001_3"}), "sbatch job-4001_3.sh");
  EXPECT_TRUE(stop_commands({}).empty());
}

// A job of several GPUs needs as many of the other kind.
TEST(Commands, AJobMovesWithAllItsGpus) {
  catalog::Gpu gpu;
  gpu.name = "rtx-pro-6000";
  Replacement other;
  other.gpu = &gpu;
  const Owner job = {"acct", "train", "ann", "4001"};
  EXPECT_THAT(reselect_commands(job, other, 2, true),
              ElementsAre("scontrol write batch_script 4001 job-4001.sh", "scancel 4001",
                          HasSubstr("sbatch --gpus=rtx-pro-6000:2 job-4001.sh")));
  gpu.name = "h100-sxm";
  EXPECT_THAT(reselect_commands(job, other, 16, true), testing::Contains(HasSubstr("--gpus=h100:16 ")));
}

// Work without replicas runs in its hours, too: jobs by scrontab or suspension, pods by their file.
TEST(Commands, WorkWithoutReplicasHasHours) {
  const auto [slurm, undo] = hours_commands({"acct", "train", "ann", "4001"}, {8, 18, true});
  EXPECT_THAT(slurm, ElementsAre("scontrol write batch_script 4001 job-4001.sh",
                                 HasSubstr("echo '0 8 * * 1-5 sbatch --time=10:00:00 job-4001.sh'"),
                                 HasSubstr("scancel 4001 ")));
  EXPECT_THAT(undo, testing::EndsWith("; sbatch job-4001.sh"));
  const auto [workers, resume] = hours_commands(pod("train-worker-1"), {8, 24});
  ASSERT_EQ(workers.size(), 3u);
  EXPECT_THAT(workers[0], testing::EndsWith(" > train.name"));
  EXPECT_THAT(workers[1], testing::AllOf(HasSubstr("\"suspend\":true"), testing::EndsWith("# at 0:00 UTC")));
  EXPECT_THAT(workers[2], testing::StartsWith(resume));
  EXPECT_THAT(hours_commands(pod("notebook-alice"), {8, 18}).first,
              testing::Contains("kubectl apply -f notebook-alice.yaml   # at 8:00 UTC"));
  EXPECT_TRUE(hours_commands(pod("notebook-alice"), {}).first.empty());
}

TEST(Commands, WritesKedaSchedulesAndTimeSlicing) {
  const std::string manifest = keda_schedule(pod("chat-7d4b9c6f5-x2x5z"), {8, 18}, {0, 1});
  EXPECT_THAT(manifest, HasSubstr("kind: Deployment\n    name: chat"));
  EXPECT_THAT(manifest, HasSubstr("start: 0 8 * * *\n        end: 0 18 * * *"));
  EXPECT_THAT(keda_schedule(pod("chat-7d4b9c6f5-x2x5z"), {8, 24, true}, {0, 1}),
              HasSubstr("start: 0 8 * * 1-5\n        end: 0 0 * * 2-6"));
  EXPECT_TRUE(keda_schedule(pod("notebook-alice"), {8, 18}, {0, 1}).empty());
  // Cron's hours are 0 to 23; a whole day needs no schedule.
  EXPECT_THAT(keda_schedule(pod("chat-7d4b9c6f5-x2x5z"), {8, 24}, {2, 3}), HasSubstr("end: 0 0 * * *"));
  EXPECT_TRUE(keda_schedule(pod("chat-7d4b9c6f5-x2x5z"), {0, 24}, {0, 1}).empty());
  EXPECT_THAT(time_slicing_config(3), HasSubstr("replicas: 3"));
}

}  // namespace
}  // namespace rightsize::fleet
