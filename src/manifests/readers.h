// The readers of each tool's files; read.h chooses among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifests/request.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {

// Every document of a YAML file of Kubernetes or SkyPilot, with its template expressions; documents of other tools are
// skipped. A file that cannot be parsed to its end is noted.
Found read_yaml(const std::string& file, const std::string& text);

// Any Kubernetes object with pods somewhere inside (Deployment, StatefulSet, Job, CronJob, RayJob, RayCluster,
// LeaderWorkerSet, JobSet, PyTorchJob, InferenceService ...), times the replicas, parallelism and group sizes above
// them; Karpenter's NodePools with their limits and requirements; machine types named in cluster configurations; device
// claims.
bool is_kubernetes(const YamlValue& root);
Found read_kubernetes(const YamlText& document);

// Values of a Helm chart or another tool's settings: `resources` of containers, counts of GPUs (requestGPU, num_gpus,
// gpu: {count: 2}), with the nearest replica count. Each request notes that the chart's use of these values is unknown.
Found read_values(const YamlText& document, const std::string& kind, const std::string& name);
Found read_helm_values(const std::string& file, const std::string& text, const std::string& kind,
                       const std::string& name);

// Nomad's jobs: device "nvidia/gpu" of tasks.
bool is_nomad(std::string_view file, std::string_view text);
Found read_nomad(const std::string& file, std::string_view text);

// docker compose: deploy.resources.reservations.devices and gpus of services, and NVIDIA's runtime.
bool is_compose(const YamlValue& root);
Found read_compose(const YamlText& document);

// SkyPilot tasks and services. resources: accelerators (H100:8, {H100: 8}, lists and sets of them), any_of, ordered,
// instance_type, use_spot, cloud, region; num_nodes; replicas of a service.
bool is_sky_task(const YamlValue& root);
Found read_sky_task(const YamlText& document);

// nodeSelector, required node affinity and Karpenter's requirements of a pod or node specification: labels that name a
// GPU, a machine type or spot. True if they require nodes with GPUs.
bool read_node_choice(const YamlText& document, const YamlValue& spec, GpuRequest& request);
// The same for everything below `value`; a choice further below replaces it: KServe's predictor has one next to its
// model.
void choose_nodes(const YamlText& document, const YamlValue& value, GpuRequest& base);

// Slurm's batch scripts, which have an #SBATCH line: --gres, --gpus, --gpus-per-node, --gpus-per-task,
// --gpus-per-socket with --nodes, --ntasks, --ntasks-per-node, --time, --array, --constraint; parts of a heterogeneous
// job one by one.
bool is_batch_script(std::string_view text);
Found read_batch_script(const std::string& file, std::string_view text);

// Scripts of PBS and Torque (-l select=..:ngpus=, nodes=..:gpus=, ngpus=), LSF (-gpu "num=..", with -n and
// span[ptile=]), Grid Engine (-l gpu=) and HTCondor's submit files (request_gpus, queue), with arrays and time limits.
// A queue's name may contain that of the GPU.
bool is_queue_script(std::string_view text);
Found read_queue_script(const std::string& file, std::string_view text);

// Terraform for AWS, Google Cloud and Azure, and any other resource or module that names a GPU machine: machine types,
// guest accelerators and their number. The files of one folder belong together. Expressions are evaluated with
// variables (defaults, *.tfvars, arguments of local modules), locals and for_each; launch templates are followed to the
// group that uses them. Everything else is unresolved.
struct TerraformFile {
  std::string file, text;
};
Found read_terraform(const std::vector<TerraformFile>& files);

}  // namespace rightsize::manifests
