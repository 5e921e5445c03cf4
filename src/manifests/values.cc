// Helm values and docker compose: files with a number of GPUs that are not Kubernetes objects.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "manifests/accelerators.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

bool is_gpu_count(std::string_view key) {
  return is_any(plain(key), {"gpu",          "gpus",          "requestgpu",     "requestgpus",
                             "gpucount",     "gpuscount",     "numgpu",         "numgpus",
                             "ngpus",        "gpunum",        "gpunumber",      "numberofgpus",
                             "gpulimit",     "gpurequest",    "gpurequests",    "gpuspernode",
                             "gpusperpod",   "gpusperworker", "gpusperreplica", "gpuperpod",
                             "nvidiagpu",    "gpuquantity",   "numgpuspernode", "numgpusperworker",
                             "nprocpernode", "slotspertrial", "gpudevices",     "gpudevicesrequest"});
}
bool is_gpu_type(std::string_view key) {
  return is_any(plain(key), {"gputype", "gpumodel", "gpuproduct", "acceleratortype", "gpuname", "gpuclass"});
}
bool is_vendor(std::string_view text) { return is_any(to_lower(text), {"", "nvidia", "amd", "intel"}); }
// Run:ai wraps each value: {value: 4}.
const YamlValue& unwrapped(const YamlValue& value) {
  const YamlValue* inner = value.mapping.size() == 1 ? value.find("value") : nullptr;
  return is_scalar(inner) ? *inner : value;
}

class Values {
 public:
  Values(const YamlText& document, const std::string& kind, const std::string& name) : doc_(document) {
    base_.file = doc_.file();
    base_.kind = kind;
    base_.name = name;
    base_.assumptions.emplace_back(kind == "configuration"
                                       ? "read by the names of its keys; the tool that uses the file is unknown"
                                       : "read from the values, not from the rendered chart");
  }

  Found read() {
    visit(doc_.root(), base_, 0);
    return std::move(found_);
  }

 private:
  void visit(const YamlValue& value, GpuRequest base, int depth) {
    if (depth > 40) return;
    for (const YamlValue& item : value.list) visit(item, base, depth + 1);
    if (!is_mapping(&value) || is_off(value)) return;
    if (const YamlValue* name = value.find("name"); is_scalar(name) && depth > 0) base.part = doc_.text(name);
    count(value, base);
    choose_nodes(doc_, value, base);
    for (const char* key : {"resources", "resourcesPerNode"}) {
      const YamlValue* resources = value.find(key);
      if (!is_mapping(resources)) continue;
      for (const auto& [name, amount] : amounts_of(doc_, *resources)) emit(value, name, amount, base);
      const YamlValue *gpu = resources->find("gpu"), *accelerator = resources->find("accelerator");
      if (is_scalar(gpu) || is_scalar(accelerator)) {
        read_gpu_text(is_scalar(gpu) ? *gpu : *accelerator, base);
      } else {
        read_counts_of_gpus(*resources, base);
      }
    }
    read_counts_of_gpus(value, base);
    for (const auto& [key, below] : value.mapping) {
      if (is_any(key.scalar, {"nodeSelector", "tolerations", "affinity", "env", "resources", "annotations", "labels"}))
        continue;
      GpuRequest inner = base;
      if (is_mapping(&below) && !is_any(key.scalar, {"gpu", "autoscaling", "global"}))
        inner.part = base.part.empty() ? doc_.text(&key) : base.part + "." + doc_.text(&key);
      visit(below, std::move(inner), depth + 1);
    }
  }

  // The nearest number of replicas counts; an autoscaler next to it sets its bounds.
  void count(const YamlValue& value, GpuRequest& base) const {
    // A group of replicas of dstack: {count: 1..4, resources: {gpu: 1}}.
    if (const YamlValue* copies = value.find("count"); is_scalar(copies) && is_mapping(value.find("resources")))
      base.units = doc_.number(copies, "count", base);
    for (const auto& [key, wrapped] : value.mapping) {
      const YamlValue& amount = unwrapped(wrapped);
      if (!is_scalar(&amount)) continue;
      if (is_any(plain(key.scalar), {"nodepool", "nodepools"})) base.hint = doc_.text(&amount);
      const Counts what = counts_of(key, amount);
      if (what == Counts::kUnits || what == Counts::kLeast) base.units = doc_.number(&amount, key.scalar, base);
      if (what == Counts::kMost) base.most_units = doc_.number(&amount, key.scalar, base);
    }
    // A search over hyperparameters runs several trials at once.
    if (const YamlValue* trials = find_path(value, {"searcher", "max_concurrent_trials"}); is_scalar(trials))
      base.units = doc_.number(trials, "max_concurrent_trials", base);
    for (const char* name : {"autoscaling", "keda", "hpa"}) {
      const YamlValue* scaler = value.find(name);
      if (!is_mapping(scaler) || is_off(*scaler)) continue;
      for (const char* least : {"minReplicas", "minReplicaCount"}) {
        if (const YamlValue* given = scaler->find(least)) base.units = doc_.number(given, least, base);
      }
      for (const char* most : {"maxReplicas", "maxReplicaCount"}) {
        if (const YamlValue* given = scaler->find(most)) base.most_units = doc_.number(given, most, base);
      }
    }
  }

  // The number in gpu: {enabled: true, count: 2}. Without one, a description of the GPU means one: {memory: 24GB}.
  std::optional<Amount> amount_in(const YamlValue& gpu, const YamlValue& key) const {
    const YamlValue *number = nullptr, *described = nullptr;
    for (const auto& [inner, given] : gpu.mapping) {
      if (!is_scalar(&given)) continue;
      const std::string name = plain(inner.scalar);
      if (is_any(name, {"count", "number", "num", "quantity", "amount", "limit", "value"})) number = &given;
      if (is_any(name, {"memory", "name", "type", "model"}) && !given.scalar.empty()) described = &given;
    }
    if (number == nullptr && described == nullptr) return std::nullopt;
    if (number == nullptr) return Amount{1, doc_.line_of(key), {}};
    return amount_of(doc_, *number, key.scalar, key);
  }

  void read_counts_of_gpus(const YamlValue& value, const GpuRequest& base) {
    for (const auto& [key, amount] : value.mapping) {
      if (!is_scalar(&key)) continue;
      if (is_accelerator(key.scalar) && key.scalar != "gpu" && is_scalar(&amount)) {
        emit(value, key.scalar, amount_of(doc_, amount, key.scalar, key), base);
        continue;
      }
      if (!is_gpu_count(key.scalar)) continue;
      if (!is_scalar(&amount) && (!is_mapping(&amount) || is_off(amount))) continue;
      const std::optional<Amount> found =
          is_mapping(&amount) ? amount_in(amount, key) : amount_of(doc_, amount, key.scalar, key);
      // "gpu: h100" and "gpu: true" are not counts.
      const bool open = is_scalar(&amount) ? Templated::is_open(amount.scalar) || has_variable(amount.scalar)
                                           : found && !found->unresolved.empty();
      if (!found || (!found->count && !open)) continue;
      GpuRequest typed = base;
      if (is_mapping(&amount)) add_type(amount, typed);
      emit(value, key.scalar, *found, typed);
    }
  }

  // dstack's "H100:8", "A100:80GB:2", "24GB..:2", "2": names, memory and a number, in this order.
  void read_gpu_text(const YamlValue& gpu, GpuRequest request) {
    const std::string text = doc_.text(&gpu);
    if (text.empty()) return;
    request.line = doc_.line_of(gpu);
    request.resource = text;
    request.per_unit = 1;
    for (const std::string_view part : split_list(text, ':')) {
      const Result<double> number = parse_number(part);
      if (number && *number >= 0)
        request.per_unit = *number;
      else if (has_variable(part) || part.find("..") != std::string_view::npos)
        request.assumptions.push_back(fmt::format("gpu: {}", text));
      else if (part.find("GB") == std::string_view::npos)
        request.gpus.emplace_back(part);
    }
    found_.requests.push_back(std::move(request));
  }

  void add_type(const YamlValue& value, GpuRequest& request) const {
    for (const auto& [key, text] : value.mapping) {
      const bool named = is_gpu_type(key.scalar) || is_any(plain(key.scalar), {"type", "name"});
      // nvidia.com/gpu is a resource, not a GPU.
      if (is_scalar(&text) && named && !is_accelerator(text.scalar) && !is_vendor(text.scalar))
        request.gpus.push_back(doc_.text(&text));
    }
  }

  void emit(const YamlValue& value, const std::string& resource, const Amount& amount, GpuRequest request) {
    if (amount.count == 0) return;
    request.line = amount.line;
    request.lines.insert(amount.lines.begin(), amount.lines.end());
    request.resource = resource;
    request.per_unit = amount.count;
    request.unresolved.insert(request.unresolved.end(), amount.unresolved.begin(), amount.unresolved.end());
    if (resource.starts_with(kMigResource)) request.mig_profile = resource.substr(kMigResource.size());
    for (const auto& [key, text] : value.mapping) {
      if (is_scalar(&text) && is_gpu_type(key.scalar) && !is_accelerator(text.scalar) && request.gpus.empty() &&
          !text.scalar.empty())
        request.gpus.push_back(doc_.text(&text));
    }
    found_.requests.push_back(std::move(request));
  }

  const YamlText& doc_;
  GpuRequest base_;
  Found found_;
};

}  // namespace

Found read_values(const YamlText& document, const std::string& kind, const std::string& name) {
  return Values(document, kind, name).read();
}

Found read_helm_values(const std::string& file, const std::string& text, const std::string& kind,
                       const std::string& name) {
  Found found;
  const Templated templated(text);
  const YamlDocument::Several parsed = YamlDocument::parse_all(file, templated.text());
  for (const YamlDocument& document : parsed.documents)
    append(read_values(YamlText(file, document.root(), templated), kind, name), found);
  if (parsed.mistake) {
    found.notes.push_back(
        fmt::format("{}: the values of {} {} could not be read: {}", file, kind, name, parsed.mistake->message));
  }
  return found;
}

bool is_compose(const YamlValue& root) {
  const YamlValue* services = is_mapping(&root) && root.find("apiVersion") == nullptr ? root.find("services") : nullptr;
  return is_mapping(services) && std::ranges::any_of(services->mapping, [](const auto& entry) {
           return std::ranges::any_of(Words{"image", "build", "deploy", "runtime", "gpus"},
                                      [&](std::string_view key) { return entry.second.find(key) != nullptr; });
         });
}

namespace {

// The GPUs of a device reservation or of an entry of `gpus`.
void read_compose_device(const YamlText& doc, const YamlValue& device, GpuRequest request, Found& found) {
  const YamlValue *count = device.find("count"), *ids = device.find("device_ids");
  request.line = doc.line_of(device);
  if (is_list(ids))
    request.per_unit = static_cast<double>(ids->list.size());
  else if (is_scalar(count) && count->scalar == "all")
    request.unresolved.emplace_back("count: all: every GPU of the host");
  else
    request.per_unit = count == nullptr ? std::nullopt : doc.number(count, "count", request);
  if (count == nullptr && !is_list(ids)) request.unresolved.emplace_back("no count: every GPU of the host");
  found.requests.push_back(std::move(request));
}

// runtime: nvidia with NVIDIA_VISIBLE_DEVICES, as a list or a mapping.
void read_nvidia_runtime(const YamlText& doc, const YamlValue& service, GpuRequest request, Found& found) {
  constexpr std::string_view kName = "NVIDIA_VISIBLE_DEVICES";
  std::string devices = "all";
  if (const YamlValue* environment = service.find("environment"); environment != nullptr) {
    if (const YamlValue* value = environment->find(kName); is_scalar(value)) devices = doc.text(value);
    for (const YamlValue& entry : environment->list) {
      const std::string text = doc.text(&entry);
      if (text.starts_with(kName) && text.size() > kName.size()) devices = text.substr(kName.size() + 1);
    }
  }
  if (is_any(devices, {"none", "void", ""})) return;
  request.line = doc.line_of(*service.find("runtime"));
  if (devices == "all" || has_variable(devices))
    request.unresolved.push_back(fmt::format("{}={}: every GPU of the host", kName, devices));
  else
    request.per_unit = static_cast<double>(split_list(devices, ',').size());
  found.requests.push_back(std::move(request));
}

}  // namespace

Found read_compose(const YamlText& doc) {
  Found found;
  for (const auto& [name, service] : doc.root().find("services")->mapping) {
    GpuRequest request;
    request.file = doc.file();
    request.kind = "compose service";
    request.name = doc.text(&name);
    request.resource = "gpu";
    const YamlValue* replicas = find_path(service, {"deploy", "replicas"});
    if (replicas == nullptr) replicas = service.find("scale");
    if (replicas != nullptr) request.units = doc.number(replicas, "replicas", request);
    const std::size_t before = found.requests.size();
    const YamlValue* devices = find_path(service, {"deploy", "resources", "reservations", "devices"});
    if (is_list(devices)) {
      for (const YamlValue& device : devices->list) {
        const YamlValue* capabilities = device.find("capabilities");
        const bool gpu = is_list(capabilities) && std::ranges::any_of(capabilities->list, [](const YamlValue& one) {
                           return one.scalar == "gpu" || one.scalar == "nvidia-compute";
                         });
        if (gpu) read_compose_device(doc, device, request, found);
      }
    }
    const YamlValue *gpus = service.find("gpus"), *runtime = service.find("runtime");
    if (is_list(gpus)) {
      for (const YamlValue& device : gpus->list) read_compose_device(doc, device, request, found);
    } else if (is_scalar(gpus)) {
      GpuRequest all = request;
      all.line = doc.line_of(*gpus);
      all.unresolved.push_back(fmt::format("gpus: {}: every GPU of the host", doc.text(gpus)));
      found.requests.push_back(std::move(all));
    }
    if (found.requests.size() == before && is_scalar(runtime) && runtime->scalar == "nvidia")
      read_nvidia_runtime(doc, service, request, found);
  }
  return found;
}

}  // namespace rightsize::manifests
