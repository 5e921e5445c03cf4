#include "mig/hand_over.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace rightsize::mig {
namespace {

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

std::string mig_parted(const std::vector<Config>& configs) {
  std::string text = "version: v1\nmig-configs:\n";
  for (const Config& config : configs) {
    text += fmt::format("  {}:  # {}\n", config.name, fmt::join(config.nodes, ", "));
    std::map<Cut, std::vector<std::size_t>> alike;
    for (std::size_t d = 0; d < config.devices.size(); ++d) alike[config.devices[d]].push_back(d);
    std::vector<std::pair<std::vector<std::size_t>, const Cut*>> groups;
    for (const auto& [cut, devices] : alike) groups.emplace_back(devices, &cut);
    std::sort(groups.begin(), groups.end());
    for (const auto& [devices, cut] : groups) {
      text +=
          fmt::format("    - devices: [{}]\n      mig-enabled: true\n      mig-devices:\n", fmt::join(devices, ", "));
      for (const auto& [profile, count] : *cut) text += fmt::format("        \"{}\": {}\n", profile, count);
    }
  }
  return text;
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) out += by;
  }
  return out;
}

std::string config_map(const std::vector<Config>& configs, const std::string& parted) {
  std::string text =
      "# kubectl apply -n gpu-operator -f THIS; then tell the operator: migManager.config.name=rightsize-mig-config\n";
  for (const Config& config : configs) {
    for (const std::string& node : config.nodes) {
      text += fmt::format("# kubectl label node {} nvidia.com/mig.config={} --overwrite\n", node, config.name);
    }
  }
  return text + "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: rightsize-mig-config\ndata:\n  config.yaml: |\n" +
         indented(parted, "    ");
}

std::string nvidia_smi(const SlicePlan& plan, const std::vector<Node>& nodes, const std::vector<GpuType>& types) {
  std::string text =
      "#!/bin/sh\n# Usage: sh THIS NODE. Needs root, and that nothing runs on the GPUs.\nset -eu\ncase \"${1:-}\" in\n";
  std::vector<std::string> names;
  for (const Node& node : nodes) {
    names.push_back(node.name);
    text += fmt::format("{})  # {}\n", node.name, types[node.type].gpu->name);
    for (std::size_t d = 0; d < node.gpus.size(); ++d) {
      text += fmt::format("  nvidia-smi -i {} -mig 1\n  {}\n", d,
                          create_command(*types[node.type].geometry, layout_of(plan.gpus[node.gpus[d]]), d));
    }
    text += "  ;;\n";
  }
  return text + fmt::format("*) echo \"which node? {}\" >&2; exit 1 ;;\nesac\n", fmt::join(names, " "));
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
      for (const Replica& replica : instance.replicas) {
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

constexpr const char* kSharedNote =
    "# shares its slice: start an MPS daemon inside the instance; the device plugin's MPS does not cover MIG devices\n";

std::string kubernetes(const std::vector<Use>& uses, const WorkloadFile& file) {
  std::string text = "# Deployment patches for the device plugin with MIG strategy 'mixed'.\n";
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Workload& workload = file.workloads[uses[i].workload];
    const std::string name = object_name(uses, i, file);
    text += fmt::format(
        "---\n{}{}apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {}\nspec:\n  replicas: {}\n",
        uses[i].shared ? kSharedNote : "",
        workload.spread ? "# replicas are planned on different GPUs; Kubernetes itself can only spread over nodes\n"
                        : "",
        name, uses[i].replicas);
    text += fmt::format(
        "  template:\n    spec:\n      containers:\n        - name: {}\n          resources:\n            limits:\n"
        "              nvidia.com/mig-{}: 1\n",
        name, uses[i].profile);
  }
  return text;
}

std::string dra(const std::vector<Use>& uses, const WorkloadFile& file) {
  std::string text = "# Dynamic Resource Allocation: name the template in the pod's resourceClaims.\n";
  for (std::size_t i = 0; i < uses.size(); ++i) {
    text += fmt::format(
        "---\n{}apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata:\n  name: {}-mig\nspec:\n  "
        "spec:\n"
        "    devices:\n      requests:\n        - name: slice\n          exactly:\n"
        "            deviceClassName: mig.nvidia.com\n            count: 1\n            selectors:\n"
        "              - cel:\n                  expression: \"device.attributes['gpu.nvidia.com'].profile == '{}'\"\n",
        uses[i].shared ? kSharedNote : "", object_name(uses, i, file), uses[i].profile);
  }
  return text;
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
  const std::vector<Use> uses = uses_of(plan, types);
  ToolFiles tool_files;
  tool_files.mig_parted = mig_parted(configs);
  tool_files.config_map = config_map(configs, tool_files.mig_parted);
  tool_files.nvidia_smi = nvidia_smi(plan, nodes, types);
  tool_files.kubernetes = kubernetes(uses, file);
  tool_files.dra = dra(uses, file);
  return tool_files;
}

}  // namespace rightsize::mig
