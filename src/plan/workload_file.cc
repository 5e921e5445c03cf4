// Workload files: YAML, with the place of every mistake.
#include <fmt/format.h>

#include "base/yaml.h"
#include "plan/read_request.h"

namespace rightsize::plan {
namespace {

using model::Setting;
using Settings = std::vector<Setting>;

// One mapping as settings; a list of scalars becomes "a,b", limits under one key (slo: {ttft: 1s}) "ttft=1s", and
// members of other groups have names with a dot (traffic: {rps: 8} is "traffic.rps").
Settings read_settings(const YamlDocument& document, const YamlValue& mapping, Errors& errors) {
  Settings settings;
  for_each_entry(document, mapping, errors, [&](const YamlValue& key, const YamlValue& value) {
    std::string text = value.scalar;
    if (value.kind == YamlValue::Kind::kList) {
      for (const YamlValue& item : value.list) {
        if (item.kind != YamlValue::Kind::kScalar) {
          errors.push_back(
              bad_input(fmt::format("'{}' must be a list of plain values", key.scalar)).at(document.place(item)));
        }
        text += (text.empty() ? "" : ",") + item.scalar;
      }
    } else if (value.kind == YamlValue::Kind::kMapping && (key.scalar == "slo" || key.scalar == "slos")) {
      for (const Setting& limit : read_settings(document, value, errors))
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", limit.name, limit.value);
    } else if (value.kind == YamlValue::Kind::kMapping) {
      for (Setting& member : read_settings(document, value, errors)) {
        member.name = key.scalar + "." + member.name;
        settings.push_back(std::move(member));
      }
      return;
    } else if (value.kind != YamlValue::Kind::kScalar) {
      errors.push_back(bad_input(fmt::format("'{}' must be a value, not {}", key.scalar, name_of(value.kind)))
                           .at(document.place(key)));
      return;
    }
    settings.push_back({key.scalar, text, document.place(value)});
  });
  return settings;
}

// The settings of a workload take precedence over the defaults.
Settings merged(Settings own, const Settings& defaults) {
  const std::size_t mine = own.size();
  for (const Setting& common : defaults) {
    bool given = false;
    for (std::size_t i = 0; i < mine; ++i) given |= own[i].name == common.name;
    if (!given) own.push_back(common);
  }
  return own;
}

}  // namespace

Checked<std::vector<Settings>> read_workload_file(const std::string& file, std::string text) {
  Result<YamlDocument> document = YamlDocument::parse(file, std::move(text));
  if (!document) return fail(Errors{std::move(document).error()});
  const YamlValue& root = document->root();
  if (root.kind != YamlValue::Kind::kMapping) {
    return fail(
        Errors{bad_input(fmt::format("a workload file must be a mapping of settings, not {}", name_of(root.kind)))
                   .at(document->place(root))
                   .with_hint("'rightsize init' writes an example")});
  }
  Errors errors;
  const YamlValue* list = root.find("workloads");
  std::vector<Settings> workloads;
  if (list == nullptr) {
    workloads.push_back(read_settings(*document, root, errors));
  } else {
    Settings defaults;
    for_each_entry(*document, root, errors, [&](const YamlValue& key, const YamlValue& value) {
      if (key.scalar == "workloads") return;
      if (key.scalar == "defaults" && value.kind == YamlValue::Kind::kMapping) {
        defaults = read_settings(*document, value, errors);
        return;
      }
      errors.push_back(bad_input(fmt::format("'{}' cannot be used together with 'workloads'", key.scalar))
                           .at(document->place(key))
                           .with_hint("settings for all workloads go under 'defaults:'"));
    });
    if (list->kind != YamlValue::Kind::kList || list->list.empty())
      errors.push_back(bad_input("'workloads' must be a list of at least one workload").at(document->place(*list)));
    for (const YamlValue& item : list->list) {
      if (item.kind != YamlValue::Kind::kMapping) {
        errors.push_back(bad_input("a workload must be a mapping of settings").at(document->place(item)));
        continue;
      }
      workloads.push_back(merged(read_settings(*document, item, errors), defaults));
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return workloads;
}

}  // namespace rightsize::plan
