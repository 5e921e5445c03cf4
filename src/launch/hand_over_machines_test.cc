// Files for copies of a model that span machines, and for separate prefill and decode workers.
#include <gmock/gmock.h>

#include "launch/hand_over_facts.h"
#include "launch/test_hand_over.h"

namespace rightsize::launch {
namespace {

using namespace plan;  // NOLINT(google-build-using-namespace)

using ::testing::HasSubstr;

// A model that no single machine holds: each replica spans machines, with one pipeline stage on each.
Answer serving_over_machines(const char* stack) {
  return answer({{"model", "llama-3.1-405b"},
                 {"job", "serve"},
                 {"stack", stack},
                 {"precision", "bf16"},
                 {"rate", "1/s"},
                 {"gpu", "h100-sxm"},
                 {"providers", "aws"},
                 {"max-gpus", "64"}});
}

TEST(SeveralMachines, ACopySpansAsFewMachinesAsHoldIt) {
  const Answer a = serving_over_machines("vllm");
  const Plan& plan = a.best();
  EXPECT_EQ(plan.job.parallel.tensor, 8);
  EXPECT_EQ(plan.job.parallel.pipeline, 2);
  EXPECT_EQ(machines_per_replica(a.request, plan), 2);
  EXPECT_EQ(plan.machines, 2 * plan.replicas);
  EXPECT_EQ(plan.gpus, 16 * plan.replicas);
  EXPECT_GE(plan.replicas, 2);
}

TEST(SeveralMachines, KubernetesStartsAGroupOfPodsForEachCopy) {
  const Answer a = serving_over_machines("vllm");
  const std::string file = *hand_over(Target::kKubernetes, a.request, a.best());
  EXPECT_THAT(file, HasSubstr("kind: LeaderWorkerSet"));
  EXPECT_THAT(file, HasSubstr("    size: 2\n"));
  EXPECT_THAT(file, HasSubstr("--tensor-parallel-size 8"));
  EXPECT_THAT(file, HasSubstr("--pipeline-parallel-size 2"));
  EXPECT_THAT(file, HasSubstr("--nnodes 2 --node-rank \"$LWS_WORKER_INDEX\" --master-addr \"$LWS_LEADER_ADDRESS\""));
  EXPECT_THAT(file, HasSubstr("vpc.amazonaws.com/efa: 32"));
  EXPECT_THAT(file, HasSubstr("hugepages-2Mi: 5120Mi"));  // EFA's library allocates them
  // Only the first pod of a group serves, so only it receives requests.
  const YamlValue service = documents(file).back();
  const YamlValue* index = service.find("spec")->find("selector")->find("leaderworkerset.sigs.k8s.io/worker-index");
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->scalar, "0");
}

TEST(SeveralMachines, SlurmGroupsItsNodes) {
  const Answer a = serving_over_machines("sglang");
  const std::string file = *hand_over(Target::kSlurm, a.request, a.best());
  EXPECT_THAT(file, HasSubstr("MEMBER=$(( SLURM_NODEID % 2 ))"));
  EXPECT_THAT(file, HasSubstr("--nnodes 2 --node-rank \"$MEMBER\" --dist-init-addr \"$LEADER\":20000"));
}

Plan separate_workers_plan(const Answer& a) {
  Plan plan = a.best();
  plan.job.serve.disaggregated = model::Disaggregated{2, 2, 1, 4};
  plan.job.parallel.tensor = 4;
  plan.job.parallel.gpus = plan.gpus = 8;
  plan.machines = plan.replicas = 1;
  return plan;
}

const std::pair<model::Stack, const char*> kRouters[] = {{model::Stack::kVllm, "vllm-router --vllm-pd-disaggregation"},
                                                         {model::Stack::kSglang, "sglang_router.launch_router"},
                                                         {model::Stack::kTrtLlm, "trtllm-serve disaggregated"}};

Answer serving_on_h200() {
  return answer(
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "20/s"}, {"gpu", "h200-sxm"}, {"providers", "aws"}});
}

// On one machine, workers have separate ports and GPUs, and the router lists them all.
TEST(Disaggregated, WorkersOfAMachineHaveTheirOwnPortsAndGpus) {
  const Answer a = serving_on_h200();
  Plan plan = separate_workers_plan(a);
  for (const auto& [stack, router] : kRouters) {
    plan.job.stack = stack;
    const std::string script = *hand_over(Target::kSlurm, a.request, plan);
    EXPECT_TRUE(is_bash(script));
    for (const char* part : {"seq 0 1", "$(( 0 + i * 2 ))", "$(( 4 + i * 4 ))", "$(( 8100 + i ))", "$(( 8200 + i ))",
                             "127.0.0.1:8101", "127.0.0.1:8200", router})
      EXPECT_THAT(script, HasSubstr(part));
  }
}

// In Kubernetes every worker is a pod with its GPUs, and every router knows all of them.
TEST(Disaggregated, EveryWorkerIsAPodWithItsGpus) {
  const Answer a = serving_on_h200();
  Plan plan = separate_workers_plan(a);
  plan.replicas = 3;
  plan.gpus = 24;
  for (const auto& [stack, router] : kRouters) {
    plan.job.stack = stack;
    const std::vector<YamlValue> all = documents(*hand_over(Target::kKubernetes, a.request, plan));
    int gpus = 0, pools = 0;
    for (const YamlValue& object : all) {
      if (field(object, "kind") != "StatefulSet") continue;
      const int workers = std::atoi(field(object, "spec/replicas").c_str());
      const YamlValue& containers = *object.find("spec")->find("template")->find("spec")->find("containers");
      const int each =
          std::atoi(containers.list[0].find("resources")->find("limits")->find("nvidia.com/gpu")->scalar.c_str());
      const bool prefill = pools++ == 0;
      EXPECT_EQ(workers, prefill ? 6 : 3);
      EXPECT_EQ(each, prefill ? 2 : 4);
      EXPECT_EQ(containers.list.size(), prefill ? 2u : 1u);
      gpus += workers * each;
      EXPECT_TRUE(is_bash(field(containers.list[0], "args/0")));
      if (!prefill) continue;
      const std::string script = field(containers.list[1], "args/0");
      EXPECT_TRUE(is_bash(script));
      for (const char* part : {"llama-3-1-8b-prefill-5.llama-3-1-8b-prefill:8001",
                               "llama-3-1-8b-decode-2.llama-3-1-8b-decode:8001", router})
        EXPECT_THAT(script, HasSubstr(part));
      EXPECT_THAT(script, ::testing::Not(HasSubstr("127.0.0.1")));
    }
    EXPECT_EQ(gpus, plan.gpus);
    EXPECT_EQ(field(all.back(), "spec/ports/0/targetPort"), "8000");
  }
}

TEST(SeveralMachines, UnsupportedPlansAreRefused) {
  const Answer a = serving_over_machines("vllm");
  const Result<std::string> task = hand_over(Target::kSkyPilot, a.request, a.best());
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().hints.at(0), HasSubstr("kubernetes"));
  const Answer t = serving_over_machines("trtllm");
  EXPECT_FALSE(hand_over(Target::kKubernetes, t.request, t.best()));
}

}  // namespace
}  // namespace rightsize::launch
