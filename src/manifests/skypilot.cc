#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

class Task {
 public:
  explicit Task(const YamlText& document) : doc_(document) {}

  Found read() {
    const YamlValue& root = doc_.root();
    GpuRequest base;
    base.file = doc_.file();
    const YamlValue* service = root.find("service");
    base.kind = is_mapping(service) ? "SkyPilot service" : "SkyPilot task";
    base.job = !is_mapping(service);
    base.name = doc_.text(root.find("name"));
    if (base.name.empty()) base.name = base.file.substr(base.file.rfind('/') + 1);
    base.whole_machines = true;
    read_nodes(root, service, base);
    if (const YamlValue* resources = root.find("resources"); is_mapping(resources)) read_resources(*resources, base);
    return std::move(found_);
  }

 private:
  void read_nodes(const YamlValue& root, const YamlValue* service, GpuRequest& request) {
    if (const YamlValue* nodes = root.find("num_nodes")) request.units = doc_.number(nodes, "num_nodes", request);
    const YamlValue* pool = root.find("pool");
    if (!is_mapping(service)) service = pool;
    if (!is_mapping(service)) return;
    const YamlValue* policy = service->find("replica_policy");
    const YamlValue* fixed = service->find(service == pool ? "workers" : "replicas");
    const YamlValue* least = policy == nullptr ? nullptr : policy->find("min_replicas");
    const std::optional<double> replicas =
        fixed == nullptr && least == nullptr
            ? std::optional(1.0)
            : doc_.number(fixed != nullptr ? fixed : least, fixed != nullptr ? "replicas" : "min_replicas", request);
    const std::optional<double> nodes = request.units;
    request.units = nodes && replicas ? std::optional(*nodes * *replicas) : std::nullopt;
    if (policy == nullptr) return;
    const std::optional<double> most = doc_.number(policy->find("max_replicas"), "max_replicas", request);
    if (most && nodes) request.most_units = *most * *nodes;
  }

  // One set of resources; `any_of` and `ordered` hold several, which override the fields next to them.
  void read_resources(const YamlValue& resources, GpuRequest request) {
    read_one(resources, request);
    for (const char* list : {"any_of", "ordered"}) {
      const YamlValue* options = resources.find(list);
      if (!is_list(options)) continue;
      request.ordered = std::string_view(list) == "ordered";
      GpuRequest merged = request;
      bool first = true;
      for (const YamlValue& option : options->list) {
        GpuRequest each = request;
        if (is_mapping(&option)) read_one(option, each);
        merge(each, merged, first);
        first = false;
      }
      emit(std::move(merged));
      return;
    }
    emit(std::move(request));
  }

  // Differences between options are noted; SkyPilot takes the cheapest, or the first that is available.
  static void merge(const GpuRequest& each, GpuRequest& into, bool first) {
    if (first) {
      into = each;
      return;
    }
    const auto add = [](const std::vector<std::string>& from, std::vector<std::string>& to) {
      for (const std::string& name : from) {
        if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
      }
    };
    add(each.gpus, into.gpus);
    add(each.machines, into.machines);
    if (each.provider != into.provider) into.provider.clear();
    if (each.region != into.region) into.region.clear();
    if (each.per_unit != into.per_unit) {
      into.unresolved.emplace_back("options request different numbers of GPUs; the first is counted");
    }
    into.resource += fmt::format(" or {}", each.resource);
    into.spot = into.spot && each.spot;
  }

  void read_one(const YamlValue& resources, GpuRequest& request) {
    doc_.use(resources, request);
    if (const YamlValue* spot = resources.find("use_spot")) request.spot = doc_.is_true(spot);
    // "aws/us-east-1" in newer files.
    for (const char* key : {"cloud", "infra"}) {
      const std::string infra = to_lower(doc_.text(resources.find(key)));
      if (infra.empty()) continue;
      const std::size_t slash = infra.find('/');
      request.provider = is_any(infra.substr(0, slash), {"kubernetes", "k8s", "ssh"}) ? "" : infra.substr(0, slash);
      if (slash != std::string::npos) request.region = infra.substr(slash + 1, infra.find('/', slash + 1) - slash - 1);
    }
    if (const YamlValue* region = resources.find("region")) request.region = doc_.text(region);
    if (const YamlValue* type = resources.find("instance_type"); is_scalar(type)) {
      request.machines = {doc_.text(type)};
      if (request.line == 0) request.line = doc_.line_of(*type), request.resource = doc_.text(type);
    }
    if (const YamlValue* accelerators = resources.find("accelerators")) {
      request.line = doc_.line_of(*accelerators);
      request.gpus.clear();
      read_accelerators(*accelerators, request);
    }
  }

  // The alternatives: "H100:8", {H100: 8}, lists and sets of them.
  void list_accelerators(const YamlValue& value, std::vector<std::string>& into) const {
    if (is_scalar(&value)) into.push_back(doc_.text(&value));
    for (const YamlValue& item : value.list) list_accelerators(item, into);
    // In {H100:8, A100:8} the whole word is the key.
    for (const auto& [name, count] : value.mapping)
      into.push_back(is_scalar(&count) ? fmt::format("{}:{}", doc_.text(&name), doc_.text(&count)) : doc_.text(&name));
  }

  void read_accelerators(const YamlValue& value, GpuRequest& request) const {
    std::vector<std::string> texts;
    list_accelerators(value, texts);
    if (texts.empty()) return;
    request.resource = fmt::format("{}", fmt::join(texts, " or "));
    for (const std::string& text : texts) {
      const std::optional<double> count = read_accelerator(text, request);
      if (&text == &texts.front()) request.per_unit = count;
      if (request.per_unit != count)
        request.unresolved.emplace_back("options request different numbers of GPUs; the first is counted");
    }
  }

  // Its number; empty if it is a variable.
  static std::optional<double> read_accelerator(const std::string& text, GpuRequest& request) {
    std::string_view name = trim(text), digits = "1";
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
      digits = trim(name.substr(colon + 1));
      name = trim(name.substr(0, colon));
    }
    // "H100:4+" means at least four.
    if (digits.ends_with('+')) digits.remove_suffix(1);
    const Result<double> count = parse_number(digits);
    const bool counted = count && *count >= 0;
    if (!has_variable(name)) request.gpus.emplace_back(name);
    if (has_variable(name) || !counted) request.unresolved.push_back(fmt::format("accelerators: {}", text));
    return counted ? std::optional(*count) : std::nullopt;
  }

  void emit(GpuRequest request) {
    const bool machine = std::any_of(request.machines.begin(), request.machines.end(), [](const std::string& type) {
      return !gpu_machine_provider(type).empty() || has_variable(type);
    });
    if (request.resource.empty() || (request.gpus.empty() && !machine && request.unresolved.empty())) return;
    found_.requests.push_back(std::move(request));
  }

  const YamlText& doc_;
  Found found_;
};

}  // namespace

bool is_sky_task(const YamlValue& root) {
  if (!is_mapping(&root) || root.find("apiVersion") != nullptr || !is_mapping(root.find("resources"))) return false;
  // Azure ML's jobs have resources with a machine type, too.
  if (root.find("$schema") != nullptr || root.find("resources")->find("instance_count") != nullptr) return false;
  const auto has_any = [](const YamlValue& value, Words keys) {
    return std::ranges::any_of(keys, [&](std::string_view key) { return value.find(key) != nullptr; });
  };
  return has_any(root, {"run", "setup", "num_nodes", "service", "workdir", "file_mounts", "envs"}) ||
         has_any(*root.find("resources"), {"accelerators", "any_of", "ordered", "instance_type"});
}

Found read_sky_task(const YamlText& document) { return Task(document).read(); }

}  // namespace rightsize::manifests
