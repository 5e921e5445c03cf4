// Places tasks on the nodes of a cluster: processors, memory, and GPUs that are whole or shared.
//
//   ClusterPacking packed = pack_cluster(tasks, nodes, [] { return false; });
//
// More GPUs in use are better; at the same number, fewer nodes. The result is at least as good as best fit and as
// packing with the least fragmentation (Weng et al., Beware of Fragmentation, USENIX ATC 2023), in the given order and
// by size.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace rightsize::solve {

struct ClusterTask {
  double cpu = 0, memory = 0;
  int gpus = 0;                 // whole ones
  double share = 0;             // of one GPU, less than 1; only if `gpus` is 0
  std::uint64_t types = ~0ULL;  // nodes it may run on: bit of ClusterNode::type

  double gpu_demand() const { return gpus + share; }
  auto operator<=>(const ClusterTask&) const = default;
};

struct ClusterNode {
  double cpu = 0, memory = 0;
  int gpus = 0;
  int type = 0;  // 0 to 63
};

// Where a task runs. A task with a share uses `gpu`; one with whole GPUs uses any that are free.
struct ClusterPlace {
  int node = -1;  // -1: it is not placed
  int gpu = -1;
};

struct ClusterPacking {
  std::vector<ClusterPlace> places;  // by task
  double gpus = 0;                   // in use
  std::size_t nodes = 0;             // with a task
  std::size_t unplaced = 0;

  bool is_better_than(const ClusterPacking& other) const;
};

enum class ClusterRule { kBestFit, kLeastFragmentation };

// Places one task after the other, in the given order and by the rule.
ClusterPacking place_in_order(const std::vector<ClusterTask>& tasks, const std::vector<ClusterNode>& nodes,
                              ClusterRule rule);

// The best of both rules in two orders, improved: nodes are emptied, and small tasks move to make room for unplaced
// ones. `stop()` ends the improvement early.
ClusterPacking pack_cluster(const std::vector<ClusterTask>& tasks, const std::vector<ClusterNode>& nodes,
                            const std::function<bool()>& stop);

}  // namespace rightsize::solve
