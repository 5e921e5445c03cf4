#include "mig/hand_over.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "hand_over/template.h"

namespace rightsize::mig {
namespace {

using hand_over::Facts;

// What a GPU is cut into, without places: mig-parted knows no more.
using Cut = std::map<std::string, int>;

Layout layout_of(const PlannedGpu& gpu) {
  Layout layout;
  for (const PlannedInstance& instance : gpu.instances) layout.push_back(instance.where);
  return layout;
}

Cut cut_of(const PlannedGpu& gpu, const Geometry& geometry) {
  Cut cut;
  for (const PlannedInstance& instance : gpu.instances) ++cut[geometry.profile(instance.where.profile).profile];
  return cut;
}

// Nodes cut alike are configured alike: one configuration for all of them.
struct Config {
  std::string name;
  std::vector<Cut> devices;
  std::vector<std::string> nodes;
};

std::vector<Config> configs_of(const SlicePlan& plan, const std::vector<Node>& nodes,
                               const std::vector<GpuType>& types) {
  std::vector<Config> configs;
  for (const Node& node : nodes) {
    std::vector<Cut> devices;
    for (std::size_t g : node.gpus) devices.push_back(cut_of(plan.gpus[g], *types[node.type].geometry));
    const auto same =
        std::find_if(configs.begin(), configs.end(), [&](const Config& c) { return c.devices == devices; });
    if (same != configs.end())
      same->nodes.push_back(node.name);
    else
      configs.push_back({"", devices, {node.name}});
  }
  for (std::size_t i = 0; i < configs.size(); ++i) {
    configs[i].name = configs.size() == 1 ? "planned" : fmt::format("planned-{}", i);
  }
  return configs;
}

std::vector<Facts> config_facts(const std::vector<Config>& configs) {
  std::vector<Facts> all;
  for (const Config& config : configs) {
    std::map<Cut, std::vector<std::size_t>> alike;
    for (std::size_t d = 0; d < config.devices.size(); ++d) alike[config.devices[d]].push_back(d);
    std::vector<std::pair<std::vector<std::size_t>, const Cut*>> groups;
    for (const auto& [cut, devices] : alike) groups.emplace_back(devices, &cut);
    std::sort(groups.begin(), groups.end());
    std::vector<Facts> devices, nodes;
    for (const auto& [indices, cut] : groups) {
      std::vector<Facts> slices;
      for (const auto& [profile, count] : *cut) slices.push_back(Facts().set("profile", profile).set("count", count));
      devices.push_back(Facts().set("indices", fmt::format("{}", fmt::join(indices, ", "))).set("slices", slices));
    }
    for (const std::string& node : config.nodes) nodes.push_back(Facts().set("node", node));
    all.push_back(Facts()
                      .set("config", config.name)
                      .set("node_list", fmt::format("{}", fmt::join(config.nodes, ", ")))
                      .set("devices", devices)
                      .set("nodes", nodes));
  }
  return all;
}

std::vector<Facts> node_facts(const SlicePlan& plan, const std::vector<Node>& nodes,
                              const std::vector<GpuType>& types) {
  std::vector<Facts> all;
  for (const Node& node : nodes) {
    std::vector<Facts> devices;
    for (std::size_t d = 0; d < node.gpus.size(); ++d) {
      const Layout layout = layout_of(plan.gpus[node.gpus[d]]);
      devices.push_back(Facts().set("index", d).set("create", create_command(*types[node.type].geometry, layout, d)));
    }
    all.push_back(
        Facts().set("node", node.name).set("gpu", types[node.type].gpu->name).set("devices", std::move(devices)));
  }
  return all;
}

// Replicas of one workload can sit in slices of different profiles: a row for each.
struct Use {
  std::size_t workload;
  std::string profile, gpu;
  int replicas = 0;
  bool shared = false;
};

std::vector<Use> uses_of(const SlicePlan& plan, const std::vector<GpuType>& types) {
  std::map<std::tuple<std::size_t, std::string, std::string>, Use> uses;
  for (const PlannedGpu& gpu : plan.gpus) {
    for (const PlannedInstance& instance : gpu.instances) {
      const std::string& profile = types[gpu.type].geometry->profile(instance.where.profile).profile;
      for (const ReplicaId& replica : instance.replicas) {
        Use& use = uses[{replica.workload, profile, types[gpu.type].gpu->name}];
        use = {replica.workload, profile, types[gpu.type].gpu->name, use.replicas + 1,
               use.shared || instance.replicas.size() > 1};
      }
    }
  }
  std::vector<Use> list;
  for (auto& [key, use] : uses) list.push_back(std::move(use));
  return list;
}

// A Kubernetes name for a use: the workload's own unless it needs several.
std::string object_name(const std::vector<Use>& uses, std::size_t i, const WorkloadFile& file) {
  std::size_t same = 0, before = 0;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (uses[k].workload != uses[i].workload) continue;
    ++same;
    before += k < i ? 1 : 0;
  }
  const std::string& name = file.workloads[uses[i].workload].name;
  return same == 1 ? name : fmt::format("{}-{}", name, before);
}

std::vector<Facts> use_facts(const std::vector<Use>& uses, const WorkloadFile& file) {
  std::vector<Facts> all;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::string name = hand_over::object_name(object_name(uses, i, file));
    all.push_back(Facts()
                      .set("name", name)
                      .set("container", name)
                      .set("replicas", uses[i].replicas)
                      .set("profile", uses[i].profile)
                      .set("resource", "nvidia.com/mig-" + uses[i].profile)
                      .set("pod_gpus", 1)
                      .set("shared", uses[i].shared)
                      .set("spread", file.workloads[uses[i].workload].spread));
  }
  return all;
}

}  // namespace

std::vector<Node> nodes_of(const SlicePlan& plan, std::size_t gpus_per_node) {
  std::vector<Node> nodes;
  for (std::size_t g = 0; g < plan.gpus.size(); ++g) {
    const bool fits = !nodes.empty() && nodes.back().type == plan.gpus[g].type &&
                      nodes.back().gpus.size() < std::max<std::size_t>(1, gpus_per_node);
    if (!fits) nodes.push_back({fmt::format("node-{}", nodes.size()), plan.gpus[g].type, {}});
    nodes.back().gpus.push_back(g);
  }
  return nodes;
}

std::string create_command(const Geometry& geometry, const Layout& layout, std::size_t device) {
  std::vector<std::string> words;
  for (const Instance& instance : geometry.creation_order(layout)) {
    words.push_back(fmt::format("{}:{}", geometry.profile(instance.profile).id, instance.start));
  }
  return fmt::format("nvidia-smi mig -i {} -cgi {} -C", device, fmt::join(words, ","));
}

ToolFiles hand_over(const SlicePlan& plan, const WorkloadFile& file, const std::vector<GpuType>& types,
                    std::size_t gpus_per_node) {
  const std::vector<Node> nodes = nodes_of(plan, gpus_per_node);
  const std::vector<Config> configs = configs_of(plan, nodes, types);
  std::vector<std::string> names;
  for (const Node& node : nodes) names.push_back(node.name);
  Facts facts;
  facts.set("configs", config_facts(configs))
      .set("nodes", node_facts(plan, nodes, types))
      .set("node_names", fmt::format("{}", fmt::join(names, " ")))
      .set("uses", use_facts(uses_of(plan, types), file))
      .set("patch", true);
  const auto written = [&](std::string_view name) { return hand_over::fill_in(name, facts); };
  return {written("mig/mig_parted.yaml"), written("mig/config_map.yaml"), written("mig/nvidia_smi.sh"),
          written("mig/kubernetes.yaml"), written("mig/dra.yaml")};
}

}  // namespace rightsize::mig
