#include "mig/hand_over.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/list_of.h"
#include "hand_over/template.h"

namespace rightsize::mig {
namespace {

using hand_over::Facts;

// GPUs of one type in one machine: indices of SlicePlan::gpus. The position is the device index there.
struct PlannedNode {
  std::string name;  // "node-0"
  std::size_t type = 0;
  std::vector<std::size_t> gpus = {};
};

std::vector<PlannedNode> nodes_of(const SlicePlan& plan, std::size_t gpus_per_node) {
  std::vector<PlannedNode> nodes;
  for (std::size_t g = 0; g < plan.gpus.size(); ++g) {
    const bool fits = !nodes.empty() && nodes.back().type == plan.gpus[g].type &&
                      nodes.back().gpus.size() < std::max<std::size_t>(1, gpus_per_node);
    if (!fits) nodes.push_back({fmt::format("node-{}", nodes.size()), plan.gpus[g].type});
    nodes.back().gpus.push_back(g);
  }
  return nodes;
}

// How many slices of each profile a GPU has; mig-parted does not accept placements.
using SliceCounts = std::map<std::string, int>;

std::vector<Facts> device_facts(const std::vector<SliceCounts>& devices) {
  std::map<SliceCounts, std::vector<std::size_t>> alike;
  for (std::size_t d = 0; d < devices.size(); ++d) alike[devices[d]].push_back(d);
  std::map<std::vector<std::size_t>, Facts> by_index;
  for (const auto& [counts, indices] : alike) {
    std::vector<Facts> slices;
    for (const auto& [profile, count] : counts) slices.push_back(Facts().set("profile", profile).set("count", count));
    by_index[indices].set("indices", fmt::format("{}", fmt::join(indices, ", "))).set("slices", slices);
  }
  return list_of(by_index, [](const auto& entry) { return entry.second; });
}

// Nodes with the same slices share one configuration.
std::vector<Facts> config_facts(const SlicePlan& plan, const std::vector<PlannedNode>& nodes,
                                const std::vector<GpuType>& types) {
  std::vector<std::pair<std::vector<SliceCounts>, std::vector<std::string>>> configs;  // devices, names of nodes
  for (const PlannedNode& node : nodes) {
    std::vector<SliceCounts> devices(node.gpus.size());
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (const PlannedInstance& instance : plan.gpus[node.gpus[d]].instances)
        ++devices[d][types[node.type].geometry->profile(instance.where.profile).profile];
    }
    auto same = std::ranges::find_if(configs, [&](const auto& config) { return config.first == devices; });
    if (same == configs.end()) same = configs.insert(same, {devices, {}});
    same->second.push_back(node.name);
  }
  std::vector<Facts> all;
  for (const auto& [devices, names] : configs) {
    all.push_back(Facts()
                      .set("config", configs.size() == 1 ? "planned" : fmt::format("planned-{}", all.size()))
                      .set("node_list", fmt::format("{}", fmt::join(names, ", ")))
                      .set("devices", device_facts(devices))
                      .set("nodes", list_of(names, [](const std::string& node) { return Facts().set("node", node); })));
  }
  return all;
}

std::vector<Facts> node_facts(const SlicePlan& plan, const std::vector<PlannedNode>& nodes,
                              const std::vector<GpuType>& types) {
  std::vector<Facts> all;
  for (const PlannedNode& node : nodes) {
    std::vector<Facts> devices;
    for (std::size_t d = 0; d < node.gpus.size(); ++d) {
      Layout layout;
      for (const PlannedInstance& instance : plan.gpus[node.gpus[d]].instances) layout.push_back(instance.where);
      devices.push_back(Facts().set("index", d).set("create", create_command(*types[node.type].geometry, layout, d)));
    }
    all.push_back(
        Facts().set("node", node.name).set("gpu", types[node.type].gpu->name).set("devices", std::move(devices)));
  }
  return all;
}

// One entry per workload, profile and GPU type: replicas of one workload can be in slices of different profiles.
std::vector<Facts> use_facts(const SlicePlan& plan, const WorkloadFile& file, const std::vector<GpuType>& types) {
  struct SliceUse {
    int replicas = 0;
    bool shared = false;
  };
  std::map<std::tuple<std::size_t, std::string, std::string>, SliceUse> uses;
  for (const PlannedGpu& gpu : plan.gpus) {
    for (const PlannedInstance& instance : gpu.instances) {
      const std::string& profile = types[gpu.type].geometry->profile(instance.where.profile).profile;
      for (const ReplicaId& replica : instance.replicas) {
        SliceUse& use = uses[{replica.workload, profile, types[gpu.type].gpu->name}];
        ++use.replicas;
        use.shared = use.shared || instance.replicas.size() > 1;
      }
    }
  }
  std::vector<int> objects(file.workloads.size()), written(file.workloads.size());  // by workload
  for (const auto& [key, use] : uses) ++objects[std::get<0>(key)];
  std::vector<Facts> all;
  for (const auto& [key, use] : uses) {
    const auto& [w, profile, gpu] = key;
    // The workload's own name, unless it needs several objects.
    const std::string& own = file.workloads[w].name;
    const std::string name = hand_over::object_name(objects[w] == 1 ? own : fmt::format("{}-{}", own, written[w]++));
    all.push_back(Facts()
                      .set("name", name)
                      .set("container", name)
                      .set("replicas", use.replicas)
                      .set("profile", profile)
                      .set("resource", "nvidia.com/mig-" + profile)
                      .set("pod_gpus", 1)
                      .set("shared", use.shared)
                      .set("spread", file.workloads[w].spread));
  }
  return all;
}

}  // namespace

std::string create_command(const Geometry& geometry, const Layout& layout, std::size_t device) {
  std::vector<std::string> words;
  for (const Instance& instance : geometry.creation_order(layout))
    words.push_back(fmt::format("{}:{}", geometry.profile(instance.profile).id, instance.start));
  return fmt::format("nvidia-smi mig -i {} -cgi {} -C", device, fmt::join(words, ","));
}

ToolFiles hand_over(const SlicePlan& plan, const WorkloadFile& file, const std::vector<GpuType>& types,
                    std::size_t gpus_per_node) {
  const std::vector<PlannedNode> nodes = nodes_of(plan, gpus_per_node);
  Facts facts;
  facts.set("configs", config_facts(plan, nodes, types))
      .set("nodes", node_facts(plan, nodes, types))
      .set("node_names", fmt::format("{}", fmt::join(list_of(nodes, &PlannedNode::name), " ")))
      .set("uses", use_facts(plan, file, types))
      .set("patch", true);
  const auto written = [&](std::string_view name) { return hand_over::fill_in(name, facts); };
  return {written("mig/mig_parted.yaml"), written("mig/config_map.yaml"), written("mig/nvidia_smi.sh"),
          written("mig/kubernetes.yaml"), written("mig/dra.yaml")};
}

}  // namespace rightsize::mig
