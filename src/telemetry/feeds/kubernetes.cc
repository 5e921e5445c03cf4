#include "telemetry/feeds/kubernetes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_reader.h"
#include "base/text.h"
#include "telemetry/times.h"

namespace rightsize::telemetry {
namespace {

constexpr const char* kGpuResources[] = {"nvidia.com/gpu",     "nvidia.com/gpu.shared", "amd.com/gpu",
                                         "gpu.intel.com/i915", "gpu.intel.com/xe",      "habana.ai/gaudi"};
constexpr double kMostGpus = 1e6;  // of a node or pod; more is a mistake

// Names such as "nvidia.com/gpu" contain dots, so they cannot be paths.
const JsonValue* member(const JsonValue* object, std::string_view name) {
  const JsonMember* found = object == nullptr ? nullptr : object->find(name);
  return found == nullptr ? nullptr : &found->value;
}

// Kubernetes writes quantities of extended resources as whole numbers: "8".
double quantity(const JsonValue* value) {
  if (value == nullptr) return 0;
  const double number = value->type == JsonType::kString ? parse_sample_value(value->text).value_or(0) : value->number;
  return number > 0 && number <= kMostGpus ? number : 0;
}

// Labels that name a GPU and a machine type, on nodes and in the selectors of pods.
constexpr std::initializer_list<const char*> kModelLabels = {
    "nvidia.com/gpu.product",   "cloud.google.com/gke-accelerator",
    "amd.com/gpu.product-name", "karpenter.k8s.aws/instance-gpu-name",
    "gpu.nvidia.com/model",     "gpu.nvidia.com/class"};
constexpr std::initializer_list<const char*> kTypeLabels = {"node.kubernetes.io/instance-type",
                                                            "beta.kubernetes.io/instance-type"};

std::string label(const JsonValue& item, std::initializer_list<const char*> names,
                  const char* where = "metadata.labels") {
  const JsonValue* labels = value_at(item, where);
  for (const char* name : names) {
    const JsonValue* found = member(labels, name);
    if (found != nullptr && !found->text.empty()) return found->text;
  }
  return {};
}

std::vector<std::string> label_names(const JsonValue& item, const char* where) {
  std::vector<std::string> names;
  if (const JsonValue* labels = value_at(item, where); labels != nullptr)
    for (const JsonMember& each : labels->members) names.push_back(each.name);
  return names;
}

double gpus_in(const JsonValue* resources) {
  double sum = 0;
  for (const char* name : kGpuResources) sum += quantity(member(resources, name));
  return sum;
}

double slices_in(const JsonValue* resources) {
  double sum = 0;
  if (resources == nullptr) return sum;
  for (const JsonMember& entry : resources->members) {
    if (entry.name.starts_with("nvidia.com/mig-")) sum += quantity(&entry.value);
  }
  return sum;
}

// Limits equal requests for such resources; either may be left out.
struct Request {
  double gpus = 0, slices = 0;
};
Request request_of(const JsonValue& container) {
  Request request;
  for (const char* path : {"resources.limits", "resources.requests"}) {
    const JsonValue* resources = value_at(container, path);
    request.gpus = std::max(request.gpus, gpus_in(resources));
    request.slices = std::max(request.slices, slices_in(resources));
  }
  return request;
}

class ClusterReader {
 public:
  void take(const JsonValue& item) {
    const std::string& kind = text_at(item, "kind");
    if (kind == "Node") take_node(item);
    if (kind == "Pod") take_pod(item);
  }
  ClusterState state;

 private:
  std::optional<TimePoint> see(const std::string& text) {
    const std::optional<TimePoint> time = parse_iso_time(text);
    if (time && (!state.moment || *time > *state.moment)) state.moment = time;
    return time;
  }

  void take_node(const JsonValue& item) {
    for (const JsonValue& condition : items_at(item, "status.conditions")) see(text_at(condition, "lastHeartbeatTime"));
    ClusterNode node;
    node.name = text_at(item, "metadata.name");
    node.gpus = gpus_in(value_at(item, "status.allocatable"));
    // A shared GPU is advertised once per sharer; the labels of NVIDIA's feature discovery say how often.
    node.shares = std::max(1.0, parse_sample_value(label(item, {"nvidia.com/gpu.replicas"})).value_or(1));
    if (!(node.shares <= kMostGpus)) node.shares = 1;
    node.gpus /= node.shares;
    if (node.gpus <= 0) return;
    node.model = label(item, kModelLabels);
    if (const std::size_t shared = node.model.find("-SHARED"); shared != std::string::npos) node.model.resize(shared);
    node.instance_type = label(item, kTypeLabels);
    node.region = label(item, {"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"});
    node.pool = label(item, {"cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool",
                             "agentpool", "kubernetes.azure.com/agentpool"});
    node.labels = label_names(item, "metadata.labels");
    state.nodes.push_back(std::move(node));
  }

  void take_pod(const JsonValue& item) {
    const std::string& phase = text_at(item, "status.phase");
    const std::optional<TimePoint> started = see(text_at(item, "status.startTime"));
    see(text_at(item, "metadata.creationTimestamp"));
    if (phase == "Succeeded" || phase == "Failed") return;  // it released its GPUs
    Request all, first;
    for (const JsonValue& container : items_at(item, "spec.containers")) {
      const Request request = request_of(container);
      all.gpus += request.gpus;
      all.slices += request.slices;
    }
    // Init containers run one after the other, before the rest.
    for (const JsonValue& container : items_at(item, "spec.initContainers")) {
      const Request request = request_of(container);
      first = {std::max(first.gpus, request.gpus), std::max(first.slices, request.slices)};
    }
    state.slices += static_cast<std::size_t>(std::max(all.slices, first.slices));
    if (!items_at(item, "spec.resourceClaims").empty()) ++state.claims;
    ClusterPod pod;
    pod.requested = std::max(all.gpus, first.gpus);
    if (pod.requested <= 0) return;
    pod.team = text_at(item, "metadata.namespace");
    pod.name = text_at(item, "metadata.name");
    pod.node = text_at(item, "spec.nodeName");
    pod.model = label(item, kModelLabels, "spec.nodeSelector");
    pod.instance_type = label(item, kTypeLabels, "spec.nodeSelector");
    pod.labels = label_names(item, "spec.nodeSelector");
    pod.started = started;
    // A ReplicaSet's name ends with a hash that is also in the pod's name.
    for (const JsonValue& owner : items_at(item, "metadata.ownerReferences")) {
      const std::string& kind = text_at(owner, "kind");
      if (kind != "ReplicaSet" && kind != "Node") pod.workload = text_at(owner, "name");
    }
    state.pods.push_back(std::move(pod));
  }
};

}  // namespace

void ClusterState::append(ClusterState&& other) {
  nodes.insert(nodes.end(), std::make_move_iterator(other.nodes.begin()), std::make_move_iterator(other.nodes.end()));
  pods.insert(pods.end(), std::make_move_iterator(other.pods.begin()), std::make_move_iterator(other.pods.end()));
  if (!moment || (other.moment && *other.moment > *moment)) moment = other.moment;
  slices += other.slices;
  claims += other.claims;
}

bool looks_like_cluster(std::string_view beginning) {
  const std::string_view text = trim(beginning);
  return text.starts_with('{') && text.find("\"apiVersion\"") != text.npos && text.find("\"items\"") != text.npos;
}

Result<ClusterState> read_cluster(ByteSource& source, const std::string& file) {
  JsonReader json(source, file);
  ClusterReader reader;
  json.each_member([&](const std::string& name) {
    if (name != "items") return json.skip();
    json.each_item([&] {
      JsonValue item;
      if (json.read_value(item)) reader.take(item);
    });
  });
  if (json.failed()) return fail(json.error());
  if (reader.state.empty()) {
    return fail(bad_input(fmt::format("{}: no pod or node of these Kubernetes objects has GPUs", file))
                    .with_hint("kubectl get pods,nodes -A -o json > cluster.json"));
  }
  return std::move(reader.state);
}

}  // namespace rightsize::telemetry
