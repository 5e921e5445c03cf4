// A plan as files for the tools that carry it out.
#pragma once

#include <string>
#include <vector>

#include "mig/plan.h"

namespace rightsize::mig {

// GPUs of one type that sit in one machine. Indices of SlicePlan::gpus; the position is the device index there.
struct Node {
  std::string name;  // "node-0"
  std::size_t type = 0;
  std::vector<std::size_t> gpus;
};
std::vector<Node> nodes_of(const SlicePlan& plan, std::size_t gpus_per_node);

struct ToolFiles {
  std::string mig_parted;  // nvidia-mig-parted apply -f FILE -c NAME
  std::string config_map;  // the same for the GPU operator's MIG manager
  std::string nvidia_smi;  // a shell script, every instance at its start
  std::string kubernetes;  // a Deployment patch a workload: resource limits (MIG strategy 'mixed')
  std::string dra;         // a ResourceClaimTemplate a workload (resource.k8s.io/v1)
};

ToolFiles hand_over(const SlicePlan& plan, const WorkloadFile& file, const std::vector<GpuType>& types,
                    std::size_t gpus_per_node);

// "nvidia-smi mig -i 0 -cgi 9:0,14:4,19:6 -C": profile ids with their starts, the largest first, which also gives
// these placements on drivers that choose for themselves.
std::string create_command(const Geometry& geometry, const Layout& layout, std::size_t device);

}  // namespace rightsize::mig
