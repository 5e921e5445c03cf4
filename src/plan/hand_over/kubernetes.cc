// Kubernetes: training and offline work as an indexed Job, serving as a Deployment with its Service.
#include <algorithm>

#include <fmt/format.h>

#include "plan/hand_over/parts.h"

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

std::string container(const Request& request, const Plan& plan, const Launcher& launcher, int gpus) {
  std::string out = fmt::format("- name: work\n  image: {}\n  env:\n", software_of(request, plan).image);
  for (const Input& input : inputs_of(request, plan))
    out += fmt::format("    - name: {}\n      value: {}\n", input.name, quoted(input.value));
  out += "  command: [\"bash\", \"-c\"]\n  args:\n    - |\n";
  out += indented("set -eu\n" + work_command(request, plan, launcher), "      ");
  out += fmt::format("  resources:\n    limits:\n      {}: {}\n", resource(plan), gpus);
  if (is_served(request))
    out += fmt::format(
        "  ports:\n    - containerPort: {0}\n  readinessProbe:\n    httpGet:\n      path: /health\n      port: {0}\n"
        "    periodSeconds: 10\n  startupProbe:\n    httpGet:\n      path: /health\n      port: {0}\n"
        "    periodSeconds: 10\n    failureThreshold: 180\n",
        kPort);
  return out + "  volumeMounts:\n    - name: shared-memory\n      mountPath: /dev/shm\n";
}

// NCCL and data loaders pass tensors through shared memory; the default of 64 MiB is too little.
constexpr const char* kVolumes = "volumes:\n  - name: shared-memory\n    emptyDir:\n      medium: Memory\n";

std::string pod(const Request& request, const Plan& plan, const Launcher& launcher, int gpus,
                const std::string& settings) {
  return settings + node_choice(plan) + "containers:\n" + indented(container(request, plan, launcher, gpus), "  ") +
         kVolumes;
}

// One pod a machine when training, one a replica when offline: each takes the part of its number.
std::string job(const Request& request, const Plan& plan, const std::string& name) {
  const bool training = request.work.kind == WorkKind::kTraining;
  const int pods = training ? plan.machines : std::max(1, plan.replicas);
  const int gpus = training ? working_gpus(plan) : plan.job.parallel.tensor;
  const bool talk = training && pods > 1;
  std::string out;
  if (talk) {
    out += fmt::format(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {0}\nspec:\n  clusterIP: None\n"
        "  publishNotReadyAddresses: true\n  selector:\n    job-name: {0}\n---\n",
        name);
  }
  out += fmt::format(
      "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {}\nspec:\n  completionMode: Indexed\n  completions: {}\n"
      "  parallelism: {}\n  backoffLimit: 6\n",
      name, pods, pods);
  // A pod that lost its node is not a failed try.
  out +=
      "  podFailurePolicy:\n    rules:\n      - action: Ignore\n        onPodConditions:\n"
      "          - type: DisruptionTarget\n";
  const Launcher launcher{"$JOB_COMPLETION_INDEX", name + "-0." + name, 1};
  const std::string settings =
      fmt::format("restartPolicy: Never\n{}", talk ? fmt::format("subdomain: {}\n", name) : std::string{});
  return out + "  template:\n    spec:\n" + indented(pod(request, plan, launcher, gpus, settings), "      ");
}

std::string deployment(const Request& request, const Plan& plan, const std::string& name) {
  std::string out = fmt::format(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {0}\nspec:\n  replicas: {1}\n  selector:\n"
      "    matchLabels:\n      app: {0}\n  template:\n    metadata:\n      labels:\n        app: {0}\n    spec:\n",
      name, std::max(1, plan.replicas));
  out += indented(pod(request, plan, {"0", "localhost", 1}, plan.job.parallel.tensor, ""), "      ");
  return out + fmt::format(
                   "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {0}\nspec:\n  selector:\n    app: {0}\n"
                   "  ports:\n    - port: 80\n      targetPort: {1}\n",
                   name, kPort);
}

}  // namespace

std::string to_kubernetes(const Request& request, const Plan& plan) {
  const std::string name = object_name(request);
  const bool served = is_served(request);
  return header(
             request, plan,
             std::string(served ? "A Kubernetes Deployment and its Service" : "A Kubernetes Job") +
                 ". Start: kubectl apply -f THIS_FILE",
             inputs_and(request, plan,
                        {"image: one with your command's software",
                         "volumes: where data and results are, on storage that stays",
                         "nodeSelector: needs GPU feature discovery; take it out where nodes carry no such labels"})) +
         (served ? deployment(request, plan, name) : job(request, plan, name));
}

}  // namespace rightsize::plan
