#include "manifests/terraform.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "manifests/hcl_scope.h"
#include "manifests/yaml_file.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {
namespace {

constexpr std::string_view kTypeKeys[] = {"instance_type", "instance_types", "machine_type", "machine_types",
                                          "vm_size",       "size",           "sku",          "sku_name",
                                          "node_type",     "vm_type"};
constexpr std::string_view kCountKeys[] = {
    "desired_size", "desired_capacity", "node_count", "initial_node_count", "instance_count",
    "target_size",  "instances",        "num_nodes",  "target_capacity",    "initial_instance_count"};
constexpr std::string_view kMostKeys[] = {"max_size", "max_node_count", "max_count", "max_capacity"};
constexpr std::string_view kLeastKeys[] = {"min_size", "min_node_count", "min_count", "min_capacity"};

// Blocks and objects alike: attributes, and further ones inside.
struct Node {
  const HclBlock* block = nullptr;
  const HclValue* object = nullptr;

  const HclValue* find(std::string_view name) const {
    return block != nullptr ? block->find(name) : object->find(name);
  }
  template <class Take>
  void each_inner(const Take& take) const {
    const auto objects = [&](const auto& entries) {
      for (const auto& [name, value] : entries) {
        if (value.kind == HclValue::Kind::kObject) take(name, Node{nullptr, &value});
        if (value.kind != HclValue::Kind::kList) continue;
        for (const HclValue& item : value.items) {
          if (item.kind == HclValue::Kind::kObject) take(name, Node{nullptr, &item});
        }
      }
    };
    if (object != nullptr) return objects(object->members);
    objects(block->attributes);
    for (const HclBlock& inner : block->blocks) {
      // dynamic "node_config" { content { ... } }
      const std::string& name = inner.type == "dynamic" && !inner.labels.empty() ? inner.labels.front() : inner.type;
      take(name, Node{&inner, nullptr});
    }
  }
};

struct Block {
  const HclBlock* block;
  const std::string* file;
};

class Module {
 public:
  explicit Module(const std::vector<TerraformFile>& files) {
    roots_.reserve(files.size());
    for (const TerraformFile& each : files) {
      Result<HclBlock> root = parse_hcl(each.file, each.text);
      if (!root) {
        const Place& place = root.error().place;
        found_.notes.push_back(fmt::format("{}:{}: {}", place.file, place.line, root.error().message));
        continue;
      }
      const bool values = each.file.ends_with(".tfvars");
      scope_.add_file(*root, values);
      if (values) continue;
      roots_.push_back(*std::move(root));
      for (const HclBlock& block : roots_.back().blocks) {
        if (block.type == "resource" || block.type == "module") blocks_.push_back({&block, &each.file});
      }
    }
  }

  Found read() {
    for (const Block& each : blocks_) {
      GpuRequest base;
      base.file = *each.file;
      const bool resource = each.block->type == "resource";
      base.kind = resource && !each.block->labels.empty() ? each.block->labels[0] : each.block->type;
      base.name = each.block->labels.empty() ? "" : each.block->labels.back();
      base.whole_machines = true;
      std::vector<Node> way = {Node{each.block, nullptr}};
      visit(way, base, 0);
      read_manifests(*each.block, *each.file);
    }
    return std::move(found_);
  }

 private:
  // Kubernetes objects within: kubernetes_manifest { manifest = {...} }, kubectl_manifest { yaml_body = <<YAML ... }.
  void read_manifests(const HclBlock& block, const std::string& file) {
    for (const auto& [name, value] : block.attributes) {
      const bool object = value.find("apiVersion") != nullptr && value.find("kind") != nullptr;
      const bool text = value.kind == HclValue::Kind::kString && value.text.find("apiVersion:") != std::string::npos;
      if (!object && !text) continue;
      Found inner = read_yaml(file, object ? yaml_of(value) : value.text);
      for (GpuRequest& request : inner.requests) request.line = value.line;
      append(std::move(inner), found_);
    }
  }
  std::string yaml_of(const HclValue& value) const {
    const std::optional<HclValue> known = scope_.resolve(value);
    if (!known) return quoted("${" + value.text + "}");
    std::string text;
    switch (known->kind) {
      case HclValue::Kind::kNull:
        return "null";
      case HclValue::Kind::kBool:
        return known->boolean ? "true" : "false";
      case HclValue::Kind::kNumber:
        return known->text;
      case HclValue::Kind::kList:
        for (const HclValue& item : known->items) text += (text.empty() ? "" : ", ") + yaml_of(item);
        return "[" + text + "]";
      case HclValue::Kind::kObject:
        for (const auto& [name, member] : known->members) {
          text += (text.empty() ? "" : ", ") + quoted(name) + ": " + yaml_of(member);
        }
        return "{" + text + "}";
      default:
        return quoted(known->text);
    }
  }
  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n')
        out += "\\n";
      else
        out += c;
    }
    return out + "\"";
  }

  void visit(std::vector<Node>& way, const GpuRequest& base, int depth) {
    if (depth > 40) return;
    const Node here = way.back();
    read_node(way, base);
    here.each_inner([&](const std::string& name, const Node& inner) {
      GpuRequest below = base;
      if (way.size() > 1 || inner.object != nullptr || name.find("pool") != std::string::npos)
        below.part = part_of(base, name);
      way.push_back(inner);
      visit(way, below, depth + 1);
      way.pop_back();
    });
  }
  // Names of node groups within a module; blocks such as node_config add nothing.
  static std::string part_of(const GpuRequest& base, const std::string& name) {
    for (const char* plain : {"node_config", "content", "scheduling", "managed_node_groups", "eks_managed_node_groups",
                              "node_groups", "guest_accelerator", "linux_node_config"}) {
      if (name == plain) return base.part;
    }
    return name;
  }

  std::string shown(const HclValue& value) const {
    if (value.kind == HclValue::Kind::kExpression || !value.text.empty()) return value.text;
    return value.kind == HclValue::Kind::kBool ? (value.boolean ? "true" : "false") : "a list or an object";
  }

  // Text values of an attribute, one or a list; what is not known goes to `open`.
  void texts(std::string_view name, const HclValue& value, std::vector<std::string>& into,
             std::vector<std::string>& open) const {
    const std::optional<HclValue> known = scope_.resolve(value);
    if (!known) {
      open.push_back(fmt::format("{} = {}", name, value.text));
    } else if (known->kind == HclValue::Kind::kString) {
      into.push_back(known->text);
    } else if (known->kind == HclValue::Kind::kList) {
      for (const HclValue& item : known->items) texts(name, item, into, open);
    }
  }

  std::optional<double> number(std::string_view name, const HclValue& value, GpuRequest& request) const {
    const std::optional<HclValue> known = scope_.resolve(value);
    if (known && known->kind == HclValue::Kind::kNumber && known->number >= 0) return known->number;
    if (known && known->kind == HclValue::Kind::kString) {
      if (const Result<double> read = parse_number(known->text); read && *read >= 0) return *read;
    }
    request.unresolved.push_back(fmt::format("{} = {}", name, shown(value)));
    return std::nullopt;
  }

  // A machine type or an accelerator in this very block makes a request.
  void read_node(const std::vector<Node>& way, const GpuRequest& base) {
    const Node& here = way.back();
    GpuRequest request = base;
    std::vector<std::string> types, open;
    for (const std::string_view key : kTypeKeys) {
      const HclValue* value = here.find(key);
      if (value == nullptr) continue;
      texts(key, *value, types, open);
      if (request.line == 0) request.line = value->line;
    }
    std::erase_if(types, [](const std::string& type) { return type.empty(); });
    read_tpu(here, types, request);
    const bool accelerated = read_accelerators(here, request);
    const bool gpu_machine = std::any_of(types.begin(), types.end(), [](const std::string& type) {
      return !gpu_machine_provider(type).empty() || type.starts_with("tpu-");
    });
    // A type that is not known may be one with GPUs where its name or the resource's says so.
    const bool maybe =
        is_machine(open) && sounds_like_gpu(base.kind + " " + base.name + " " + base.part + " " + open.front());
    if (!accelerated && !gpu_machine && !maybe) {
      if (is_machine(open)) {
        found_.notes.push_back(fmt::format("{}:{}: {}.{}: {} is not known here: whether it has GPUs cannot be said",
                                           base.file, request.line, base.kind, base.name, open.front()));
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
    found_.requests.push_back(std::move(request));
  }

  static bool is_machine(const std::vector<std::string>& open) {
    if (open.empty()) return false;
    for (const char* key : {"instance_type", "machine_type", "vm_size"}) {
      if (open.front().starts_with(key)) return true;
    }
    return false;
  }

  static bool sounds_like_gpu(std::string_view text) {
    const std::string lower = to_lower(text);
    for (const char* word : {"gpu", "a100", "h100", "h200", "b200", "l40", "nvidia", "cuda"}) {
      if (lower.find(word) != std::string::npos) return true;
    }
    return false;
  }

  static std::string_view provider_of(std::string_view kind) {
    if (kind.starts_with("aws_")) return "aws";
    if (kind.starts_with("google_")) return "gcp";
    return kind.starts_with("azurerm_") ? "azure" : "";
  }

  void read_tpu(const Node& here, std::vector<std::string>& types, GpuRequest& request) const {
    const HclValue* type = here.find("accelerator_type");
    if (type == nullptr || !request.kind.starts_with("google_tpu")) return;
    const std::optional<HclValue> known = scope_.resolve(*type);
    if (!known) return;
    request.line = type->line;
    request.resource = known->text;
    types.push_back("tpu-" + known->text);
  }

  // guest_accelerator { type = "nvidia-l4", count = 1 }, as a block or an object.
  bool read_accelerators(const Node& here, GpuRequest& request) {
    bool any = false;
    here.each_inner([&](const std::string& name, const Node& inner) {
      if (name != "guest_accelerator" && name != "accelerator_config" && name != "accelerators") return;
      const HclValue* type = inner.find("type");
      if (type == nullptr) type = inner.find("accelerator_type");
      if (type == nullptr) {
        // dynamic "guest_accelerator" keeps its fields in `content`.
        inner.each_inner([&](const std::string& deeper, const Node& content) {
          if (deeper == "content") type = content.find("type");
        });
        if (type == nullptr) return;
      }
      any = true;
      std::vector<std::string> gpus;
      texts("type", *type, gpus, request.unresolved);
      request.line = type->line;
      request.resource = gpus.empty() ? type->text : gpus.front();
      request.gpus = gpus;
      const HclValue* count = inner.find("count");
      if (count == nullptr) count = inner.find("core_count");
      request.per_unit = count == nullptr ? std::optional(1.0) : number("count", *count, request);
    });
    return any;
  }

  // From the block itself outwards; the nearest number wins. The resource's own count or for_each multiplies.
  void read_counts(const std::vector<Node>& way, GpuRequest& request) {
    bool found = false;
    for (std::size_t i = way.size(); i-- > 0 && !found;) found = count_in(way[i], request, true);
    const Node& top = way.front();
    if (!found && is_template(request.kind)) count_users(request);
    if (const HclValue* count = top.find("count")) times(number("count", *count, request), request);
    if (const HclValue* each = top.find("for_each")) times(elements(*each, request), request);
  }

  bool count_in(const Node& node, GpuRequest& request, bool inner) {
    const auto take = [&](const auto& keys, std::optional<double>& into) {
      for (const std::string_view key : keys) {
        // `size` and `instances` of other things are no counts; a nested block is not looked at here.
        const HclValue* value = node.find(key);
        if (value == nullptr || value->kind == HclValue::Kind::kList || value->kind == HclValue::Kind::kObject)
          continue;
        into = number(key, *value, request);
        return true;
      }
      return false;
    };
    bool counted = take(kCountKeys, request.units);
    (void)take(kMostKeys, request.most_units);
    if (!counted) counted = take(kLeastKeys, request.units);
    if (!inner) return counted;
    node.each_inner([&](const std::string& name, const Node& below) {
      for (const char* scaling : {"scaling_config", "autoscaling", "scaling", "autoscaling_policy"}) {
        if (name == scaling) counted = count_in(below, request, false) || counted;
      }
    });
    return counted;
  }

  static void times(std::optional<double> count, GpuRequest& request) {
    request.units = count && request.units ? std::optional(*request.units * *count) : std::nullopt;
    if (request.most_units && count) *request.most_units *= *count;
  }

  std::optional<double> elements(const HclValue& value, GpuRequest& request) const {
    HclValue list = value;
    // toset([...])
    if (value.kind == HclValue::Kind::kExpression && value.text.starts_with("toset(") && value.text.ends_with(")")) {
      const Result<HclBlock> inner = parse_hcl("for_each", "x = " + value.text.substr(6, value.text.size() - 7));
      if (inner && inner->find("x") != nullptr) list = *inner->find("x");
    }
    const std::optional<HclValue> known = scope_.resolve(list);
    if (known && known->kind == HclValue::Kind::kList) return static_cast<double>(known->items.size());
    if (known && known->kind == HclValue::Kind::kObject) return static_cast<double>(known->members.size());
    request.unresolved.push_back(fmt::format("for_each = {}", shown(value)));
    return std::nullopt;
  }

  static bool is_template(std::string_view kind) {
    return kind.ends_with("_template") || kind == "aws_launch_configuration";
  }

  // Who uses a template says how many machines there are.
  void count_users(GpuRequest& request) {
    const std::string reference = fmt::format("{}.{}.", request.kind, request.name);
    for (const Block& other : blocks_) {
      if (!mentions(Node{other.block, nullptr}, reference, 0)) continue;
      if (count_in(Node{other.block, nullptr}, request, true)) {
        request.part = fmt::format("used by {}", fmt::join(other.block->labels, "."));
        return;
      }
    }
    request.units = std::nullopt;
    request.unresolved.emplace_back("nothing in these files says how many machines use the template");
  }

  static bool mentions(const HclValue& value, const std::string& reference) {
    if (value.kind == HclValue::Kind::kExpression && (value.text + ".").find(reference) != std::string::npos)
      return true;
    return std::any_of(value.items.begin(), value.items.end(),
                       [&](const HclValue& item) { return mentions(item, reference); }) ||
           std::any_of(value.members.begin(), value.members.end(),
                       [&](const auto& member) { return mentions(member.second, reference); });
  }
  static bool mentions(const Node& node, const std::string& reference, int depth) {
    if (depth > 40) return false;
    bool any = false;
    if (node.block != nullptr) {
      for (const auto& [name, value] : node.block->attributes) any = any || mentions(value, reference);
      for (const HclBlock& inner : node.block->blocks)
        any = any || mentions(Node{&inner, nullptr}, reference, depth + 1);
    }
    return any;
  }

  // What says spot, here or further out or in a block beside.
  bool is_spot(const std::vector<Node>& way) const {
    for (const Node& node : way) {
      if (says_spot(node)) return true;
      bool beside = false;
      node.each_inner([&](const std::string& name, const Node& inner) {
        if (name == "scheduling" || name == "instance_market_options") beside = beside || says_spot(inner);
      });
      if (beside) return true;
    }
    return false;
  }
  bool says_spot(const Node& node) const {
    for (const char* key : {"capacity_type", "priority", "provisioning_model", "market_type", "spot", "preemptible"}) {
      const HclValue* value = node.find(key);
      const std::optional<HclValue> known = value == nullptr ? std::nullopt : scope_.resolve(*value);
      if (!known) continue;
      if (known->kind == HclValue::Kind::kBool && known->boolean) return true;
      if (to_lower(known->text) == "spot") return true;
    }
    return node.block != nullptr && !node.block->labels.empty() && node.block->labels[0] == "aws_spot_instance_request";
  }

  std::string region_of(const std::vector<Node>& way) const {
    for (const char* key : {"region", "location", "zone", "availability_zone"}) {
      const HclValue* value = way.front().find(key);
      const std::optional<HclValue> known = value == nullptr ? std::nullopt : scope_.resolve(*value);
      if (!known || known->kind != HclValue::Kind::kString) continue;
      std::string region = known->text;
      // us-central1-a, us-east-1a
      const bool google_zone = region.size() > 2 && region[region.size() - 2] == '-';
      if (google_zone) region.resize(region.size() - 2);
      if (std::string_view(key) == "availability_zone" && !google_zone && !region.empty()) region.pop_back();
      return region;
    }
    return {};
  }

  std::vector<HclBlock> roots_;
  std::vector<Block> blocks_;
  HclScope scope_;
  Found found_;
};

}  // namespace

Found read_terraform(const std::vector<TerraformFile>& files) { return Module(files).read(); }

}  // namespace rightsize::manifests
