#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/place.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

enum class Meaning { kNothing, kGpu, kMachine, kFamily, kCategory, kAnyGpu, kSpot, kRegion };

Meaning meaning_of(std::string_view label) {
  // EKS Auto Mode has Karpenter's labels under its own name.
  constexpr std::string_view kAutoMode = "eks.amazonaws.com/instance-";
  if (label.starts_with(kAutoMode))
    return meaning_of(fmt::format("karpenter.k8s.aws/instance-{}", label.substr(kAutoMode.size())));
  if (label == "node.kubernetes.io/instance-type" || label == "beta.kubernetes.io/instance-type")
    return Meaning::kMachine;
  if (label == "karpenter.k8s.aws/instance-family" || label == "karpenter.azure.com/sku-family")
    return Meaning::kFamily;
  if (label == "karpenter.k8s.aws/instance-category") return Meaning::kCategory;
  for (const char* spot : {"karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType", "cloud.google.com/gke-spot",
                           "cloud.google.com/gke-provisioning", "cloud.google.com/gke-preemptible",
                           "kubernetes.azure.com/scalesetpriority"}) {
    if (label == spot) return Meaning::kSpot;
  }
  if (label == "topology.kubernetes.io/region") return Meaning::kRegion;
  // "nvidia.com/gpu.product", "run.googleapis.com/accelerator", "karpenter.k8s.aws/instance-gpu-name": a GPU;
  // "nvidia.com/gpu.memory", "karpenter.azure.com/sku-gpu-count": any that has this much.
  if (contains_any(label, {"gpu", "accelerator"}) &&
      !contains_any(label, {"gpu-driver", "gpu-partition", "gpu.deploy"})) {
    const bool named = contains_any(label, {"product", "name", "model", "class", "type"}) ||
                       (label.ends_with("accelerator") && !label.ends_with("/gpu"));
    return named ? Meaning::kGpu : Meaning::kAnyGpu;
  }
  return Meaning::kNothing;
}

class Labels {
 public:
  Labels(const YamlText& document, GpuRequest& request) : doc_(document), request_(request) {}

  void take(const std::string& label, const std::vector<const YamlValue*>& values) {
    if (request_.provider.empty()) request_.provider = catalog::provider_of_label(label);
    const Meaning meaning = meaning_of(label);
    if (meaning == Meaning::kNothing) {
      for (const YamlValue* value : values) request_.node_labels.emplace_back(label, doc_.text(value));
      return;
    }
    bool all_spot = !values.empty();
    wants_gpus_ = wants_gpus_ || meaning == Meaning::kGpu || meaning == Meaning::kAnyGpu;
    for (const YamlValue* value : values) {
      const std::string text = doc_.text(value);
      if (meaning != Meaning::kCategory && meaning != Meaning::kAnyGpu) request_.lines.insert(doc_.line_of(*value));
      if (has_variable(text)) {
        request_.unresolved.push_back(fmt::format("{}: {}", label, text));
        continue;
      }
      // "accelerator: nvidia", "gpu: true": any GPU.
      const bool any = is_any(to_lower(text), {"nvidia", "amd", "intel", "true", "gpu", "yes", "present"});
      if (meaning == Meaning::kGpu && !any) add_gpu(text);
      if (meaning == Meaning::kMachine) add_machine(text);
      if (meaning == Meaning::kFamily) add_machine(text + ".*");
      if (meaning == Meaning::kCategory) only_gpus_ = only_gpus_ && (text == "g" || text == "p");
      if (meaning == Meaning::kRegion) request_.region = text;
      const std::string lower = to_lower(text);
      all_spot = all_spot && (lower == "spot" || lower == "true");
    }
    if (meaning == Meaning::kSpot && all_spot) request_.spot = true;
    if (meaning == Meaning::kCategory && !values.empty() && only_gpus_) wants_gpus_ = true;
  }
  bool wants_gpus() const { return wants_gpus_; }

 private:
  void add_gpu(std::string text) {
    // "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "NVIDIA-H100-80GB-HBM3-SHARED"
    if (const std::size_t mig = text.find("-MIG-"); mig != std::string::npos) {
      if (request_.mig_profile.empty()) request_.mig_profile = text.substr(mig + 5);
      text.resize(mig);
    }
    if (text.ends_with("-SHARED")) {
      text.resize(text.size() - 7);
      request_.unresolved.emplace_back("the GPU is shared: the number of pods per GPU is set on the nodes");
    }
    request_.gpus.push_back(std::move(text));
  }
  void add_machine(const std::string& text) {
    if (const std::string_view provider = gpu_machine_provider(text); !provider.empty()) request_.provider = provider;
    request_.machines.push_back(text);
  }

  const YamlText& doc_;
  GpuRequest& request_;
  bool wants_gpus_ = false, only_gpus_ = true;
};

// [{key: ..., operator: In, values: [...]}]
void take_expressions(const YamlText& doc, const YamlValue* expressions, Labels& labels) {
  if (!is_list(expressions)) return;
  for (const YamlValue& expression : expressions->list) {
    const YamlValue* values = expression.find("values");
    const std::string how = doc.text(expression.find("operator"));
    std::vector<const YamlValue*> all;
    if (how == "In" && is_list(values)) {
      for (const YamlValue& value : values->list) all.push_back(&value);
    } else if (how != "Exists" && how != "Gt") {
      continue;
    }
    labels.take(doc.text(expression.find("key")), all);
  }
}

}  // namespace

bool read_node_choice(const YamlText& doc, const YamlValue& spec, GpuRequest& request) {
  Labels labels(doc, request);
  for (const char* name : {"nodeSelector", "nodeLabels"}) {
    const YamlValue* selector = spec.find(name);
    if (!is_mapping(selector)) continue;
    for (const auto& [key, value] : selector->mapping) labels.take(doc.text(&key), {&value});
  }
  const YamlValue* terms = find_path(
      spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (terms == nullptr) terms = spec.find("nodeSelectorTerms");  // of Helm values
  if (is_list(terms)) {
    for (const YamlValue& term : terms->list) take_expressions(doc, term.find("matchExpressions"), labels);
  }
  take_expressions(doc, spec.find("requirements"), labels);
  return labels.wants_gpus();
}

void choose_nodes(const YamlText& doc, const YamlValue& value, GpuRequest& base) {
  std::vector<std::string> gpus = std::exchange(base.gpus, {}), machines = std::exchange(base.machines, {});
  read_node_choice(doc, value, base);
  if (!base.gpus.empty() || !base.machines.empty()) return;
  base.gpus = std::move(gpus);
  base.machines = std::move(machines);
}

}  // namespace rightsize::manifests
