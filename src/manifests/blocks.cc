#include "manifests/blocks.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/place.h"
#include "manifests/accelerators.h"
#include "manifests/hcl_functions.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

constexpr std::string_view kTypeKeys[] = {"instance_type",  "instance_type_name",
                                          "instance_types", "machine_type",
                                          "machine_types",  "vm_size",
                                          "size",           "sku",
                                          "sku_name",       "node_type",
                                          "vm_type",        "shape",
                                          "plan",           "flavor_name",
                                          "node_shape",     "type",
                                          "node_type_id",   "instance_type_id"};
// Counts whose names do not say what they count (counts_of); with those that have priority over other counts.
constexpr std::string_view kCountKeys[] = {"desired_size", "desired_capacity", "node_count", "target_capacity",
                                           "target_size",  "desired_count",    "capacity"};
constexpr std::string_view kMostKeys[] = {"max_size", "max_count", "max_capacity", "node_count_dynamic_max",
                                          "autoscaling_total_max_nodes"};
constexpr std::string_view kLeastKeys[] = {"min_size", "min_count", "min_capacity", "autoscaling_total_min_nodes",
                                           "min_idle_instances"};

using Kind = HclValue::Kind;

// Calls `take` with the name and value of every block and object directly inside, including those in lists.
template <class Take>
void each_inner(const HclValue& value, const Take& take) {
  for (const auto& [name, member] : value.members) {
    // dynamic "node_config" { content { ... } }
    if (member.kind == Kind::kObject)
      take(name == "dynamic" && !member.labels.empty() ? member.labels.front() : name, member);
    for (const HclValue& item : member.items) {
      if (item.kind == Kind::kObject) take(name, item);
    }
  }
}

// "node_selector" -> "nodeSelector"
std::string camel_case(std::string_view name) {
  std::string camel;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool after = i > 0 && name[i - 1] == '_';
    if (name[i] != '_') camel += after ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[i]))) : name[i];
  }
  return camel;
}

YamlValue yaml_scalar(std::string text) {
  YamlValue value;
  value.kind = YamlValue::Kind::kScalar;
  value.scalar = std::move(text);
  return value;
}

class BlockReader {
 public:
  explicit BlockReader(const std::vector<ConfigBlock>& blocks) : blocks_(blocks) {}

  Found read() {
    for (const ConfigBlock& each : blocks_) {
      GpuRequest base;
      base.file = each.file;
      base.sources = each.sources;
      base.kind = each.kind;
      base.name = each.name;
      base.region = each.region;
      base.whole_machines = true;
      base.job = each.kind == "Google Batch job" || plain(each.kind).ends_with("jobdefinition");
      Way way = {&each.block};
      visit(way, base);
      read_manifests(each);
    }
    return std::move(found_);
  }

 private:
  using Way = std::vector<const HclValue*>;  // a block and its enclosing ones, outermost first

  // Kubernetes objects within: kubernetes_manifest { manifest = {...} }, kubectl_manifest { yaml_body = <<YAML ... };
  // values of helm_release.
  void read_manifests(const ConfigBlock& each) {
    const bool cloud_run = each.kind.starts_with("google_cloud_run_") && each.block.find("template") != nullptr;
    if (cloud_run || (each.kind.starts_with("kubernetes_") && each.block.find("spec") != nullptr)) {
      YamlValue object = object_of(each.block);
      std::string kind = cloud_run ? each.kind : camel_case(each.kind.substr(10, each.kind.rfind("_v1") - 10));
      if (!cloud_run) kind[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(kind[0])));
      object.mapping.emplace_back(yaml_scalar("kind"), yaml_scalar(std::move(kind)));
      object.mapping.emplace_back(yaml_scalar("apiVersion"), yaml_scalar("v1"));
      add_inner(read_kubernetes(YamlText(each.file, object, Templated(""))), each.block.line, each);
    }
    for (const auto& [name, value] : each.block.members) {
      const bool object = value.find("apiVersion") != nullptr && value.find("kind") != nullptr;
      const bool text = value.kind == Kind::kString && value.text.find("apiVersion:") != std::string::npos;
      const bool values = each.kind == "helm_release" && name == "values";
      const bool set = each.kind == "helm_release" && (name == "set" || name == "set_list" || name == "set_sensitive");
      Found inner;
      if (object) inner = read_kubernetes(YamlText(each.file, yaml_of(value), Templated("")));
      if (text) inner = read_yaml(each.file, value.text);
      if (values) {
        if (value.kind != Kind::kList) append(values_of(value, each), inner);
        for (const HclValue& item : value.items) append(values_of(item, each), inner);
      }
      if (set) {
        if (value.kind != Kind::kList) append(setting_of(value, each), inner);
        for (const HclValue& item : value.items) append(setting_of(item, each), inner);
      }
      add_inner(std::move(inner), value.line, each);
    }
  }
  void add_inner(Found inner, int line, const ConfigBlock& each) {
    for (GpuRequest& request : inner.requests) {
      request.line = line;
      request.lines.clear();
      if (request.name.empty()) request.name = each.name;
      if (request.provider.empty()) request.provider = provider_of(each.kind);
      if (const HclValue* count = each.block.find("count")) times(number("count", *count, request), request);
      request.sources.insert(request.sources.end(), each.sources.begin(), each.sources.end());
    }
    append(std::move(inner), found_);
  }
  // Terraform's own form of an object: names in snake_case, and a block for each element of a list.
  static YamlValue object_of(const HclValue& block) {
    YamlValue object;
    object.kind = YamlValue::Kind::kMapping;
    for (const auto& [name, member] : block.members) {
      const bool objects = member.kind == Kind::kList && !member.items.empty() && member.items[0].kind == Kind::kObject;
      const bool listed =
          is_any(name, {"container", "containers", "init_container", "node_selector_term", "match_expressions"});
      const std::string key = camel_case(name) + (listed && !name.ends_with('s') ? "s" : "");
      auto at =
          std::ranges::find_if(object.mapping, [&](const auto& entry) { return listed && entry.first.scalar == key; });
      if (at == object.mapping.end()) at = object.mapping.emplace(at, yaml_scalar(key), YamlValue());
      YamlValue& made = at->second;
      if (!member.is_block && !objects) {
        made = yaml_of(member);
      } else if (!listed) {
        made = object_of(objects ? member.items[0] : member);
      } else {
        made.kind = YamlValue::Kind::kList;
        if (!objects) made.list.push_back(object_of(member));
        for (const HclValue& item : member.items) made.list.push_back(object_of(item));
      }
    }
    return object;
  }
  Found values_of(const HclValue& value, const ConfigBlock& each) const {
    if (value.kind == Kind::kString) return read_helm_values(each.file, value.text, each.kind, each.name);
    if (value.kind != Kind::kObject) return {};
    return read_values(YamlText(each.file, yaml_of(value), Templated("")), each.kind, each.name);
  }
  // set { name = "worker.resources.limits.nvidia\\.com/gpu", value = 4 }
  Found setting_of(const HclValue& set, const ConfigBlock& each) const {
    const HclValue *name = set.find("name"), *value = set.find("value");
    if (name == nullptr || value == nullptr || name->kind != Kind::kString) return {};
    std::vector<std::string> keys(1);
    for (std::size_t i = 0; i < name->text.size(); ++i) {
      const char c = name->text[i];
      if (c == '\\') continue;
      if (c == '.' && (i == 0 || name->text[i - 1] != '\\'))
        keys.emplace_back();
      else
        keys.back() += c;
    }
    YamlValue yaml = yaml_of(*value);
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      YamlValue outer;
      outer.kind = YamlValue::Kind::kMapping;
      outer.mapping.emplace_back(yaml_scalar(*key), std::move(yaml));
      yaml = std::move(outer);
    }
    return read_values(YamlText(each.file, yaml, Templated("")), each.kind, each.name);
  }
  static YamlValue yaml_of(const HclValue& known) {
    if (known.kind == Kind::kExpression) return yaml_scalar("${" + known.text + "}");
    YamlValue yaml;
    if (known.kind == Kind::kNull) return yaml;
    if (known.kind == Kind::kBool) return yaml_scalar(known.boolean ? "true" : "false");
    if (known.kind != Kind::kList && known.kind != Kind::kObject) return yaml_scalar(known.text);
    yaml.kind = known.kind == Kind::kList ? YamlValue::Kind::kList : YamlValue::Kind::kMapping;
    for (const HclValue& item : known.items) yaml.list.push_back(yaml_of(item));
    for (const auto& [name, member] : known.members) yaml.mapping.emplace_back(yaml_scalar(name), yaml_of(member));
    return yaml;
  }

  void visit(Way& way, const GpuRequest& base) {
    if (way.size() > 40) return;
    read_node(way, base);
    each_inner(*way.back(), [&](const std::string& name, const HclValue& inner) {
      if (is_accelerators(name)) return;  // part of the machine around it
      GpuRequest below = base;
      if (way.size() > 1 || !inner.is_block || name.find("pool") != std::string::npos) below.part = part_of(base, name);
      // Pools of a list have no key, but a name.
      const HclValue* named = inner.find("name");
      const bool listed = name.ends_with("pools") || name.ends_with("groups") || name.ends_with("profiles");
      if (listed && !inner.is_block && named != nullptr && named->kind == Kind::kString) below.part = named->text;
      way.push_back(&inner);
      visit(way, below);
      way.pop_back();
    });
  }
  // The name of a node group within a module; blocks such as node_config are part of the group around them.
  static std::string part_of(const GpuRequest& base, const std::string& name) {
    const bool plain = is_any(
        name, {"node_config", "content", "scheduling", "managed_node_groups", "eks_managed_node_groups", "node_groups",
               "guest_accelerator", "linux_node_config", "properties", "agent_pool_profiles", "hardware_profile"});
    return plain ? base.part : name;
  }

  // The value of an attribute; empty if it is missing or unknown.
  std::optional<HclValue> known(const HclValue& node, std::string_view key) const {
    const HclValue* value = node.find(key);
    return value == nullptr || value->kind == Kind::kExpression ? std::nullopt : std::optional(*value);
  }

  // Text values of an attribute, one or a list; unknown values go to `open`.
  void texts(std::string_view name, const HclValue& value, std::vector<std::string>& into,
             std::vector<std::string>& open) const {
    if (value.kind == Kind::kExpression) open.push_back(fmt::format("{} = {}", name, value.text));
    if (value.kind == Kind::kString) into.push_back(value.text);
    for (const HclValue& item : value.items) texts(name, item, into, open);
  }

  static std::optional<double> number(std::string_view name, const HclValue& value, GpuRequest& request) {
    return count_of(&value, name, request);
  }

  // A machine type or an accelerator directly in this block is a request.
  void read_node(const Way& way, const GpuRequest& base) {
    const HclValue& here = *way.back();
    GpuRequest request = base;
    std::vector<std::string> types, open;
    for (const std::string_view key : kTypeKeys) {
      const HclValue* value = here.find(key);
      if (value == nullptr) continue;
      texts(key, *value, types, open);
      if (request.line == 0) request.line = value->line;
    }
    std::erase_if(types, [](const std::string& type) { return type.empty(); });
    // Azure's scale sets: sku { name, capacity }; Nebius: platform and preset.
    const HclValue *platform = here.find("platform"), *preset = here.find("preset"), *name = here.find("name");
    if (platform != nullptr && preset != nullptr) types.push_back(platform->text + "_" + preset->text);
    if (name != nullptr && here.find("capacity") != nullptr) types.push_back(name->text);
    if (request.line == 0 && !types.empty()) request.line = (preset != nullptr ? *preset : *name).line;
    read_tpu(here, types, request);
    const bool accelerated = read_accelerators(here, request) || (types.empty() && read_requirement(here, request));
    const bool gpu_machine = std::any_of(types.begin(), types.end(), [](const std::string& type) {
      return !gpu_machine_provider(type).empty() || type.starts_with("tpu-");
    });
    // An unknown type may have GPUs if its name or the resource's name suggests it.
    const bool maybe =
        is_machine(open) && sounds_like_gpu(base.kind + " " + base.name + " " + base.part + " " + open.front());
    if (!accelerated && !gpu_machine && !maybe) {
      if (is_machine(open)) {
        found_.notes.push_back(fmt::format("{}:{}: {}.{}: {} is unknown, so it may or may not have GPUs", base.file,
                                           request.line, base.kind, base.name, open.front()));
      }
      return;
    }
    if (!accelerated && !types.empty()) {
      std::erase_if(types, [](const std::string& type) {
        return gpu_machine_provider(type).empty() && !type.starts_with("tpu-");
      });
    }
    request.machines = types;
    if (request.resource.empty() && !types.empty()) request.resource = fmt::format("{}", fmt::join(types, " or "));
    if (request.resource.empty()) request.resource = open.empty() ? "GPUs" : open.front();
    if (!types.empty() && !gpu_machine_provider(types.front()).empty())
      request.provider = gpu_machine_provider(types.front());
    if (request.provider.empty()) request.provider = provider_of(base.kind);
    request.unresolved.insert(request.unresolved.end(), open.begin(), open.end());
    read_counts(way, request);
    request.spot = is_spot(way);
    request.region = region_of(way);
    if (request.region.empty()) request.region = base.region;
    found_.requests.push_back(std::move(request));
  }

  static bool is_machine(const std::vector<std::string>& open) {
    return !open.empty() && starts_with_any(open.front(), {"instance_type", "machine_type", "vm_size", "node_type_id"});
  }

  static bool sounds_like_gpu(std::string_view text) {
    return contains_any(to_lower(text), {"gpu", "a100", "h100", "h200", "b200", "l40", "nvidia", "cuda"});
  }

  static std::string_view provider_of(std::string_view kind) {
    if (kind.starts_with("aws_")) return "aws";
    if (kind.starts_with("google_")) return "gcp";
    return kind.starts_with("azurerm_") ? "azure" : "";
  }

  void read_tpu(const HclValue& here, std::vector<std::string>& types, GpuRequest& request) const {
    const std::optional<HclValue> type = known(here, "accelerator_type");
    if (!type || !request.kind.starts_with("google_tpu")) return;
    request.line = here.find("accelerator_type")->line;
    request.resource = type->text;
    types.push_back("tpu-" + type->text);
  }

  static bool is_accelerators(std::string_view name) {
    return is_any(name,
                  {"guest_accelerator", "guest_accelerators", "accelerator_config", "accelerators", "accelerator"});
  }

  // guest_accelerator { type = "nvidia-l4", count = 1 }, as a block or an object; accelerator_type and
  // accelerator_count in the maps of modules.
  bool read_accelerators(const HclValue& here, GpuRequest& request) {
    bool any = read_flat_accelerator(here, request);
    for (const char* name : {"guest_accelerator", "guest_accelerators", "accelerator_config"}) {
      const HclValue* value = here.find(name);
      if (value == nullptr || value->kind != Kind::kExpression) continue;
      any = true;
      request.line = value->line;
      request.resource = "GPUs";
      request.unresolved.push_back(fmt::format("{} = {}", name, value->text));
    }
    each_inner(here, [&](const std::string& name, const HclValue& inner) {
      if (!is_accelerators(name)) return;
      const HclValue* type = inner.find("type");
      if (type == nullptr) type = inner.find("accelerator_type");
      if (type == nullptr) {
        // dynamic "guest_accelerator" keeps its fields in `content`.
        if (const HclValue* content = inner.find("content")) type = content->find("type");
        if (type == nullptr) return;
      }
      any = true;
      std::vector<std::string> gpus;
      texts("type", *type, gpus, request.unresolved);
      request.line = type->line;
      request.resource = gpus.empty() ? type->text : gpus.front();
      request.gpus = gpus;
      const HclValue* count = inner.find("count");
      for (const char* key : {"core_count", "accelerator_count"}) {
        if (count == nullptr) count = inner.find(key);
      }
      request.per_unit = count == nullptr ? std::optional(1.0) : number("count", *count, request);
    });
    return any;
  }

  // resource_requirements: [{type: GPU, value: 8}] of containers in AWS Batch and ECS.
  bool read_requirement(const HclValue& here, GpuRequest& request) {
    bool any = false;
    each_inner(here, [&](const std::string& name, const HclValue& inner) {
      const HclValue *type = inner.find("type"), *value = inner.find("value");
      if (!plain(name).starts_with("resourcerequirement") || type == nullptr || value == nullptr) return;
      if (type->text != "GPU") return;
      any = true;
      request.line = value->line;
      request.resource = "GPU";
      request.per_unit = number("value", *value, request);
      request.whole_machines = false;
    });
    return any;
  }

  bool read_flat_accelerator(const HclValue& here, GpuRequest& request) {
    const HclValue *type = here.find("accelerator_type"), *count = here.find("accelerator_count");
    if (type == nullptr || count == nullptr || request.kind.starts_with("google_tpu")) return false;
    GpuRequest probe = request;
    const std::optional<double> each = number("accelerator_count", *count, probe);
    std::vector<std::string> gpus;
    texts("accelerator_type", *type, gpus, probe.unresolved);
    std::erase(gpus, "");
    if (each == 0 || (gpus.empty() && probe.unresolved.empty())) return false;
    request = std::move(probe);
    request.line = type->line;
    request.resource = gpus.empty() ? type->text : gpus.front();
    request.gpus = std::move(gpus);
    request.per_unit = each;
    return true;
  }

  // From the block outwards; the nearest number wins. The resource's count or for_each multiplies it.
  void read_counts(const Way& way, GpuRequest& request) {
    bool found = false;
    for (std::size_t i = way.size(); i-- > 0 && !found;) {
      // `count` of a resource multiplies; that of a pool within is its number of machines.
      const HclValue *count = i > 0 ? way[i]->find("count") : nullptr, *copy = way[i]->find("copy");
      if (i > 0 && count == nullptr && copy != nullptr) count = copy->find("count");  // nested templates of Azure
      found = count_in(*way[i], request, true);
      if (count != nullptr && count->kind != Kind::kNull)
        request.units = number("count", *count, request), found = true;
    }
    const HclValue& top = *way.front();
    if (request.kind == "google_container_node_pool" || request.kind == "google_container_cluster")
      count_zones(way, request);
    if (!found && is_template(request.kind)) count_users(request);
    count_processors(*way.back(), request);
    add_driver(*way.back(), request);
    if (const HclValue* count = top.find("count")) times(number("count", *count, request), request);
    if (const HclValue* each = top.find("for_each")) times(elements(*each, request), request);
  }

  // AWS Batch counts processors (max_vcpus, MaxvCpus) and itself decides the number of machines.
  static void count_processors(const HclValue& node, GpuRequest& request) {
    for (const auto& [key, value] : node.members) {
      const std::string name = plain(key);
      if (name == "maxvcpus") request.most_vcpus = number(key, value, request);
      if (name != "minvcpus" && name != "desiredvcpus") continue;
      request.units = request.units && number_of(value) == 0 ? std::optional(0.0) : std::nullopt;
      if (!request.units) request.unresolved.push_back(fmt::format("{} = {}", key, shown_value(value)));
    }
  }

  // The cluster of Databricks has a driver besides its workers, of the same type unless another is given.
  void add_driver(const HclValue& node, GpuRequest& request) {
    const HclValue *workers = node.find("node_type_id"), *driver = node.find("driver_node_type_id");
    if (workers == nullptr || node.find("min_idle_instances") != nullptr) return;
    const bool same = driver == nullptr || driver->text == workers->text;
    if (same && request.units) *request.units += 1;
    if (same && request.most_units) *request.most_units += 1;
    if (same || gpu_machine_provider(driver->text).empty()) return;
    GpuRequest& one = found_.requests.emplace_back(request);
    one.part = "driver";
    one.line = driver->line;
    one.machines = {one.resource = driver->text};
    one.units = 1;
    one.most_units = std::nullopt;
  }

  bool count_in(const HclValue& node, GpuRequest& request, bool inner) {
    const auto take = [&](const auto& keys, Counts what, std::optional<double>& into) {
      // `size` and `instances` of other things are not counts; nested blocks are not considered here.
      const auto is_single = [](const HclValue& value) {
        return value.kind != Kind::kList && value.kind != Kind::kObject && value.kind != Kind::kNull;
      };
      for (const std::string_view key : keys) {
        const HclValue* value = node.find(key);
        if (value == nullptr || !is_single(*value)) continue;
        into = number(key, *value, request);
        return true;
      }
      for (const auto& [key, value] : node.members) {
        if (counts_of(key) != what || !is_single(value)) continue;
        into = number(key, value, request);
        return true;
      }
      return false;
    };
    bool counted = take(kCountKeys, Counts::kUnits, request.units);
    (void)take(kMostKeys, Counts::kMost, request.most_units);
    if (!counted) counted = take(kLeastKeys, Counts::kLeast, request.units);
    // Nodes of Google's Slurm clusters that exist only while jobs run.
    if (!counted && node.find("node_count_dynamic_max") != nullptr) request.units = 0, counted = true;
    if (!inner) return counted;
    each_inner(node, [&](const std::string& name, const HclValue& below) {
      if (is_any(name, {"scaling_config", "autoscaling", "scaling", "autoscaling_policy", "scale_settings",
                        "auto_scaling", "autoscale"})) {
        // The least number of an autoscaler does not replace the number to start with.
        const std::optional<double> start = counted ? request.units : std::nullopt;
        counted = count_in(below, request, false) || counted;
        if (start) request.units = start;
      }
      // Oracle's node pools have their number of nodes there.
      const HclValue* size = name == "node_config_details" ? below.find("size") : nullptr;
      if (size == nullptr) return;
      request.units = number("size", *size, request);
      counted = true;
    });
    return counted;
  }

  // GKE's node_count is that of each zone of a region; keys with "total" count all of them.
  static void count_zones(const Way& way, GpuRequest& request) {
    const std::optional<double> least = request.units, most = request.most_units;
    multiply_by_zones(way, request);
    const HclValue& pool = *way.front();
    const bool starts = pool.find("node_count") != nullptr || pool.find("initial_node_count") != nullptr;
    each_inner(pool, [&](const std::string&, const HclValue& inner) {
      if (inner.find("total_max_node_count") != nullptr) request.most_units = most;
      if (inner.find("total_min_node_count") != nullptr && !starts) request.units = least;
    });
  }
  static void multiply_by_zones(const Way& way, GpuRequest& request) {
    for (const HclValue* node : way) {
      const HclValue *zones = node->find("node_locations"), *place = node->find("location");
      if (zones != nullptr && zones->kind == Kind::kList && !zones->items.empty())
        return times(static_cast<double>(zones->items.size()), request);
      if (zones != nullptr && zones->kind == Kind::kExpression)
        return request.unresolved.push_back(fmt::format("node_locations = {}", zones->text));
      const bool region = place != nullptr && place->kind == Kind::kString && std::ranges::count(place->text, '-') == 1;
      if (region && node == way.front())
        request.assumptions.emplace_back("counted for one zone; a pool in a region has as many in each of its zones");
    }
  }

  static void times(std::optional<double> count, GpuRequest& request) {
    request.units = count && request.units ? std::optional(*request.units * *count) : std::nullopt;
    if (request.most_units && count) *request.most_units *= *count;
  }

  // The elements of for_each; those with a value were separated before.
  std::optional<double> elements(const HclValue& value, GpuRequest& request) const {
    if (value.kind == Kind::kList) return static_cast<double>(value.items.size());
    if (value.kind == Kind::kObject) return static_cast<double>(value.members.size());
    request.unresolved.push_back(fmt::format("for_each = {}", shown_value(value)));
    return std::nullopt;
  }

  static bool is_template(std::string_view kind) {
    return kind.ends_with("_template") || kind == "aws_launch_configuration" ||
           is_any(kind, {"AWS::EC2::LaunchTemplate", "AWS::AutoScaling::LaunchConfiguration"});
  }

  // The group that uses a template has the number of machines.
  void count_users(GpuRequest& request) {
    const std::string reference = fmt::format("{}.{}.", request.kind, request.name);
    for (const ConfigBlock& other : blocks_) {
      if (!mentions(other.block, reference)) continue;
      if (count_in(other.block, request, true)) {
        request.part = fmt::format("used by {}.{}", other.kind, other.name);
        return;
      }
    }
    request.units = std::nullopt;
    request.unresolved.emplace_back("the number of machines that use the template is not in these files");
  }

  static bool mentions(const HclValue& value, const std::string& reference) {
    if (value.kind == Kind::kExpression && (value.text + ".").find(reference) != std::string::npos) return true;
    return std::any_of(value.items.begin(), value.items.end(),
                       [&](const HclValue& item) { return mentions(item, reference); }) ||
           std::any_of(value.members.begin(), value.members.end(),
                       [&](const auto& member) { return mentions(member.second, reference); });
  }

  // Whether this block, an enclosing one, or a scheduling block next to it requests spot.
  bool is_spot(const Way& way) const {
    for (const HclValue* node : way) {
      if (says_spot(*node)) return true;
      bool beside = false;
      each_inner(*node, [&](const std::string& name, const HclValue& inner) {
        if (name == "scheduling" || name == "instance_market_options" || name.ends_with("_attributes"))
          beside = beside || says_spot(inner);
      });
      if (beside) return true;
    }
    return false;
  }
  bool says_spot(const HclValue& node) const {
    for (const char* key : {"capacity_type", "priority", "provisioning_model", "market_type", "spot", "preemptible",
                            "scale_set_priority", "availability"}) {
      const std::optional<HclValue> value = known(node, key);
      if (value && ((value->kind == Kind::kBool && value->boolean) || to_lower(value->text).starts_with("spot")))
        return true;
    }
    if (node.find("spot_price") != nullptr) return true;
    return !node.labels.empty() && node.labels[0] == "aws_spot_instance_request";
  }

  std::string region_of(const Way& way) const {
    for (const char* key : {"region", "location", "zone", "availability_zone"}) {
      const std::optional<HclValue> value = known(*way.front(), key);
      if (!value || value->kind != Kind::kString) continue;
      return catalog::region_of_place(value->text);
    }
    return {};
  }

  const std::vector<ConfigBlock>& blocks_;
  Found found_;
};

}  // namespace

bool is_machine_key(std::string_view name) { return std::ranges::find(kTypeKeys, name) != std::end(kTypeKeys); }

Found read_blocks(const std::vector<ConfigBlock>& blocks) { return BlockReader(blocks).read(); }

}  // namespace rightsize::manifests
