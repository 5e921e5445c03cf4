#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

// Resources that are accelerators: nvidia.com/gpu, nvidia.com/mig-1g.10gb, amd.com/gpu, google.com/tpu ...
bool is_accelerator(std::string_view key) {
  return key.ends_with("/gpu") ||
         starts_with_any(key, {"nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi",
                               "aws.amazon.com/neuron", "google.com/tpu"});
}

constexpr std::string_view kMig = "nvidia.com/mig-";

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
    if (!is_mapping(&value)) return;
    enter_object(value, where);
    if (is_pool(where.base.kind) && value.find("spec") != nullptr) return read_pool(value, where.base);
    if (is_list(value.find("containers"))) return read_pod(value, where);
    count_here(value, where);
    read_lone_resources(value, where.base);
    read_machines(value, where.base);
    read_claims(value, where.base);
    for (const auto& [key, below] : value.mapping) {
      Enclosing inner = where;
      if (value.find("size") != nullptr && is_group(value)) count_group(value, key.scalar, inner);
      if (key.scalar == "headGroupSpec") inner.base.part = "head";
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

  // Fields that multiply what is below them.
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
    const YamlValue* replicas = value.find("replicas");
    const YamlValue* least = value.find("minReplicas");
    const YamlValue* most = value.find("maxReplicas");
    if (most != nullptr && base.units) {
      if (const auto limit = doc_.number(most, "maxReplicas", base)) base.most_units = *base.units * *limit;
    }
    const std::optional<double> most_units = base.most_units;
    where.times(doc_, replicas != nullptr ? replicas : least, replicas != nullptr ? "replicas" : "minReplicas");
    base.most_units = most_units;
    for (const char* field : {"parallelism", "numOfHosts", "numNodes"}) where.times(doc_, value.find(field), field);
    if (const YamlValue* limit = value.find("activeDeadlineSeconds"); base.job && limit != nullptr) {
      if (const auto length = doc_.number(limit, "activeDeadlineSeconds", base)) base.time_limit = seconds(*length);
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

  // GPUs of one container by resource.
  struct Amount {
    std::optional<double> count;
    int line = 0;
    std::vector<std::string> unresolved;
  };
  using Amounts = std::map<std::string, Amount>;

  Amount amount_of(const YamlValue& value, std::string_view name, const YamlValue& at) const {
    GpuRequest probe;
    const std::optional<double> count = doc_.number(&value, name, probe);
    return {count, doc_.line_of(at), std::move(probe.unresolved)};
  }

  Amounts amounts_of(const YamlValue& resources) const {
    Amounts amounts;
    for (const char* list : {"limits", "requests"}) {
      const YamlValue* values = resources.find(list);
      if (!is_mapping(values)) continue;
      for (const auto& [key, value] : values->mapping) {
        if (!is_scalar(&key) || !is_accelerator(key.scalar) || amounts.contains(key.scalar)) continue;
        if (Amount amount = amount_of(value, key.scalar, key); amount.count != 0)
          amounts[key.scalar] = std::move(amount);
      }
    }
    return amounts;
  }

  static void add(Amounts& sum, const Amounts& more, bool at_once) {
    for (const auto& [key, amount] : more) {
      auto [at, fresh] = sum.try_emplace(key, amount);
      if (fresh) continue;
      std::optional<double>& count = at->second.count;
      if (!count || !amount.count)
        count = std::nullopt;
      else
        count = at_once ? *count + *amount.count : std::max(*count, *amount.count);
      at->second.unresolved.insert(at->second.unresolved.end(), amount.unresolved.begin(), amount.unresolved.end());
    }
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
        const Amounts here = amounts_of(*resources);
        if (!here.empty() && command.empty()) command = command_of(container);
        add(sum, here, at_once);
      }
    }
    if (sum.empty() && where.fraction != nullptr)
      sum.emplace("gpu-fraction", amount_of(*where.fraction, "gpu-fraction", *where.fraction));
    for (const auto& [key, amount] : sum) emit(key, amount, pod, base, command);
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

  void emit(const std::string& key, const Amount& amount, const YamlValue& pod, const GpuRequest& base,
            const std::string& command) {
    GpuRequest request = base;
    request.line = amount.line;
    request.resource = key;
    request.per_unit = amount.count;
    request.unresolved.insert(request.unresolved.end(), amount.unresolved.begin(), amount.unresolved.end());
    if (key.starts_with(kMig)) request.mig_profile = key.substr(kMig.size());
    if (request.kind == "DaemonSet") {
      request.units = std::nullopt;
      request.unresolved.emplace_back("the number of nodes: a DaemonSet has a pod on each");
    }
    if (key.find("shared") != std::string::npos) {
      request.unresolved.emplace_back("nvidia.com/gpu.shared: the number of pods per GPU is set on the nodes");
    }
    request.command = command;
    read_node_choice(doc_, pod, request);
    found_.requests.push_back(std::move(request));
  }

  // Resources outside containers: KServe's predictor.model, a Trainer's resourcesPerNode.
  void read_lone_resources(const YamlValue& value, const GpuRequest& base) {
    for (const char* key : {"resources", "resourcesPerNode"}) {
      const YamlValue* resources = value.find(key);
      if (!is_mapping(resources)) continue;
      for (const auto& [name, amount] : amounts_of(*resources)) emit(name, amount, value, base, "");
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

  // Dynamic resource allocation: a claim for devices of a class.
  void read_claims(const YamlValue& value, const GpuRequest& base) {
    const YamlValue* type = value.find("deviceClassName");
    if (!is_scalar(type) || type->scalar.find("gpu") == std::string::npos) return;
    GpuRequest request = base;
    request.line = doc_.line_of(*type);
    request.resource = doc_.text(type);
    const YamlValue* count = value.find("count");
    request.per_unit = count == nullptr ? std::optional(1.0) : doc_.number(count, "count", request);
    request.unresolved.emplace_back("the number of pods with this claim");
    request.units = std::nullopt;
    found_.requests.push_back(std::move(request));
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
