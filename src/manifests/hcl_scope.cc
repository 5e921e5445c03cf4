#include "manifests/hcl_scope.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::manifests {
namespace {

constexpr int kMostSteps = 8;  // from one name to the next

// "var.sizes.gpu" and nothing else.
bool is_path(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  });
}

std::string text_of(const HclValue& value) {
  if (value.kind == HclValue::Kind::kBool) return value.boolean ? "true" : "false";
  return value.text;
}

}  // namespace

void HclScope::add_file(const HclValue& root, bool values_only) {
  for (const auto& [name, value] : root.members) {
    if (values_only) {
      given_[name] = value;
    } else if (name == "variable" && value.labels.size() == 1) {
      const HclValue* otherwise = value.find("default");
      if (otherwise != nullptr && otherwise->kind != HclValue::Kind::kNull) defaults_[value.labels[0]] = *otherwise;
    } else if (name == "locals") {
      for (const auto& [local, expression] : value.members) locals_[local] = expression;
    }
  }
}

std::optional<HclValue> HclScope::resolve(const HclValue& value, int depth) const {
  if (value.kind != HclValue::Kind::kExpression) return value;
  if (depth > kMostSteps) return std::nullopt;
  const std::string_view text = value.text;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return interpolate(text, depth);
  if (is_path(text)) return follow(text, depth);
  return std::nullopt;
}

std::optional<HclValue> HclScope::follow(std::string_view path, int depth) const {
  const std::vector<std::string_view> steps = split_list(path, '.');
  if (steps.size() < 2) return std::nullopt;
  const HclValue* at = nullptr;
  const auto look = [&](const auto& names) {
    const auto found = names.find(steps[1]);
    if (at == nullptr && found != names.end()) at = &found->second;
  };
  if (steps[0] == "var") look(given_), look(defaults_);
  if (steps[0] == "local") look(locals_);
  if (at == nullptr) return std::nullopt;
  std::optional<HclValue> value = resolve(*at, depth + 1);
  for (std::size_t i = 2; value && i < steps.size(); ++i) {
    const HclValue* member = value->find(steps[i]);
    if (member == nullptr) return std::nullopt;
    value = resolve(HclValue(*member), depth + 1);
  }
  return value;
}

std::optional<HclValue> HclScope::interpolate(std::string_view quoted, int depth) const {
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  HclValue value;
  value.kind = HclValue::Kind::kString;
  while (true) {
    const std::size_t open = rest.find("${");
    value.text += rest.substr(0, open);
    if (open == std::string_view::npos) return value;
    const std::size_t close = rest.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view inner = trim(rest.substr(open + 2, close - open - 2));
    const std::optional<HclValue> part = is_path(inner) ? follow(inner, depth + 1) : std::nullopt;
    if (!part || part->kind == HclValue::Kind::kList || part->kind == HclValue::Kind::kObject) return std::nullopt;
    value.text += text_of(*part);
    rest.remove_prefix(close + 1);
  }
}

}  // namespace rightsize::manifests
