#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/place.h"
#include "manifests/blocks.h"
#include "manifests/hcl_functions.h"
#include "manifests/hcl_scope.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;

constexpr int kDeepestModule = 8;

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash);
}

// "modules/eks" and "../gpu" -> "modules/gpu"
std::string beside(const std::string& folder, const std::string& source) {
  const std::string path = (std::filesystem::path(folder) / source).lexically_normal().generic_string();
  return path.ends_with('/') ? path.substr(0, path.size() - 1) : path == "." ? "" : path;
}

// Each file of Bicep is a module.
bool is_bicep(std::string_view path) { return path.ends_with(".bicep"); }

struct ParsedFile {
  std::string file;
  HclValue root;
};

// The files of one folder.
struct Folder {
  std::vector<ParsedFile> sources;
  std::vector<ParsedFile> always, sometimes;  // values: *.auto.tfvars and terraform.tfvars; other *.tfvars
};

HclValue pair_of(HclValue key, HclValue value) {
  HclValue made;
  made.kind = Kind::kObject;
  made.members.emplace_back("key", std::move(key));
  made.members.emplace_back("value", std::move(value));
  return made;
}

// The elements of for_each; empty if unknown.
std::optional<std::vector<HclValue>> elements_of(const HclValue& collection, const HclScope& scope) {
  const std::optional<HclValue> known = scope.resolve(collection);
  if (!known || (known->kind != Kind::kList && known->kind != Kind::kObject)) return std::nullopt;
  std::vector<HclValue> elements;
  for (std::size_t i = 0; i < known->items.size(); ++i) {
    const std::optional<HclValue> item = scope.resolve(known->items[i]);
    if (!item) return std::nullopt;
    const bool text = item->kind == Kind::kString;
    elements.push_back(pair_of(text ? *item : hcl_number(static_cast<double>(i)), *item));
  }
  for (const auto& [name, value] : known->members) elements.push_back(pair_of(hcl_string(name), scope.expanded(value)));
  return elements;
}

// The block with its values; dynamic blocks are expanded. Attributes that are null are left out.
HclValue settled_block(const HclValue& block, HclScope& scope, int depth = 0) {
  HclValue made = block;
  made.members.clear();
  for (const auto& [name, member] : block.members) {
    const HclValue *each = member.find("for_each"), *content = member.find("content");
    if (depth > 40) continue;
    if (name == "dynamic" && !member.labels.empty() && each != nullptr && content != nullptr) {
      const HclValue* iterator = member.find("iterator");
      const std::string bound = iterator == nullptr ? member.labels.front() : iterator->text;
      if (const auto elements = elements_of(*each, scope)) {
        for (const HclValue& element : *elements) {
          scope.bind(bound, element);
          made.members.emplace_back(member.labels.front(), settled_block(*content, scope, depth + 1));
        }
        scope.unbind(bound);
        continue;
      }
    }
    HclValue value = member.is_block ? settled_block(member, scope, depth + 1) : scope.expanded(member);
    if (value.kind != Kind::kNull) made.members.emplace_back(name, std::move(value));
  }
  return made;
}

// Whether the block depends on the elements of for_each.
bool uses_each(const HclValue& value) {
  if (value.text.find("each.") != std::string::npos) return true;
  return std::ranges::any_of(value.items, uses_each) ||
         std::ranges::any_of(value.members, [](const auto& member) { return uses_each(member.second); });
}

// An argument of a module: names in unresolved expressions belong to the caller, so they have no meaning inside.
void close_off(HclValue& value) {
  if (value.kind == Kind::kExpression) value.text = "()";
  for (HclValue& item : value.items) close_off(item);
  for (auto& [name, member] : value.members) close_off(member);
}

// Regions of providers by their names in files: "aws", "aws.west" with an alias.
using Regions = std::map<std::string, std::string>;

// The region in which a resource is created that names none itself.
std::string default_region(const Regions& regions, const std::string& kind, const HclValue& block) {
  const HclValue* named = block.find("provider");
  std::string provider = named != nullptr ? named->text : kind.substr(0, kind.find('_'));
  // A module from elsewhere has the provider of its caller, if there is only one.
  if (named == nullptr && (kind == "module" || kind == "inputs") && regions.size() == 1)
    provider = regions.begin()->first;
  const auto found = regions.find(provider);
  return found == regions.end() ? std::string() : found->second;
}

class Terraform {
 public:
  explicit Terraform(const std::vector<TerraformFile>& files) {
    for (const TerraformFile& each : files) {
      Result<HclValue> root = is_bicep(each.file) ? parse_bicep(each.file, each.text) : parse_hcl(each.file, each.text);
      if (!root) {
        const Place& place = root.error().place;
        found_.notes.push_back(fmt::format("{}:{}: {}", place.file, place.line, root.error().message));
        continue;
      }
      Folder& folder = folders_[is_bicep(each.file) ? each.file : folder_of(each.file)];
      const bool always = each.file.ends_with(".auto.tfvars") || each.file.ends_with("terraform.tfvars");
      (each.file.ends_with(".tfvars") ? (always ? folder.always : folder.sometimes) : folder.sources)
          .push_back({each.file, *std::move(root)});
    }
  }

  Found read() {
    std::set<std::string> called;
    for (const auto& [path, folder] : folders_) {
      for (const ParsedFile& file : folder.sources) {
        for (const auto& [type, block] : file.root.members) {
          if (const Folder* module = module_of(path, type, block); module != nullptr)
            called.insert(beside(path, block.find("source")->text));
        }
      }
    }
    for (const auto& [path, folder] : folders_) {
      if (!called.contains(path)) read_root(path, folder);
    }
    return std::move(found_);
  }

 private:
  // The folder of a module, if its source is among the files.
  const Folder* module_of(const std::string& path, const std::string& type, const HclValue& block) const {
    const HclValue* source = type == "module" ? block.find("source") : nullptr;
    if (source == nullptr || source->kind != Kind::kString || !source->text.starts_with(".")) return nullptr;
    const auto found = folders_.find(beside(path, source->text));
    return found == folders_.end() || &found->second == &folders_.at(path) ? nullptr : &found->second;
  }

  // Reads the folder once for each values file that Terraform does not load automatically: dev.tfvars, prod.tfvars.
  void read_root(const std::string& path, const Folder& folder) {
    if (folder.sources.empty()) return append(read_maps({&folder.always, &folder.sometimes}), found_);
    for (std::size_t i = 0; i < std::max<std::size_t>(1, folder.sometimes.size()); ++i) {
      HclScope scope;
      for (const ParsedFile& file : folder.always) scope.add_file(file.root, true);
      if (!folder.sometimes.empty()) scope.add_file(folder.sometimes[i].root, true);
      Found found = read_folder(path, folder, scope, {}, {}, 0);
      if (folder.sometimes.size() > 1) {
        const std::string& file = folder.sometimes[i].file;
        for (GpuRequest& request : found.requests)
          request.name += fmt::format(" ({})", file.substr(file.rfind('/') + 1));
      }
      append(std::move(found), found_);
    }
  }

  static void add_regions(const Folder& folder, HclScope& scope, Regions& regions) {
    for (const ParsedFile& file : folder.sources) {
      for (const auto& [type, block] : file.root.members) {
        if (type != "provider" || block.labels.empty()) continue;
        const HclValue settled = settled_block(block, scope);
        const HclValue *region = settled.find("region"), *alias = settled.find("alias");
        if (region == nullptr || region->kind != Kind::kString) continue;
        regions[block.labels[0] + (alias != nullptr ? "." + alias->text : "")] = catalog::region_of_place(region->text);
      }
    }
  }

  // `sources`: the files of the modules that use this folder; `regions`: of the providers they hand down.
  Found read_folder(const std::string& path, const Folder& folder, HclScope& scope, std::vector<std::string> sources,
                    Regions regions, int depth) const {
    if (is_bicep(path)) scope.use_bare_names();
    for (const ParsedFile& file : folder.sources) scope.add_file(file.root, false);
    add_regions(folder, scope, regions);
    for (const auto* files : {&folder.sources, &folder.always, &folder.sometimes}) {
      for (const ParsedFile& file : *files) sources.push_back(file.file);
    }
    std::vector<ConfigBlock> blocks;
    Found inner;
    for (const ParsedFile& file : folder.sources) {
      for (const auto& member : file.root.members) {
        const auto& type = member.first;
        const auto& block = member.second;
        // Terragrunt gives the arguments of a module as `inputs`.
        if (type != "resource" && type != "module" && type != "inputs") continue;
        const std::string kind = type != "resource" ? type : block.labels.empty() ? "resource" : block.labels[0];
        const std::string name = block.labels.empty() ? "" : block.labels.back();
        const Folder* module = depth < kDeepestModule ? module_of(path, type, block) : nullptr;
        each_instance(block, scope, [&](HclValue settled, const std::string& key) {
          if (module != nullptr) {
            Found below =
                read_module(beside(path, block.find("source")->text), *module, settled, sources, regions, depth);
            const bool any = !below.requests.empty();
            for (GpuRequest& request : below.requests) request.name = fmt::format("{}{}.{}", name, key, request.name);
            append(std::move(below), inner);
            if (any) return;
          }
          if (is_bicep(path)) settled = snake_keys(std::move(settled));
          std::string region = default_region(regions, kind, settled);
          blocks.push_back({std::move(settled), file.file, kind, name + key, sources, std::move(region)});
        });
      }
    }
    if (blocks.empty() && inner.requests.empty() && depth == 0) return read_maps({&folder.sources});
    Found found = read_blocks(blocks);
    append(std::move(inner), found);
    return found;
  }

  // Maps of pools whose users are in other files: defaults of variables, or values alone.
  static Found read_maps(const std::vector<const std::vector<ParsedFile>*>& files) {
    std::vector<ConfigBlock> blocks;
    for (const std::vector<ParsedFile>* some : files) {
      for (const ParsedFile& file : *some) {
        for (const auto& [type, member] : file.root.members) {
          const bool variable = type == "variable" && !member.labels.empty();
          const HclValue* value = variable ? member.find("default") : member.is_block ? nullptr : &member;
          if (value == nullptr || (value->kind != Kind::kObject && value->kind != Kind::kList)) continue;
          HclValue block;
          block.members.emplace_back("pools", *value);
          blocks.push_back({std::move(block), file.file, "variable", variable ? member.labels[0] : type});
        }
      }
    }
    Found found = read_blocks(blocks);
    for (GpuRequest& request : found.requests)
      request.assumptions.emplace_back("read by the names of its keys; what uses it is not in these files");
    return found;
  }

  // Once for each element of for_each, or once.
  template <class Take>
  static void each_instance(const HclValue& block, HclScope& scope, const Take& take) {
    const HclValue* each = block.find("for_each");
    const auto elements = each == nullptr ? std::nullopt : elements_of(*each, scope);
    if (!elements || elements->size() > 1000 || !uses_each(block)) return take(settled_block(block, scope), "");
    for (const HclValue& element : *elements) {
      scope.bind("each", element);
      HclValue settled = settled_block(block, scope);
      std::erase_if(settled.members, [](const auto& member) { return member.first == "for_each"; });
      take(std::move(settled), fmt::format("[\"{}\"]", text_of(*element.find("key"))));
    }
    scope.unbind("each");
  }

  Found read_module(const std::string& path, const Folder& folder, const HclValue& arguments,
                    const std::vector<std::string>& sources, const Regions& callers, int depth) const {
    HclScope scope;
    // providers = { aws = aws.west }
    Regions regions = callers;
    if (const HclValue* given = arguments.find("providers")) {
      for (const auto& [name, value] : given->members) {
        if (const auto known = callers.find(value.text); known != callers.end()) regions[name] = known->second;
      }
    }
    for (const auto& [name, value] : arguments.members) {
      HclValue given = value;
      close_off(given);
      scope.give(name, std::move(given));
    }
    Found found = read_folder(path, folder, scope, sources, std::move(regions), depth + 1);
    const HclValue* count = arguments.find("count");
    if (count == nullptr) count = arguments.find("for_each");
    if (count == nullptr) return found;
    const std::optional<double> copies =
        count->kind == Kind::kList || count->kind == Kind::kObject
            ? std::optional(static_cast<double>(count->items.size() + count->members.size()))
            : number_of(*count);
    for (GpuRequest& request : found.requests) {
      if (!copies) request.unresolved.push_back(fmt::format("count of the module = {}", count->text));
      request.units = copies && request.units ? std::optional(*request.units * *copies) : std::nullopt;
      if (request.most_units && copies) *request.most_units *= *copies;
    }
    return found;
  }

  std::map<std::string, Folder> folders_;
  Found found_;
};

}  // namespace

Found read_terraform(const std::vector<TerraformFile>& files) { return Terraform(files).read(); }

}  // namespace rightsize::manifests
