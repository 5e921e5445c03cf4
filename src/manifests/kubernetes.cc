#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "manifests/accelerators.h"
#include "manifests/device_claims.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

// The enclosing object, and the number of copies of everything below it.
struct Enclosing {
  GpuRequest base = {};                 // file, kind, name, part, job, units so far
  const YamlValue* fraction = nullptr;  // of a GPU, for each pod below

  void times(const YamlText& doc, const YamlValue* count, std::string_view name) {
    if (count == nullptr || count->kind == YamlValue::Kind::kNull) return;
    const std::optional<double> value = doc.number(count, name, base);
    base.units = value && base.units ? std::optional(*base.units * *value) : std::nullopt;
    if (base.most_units && value) *base.most_units *= *value;
  }
};

bool is_job_kind(std::string_view kind) {
  return kind.find("Job") != std::string_view::npos || kind == "Workflow" || kind == "PodTemplate" ||
         kind.ends_with("Run");
}

class ObjectWalk {
 public:
  explicit ObjectWalk(const YamlText& document) : doc_(document) {}

  Found read() {
    Enclosing where;
    where.base.file = doc_.file();
    visit(doc_.root(), where, 0);
    return std::move(found_);
  }

 private:
  void visit(const YamlValue& value, Enclosing where, int depth) {
    if (depth > 60) return;
    if (is_list(&value)) {
      for (const YamlValue& item : value.list) visit(item, where, depth + 1);
      return;
    }
    if (!is_mapping(&value) || is_off(value)) return;
    enter_object(value, where);
    if (is_pool(where.base.kind) && value.find("spec") != nullptr) return read_pool(value, where.base);
    if (is_quota(where.base.kind)) return read_quota(value, where.base);
    if (where.base.kind == kFlavorKind) return read_flavor(value, where.base);
    if (read_scaler(value, where.base)) return;
    read_managed_claim(value, where.base);
    const Enclosing outer = where;
    count_here(value, where);
    choose_nodes(doc_, value, where.base);
    if (is_list(value.find("containers"))) {
      read_pod(value, where);
      // KServe's predictor is a pod with replicas, and may have workers.
      const YamlValue* workers = value.find("workerSpec");
      if (workers == nullptr) return;
      count_stages(*workers, where);
      return visit(*workers, where, depth + 1);
    }
    read_lone_resources(value, where.base);
    read_machines(value, where.base);
    if (is_scalar(value.find("deviceClassName"))) return read_claim(value, where);
    for (const auto& [key, below] : value.mapping) {
      // Next to a template, a part with its own replicas is another workload: LLMInferenceService's prefill.
      const bool apart =
          value.find("template") != nullptr && key.scalar != "template" && below.find("replicas") != nullptr;
      Enclosing inner = apart ? outer : where;
      if (value.find("size") != nullptr && is_group(value)) count_group(value, key.scalar, inner);
      if (key.scalar == "headGroupSpec") inner.base.part = "head";
      // Pods of a template with its own number beside it: workerTemplate, workerReplicas.
      if (key.scalar.size() > 8 && key.scalar.ends_with("Template")) {
        const std::string role = key.scalar.substr(0, key.scalar.size() - 8);
        if (const YamlValue* copies = value.find(role + "Replicas")) {
          inner.times(doc_, copies, role + "Replicas");
          inner.base.part = inner.base.part.empty() ? role : inner.base.part + "." + role;
        }
      }
      if (read_chart_values(key.scalar, below, where.base)) continue;
      if (where.base.kind == "SparkApplication") count_spark(value, key.scalar, below, inner);
      if (where.base.kind == "LLMInferenceService") count_inference(value, key.scalar, inner);
      if (key.scalar == "workerSpec") count_stages(below, inner);
      if (key.scalar == "firstAvailable") inner.base.ordered = true;
      if (key.scalar.ends_with("ReplicaSpecs") && is_mapping(&below)) {
        visit_named(below, inner, depth);
        continue;
      }
      visit(below, inner, depth + 1);
    }
  }

  // pytorchReplicaSpecs: {Master: ..., Worker: ...}
  void visit_named(const YamlValue& parts, const Enclosing& where, int depth) {
    for (const auto& [key, below] : parts.mapping) {
      Enclosing inner = where;
      inner.base.part = to_lower(doc_.text(&key));
      visit(below, inner, depth + 1);
    }
  }

  void enter_object(const YamlValue& value, Enclosing& where) {
    const YamlValue* kind = value.find("kind");
    if (!is_scalar(kind) || value.find("apiVersion") == nullptr) return;
    GpuRequest& base = where.base;
    base.kind = doc_.text(kind);
    base.job = is_job_kind(base.kind) && base.kind != "PodTemplate";
    const YamlValue* metadata = value.find("metadata");
    if (!is_mapping(metadata)) return;
    const std::string space = doc_.text(metadata->find("namespace"));
    std::string name = doc_.text(metadata->find("name"));
    if (name.empty()) name = doc_.text(metadata->find("generateName"));
    base.name = space.empty() ? name : space + "/" + name;
  }

  // Fields that multiply everything below them.
  void count_here(const YamlValue& value, Enclosing& where) {
    GpuRequest& base = where.base;
    if (is_scalar(value.find("groupName"))) base.part = doc_.text(value.find("groupName"));
    const bool holds_pods = value.find("template") != nullptr || value.find("spec") != nullptr;
    if (holds_pods && is_scalar(value.find("name")) && value.find("kind") == nullptr)
      base.part = doc_.text(value.find("name"));
    // KAI and Run:ai share GPUs by an annotation.
    if (const YamlValue* share = find_path(value, {"metadata", "annotations", "gpu-fraction"})) {
      where.fraction = share;
    }
    // Knative and Cloud Run have the bounds of their autoscaler in annotations; without them, nothing runs when idle.
    if (const YamlValue* annotations = find_path(value, {"metadata", "annotations"}); is_mapping(annotations)) {
      for (const char* name : {"autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale"})
        where.times(doc_, annotations->find(name), name);
      for (const char* name : {"autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale"}) {
        if (const YamlValue* most = annotations->find(name)) base.most_units = doc_.number(most, name, base);
      }
    }
    if (base.kind == "CronJob" && doc_.is_true(value.find("suspend"))) base.units = 0;
    count_units(value, where);
    // Dynamo: nodes of one worker; Kubeflow's training runtimes: nodes of a job; Ray Train: workers;
    // LLMInferenceService: the bounds of its autoscaler.
    for (const char* beside : {"multinode", "mlPolicy", "scalingConfig", "scaling"}) {
      if (const YamlValue* counts = value.find(beside); is_mapping(counts)) count_units(*counts, where);
    }
    if (const YamlValue* limit = value.find("activeDeadlineSeconds"); base.job && limit != nullptr) {
      if (const auto length = doc_.number(limit, "activeDeadlineSeconds", base)) base.time_limit = seconds(*length);
    }
  }

  // Numbers of units by the names of their keys; bounds are those of the number next to them, or replace it.
  void count_units(const YamlValue& value, Enclosing& where) const {
    GpuRequest& base = where.base;
    const std::optional<double> outer = base.units;
    const YamlValue* least = nullptr;
    bool counted = false;
    for (const auto& [key, count] : value.mapping) {
      const Counts what = counts_of(key, count);
      if (what == Counts::kLeast) least = &count;
      if (what == Counts::kUnits) where.times(doc_, &count, key.scalar), counted = true;
    }
    if (!counted) where.times(doc_, least, "the least number");
    for (const auto& [key, count] : value.mapping) {
      if (counts_of(key, count) != Counts::kMost || !outer) continue;
      if (const auto most = doc_.number(&count, key.scalar, base)) base.most_units = *outer * *most;
    }
    // The number of units is used even where both bounds are given.
    if (least != nullptr) base.lines.insert(doc_.line_of(*least));
  }

  // SparkApplication: driver and executor with `gpu: {name, quantity}`; `instances` executors. With dynamic allocation,
  // the first number is the largest of those given.
  void count_spark(const YamlValue& value, std::string_view key, const YamlValue& below, Enclosing& inner) {
    if (key != "driver" && key != "executor") return;
    inner.base.part = key;
    inner.base.job = true;
    choose_nodes(doc_, below, inner.base);
    count_units(below, inner);
    const YamlValue* dynamic = value.find("dynamicAllocation");
    if (key == "executor" && is_mapping(dynamic) && doc_.is_true(dynamic->find("enabled"))) {
      for (const char* name : {"initialExecutors", "minExecutors"}) {
        const std::optional<double> given = doc_.number(dynamic->find(name), name, inner.base);
        if (given && inner.base.units) inner.base.units = std::max(*inner.base.units, *given);
      }
      inner.base.most_units = doc_.number(dynamic->find("maxExecutors"), "maxExecutors", inner.base);
    }
    const YamlValue* gpu = below.find("gpu");
    const YamlValue* quantity = is_mapping(gpu) ? gpu->find("quantity") : nullptr;
    if (quantity == nullptr) return;
    const std::string name = doc_.text(gpu->find("name"));
    emit(name.empty() ? "gpu" : name, amount_of(doc_, *quantity, "gpu.quantity", *quantity), inner.base, "");
  }

  // KServe's LLMInferenceService: data parallelism over several nodes makes a group of data / dataLocal pods, the first
  // from `template`, the others from `worker`; pipeline stages are pods as well.
  void count_inference(const YamlValue& value, std::string_view key, Enclosing& inner) {
    if (key == "prefill" || key == "worker") inner.base.part = key;
    const YamlValue* parallel = value.find("parallelism");
    if (key != "worker" || !is_mapping(parallel)) return;
    const auto size = [&](const char* name, double otherwise) {
      const YamlValue* given = parallel->find(name);
      return given == nullptr ? std::optional(otherwise) : doc_.number(given, name, inner.base);
    };
    const std::optional<double> data = size("data", 1), local = size("dataLocal", 1), stages = size("pipeline", 1);
    const bool known = data && local && stages && *local > 0;
    const double pods = known ? std::max(*data / *local, *stages) : 0;
    inner.base.units =
        known && inner.base.units ? std::optional(*inner.base.units * std::max(0.0, pods - 1)) : std::nullopt;
  }

  // Values of a Helm chart: Argo CD's Application, Flux's HelmRelease, Rancher's HelmChart.
  bool read_chart_values(std::string_view key, const YamlValue& below, const GpuRequest& base) {
    if (!is_any(base.kind, {"Application", "ApplicationSet", "HelmRelease", "HelmChart", "HelmChartConfig"}))
      return false;
    if (!is_any(key, {"values", "valuesObject", "valuesContent"})) return false;
    Found values;
    if (is_mapping(&below)) values = read_values(doc_.within(below), base.kind, base.name);
    if (is_scalar(&below)) values = read_helm_values(doc_.file(), doc_.text(&below), base.kind, base.name);
    if (is_scalar(&below)) {
      for (GpuRequest& request : values.requests) request.line = doc_.line_of(below), request.lines.clear();
    }
    append(std::move(values), found_);
    return true;
  }

  // KServe creates a device claim from annotations of an LLMInferenceService.
  void read_managed_claim(const YamlValue& value, const GpuRequest& base) {
    const YamlValue* annotations = find_path(value, {"metadata", "annotations"});
    const YamlValue* type =
        is_mapping(annotations) ? annotations->find("serving.kserve.io/exp-dra-device-class") : nullptr;
    if (!is_scalar(type) || base.kind != "LLMInferenceService") return;
    GpuRequest request = base;
    request.resource = doc_.text(type);
    request.line = doc_.line_of(*type);
    doc_.use(*annotations, request);
    const YamlValue* count = annotations->find("serving.kserve.io/exp-dra-device-count");
    request.per_unit = count == nullptr ? std::optional(1.0) : doc_.number(count, "exp-dra-device-count", request);
    if (const YamlValue* replicas = find_path(value, {"spec", "replicas"}))
      request.units = doc_.number(replicas, "replicas", request);
    found_.requests.push_back(std::move(request));
  }

  // KServe's predictor.workerSpec: one pod for each pipeline stage but the first.
  void count_stages(const YamlValue& below, Enclosing& inner) {
    const YamlValue* stages = below.find("pipelineParallelSize");
    if (stages == nullptr) return;
    inner.base.part = "workers";
    const std::optional<double> count = doc_.number(stages, "pipelineParallelSize", inner.base);
    inner.base.units =
        count && inner.base.units ? std::optional(*inner.base.units * std::max(0.0, *count - 1)) : std::nullopt;
    if (below.find("containers") != nullptr || below.find("resources") != nullptr) return;
    // A worker without containers has those of the serving runtime, and a GPU for each tensor rank.
    const YamlValue* ranks = below.find("tensorParallelSize");
    const YamlValue& source = ranks != nullptr ? *ranks : *stages;
    Amount each = amount_of(doc_, source, "tensorParallelSize", source);
    if (ranks == nullptr) each.count = 1;
    choose_nodes(doc_, below, inner.base);
    emit("nvidia.com/gpu", each, inner.base, "");
  }

  // A HorizontalPodAutoscaler or KEDA's ScaledObject.
  bool read_scaler(const YamlValue& value, const GpuRequest& base) {
    const YamlValue* target = find_path(value, {"spec", "scaleTargetRef"});
    if (!is_mapping(target) || value.find("apiVersion") == nullptr) return false;
    GpuRequest probe;
    const YamlValue& spec = *value.find("spec");
    const auto limit = [&](const char* name, const char* other) {
      const YamlValue* given = spec.find(name);
      return doc_.number(given != nullptr ? given : spec.find(other), name, probe);
    };
    const std::string kind = doc_.text(target->find("kind")), name = doc_.text(target->find("name"));
    const std::size_t slash = base.name.find('/');
    found_.scalers.push_back({kind.empty() ? "Deployment" : kind,
                              slash == std::string::npos ? name : base.name.substr(0, slash + 1) + name, base.file,
                              limit("minReplicas", "minReplicaCount"), limit("maxReplicas", "maxReplicaCount")});
    return true;
  }

  // Kueue's ResourceFlavor: the nodes of a ClusterQueue's quota. It requests nothing itself.
  void read_flavor(const YamlValue& value, const GpuRequest& base) {
    const YamlValue* spec = value.find("spec");
    GpuRequest flavor = base;
    flavor.ceiling = true;
    if (!is_mapping(spec) || !read_node_choice(doc_, *spec, flavor)) return;
    flavor.node_labels = {{std::string(kFlavorKind), base.name}};
    found_.requests.push_back(std::move(flavor));
  }

  // ResourceQuota and Kueue's ClusterQueue: limits, not requests.
  static bool is_quota(std::string_view kind) { return kind == "ResourceQuota" || kind == "ClusterQueue"; }
  void read_quota(const YamlValue& value, const GpuRequest& base) {
    const auto limit = [&](const std::string& resource, const YamlValue& amount, const std::string& part) {
      if (!is_accelerator(resource.substr(resource.find('.') == 8 && resource.starts_with("requests") ? 9 : 0))) return;
      GpuRequest request = base;
      request.ceiling = true;
      request.part = part;
      request.line = doc_.line_of(amount);
      request.resource = resource;
      request.per_unit = doc_.number(&amount, resource, request);
      request.node_labels.emplace_back(kFlavorKind, part);
      found_.requests.push_back(std::move(request));
    };
    if (const YamlValue* hard = find_path(value, {"spec", "hard"}); is_mapping(hard)) {
      for (const auto& [key, amount] : hard->mapping) limit(doc_.text(&key), amount, "");
    }
    const YamlValue* groups = find_path(value, {"spec", "resourceGroups"});
    if (!is_list(groups)) return;
    for (const YamlValue& group : groups->list) {
      const YamlValue* flavors = group.find("flavors");
      if (!is_list(flavors)) continue;
      for (const YamlValue& flavor : flavors->list) {
        const YamlValue* resources = flavor.find("resources");
        if (!is_list(resources)) continue;
        for (const YamlValue& resource : resources->list) {
          if (const YamlValue* quota = resource.find("nominalQuota"))
            limit(doc_.text(resource.find("name")), *quota, doc_.text(flavor.find("name")));
        }
      }
    }
  }

  // A LeaderWorkerSet's group: `size` pods, one of which is the leader and may have its own template.
  static bool is_group(const YamlValue& value) { return value.find("workerTemplate") != nullptr; }
  void count_group(const YamlValue& value, std::string_view key, Enclosing& inner) {
    const bool own_leader = value.find("leaderTemplate") != nullptr;
    if (key == "leaderTemplate") inner.base.part = "leader";
    if (key != "workerTemplate") return;
    inner.base.part = own_leader ? "workers" : "";
    const std::optional<double> size = doc_.number(value.find("size"), "size", inner.base);
    if (!inner.base.units) return;
    inner.base.units =
        size ? std::optional(*inner.base.units * std::max(0.0, *size - (own_leader ? 1 : 0))) : std::nullopt;
  }

  void read_pod(const YamlValue& pod, const Enclosing& where) {
    Amounts sum;
    const GpuRequest& base = where.base;
    std::string command;
    // Init containers run in sequence before the rest; sidecars do not request GPUs in practice.
    for (const auto& [list, at_once] : {std::pair{"containers", true}, std::pair{"initContainers", false}}) {
      const YamlValue* containers = pod.find(list);
      if (!is_list(containers)) continue;
      for (const YamlValue& container : containers->list) {
        const YamlValue* resources = container.find("resources");
        if (!is_mapping(resources)) continue;
        const Amounts here = amounts_of(doc_, *resources);
        if (!here.empty() && command.empty()) command = command_of(container);
        add_amounts(sum, here, at_once);
      }
    }
    if (sum.empty() && where.fraction != nullptr)
      sum.emplace("gpu-fraction", amount_of(doc_, *where.fraction, "gpu-fraction", *where.fraction));
    for (const auto& [key, amount] : sum) emit(key, amount, base, command);
    GpuRequest user = base;
    user.line = doc_.line_of(pod);
    user.command = command;
    append_claim_uses(doc_, pod, user, found_.claim_uses);
  }

  void read_claim(const YamlValue& value, const Enclosing& where) {
    if (std::optional<GpuRequest> claim = read_device_request(doc_, value, where.base))
      found_.requests.push_back(*std::move(claim));
  }

  std::string command_of(const YamlValue& container) const {
    std::string line;
    for (const char* list : {"command", "args"}) {
      const YamlValue* words = container.find(list);
      if (!is_list(words)) continue;
      for (const YamlValue& word : words->list) line += (line.empty() ? "" : " ") + doc_.text(&word);
    }
    return line;
  }

  void emit(const std::string& key, const Amount& amount, const GpuRequest& base, const std::string& command) {
    GpuRequest request = base;
    request.line = amount.line;
    request.lines.insert(amount.lines.begin(), amount.lines.end());
    request.resource = key;
    request.per_unit = amount.count;
    request.unresolved.insert(request.unresolved.end(), amount.unresolved.begin(), amount.unresolved.end());
    if (key.starts_with(kMigResource)) request.mig_profile = key.substr(kMigResource.size());
    // A template for other objects: TrainingRuntime, ServingRuntime.
    if (request.kind.ends_with("Runtime")) {
      const double pods = std::exchange(request.units, std::nullopt).value_or(1);
      request.unresolved.push_back(
          fmt::format("the number of objects that use the {}, of {:g} pods each", request.kind, pods));
    }
    if (request.kind == "DaemonSet") {
      request.units = std::nullopt;
      request.unresolved.emplace_back("the number of nodes: a DaemonSet has a pod on each");
    }
    if (key.find("shared") != std::string::npos) {
      request.unresolved.emplace_back("nvidia.com/gpu.shared: the number of pods per GPU is set on the nodes");
    }
    request.command = command;
    found_.requests.push_back(std::move(request));
  }

  // Resources outside containers: KServe's predictor.model, a Trainer's resourcesPerNode.
  void read_lone_resources(const YamlValue& value, const GpuRequest& base) {
    for (const char* key : {"resources", "resourcesPerNode"}) {
      const YamlValue* resources = value.find(key);
      if (!is_mapping(resources)) continue;
      for (const auto& [name, amount] : amounts_of(doc_, *resources)) emit(name, amount, base, "");
    }
  }

  // Machine types in cluster configurations.
  void read_machines(const YamlValue& value, const GpuRequest& base) {
    for (const char* key : {"instanceType", "vmSize", "machineType"}) {
      const YamlValue* type = value.find(key);
      if (!is_scalar(type)) continue;
      const std::string_view provider = gpu_machine_provider(type->scalar);
      if (provider.empty()) continue;
      GpuRequest request = base;
      request.line = doc_.line_of(*type);
      doc_.use(value, request);
      request.resource = doc_.text(type);
      request.machines = {request.resource};
      request.provider = provider;
      request.whole_machines = true;
      if (const YamlValue* name = value.find("name"); is_scalar(name)) request.part = doc_.text(name);
      for (const char* count : {"desiredCapacity", "minSize", "count"}) {
        if (const YamlValue* given = value.find(count)) {
          request.units = doc_.number(given, count, request);
          break;
        }
      }
      found_.requests.push_back(std::move(request));
    }
  }

  static bool is_pool(std::string_view kind) { return kind == "NodePool" || kind == "Provisioner"; }

  void read_pool(const YamlValue& pool, const GpuRequest& base) {
    GpuRequest request = base;
    request.ceiling = true;
    request.line = doc_.line_of(pool);
    const YamlValue* limits = find_path(pool, {"spec", "limits"});
    if (limits != nullptr && limits->find("resources") != nullptr) limits = limits->find("resources");
    bool limited = false;
    if (is_mapping(limits)) {
      for (const auto& [key, value] : limits->mapping) {
        if (!is_scalar(&key) || !is_accelerator(key.scalar)) continue;
        limited = true;
        request.line = doc_.line_of(key);
        request.resource = key.scalar;
        request.per_unit = doc_.number(&value, key.scalar, request);
      }
    }
    request.node_labels.emplace_back("karpenter.sh/nodepool", request.name);
    if (const YamlValue* labels = find_path(pool, {"spec", "template", "metadata", "labels"}); is_mapping(labels)) {
      for (const auto& [key, value] : labels->mapping)
        request.node_labels.emplace_back(doc_.text(&key), doc_.text(&value));
    }
    const YamlValue* spec = find_path(pool, {"spec", "template", "spec"});
    if (spec == nullptr) spec = pool.find("spec");
    const bool gpus = is_mapping(spec) && read_node_choice(doc_, *spec, request);
    const bool machines = std::any_of(request.machines.begin(), request.machines.end(),
                                      [](const std::string& type) { return !gpu_machine_provider(type).empty(); });
    if (!limited && !gpus && !machines) return;
    if (!limited) {
      request.resource = machines                        ? request.machines.front()
                         : gpus && !request.gpus.empty() ? request.gpus.front()
                                                         : "GPUs";
      request.unresolved.emplace_back("no limit on GPUs: the cost of the pool is unbounded");
      for (const auto& [key, value] : is_mapping(limits) ? limits->mapping : decltype(limits->mapping)())
        request.unresolved.push_back(fmt::format("limits.{}: {}", doc_.text(&key), doc_.text(&value)));
    }
    found_.requests.push_back(std::move(request));
  }

  const YamlText& doc_;
  Found found_;
};

}  // namespace

bool is_kubernetes(const YamlValue& root) {
  return is_mapping(&root) && root.find("kind") != nullptr && root.find("apiVersion") != nullptr;
}

Found read_kubernetes(const YamlText& document) { return ObjectWalk(document).read(); }

}  // namespace rightsize::manifests
