// A plan as files for the tools that carry it out.
#pragma once

#include <string>
#include <vector>

#include "mig/plan.h"

namespace rightsize::mig {

struct ToolFiles {
  std::string mig_parted;  // nvidia-mig-parted apply -f FILE -c NAME
  std::string config_map;  // the same for the GPU operator's MIG manager
  std::string nvidia_smi;  // a shell script, every instance at its start
  std::string kubernetes;  // one Deployment patch per workload: resource limits (MIG strategy 'mixed')
  std::string dra;         // one ResourceClaimTemplate per workload (resource.k8s.io/v1)
};

ToolFiles hand_over(const SlicePlan& plan, const WorkloadFile& file, const std::vector<GpuType>& types,
                    std::size_t gpus_per_node);

// "nvidia-smi mig -i 0 -cgi 9:0,14:4,19:6 -C": profile IDs with their starts, largest first: drivers that choose
// placements themselves then choose the same ones.
std::string create_command(const Geometry& geometry, const Layout& layout, std::size_t device);

}  // namespace rightsize::mig
