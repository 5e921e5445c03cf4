// Kubernetes: training and offline work as an indexed Job, serving as a Deployment with its Service, or as a
// LeaderWorkerSet where an engine spans machines.
#include <algorithm>

#include <fmt/format.h>

#include "plan/hand_over/parts.h"
#include "plan/layouts.h"

namespace rightsize::plan {
namespace {

// What GPU feature discovery labels a node with: the driver's name of the GPU, which the catalogue has as the first
// other name, with '-' for spaces.
std::string product_label(const catalog::Gpu& gpu) {
  if (gpu.vendor != "NVIDIA" || gpu.aliases.empty()) return {};
  std::string label = gpu.aliases.front();
  std::replace(label.begin(), label.end(), ' ', '-');
  return label;
}

// How a cluster on this provider marks its spot nodes.
struct SpotMark {
  const char* key;
  const char* value;
};
SpotMark spot_mark(const std::string& provider) {
  if (provider == "gcp") return {"cloud.google.com/gke-spot", "true"};
  if (provider == "azure") return {"kubernetes.azure.com/scalesetpriority", "spot"};
  if (provider == "aws") return {"karpenter.sh/capacity-type", "spot"};
  return {nullptr, nullptr};
}

std::string node_choice(const Plan& plan) {
  std::string selector,
      tolerations =
          fmt::format("tolerations:\n  - key: {}\n    operator: Exists\n    effect: NoSchedule\n", resource(plan));
  if (const std::string label = product_label(*plan.offer.gpu); !label.empty())
    selector += fmt::format("  nvidia.com/gpu.product: {}\n", quoted(label));
  const SpotMark mark = spot_mark(plan.offer.machine->provider);
  if (is_spot(plan) && mark.key != nullptr) {
    selector += fmt::format("  {}: {}\n", mark.key, quoted(mark.value));
    tolerations += fmt::format("  - key: {}\n    operator: Equal\n    value: {}\n    effect: NoSchedule\n", mark.key,
                               quoted(mark.value));
  }
  return (selector.empty() ? "" : "nodeSelector:\n" + selector) + tolerations;
}

// What a pod runs, and whether it answers requests.
struct PodWork {
  Launcher launcher;
  int gpus = 1;
  bool answers = false;
};

std::string container(const Request& request, const Plan& plan, const PodWork& work) {
  std::string out = fmt::format("- name: work\n  image: {}\n  env:\n", software_of(request, plan).image);
  for (const Input& input : inputs_of(request, plan))
    out += fmt::format("    - name: {}\n      value: {}\n", input.name, quoted(input.value));
  out +=
      "    - name: HF_TOKEN\n      valueFrom:\n        secretKeyRef:\n          name: hf-token\n          key: token\n"
      "          optional: true\n";
  if (needs_code(request, plan)) out += "  workingDir: /code\n";
  out += "  command: [\"bash\", \"-c\"]\n  args:\n    - |\n";
  out += indented("set -eu\n" + work_command(request, plan, work.launcher), "      ");
  const Fabric fabric = fabric_of(request, plan);
  out += fmt::format("  resources:\n    requests:\n      ephemeral-storage: {}G\n    limits:\n      {}: {}\n",
                     disk_gb(request, plan), resource(plan), work.gpus);
  if (fabric.efa > 0) out += fmt::format("      vpc.amazonaws.com/efa: {}\n", fabric.efa);
  if (work.answers)
    out += fmt::format(
        "  ports:\n    - containerPort: {0}\n  readinessProbe:\n    httpGet:\n      path: /health\n      port: {0}\n"
        "    periodSeconds: 10\n  startupProbe:\n    httpGet:\n      path: /health\n      port: {0}\n"
        "    periodSeconds: 10\n    failureThreshold: 180\n",
        kPort);
  out += "  volumeMounts:\n    - name: shared-memory\n      mountPath: /dev/shm\n";
  if (needs_code(request, plan)) out += "    - name: code\n      mountPath: /code\n";
  if (keeps_results(request)) out += fmt::format("    - name: storage\n      mountPath: {}\n", kStorage);
  return out;
}

// NCCL and data loaders pass tensors through shared memory; the default of 64 MiB is too little.
std::string volumes(const Request& request, const Plan& plan, const std::string& name) {
  std::string out = "volumes:\n  - name: shared-memory\n    emptyDir:\n      medium: Memory\n";
  if (needs_code(request, plan)) out += "  - name: code\n    emptyDir: {}\n";
  if (keeps_results(request))
    out += fmt::format("  - name: storage\n    persistentVolumeClaim:\n      claimName: {}\n", name);
  return out;
}

// Fetches the user's code before the work begins.
constexpr const char* kFetchCode =
    "initContainers:\n  - name: code\n    image: alpine/git:latest\n"
    "    args: [\"clone\", \"--depth=1\", \"https://REPLACE-BY-YOUR-REPOSITORY\", \"/code\"]\n"
    "    volumeMounts:\n      - name: code\n        mountPath: /code\n";

// Storage that stays when pods and nodes go, and that all of them see.
std::string claim(const Request& request, const Plan& plan, const std::string& name) {
  return fmt::format(
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: {}\nspec:\n  accessModes: [\"ReadWriteMany\"]\n"
      "  storageClassName: REPLACE-BY-A-SHARED-CLASS  # EFS or FSx for Lustre, Filestore, Azure Files\n"
      "  resources:\n    requests:\n      storage: {}G\n---\n",
      name, std::max(500, 2 * disk_gb(request, plan)));
}

std::string pod(const Request& request, const Plan& plan, const PodWork& work, const std::string& settings) {
  return settings + node_choice(plan) + (needs_code(request, plan) ? kFetchCode : "") + "containers:\n" +
         indented(container(request, plan, work), "  ") + volumes(request, plan, object_name(request));
}

// Restarts of a whole job before it is given up.
constexpr int kRestarts = 10;

// One pod a machine when training, one a replica when offline: each takes the part of its number.
std::string job(const Request& request, const Plan& plan, const std::string& name) {
  const bool training = request.work.kind == WorkKind::kTraining;
  const int pods = training ? plan.machines : std::max(1, plan.replicas);
  const int gpus = training ? working_gpus(plan) : replica_gpus(plan.job);
  const bool talk = training && pods > 1;
  std::string out = claim(request, plan, name);
  if (talk) {
    out += fmt::format(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {0}\nspec:\n  clusterIP: None\n"
        "  publishNotReadyAddresses: true\n  selector:\n    job-name: {0}\n---\n",
        name);
  }
  out += fmt::format(
      "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {}\nspec:\n  completionMode: Indexed\n  completions: {}\n"
      "  parallelism: {}\n  backoffLimit: {}\n",
      name, pods, pods, kRestarts * pods);
  // A pod that lost its node is not a failed try; the others of the job fail with it and are.
  out +=
      "  podFailurePolicy:\n    rules:\n      - action: Ignore\n        onPodConditions:\n"
      "          - type: DisruptionTarget\n";
  const Launcher launcher{"$JOB_COMPLETION_INDEX", name + "-0." + name, 1};
  const std::string settings =
      fmt::format("restartPolicy: Never\n{}", talk ? fmt::format("subdomain: {}\n", name) : std::string{});
  return out + "  template:\n    spec:\n" + indented(pod(request, plan, {launcher, gpus, false}, settings), "      ");
}

// Pods that answer carry the label `app`.
std::string budget_and_service(const Plan& plan, const std::string& name) {
  std::string out;
  if (plan.replicas > 1)
    out += fmt::format(
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: {0}\nspec:\n  maxUnavailable: 1\n"
        "  selector:\n    matchLabels:\n      app: {0}\n",
        name);
  return out + fmt::format(
                   "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {0}\nspec:\n  selector:\n    app: {0}\n"
                   "  ports:\n    - port: 80\n      targetPort: {1}\n",
                   name, kPort);
}

std::string deployment(const Request& request, const Plan& plan, const std::string& name) {
  std::string out = fmt::format(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {0}\nspec:\n  replicas: {1}\n"
      // There are no spare GPUs to start a new version on before an old one ends.
      "  strategy:\n    rollingUpdate:\n      maxSurge: 0\n      maxUnavailable: 1\n"
      "  selector:\n    matchLabels:\n      app: {0}\n  template:\n    metadata:\n      labels:\n        app: {0}\n    "
      "spec:\n",
      name, std::max(1, plan.replicas));
  out += indented(
      pod(request, plan, {{"0", "localhost", 1}, plan.job.parallel.tensor * plan.job.parallel.pipeline, true}, ""),
      "      ");
  return out + budget_and_service(plan, name);
}

// An engine that spans machines: a group of pods that start, end and are replaced together; the first answers.
std::string leader_worker_set(const Request& request, const Plan& plan, const std::string& name) {
  const int machines = replica_machines(request, plan);
  const Launcher launcher{"\"$LWS_WORKER_INDEX\"", "\"$LWS_LEADER_ADDRESS\"", 1};
  const auto pod_template = [&](bool leads) {
    const std::string labels = leads ? fmt::format("metadata:\n  labels:\n    app: {}\n", name) : std::string();
    return labels + "spec:\n" + indented(pod(request, plan, {launcher, working_gpus(plan), leads}, ""), "  ");
  };
  return fmt::format(
             "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata:\n  name: {0}\nspec:\n"
             "  replicas: {1}\n  rolloutStrategy:\n    type: RollingUpdate\n    rollingUpdateConfiguration:\n"
             "      maxUnavailable: 1\n      maxSurge: 0\n  leaderWorkerTemplate:\n    size: {2}\n"
             "    restartPolicy: RecreateGroupOnPodRestart\n    leaderTemplate:\n{3}    workerTemplate:\n{4}",
             name, std::max(1, plan.replicas), machines, indented(pod_template(true), "      "),
             indented(pod_template(false), "      ")) +
         budget_and_service(plan, name);
}

}  // namespace

std::string to_kubernetes(const Request& request, const Plan& plan) {
  const std::string name = object_name(request);
  const bool served = is_served(request), spans = replica_machines(request, plan) > 1;
  std::vector<std::string> more{"image: one with your command's software, by its version"};
  if (needs_code(request, plan)) more.emplace_back("initContainers: where your code is; its folder is /code");
  if (keeps_results(request)) more.emplace_back("storageClassName: one that many nodes mount, on storage that stays");
  more.emplace_back(
      "secret hf-token: for gated models, kubectl create secret generic hf-token --from-literal=token=...");
  more.emplace_back("nodeSelector: needs GPU feature discovery; take it out where nodes carry no such labels");
  const Fabric fabric = fabric_of(request, plan);
  if (fabric.efa > 0) more.emplace_back("vpc.amazonaws.com/efa: needs the EFA device plugin");
  if (fabric.gpu_nics > 0)
    more.emplace_back(
        "networks: annotate the pods with the GPUs' networks of your cluster (networking.gke.io/interfaces)");
  if (fabric.infiniband)
    more.emplace_back("resources: the InfiniBand resource of your cluster, for example rdma/ib (network operator)");
  if (spans) more.emplace_back("LeaderWorkerSet: needs its controller, github.com/kubernetes-sigs/lws");
  const char* what = spans    ? "A Kubernetes LeaderWorkerSet and its Service"
                     : served ? "A Kubernetes Deployment and its Service"
                              : "A Kubernetes Job and its storage";
  const std::string objects = spans    ? leader_worker_set(request, plan, name)
                              : served ? deployment(request, plan, name)
                                       : job(request, plan, name);
  return header(request, plan, fmt::format("{}. Start: kubectl apply -f THIS_FILE", what),
                inputs_and(request, plan, std::move(more))) +
         objects;
}

}  // namespace rightsize::plan
