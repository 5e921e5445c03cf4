// What the writers of every target share: names, comments, and the commands that do the work.
#pragma once

#include <string>
#include <vector>

#include "plan/hand_over.h"

namespace rightsize::plan {

std::string to_skypilot(const Request& request, const Plan& plan);
std::string to_kubernetes(const Request& request, const Plan& plan);
Result<std::string> to_karpenter(const Request& request, const Plan& plan);
std::string to_slurm(const Request& request, const Plan& plan);
Result<std::string> to_terraform(const Request& request, const Plan& plan);
Result<std::string> to_triton(const Request& request, const Plan& plan);

// The workload's name as Kubernetes takes it (DNS-1123): lower case letters, digits and '-', at most 50.
std::string object_name(const Request& request);

// In double quotes, as YAML and HCL both read it.
std::string quoted(std::string_view text);

// Every line of `text` behind `by`; empty lines stay empty.
std::string indented(const std::string& text, std::string_view by);

// The comments a file begins with: what it is and how it is started, the plan, its cost, its settings, and what must be
// filled in (each item a line).
std::string header(const Request& request, const Plan& plan, const std::string& what,
                   const std::vector<std::string>& fill_in);

bool is_spot(const Plan& plan);
bool is_committed(const Plan& plan);                             // one or three years
bool is_served(const Request& request);                          // by an engine or a server that stays
int working_gpus(const Plan& plan);                              // of one machine
int machine_replicas(const Plan& plan);                          // engines of one machine; 1 when training
int replica_machines(const Request& request, const Plan& plan);  // that one engine spans; 1 when training
std::string_view resource(const Plan& plan);                     // "nvidia.com/gpu"
bool is_amd(const Plan& plan);
bool needs_code(const Request& request, const Plan& plan);  // a script of the user's runs
bool keeps_results(const Request& request);                 // training and offline work: results must outlive machines

// Whether the GPU computes in bfloat16. Engines refuse to on those that do not (T4, V100, P100).
bool has_bf16(const catalog::Gpu& gpu);

// Gigabytes of a machine's disk: system and image, the weights as downloaded, and where the work saves checkpoints room
// for two of them on their way to storage.
int disk_gb(const Request& request, const Plan& plan);

// The model's id on the Hugging Face Hub; empty for a model of the user's own.
std::string hub_id(const Request& request);

// Several machines of one training job or of one replica; replicas and parts of offline work need no network between
// them.
bool work_together(const Request& request, const Plan& plan);

// How they talk to each other, where the provider has more than Ethernet.
struct Fabric {
  int efa = 0;        // AWS: Elastic Fabric Adapters of a machine
  int gpu_nics = 0;   // Google: network interfaces of the GPUs, beside the host's
  bool rdma = false;  // Google: they are RoCE cards
  bool infiniband = false;
};
Fabric fabric_of(const Request& request, const Plan& plan);

// Where SkyPilot, Kubernetes and Terraform's comments mount storage that outlives the machines.
inline constexpr std::string_view kStorage = "/checkpoints";

// Something the user has to say: an environment variable of the work's command.
struct Input {
  std::string name, value, meaning;
};
// `storage`: the folder that outlives the machines, as this target mounts it.
std::vector<Input> inputs_of(const Request& request, const Plan& plan, std::string_view storage = kStorage);

// The lines of a header that name the inputs, and then `more`.
std::vector<std::string> inputs_and(const Request& request, const Plan& plan, std::vector<std::string> more,
                                    std::string_view storage = kStorage);

// What the command needs: a container image, or a command that installs it. On AMD GPUs only the image will do:
// packages of the Python index are built for CUDA.
struct Software {
  std::string image, install;
};
Software software_of(const Request& request, const Plan& plan);

// How processes learn of each other, as shell expressions. One replica: `replicas` engines run beside each other on a
// machine, else each machine, pod or task starts its own. Where an engine spans machines, rank and head are those
// within its group.
struct Launcher {
  std::string rank;  // of this machine, from 0
  std::string head;  // address of the first machine
  int replicas = 1;
};

// The work of one machine as bash: the inputs are set in the environment.
std::string work_command(const Request& request, const Plan& plan, const Launcher& launcher);

// Where a server answers.
inline constexpr int kPort = 8000;

}  // namespace rightsize::plan
