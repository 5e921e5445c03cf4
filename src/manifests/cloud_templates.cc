// CloudFormation, Terraform's plans and cluster files of other tools, as blocks.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "catalog/place.h"
#include "manifests/blocks.h"
#include "manifests/hcl_functions.h"
#include "manifests/hcl_scope.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;

HclValue expression(std::string text) {
  HclValue made;
  made.kind = Kind::kExpression;
  made.text = std::move(text);
  return made;
}

// Brings YAML into the form of HCL. `refer` gives the value of a scalar that is a reference; otherwise empty.
class Conversion {
 public:
  using Refer = std::function<std::optional<HclValue>(const std::string&)>;
  // `maps`: the Mappings of CloudFormation, for Fn::FindInMap.
  Conversion(const YamlText& document, Refer refer, bool snake, const YamlValue* maps = nullptr)
      : doc_(document), refer_(std::move(refer)), snake_(snake), maps_(maps) {}

  HclValue of(const YamlValue& value, int depth = 0) const {
    HclValue made = converted(value, depth);
    made.line = doc_.line_of(value);
    return made;
  }

 private:
  HclValue converted(const YamlValue& value, int depth) const {
    HclValue made;
    if (depth > 60 || value.kind == YamlValue::Kind::kNull) return made;
    if (is_scalar(&value)) {
      const std::string text = doc_.text(&value);
      if (refer_) {
        if (std::optional<HclValue> referred = refer_(text)) return *std::move(referred);
      }
      if (has_variable(text)) return expression(text);
      if (text == "true" || text == "false") return hcl_bool(text == "true");
      return hcl_string(text);
    }
    // {"Ref": "X"} and {"Fn::GetAtt": ["X", "Arn"]} in JSON; other functions have no value.
    if (value.mapping.size() == 1 && refer_) {
      const auto& [key, inner] = value.mapping.front();
      if (key.scalar == "Ref") return of(inner, depth + 1);
      if (key.scalar == "Fn::FindInMap") return mapped(inner, depth);
      if (key.scalar.starts_with("Fn::")) return expression(key.scalar);
    }
    // !FindInMap [Map, key, key]: tags are not kept.
    if (maps_ != nullptr && value.list.size() == 3 && maps_->find(value.list[0].scalar) != nullptr)
      return mapped(value, depth);
    made.kind = is_list(&value) ? Kind::kList : Kind::kObject;
    for (const YamlValue& item : value.list) made.items.push_back(of(item, depth + 1));
    for (const auto& [key, inner] : value.mapping) {
      HclValue member = of(inner, depth + 1);
      if (member.kind != Kind::kNull)
        made.members.emplace_back(snake_ ? snake_case(key.scalar) : key.scalar, std::move(member));
    }
    return made;
  }
  HclValue mapped(const YamlValue& keys, int depth) const {
    const YamlValue* found = maps_;
    for (const YamlValue& key : keys.list) {
      const HclValue known = of(key, depth + 1);
      found = found == nullptr || known.kind == Kind::kExpression ? nullptr : found->find(known.text);
    }
    return found == nullptr ? expression("Fn::FindInMap") : of(*found, depth + 1);
  }

  const YamlText& doc_;
  Refer refer_;
  bool snake_;
  const YamlValue* maps_;
};

// Resources: {Name: {Type: AWS::EC2::Instance, Properties: {...}}}, Parameters: {Name: {Default: ...}}.
std::vector<ConfigBlock> cloud_formation(const YamlText& doc) {
  const YamlValue* resources = doc.root().find("Resources");
  const YamlValue* parameters = doc.root().find("Parameters");
  std::map<std::string, std::string> kinds;
  for (const auto& [name, resource] : resources->mapping) kinds[doc.text(&name)] = doc.text(resource.find("Type"));
  // Tags such as !Ref are not kept, so a scalar that is the name of a parameter or a resource refers to it.
  const auto refer = [&](const std::string& text) -> std::optional<HclValue> {
    const std::string name = text.substr(0, text.find('.'));
    if (const auto kind = kinds.find(name); kind != kinds.end())
      return expression(fmt::format("{}.{}.id", kind->second, name));
    const YamlValue* parameter = is_mapping(parameters) ? parameters->find(text) : nullptr;
    if (parameter == nullptr) return std::nullopt;
    const YamlValue* otherwise = parameter->find("Default");
    return is_scalar(otherwise) ? hcl_string(doc.text(otherwise)) : expression("Parameters." + text);
  };
  const Conversion convert(doc, refer, true, doc.root().find("Mappings"));
  std::vector<ConfigBlock> blocks;
  for (const auto& [name, resource] : resources->mapping) {
    const YamlValue* properties = resource.find("Properties");
    if (!is_mapping(properties)) continue;
    HclValue block = convert.of(*properties);
    block.is_block = true;
    const std::string kind = doc.text(resource.find("Type"));
    block.labels = {kind, doc.text(&name)};
    // UserData holds scripts, tags hold names.
    std::erase_if(block.members,
                  [](const auto& member) { return member.first == "tags" || member.first == "user_data"; });
    blocks.push_back({std::move(block), doc.file(), kind, doc.text(&name)});
  }
  return blocks;
}

// The texts of "references" anywhere below.
void add_references(const YamlValue& value, HclValue& list, int depth = 0) {
  if (depth > 60) return;
  for (const YamlValue& item : value.list) add_references(item, list, depth + 1);
  for (const auto& [key, inner] : value.mapping) {
    if (key.scalar == "references") {
      for (const YamlValue& item : inner.list) list.items.push_back(expression(item.scalar));
    } else {
      add_references(inner, list, depth + 1);
    }
  }
}

// What the configuration of a plan adds to its resources, by address without indexes: plans do not know the IDs of
// resources that do not exist yet, and the region is the provider's.
struct Configured {
  HclValue references;
  std::string provider;  // a key of provider_config
};
using Configuration = std::map<std::string, Configured>;

void find_references(const YamlValue& module, const std::string& prefix, Configuration& into) {
  if (const YamlValue* resources = module.find("resources"); is_list(resources)) {
    for (const YamlValue& resource : resources->list) {
      const YamlValue* address = resource.find("address");
      HclValue list;
      list.kind = Kind::kList;
      add_references(resource, list);
      const YamlValue* provider = resource.find("provider_config_key");
      if (is_scalar(address))
        into[prefix + address->scalar] = {std::move(list), is_scalar(provider) ? provider->scalar : ""};
    }
  }
  const YamlValue* calls = module.find("module_calls");
  if (!is_mapping(calls)) return;
  for (const auto& [name, call] : calls->mapping) {
    if (const YamlValue* inner = call.find("module"); is_mapping(inner) && prefix.size() < 500)
      find_references(*inner, fmt::format("{}module.{}.", prefix, name.scalar), into);
  }
}

std::string without_indexes(std::string_view address) {
  std::string plain;
  int depth = 0;
  for (const char c : address) {
    if (c == '[') ++depth;
    if (depth == 0) plain += c;
    if (c == ']') --depth;
  }
  return plain;
}

// The region of a provider: {"aws": {"expressions": {"region": {"constant_value": "eu-west-1"}}}}, or a variable.
std::string provider_region(const YamlText& doc, const std::string& provider) {
  const YamlValue* region =
      find_path(doc.root(), {"configuration", "provider_config", provider, "expressions", "region"});
  const YamlValue *constant = region == nullptr ? nullptr : region->find("constant_value"),
                  *names = region == nullptr ? nullptr : region->find("references");
  if (is_list(names) && !names->list.empty() && names->list.front().scalar.starts_with("var."))
    constant = find_path(doc.root(), {"variables", names->list.front().scalar.substr(4), "value"});
  return is_scalar(constant) ? catalog::region_of_place(doc.text(constant)) : "";
}

void add_module(const YamlText& doc, const YamlValue& module, const Configuration& configuration,
                std::vector<ConfigBlock>& blocks, int depth) {
  const Conversion convert(doc, {}, false);
  if (const YamlValue* resources = module.find("resources"); is_list(resources)) {
    for (const YamlValue& resource : resources->list) {
      const YamlValue* values = resource.find("values");
      if (!is_mapping(values) || doc.text(resource.find("mode")) == "data") continue;
      const std::string kind = doc.text(resource.find("type")), address = doc.text(resource.find("address"));
      HclValue block = convert.of(*values);
      block.is_block = true;
      block.labels = {kind, doc.text(resource.find("name"))};
      const auto configured = configuration.find(without_indexes(address));
      std::string provider = kind.substr(0, kind.find('_'));
      if (configured != configuration.end()) {
        block.members.emplace_back("references", configured->second.references);
        if (!configured->second.provider.empty()) provider = configured->second.provider;
      }
      // A template is referred to by type and name, the machines by their whole address.
      const bool whole = address != kind + "." + block.labels[1];
      blocks.push_back({std::move(block),
                        doc.file(),
                        kind,
                        whole && address.size() > kind.size() ? address : doc.text(resource.find("name")),
                        {},
                        provider_region(doc, provider)});
    }
  }
  const YamlValue* children = module.find("child_modules");
  if (!is_list(children) || depth > 20) return;
  for (const YamlValue& child : children->list) add_module(doc, child, configuration, blocks, depth + 1);
}

std::vector<ConfigBlock> terraform_plan(const YamlText& doc, const YamlValue& values) {
  Configuration configuration;
  if (const YamlValue* configured = find_path(doc.root(), {"configuration", "root_module"}); is_mapping(configured))
    find_references(*configured, "", configuration);
  std::vector<ConfigBlock> blocks;
  add_module(doc, values, configuration, blocks, 0);
  return blocks;
}

// "[parameters('size')]" as the name alone; other expressions with double quotes.
std::optional<HclValue> azure_expression(std::string text) {
  if (!text.starts_with('[') || !text.ends_with(']') || text.starts_with("[[")) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  for (const std::string_view call : {"parameters('", "variables('"}) {
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at)) {
      text.erase(at, call.size());
      if (const std::size_t close = text.find("')", at); close != std::string::npos) text.erase(close, 2);
    }
  }
  std::ranges::replace(text, '\'', '"');
  return expression(std::move(text));
}

// Azure's templates: {parameters: {name: {defaultValue: ...}}, variables: {...}, resources: [...]}.
std::vector<ConfigBlock> azure_template(const YamlText& doc, const YamlValue& resources) {
  HclScope scope;
  scope.use_bare_names();
  const Conversion as_is(doc, azure_expression, false), convert(doc, azure_expression, true);
  for (const char* part : {"parameters", "variables"}) {
    const YamlValue* named = doc.root().find(part);
    for (const auto& [name, given] : is_mapping(named) ? named->mapping : decltype(named->mapping)()) {
      const YamlValue* value = part[0] == 'p' ? given.find("defaultValue") : &given;
      if (value != nullptr) scope.give(doc.text(&name), as_is.of(*value));
    }
  }
  std::vector<ConfigBlock> blocks;
  const auto add = [&](const YamlValue& resource) {
    HclValue block = convert.of(resource);
    block.is_block = true;
    HclValue copies = hcl_number(1);
    if (const HclValue* copy = block.find("copy"); copy != nullptr && copy->find("count") != nullptr)
      copies = *copy->find("count");
    if (const HclValue* condition = block.find("condition"))
      copies = expression(fmt::format("({}) ? ({}) : 0", condition->text, copies.text));
    block.members.emplace_back("count", std::move(copies));
    block = scope.expanded(block);
    const HclValue* name = block.find("name");
    blocks.push_back({block, doc.file(), doc.text(resource.find("type")), name == nullptr ? "" : name->text});
  };
  for (const YamlValue& resource : resources.list) add(resource);
  for (const auto& [name, resource] : resources.mapping) add(resource);  // with symbolic names
  return blocks;
}

// Google Batch runs a task on a machine, or several. A number that is not known stays an expression.
bool count_tasks(HclValue& job) {
  const HclValue* groups = job.find("task_groups");
  const auto policy = std::ranges::find(job.members, "allocation_policy", [](const auto& m) { return m.first; });
  if (groups == nullptr || groups->items.empty() || policy == job.members.end()) return false;
  HclValue count = hcl_number(1);
  const auto number = [&](const char* name, double otherwise) {
    const HclValue* given = groups->items[0].find(name);
    const std::optional<double> known = given == nullptr ? otherwise : number_of(*given);
    if (!known) count = expression(given->text);
    return known.value_or(1);
  };
  const double tasks = number("task_count", 1), at_once = std::min(tasks, number("parallelism", tasks)),
               each = number("task_count_per_node", 1);
  if (count.kind != Kind::kExpression) count = hcl_number(std::ceil(at_once / each));
  policy->second.members.emplace_back("count", std::move(count));
  return true;
}

bool names_machine(const HclValue& value, int depth = 0) {
  if (depth > 60) return false;
  for (const auto& [name, member] : value.members) {
    if (is_machine_key(name)) {
      if (!gpu_machine_provider(member.text).empty()) return true;
      for (const HclValue& item : member.items) {
        if (!gpu_machine_provider(item.text).empty()) return true;
      }
    }
    if (is_any(name,
               {"accelerator", "accelerators", "accelerator_config", "guest_accelerator", "guest_accelerators"}) &&
        (member.find("type") != nullptr || !member.items.empty()))
      return true;
    if (name == "accelerator_count" && value.find("accelerator_type") != nullptr) return true;
    if (names_machine(member, depth + 1)) return true;
  }
  return std::ranges::any_of(value.items, [&](const HclValue& item) { return names_machine(item, depth + 1); });
}

}  // namespace

std::string snake_case(std::string_view name) {
  std::string snake;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool after_lower = i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (upper && after_lower) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return snake;
}

HclValue snake_keys(HclValue value) {
  for (HclValue& item : value.items) item = snake_keys(std::move(item));
  for (auto& [name, member] : value.members) {
    name = snake_case(name);
    member = snake_keys(std::move(member));
  }
  return value;
}

std::vector<ConfigBlock> blocks_of(const YamlText& document) {
  const YamlValue& root = document.root();
  if (!is_mapping(&root)) return {};
  if (const YamlValue* resources = root.find("Resources"); is_mapping(resources)) {
    const bool types = std::ranges::any_of(resources->mapping, [](const auto& entry) {
      const YamlValue* type = entry.second.find("Type");
      return is_scalar(type) && type->scalar.find("::") != std::string::npos;
    });
    if (types) return cloud_formation(document);
  }
  for (const char* part : {"planned_values", "values"}) {
    const YamlValue* values = find_path(root, {part, "root_module"});
    if (is_mapping(values) && root.find("format_version") != nullptr) return terraform_plan(document, *values);
  }
  const YamlValue* resources = root.find("resources");
  if (resources != nullptr && document.text(root.find("$schema")).find("eploymentTemplate.json") != std::string::npos)
    return azure_template(document, *resources);
  // Databricks' bundles: ${var.size} has the default of variables.size.
  const auto refer = [&](const std::string& text) -> std::optional<HclValue> {
    if (!text.starts_with("${var.")) return std::nullopt;
    const YamlValue* otherwise =
        find_path(root, {"variables", std::string_view(text).substr(6, text.size() - 7), "default"});
    return is_scalar(otherwise) ? std::optional(hcl_string(document.text(otherwise))) : std::nullopt;
  };
  ConfigBlock whole{Conversion(document, refer, true).of(root), document.file(), "cluster file", ""};
  whole.name = document.text(root.find("cluster_name"));
  if (whole.name.empty()) whole.name = document.text(root.find("name"));
  if (whole.name.empty()) whole.name = document.file().substr(document.file().rfind('/') + 1);
  if (!names_machine(whole.block)) return {};
  if (count_tasks(whole.block)) whole.kind = "Google Batch job";
  return {std::move(whole)};
}

}  // namespace rightsize::manifests
