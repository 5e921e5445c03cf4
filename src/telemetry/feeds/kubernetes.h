// The pods and nodes of a Kubernetes cluster at one moment: which GPUs the nodes have, and who requested them.
//
//   kubectl get pods,nodes -A -o json > cluster.json
//
// One list or several (pods and nodes separately). GPUs are the resources nvidia.com/gpu, amd.com/gpu and similar ones;
// if NVIDIA's device plugin shares a GPU among several pods, each pod has its part. MIG slices and device claims do not
// name whole GPUs: they are counted, but not as GPUs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "base/usage_units.h"

namespace rightsize::telemetry {

struct ClusterNode {
  std::string name;
  std::string model;  // "NVIDIA-H100-80GB-HBM3", "nvidia-l4"; empty: no label names it
  std::string instance_type, region, pool;
  std::vector<std::string> labels;  // the names of all labels
  double gpus = 0;                  // physical ones
  double shares = 1;                // pods that share a GPU
};

struct ClusterPod {
  std::string team;                  // namespace
  std::string name, node;            // no node: the pod waits for one
  std::string workload;              // its controller's name; empty: only the pod's name is known
  std::string model, instance_type;  // of the nodes that it may run on; empty: any
  std::vector<std::string> labels;   // the names of the labels that its nodes must have
  double requested = 0;              // in the units of its node's plugin
  std::optional<TimePoint> started;
};

struct ClusterState {
  std::vector<ClusterNode> nodes;   // those with GPUs
  std::vector<ClusterPod> pods;     // those that have or wait for GPUs
  std::optional<TimePoint> moment;  // the newest time in the lists
  std::size_t slices = 0;           // MIG slices requested
  std::size_t claims = 0;           // pods with device claims

  bool empty() const { return nodes.empty() && pods.empty() && slices + claims == 0; }
  void append(ClusterState&& other);
};

// Whether a text is a list of Kubernetes objects, by its first kilobytes.
bool looks_like_cluster(std::string_view beginning);

// Objects other than pods and nodes are skipped.
Result<ClusterState> read_cluster(ByteSource& source, const std::string& file);

}  // namespace rightsize::telemetry
