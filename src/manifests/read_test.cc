// Complete files of common tools: every request in them is found.
#include "manifests/read.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::manifests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<GpuRequest> read(const std::string& file, const std::string& text) {
  return read_files({{file, text}}).requests;
}

GpuRequest only(const std::string& file, const std::string& text) {
  const std::vector<GpuRequest> all = read(file, text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? GpuRequest{} : all.front();
}

TEST(Kubernetes, ADeployment) {
  const GpuRequest r = only("a.yaml", R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: prod}
spec:
  replicas: 3
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers:
        - name: a
          resources: {limits: {nvidia.com/gpu: "2", cpu: 8}}
        - name: b
          resources: {requests: {nvidia.com/gpu: 1}}
      initContainers:
        - name: c
          resources: {limits: {nvidia.com/gpu: 2}}
)");
  EXPECT_EQ(r.kind, "Deployment");
  EXPECT_EQ(r.name, "prod/chat");
  EXPECT_EQ(r.units, 3);
  EXPECT_EQ(r.per_unit, 3);
  EXPECT_THAT(r.gpus, ElementsAre("NVIDIA-H100-80GB-HBM3"));
  EXPECT_FALSE(r.job);
  EXPECT_EQ(r.line, 11);
}

constexpr const char* kPod = R"(
      containers:
        - name: a
          resources: {limits: {nvidia.com/gpu: 8}}
)";

TEST(Kubernetes, JobsAndSets) {
  const GpuRequest set =
      only("a.yaml", std::string("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec:\n"
                                 "  replicas: 2\n  template:\n    spec:") +
                         kPod);
  EXPECT_EQ(set.total(), 16);
  const GpuRequest job =
      only("a.yaml", std::string("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n"
                                 "  parallelism: 4\n  activeDeadlineSeconds: 3600\n  template:\n    spec:") +
                         kPod);
  EXPECT_EQ(job.total(), 32);
  EXPECT_TRUE(job.job);
  EXPECT_EQ(in_seconds(job.time_limit.value_or(Seconds{})), 3600);
  const GpuRequest cron =
      only("a.yaml", std::string("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n"
                                 "  jobTemplate:\n    spec:\n      parallelism: 2\n      template:\n        spec:\n"
                                 "          containers:\n            - resources: {limits: {amd.com/gpu: 4}}\n"));
  EXPECT_EQ(cron.total(), 8);
  EXPECT_EQ(cron.resource, "amd.com/gpu");
  EXPECT_TRUE(cron.job);
}

TEST(Kubernetes, AutoscaledInferenceServicesRunTheirFewestReplicas) {
  const auto all = read("llm.yaml", R"(apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat}
spec:
  scaling: {minReplicas: 2, maxReplicas: 5, wva: {hpa: {}}}
  template:
    containers:
      - resources: {limits: {nvidia.com/gpu: "4"}}
)");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].total(), 8);
  EXPECT_EQ(all[0].most_units, 5);
}

// A node selector holds for everything below it, unless a part has its own.
TEST(Kubernetes, NodesAreChosenAtAnyLevel) {
  const auto all = read("isvc.yaml", R"(apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}
    model:
      resources: {limits: {nvidia.com/gpu: 1}}
    workerSpec:
      pipelineParallelSize: 2
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
      containers:
      - resources: {limits: {nvidia.com/gpu: 1}}
)");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].gpus, testing::ElementsAre("NVIDIA-L40S"));
  EXPECT_THAT(all[1].gpus, testing::ElementsAre("NVIDIA-L4"));
}

double gpus_of(const std::string& text) {
  double all = 0;
  for (const GpuRequest& r : read("a.yaml", text)) all += r.total().value_or(-1000);
  return all;
}

TEST(Kubernetes, PartsOfAnInferenceServiceHaveTheirOwnReplicas) {
  const std::string pods = "containers: [{name: main, resources: {limits: {nvidia.com/gpu: ";
  EXPECT_EQ(gpus_of("apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nspec:\n  replicas: 3\n"
                    "  template: {" +
                    pods + "1}}}]}\n  prefill: {replicas: 2, template: {" + pods + "2}}}]}}\n"),
            3 * 1 + 2 * 2);
  const std::string service =
      "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec:\n  predictor:\n    model: {resources: "
      "{limits: {nvidia.com/gpu: 2}}}\n    workerSpec: {pipelineParallelSize: 3";
  EXPECT_EQ(gpus_of(service + ", tensorParallelSize: 2}\n"), 3 * 2);
  EXPECT_EQ(gpus_of(service + "}\n"), 2 + 2 * 1);
}

TEST(Kubernetes, RayHasHeadAndWorkerGroups) {
  const auto all = read("ray.yaml", R"(apiVersion: ray.io/v1
kind: RayJob
metadata: {name: tune}
spec:
  rayClusterSpec:
    headGroupSpec:
      template:
        spec:
          containers:
            - resources: {limits: {nvidia.com/gpu: 1}}
    workerGroupSpecs:
      - groupName: small
        replicas: 2
        minReplicas: 1
        maxReplicas: 6
        template:
          spec:
            containers:
              - resources: {limits: {nvidia.com/gpu: 4}}
      - groupName: big
        replicas: 3
        numOfHosts: 2
        template:
          spec:
            containers:
              - resources: {limits: {nvidia.com/gpu: 8}}
)");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].part, "head");
  EXPECT_EQ(all[0].total(), 1);
  EXPECT_EQ(all[1].part, "small");
  EXPECT_EQ(all[1].total(), 8);
  EXPECT_EQ(all[1].most_units, 6);
  EXPECT_EQ(all[2].total(), 48);
  EXPECT_TRUE(all[2].job);
}

TEST(Kubernetes, ALeaderWorkerSetCountsItsGroups) {
  const std::string worker = "\n      containers:\n        - resources: {limits: {nvidia.com/gpu: 8}}\n";
  const std::string head =
      "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\nspec:\n"
      "  replicas: 2\n  leaderWorkerTemplate:\n    size: 4\n";
  EXPECT_EQ(only("a.yaml", head + "    workerTemplate:\n     spec:" + worker).total(), 64);
  const auto both =
      read("a.yaml", head + "    leaderTemplate:\n     spec:" + worker + "    workerTemplate:\n     spec:" + worker);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].total(), 16);
  EXPECT_EQ(both[1].total(), 48);
}

TEST(Kubernetes, PyTorchJobsJobSetsAndTrainers) {
  const auto all = read("a.yaml", R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: p}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}
    Worker: {replicas: 3, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  replicatedJobs:
    - name: slices
      replicas: 2
      template: {spec: {parallelism: 4, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t}
spec:
  trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: one}
    spec: {containers: [{resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}
)");
  std::vector<double> totals;
  for (const GpuRequest& r : all) totals.push_back(r.total().value_or(-1));
  EXPECT_THAT(totals, ElementsAre(8, 24, 64, 8, 1));
  EXPECT_EQ(all[4].mig_profile, "1g.10gb");
  EXPECT_EQ(all[4].kind, "Pod");
}

TEST(Kubernetes, KarpenterPoolsAreLimits) {
  const GpuRequest r = only("a.yaml", R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [p5, p4d]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  limits: {nvidia.com/gpu: 64}
)");
  EXPECT_TRUE(r.ceiling);
  EXPECT_EQ(r.per_unit, 64);
  EXPECT_TRUE(r.spot);
  EXPECT_THAT(r.machines, ElementsAre("p5.*", "p4d.*"));
  EXPECT_TRUE(read("b.yaml",
                   "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: cpu}\nspec:\n  limits: {cpu: 100}\n")
                  .empty());
}

TEST(Kubernetes, AffinityAndMachineTypes) {
  const GpuRequest r = only("a.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [a3-highgpu-8g]}
              - {key: cloud.google.com/gke-spot, operator: In, values: ["true"]}
  containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]
)");
  EXPECT_THAT(r.machines, ElementsAre("a3-highgpu-8g"));
  EXPECT_EQ(r.provider, "gcp");
  EXPECT_TRUE(r.spot);
  const GpuRequest group = only("eksctl.yaml",
                                "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c}\n"
                                "managedNodeGroups:\n  - {name: gpu, instanceType: p4d.24xlarge, desiredCapacity: 3}\n"
                                "  - {name: cpu, instanceType: m5.large, desiredCapacity: 9}\n");
  EXPECT_EQ(group.part, "gpu");
  EXPECT_EQ(group.units, 3);
}

TEST(Kubernetes, TemplatesAreReportedNotFilled) {
  const GpuRequest r = only("templates/deploy.yaml", R"({{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "x.name" . }}
  labels:
    {{- include "x.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      nodeSelector:
        nvidia.com/gpu.product: "{{ .Values.gpu }}"
      containers:
        - name: a
          resources:
            limits:
              nvidia.com/gpu: {{ .Values.gpus | default 1 }}
{{- end }}
)");
  EXPECT_EQ(r.units, std::nullopt);
  EXPECT_EQ(r.per_unit, std::nullopt);
  EXPECT_TRUE(r.gpus.empty());
  EXPECT_THAT(r.unresolved, ElementsAre("replicas: {{ .Values.replicas }}", "nvidia.com/gpu.product: {{ .Values.gpu }}",
                                        "nvidia.com/gpu: {{ .Values.gpus | default 1 }}"));
  EXPECT_THAT(r.name, HasSubstr("include"));
}

TEST(Kubernetes, PoolsWithoutALimitAreFoundThroughTheirNodes) {
  const GpuRequest r = only("a.yaml", R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}
        - {key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ["0"]}
)");
  EXPECT_EQ(r.per_unit, std::nullopt);
  EXPECT_THAT(r.unresolved, ElementsAre(HasSubstr("no limit on GPUs")));
}

TEST(Kubernetes, RolesFractionsAndDaemonSets) {
  const auto roles = read("a.yaml", R"(apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: d}
spec:
  roles:
    - name: prefill
      spec: {replicas: 2, leaderWorkerTemplate: {size: 1, workerTemplate: {spec: {containers: [{name: v, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}}
    - name: decode
      spec: {leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {containers: [{name: v, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}}
)");
  ASSERT_EQ(roles.size(), 2u);
  EXPECT_EQ(roles[0].total(), 2);
  EXPECT_EQ(roles[1].total(), 4);
  const GpuRequest half = only("b.yaml", R"(apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: r}
spec:
  workerGroupSpecs:
    - groupName: shared
      replicas: 2
      template:
        metadata: {annotations: {gpu-fraction: "0.5"}}
        spec: {containers: [{name: w}]}
)");
  EXPECT_EQ(half.total(), 1);
  EXPECT_EQ(half.part, "shared");
  EXPECT_EQ(only("c.yaml",
                 "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n"
                 "      containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]\n")
                .units,
            std::nullopt);
}

TEST(Kubernetes, AnchorsAreFollowed) {
  EXPECT_EQ(only("a.yaml",
                 "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - &base\n      name: a\n"
                 "      resources: {limits: {nvidia.com/gpu: 2}}\n    - <<: *base\n      name: b\n")
                .per_unit,
            4);
}

TEST(Slurm, EveryWayToRequestGpus) {
  const auto script = [](const std::string& lines) { return "#!/bin/bash\n" + lines + "\nsrun x\n"; };
  EXPECT_EQ(only("a.sh", script("#SBATCH -N 4\n#SBATCH --gres=gpu:h100:8")).total(), 32);
  EXPECT_THAT(only("a.sh", script("#SBATCH -N 4\n#SBATCH --gres=gpu:h100:8")).gpus, ElementsAre("h100"));
  EXPECT_EQ(only("a.sh", script("#SBATCH --nodes=2-4 --gpus-per-node=a100:4")).total(), 8);
  EXPECT_EQ(only("a.sh", script("#SBATCH --gpus=16\n#SBATCH --nodes 2")).total(), 16);
  EXPECT_EQ(only("a.sh", script("#SBATCH -G h200:8")).total(), 8);
  EXPECT_EQ(only("a.sh", script("#SBATCH --gpus-per-task=1 --ntasks=12 -N3")).total(), 12);
  EXPECT_EQ(only("a.sh", script("#SBATCH --gpus-per-task=1 --ntasks-per-node=4 -N3")).total(), 12);
  EXPECT_EQ(only("a.sh", script("#SBATCH --gres=lscratch:10,gpu:2 --array=0-9%4")).total(), 8);
  EXPECT_EQ(only("a.sh", script("#SBATCH --gres=gpu:2 --array=1,3,5-9:2")).total(), 10);
  EXPECT_THAT(only("a.sh", script("#SBATCH --gpus=8 -C 'a100&ib'")).gpus, ElementsAre("a100", "ib"));
  EXPECT_EQ(only("a.sh", script("#SBATCH --gpus=8 -p gpu_h100")).hint, "gpu_h100");
  EXPECT_TRUE(read("a.sh", script("#SBATCH --mem=10G\n# SBATCH --gpus=1")).empty());
  EXPECT_TRUE(read("a.sh", "#!/bin/bash\nsrun --gpus=8 x\n").empty());
}

TEST(Slurm, TimesPartsAndVariables) {
  const auto all =
      read("a.sbatch", "#!/bin/bash\n#SBATCH -J het --gpus=8 -t 1-12:30\n#SBATCH hetjob\n#SBATCH --gpus=2 --time=90\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(in_hours(*all[0].time_limit), 36.5);
  EXPECT_EQ(in_seconds(*all[1].time_limit), 5400);
  EXPECT_EQ(all[1].name, "het");
  const GpuRequest open =
      only("a.sbatch.j2", "#!/bin/bash\n#SBATCH --nodes={{ nodes }}\n#SBATCH --gpus-per-node=$GPUS\n");
  EXPECT_EQ(open.units, std::nullopt);
  EXPECT_EQ(open.per_unit, std::nullopt);
  EXPECT_EQ(open.unresolved.size(), 2u);
}

TEST(SkyPilot, AcceleratorsInEveryForm) {
  const auto task = [](const std::string& accelerators) {
    return "resources:\n  accelerators: " + accelerators + "\n  use_spot: true\nnum_nodes: 2\nrun: x\n";
  };
  for (const char* form : {"H100:8", "{H100: 8}", "[H100:8]", "\"H100:8\""}) {
    const GpuRequest r = only("task.yaml", task(form));
    EXPECT_EQ(r.total(), 16) << form;
    EXPECT_THAT(r.gpus, ElementsAre("H100")) << form;
    EXPECT_TRUE(r.spot);
    EXPECT_TRUE(r.job);
  }
  EXPECT_EQ(only("task.yaml", task("L4")).total(), 2);
  EXPECT_THAT(only("task.yaml", task("{A100-80GB: 8, H100: 8}")).gpus, ElementsAre("A100-80GB", "H100"));
  EXPECT_THAT(only("task.yaml", task("{A100-80GB:8, H100:8}")).gpus, ElementsAre("A100-80GB", "H100"));
  EXPECT_THAT(only("task.yaml", task("['A100-80GB:8', 'H100:8']")).gpus, ElementsAre("A100-80GB", "H100"));
}

TEST(SkyPilot, ANegativeGpuCountIsUnresolved) {
  const GpuRequest r = only("a.yaml", "resources:\n  accelerators: H100:-4\nrun: train\n");
  EXPECT_EQ(r.per_unit, std::nullopt);
  EXPECT_THAT(r.unresolved, ElementsAre(HasSubstr("H100:-4")));
}

TEST(Slurm, ANegativeGpuCountIsUnresolved) {
  const GpuRequest r = only("a.sh", "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:a100:-8\nsrun train\n");
  EXPECT_EQ(r.per_unit, std::nullopt);
  EXPECT_THAT(r.unresolved, ElementsAre(HasSubstr("a100:-8")));
}

TEST(SkyPilot, AnyOfOrderedAndServices) {
  const GpuRequest any = only("task.yaml",
                              "resources:\n  any_of:\n    - {cloud: aws, accelerators: A100:8}\n"
                              "    - {infra: gcp/us-central1, accelerators: H100:8}\nrun: x\n");
  EXPECT_THAT(any.gpus, ElementsAre("A100", "H100"));
  EXPECT_EQ(any.total(), 8);
  EXPECT_TRUE(any.provider.empty());
  const GpuRequest ordered = only("task.yaml",
                                  "resources:\n  cloud: aws\n  ordered:\n    - {accelerators: H100:8}\n"
                                  "    - {accelerators: A100:4}\nrun: x\n");
  EXPECT_TRUE(ordered.ordered);
  EXPECT_EQ(ordered.provider, "aws");
  EXPECT_FALSE(ordered.unresolved.empty());
  const GpuRequest service = only("serve.yaml",
                                  "service:\n  replica_policy: {min_replicas: 2, max_replicas: 6}\n"
                                  "resources: {accelerators: L4:1}\nrun: x\n");
  EXPECT_EQ(service.units, 2);
  EXPECT_EQ(service.most_units, 6);
  EXPECT_FALSE(service.job);
  EXPECT_TRUE(read("other.yaml", "resources: {cpus: 4}\nrun: x\n").empty());
}

// A file in UTF-16 gives the same requests as in UTF-8; a file that is not text is reported, never ignored.
TEST(ReadFiles, EncodingsDoNotHideRequests) {
  const std::string yaml =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: caf\xC3\xA9}\nspec:\n  containers:\n"
      "  - {name: a, resources: {limits: {nvidia.com/gpu: 8}}}\n";
  const std::u16string wide =
      u"apiVersion: v1\nkind: Pod\nmetadata: {name: caf\u00e9}\nspec:\n  containers:\n"
      u"  - {name: a, resources: {limits: {nvidia.com/gpu: 8}}}\n";
  const auto plain = read("pod.yaml", yaml);
  ASSERT_EQ(plain.size(), 1u);
  for (const bool big : {false, true}) {
    std::string bytes = big ? "\xFE\xFF" : "\xFF\xFE";
    for (const char16_t c : wide) {
      const char low = static_cast<char>(c & 0xFF), high = static_cast<char>(c >> 8);
      bytes += big ? std::string{high, low} : std::string{low, high};
    }
    const auto found = read("pod.yaml", bytes);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].name, plain[0].name);
    EXPECT_EQ(found[0].per_unit, 8);
    EXPECT_EQ(read_files({{"pod.yaml", bytes.substr(2)}}).notes.size(), 1u);  // without its mark
  }
}

}  // namespace
}  // namespace rightsize::manifests
