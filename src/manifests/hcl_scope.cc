#include "manifests/hcl_scope.h"

#include "manifests/hcl_expression.h"
#include "manifests/hcl_functions.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;
using Maybe = std::optional<HclValue>;

constexpr int kDeepest = HclExpression::kDeepest;
constexpr int kMostValues = 20'000;  // of one expression

void set_lines(HclValue& value, int line) {
  value.line = line;
  for (HclValue& item : value.items) set_lines(item, line);
  for (auto& [name, member] : value.members) set_lines(member, line);
}

}  // namespace

void HclScope::add_file(const HclValue& root, bool values_only) {
  for (const auto& [name, value] : root.members) {
    if (values_only) {
      given_[name] = value;
    } else if (name == "variable" && value.labels.size() == 1) {
      const HclValue* otherwise = value.find("default");
      if (otherwise != nullptr && otherwise->kind != Kind::kNull) defaults_[value.labels[0]] = *otherwise;
    } else if (name == "locals") {
      for (const auto& [local, expression] : value.members) locals_[local] = expression;
    }
  }
}

// Text after <<EOT with its ${...} replaced; those without a value stay as they are.
std::string HclScope::filled_in(std::string_view text, int& budget) const {
  std::string filled;
  while (true) {
    const std::size_t open = text.find("${");
    filled += text.substr(0, open);
    if (open == std::string_view::npos) return filled;
    std::size_t close = open + 2;
    for (int depth = 1; close < text.size() && text[close] != '\n'; ++close) {
      if (text[close] == '{') ++depth;
      if (text[close] == '}' && --depth == 0) break;
    }
    if (close >= text.size() || text[close] != '}') return filled += text.substr(open);
    const Maybe value = HclExpression(*this, text.substr(open + 2, close - open - 2), bound_, 0, budget).value();
    const bool scalar = value && value->kind != Kind::kList && value->kind != Kind::kObject;
    filled += scalar ? text_of(*value) : std::string(text.substr(open, close + 1 - open));
    text.remove_prefix(close + 1);
  }
}

std::optional<HclValue> HclScope::resolve(const HclValue& value) const {
  if (value.kind != Kind::kExpression) return value;
  int budget = kMostValues;
  return HclExpression(*this, value.text, bound_, 0, budget).value();
}

HclValue HclScope::expanded(const HclValue& value) const {
  int budget = kMostValues;
  const auto expand = [&](const auto& self, const HclValue& one, int depth) -> HclValue {
    if (depth > kDeepest || --budget < 0) return one;
    HclValue whole = one;
    if (one.kind == Kind::kString && one.text.find("${") != std::string::npos) whole.text = filled_in(one.text, budget);
    if (one.kind == Kind::kExpression) {
      Maybe known = HclExpression(*this, one.text, bound_, 0, budget).value();
      if (!known) return one;
      whole = *std::move(known);
      set_lines(whole, one.line);
    }
    for (HclValue& item : whole.items) item = self(self, item, depth + 1);
    for (auto& [name, member] : whole.members) member = self(self, member, depth + 1);
    return whole;
  };
  return expand(expand, value, 0);
}

}  // namespace rightsize::manifests
