// A request for GPUs in a file of another tool: a pod, a batch job, a task, a machine.
//
// Values that a file leaves to a template or a variable are listed in `unresolved`; nothing is guessed.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace rightsize::manifests {

struct GpuRequest {
  std::string file = {};
  int line = 0;                      // from 1; 0: unknown
  std::string kind = {}, name = {};  // "Deployment", "prod/chat"; "aws_instance", "train"; "sbatch", "train.sbatch"
  std::string part = {};             // worker group, container or node pool; empty: the whole
  std::string resource = {};         // as the file has it: "nvidia.com/gpu", "H100:8", "p5.48xlarge"

  // Acceptable hardware, as written: any of them or, if `ordered`, the first that is available.
  std::vector<std::string> gpus = {};      // "NVIDIA-H100-80GB-HBM3", "nvidia-tesla-t4"
  std::vector<std::string> machines = {};  // instance types; "p5.*": a family
  std::string provider = {};               // "aws", "gcp", "azure"; empty: not given
  std::string region = {};
  std::string mig_profile = {};  // "1g.10gb"
  std::string hint = {};         // a partition's name, which may contain that of the GPU
  bool ordered = false;

  // A unit is a pod or a machine. Empty: not given, or unresolved.
  std::optional<double> per_unit = {};    // GPUs; empty with a machine: all of its GPUs
  std::optional<double> units = 1;        // pods, machines
  std::optional<double> most_units = {};  // if an autoscaler scales it
  std::optional<double> most_vcpus = {};  // if it counts processors instead of machines
  bool whole_machines = false;            // units are whole machines

  bool spot = false;
  bool ceiling = false;  // a limit that other requests use up, such as a node pool's
  bool job = false;      // ends by itself; otherwise it runs until stopped
  std::optional<Seconds> time_limit = {};
  std::string command = {};  // the container's command line

  std::vector<std::string> unresolved = {};   // "replicas: {{ .Values.replicas }}"
  std::set<int> lines = {};                   // of `file`, with values that this request contains; may be incomplete
  std::vector<std::string> assumptions = {};  // how uncertain parts were interpreted
  std::vector<std::string> sources = {};      // other files it depends on: values, variables, a device claim

  std::vector<std::pair<std::string, std::string>> node_labels = {};  // that nodes must have, with an unknown meaning

  // For device claims (Kubernetes' dynamic resource allocation).
  std::string claim = {};       // the name of the claim or template
  bool claim_template = false;  // one claim for each pod

  std::optional<double> total() const { return per_unit && units ? std::optional(*per_unit * *units) : std::nullopt; }
};

using Words = std::initializer_list<std::string_view>;
inline bool starts_with_any(std::string_view text, Words words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}
inline bool contains_any(std::string_view text, Words words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}
inline bool is_any(std::string_view text, Words words) { return std::ranges::find(words, text) != words.end(); }

// A pod that uses a device claim; `request` has no GPUs yet.
struct ClaimUse {
  std::string claim;
  bool from_template = false;
  GpuRequest request = {};
};

// An autoscaler (HorizontalPodAutoscaler, ScaledObject): the replicas of an object defined elsewhere.
struct Scaler {
  std::string kind, name, file = {};  // of its target; the name with its namespace
  std::optional<double> least = {}, most = {};
};

// The contents of one file. If a file cannot be read to its end, a note says why.
struct Found {
  std::vector<GpuRequest> requests = {};
  std::vector<std::string> notes = {};  // "values.yaml:3: not valid YAML: ..."
  std::vector<ClaimUse> claim_uses = {};
  std::vector<Scaler> scalers = {};
};
inline void append(Found more, Found& all) {
  std::move(more.requests.begin(), more.requests.end(), std::back_inserter(all.requests));
  std::move(more.notes.begin(), more.notes.end(), std::back_inserter(all.notes));
  std::move(more.claim_uses.begin(), more.claim_uses.end(), std::back_inserter(all.claim_uses));
  std::move(more.scalers.begin(), more.scalers.end(), std::back_inserter(all.scalers));
}

}  // namespace rightsize::manifests
