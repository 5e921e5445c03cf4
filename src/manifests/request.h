// A request for GPUs in a file of another tool: a pod, a batch job, a task, a machine.
//
// What a file leaves to a template or a variable stays open and is said in `unresolved`; nothing is filled in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace rightsize::manifests {

struct GpuRequest {
  std::string file = {};
  int line = 0;                      // from 1; 0: unknown
  std::string kind = {}, name = {};  // "Deployment", "prod/chat"; "aws_instance", "train"; "sbatch", "train.sbatch"
  std::string part = {};             // worker group, container, node pool within it; empty: all of it
  std::string resource = {};         // as the file says: "nvidia.com/gpu", "H100:8", "p5.48xlarge"

  // What may serve the request, as written; any of them does, the first wins where `ordered`.
  std::vector<std::string> gpus = {};      // "NVIDIA-H100-80GB-HBM3", "nvidia-tesla-t4"
  std::vector<std::string> machines = {};  // instance types; "p5.*": a family
  std::string provider = {};               // "aws", "gcp", "azure"; empty: not said
  std::string region = {};
  std::string mig_profile = {};  // "1g.10gb"
  std::string hint = {};         // a name that may say which GPU where nothing else does: a partition's
  bool ordered = false;

  // A unit is a pod or a machine. Nothing: not said, or unresolved.
  std::optional<double> per_unit = {};    // GPUs; nothing with a machine: all of its GPUs
  std::optional<double> units = 1;        // pods, machines
  std::optional<double> most_units = {};  // where something scales it
  bool whole_machines = false;            // units are machines that are paid for whole

  bool spot = false;
  bool ceiling = false;  // a limit others fill, such as a node pool's
  bool job = false;      // ends by itself; else it runs until somebody stops it
  std::optional<Seconds> time_limit = {};
  std::string command = {};  // what the container runs, as one line

  std::vector<std::string> unresolved = {};  // "replicas: {{ .Values.replicas }}"

  std::optional<double> total() const { return per_unit && units ? std::optional(*per_unit * *units) : std::nullopt; }
};

// What one file holds. A file that cannot be read whole says why, with what was found before.
struct Found {
  std::vector<GpuRequest> requests = {};
  std::vector<std::string> notes = {};  // "values.yaml:3: not YAML we can read: ..."
};
void append(Found more, Found& all);

}  // namespace rightsize::manifests
