#include "manifests/hcl_functions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;
using Maybe = std::optional<HclValue>;

// Merges the known part: node groups next to an unknown one still count.
Maybe merged(const std::vector<Maybe>& objects) {
  HclValue all;
  all.kind = Kind::kObject;
  for (const Maybe& each : objects) {
    if (!each || each->kind != Kind::kObject) continue;
    for (const auto& [name, value] : each->members) {
      const auto same = std::ranges::find(all.members, name, [](const auto& member) { return member.first; });
      if (same == all.members.end())
        all.members.emplace_back(name, value);
      else
        same->second = value;
    }
  }
  return all;
}

Maybe joined_lists(const std::vector<Maybe>& lists) {
  HclValue all;
  all.kind = Kind::kList;
  for (const Maybe& each : lists) {
    if (!each || each->kind != Kind::kList) continue;
    all.items.insert(all.items.end(), each->items.begin(), each->items.end());
  }
  return all;
}

Maybe flattened(const HclValue& list, const Settle& settle, int depth) {
  if (list.kind != Kind::kList || depth > 16) return std::nullopt;
  HclValue all;
  all.kind = Kind::kList;
  for (const HclValue& item : list.items) {
    const Maybe inner = settle(item);
    if (!inner || inner->kind != Kind::kList) {
      all.items.push_back(inner ? *inner : item);
      continue;
    }
    Maybe flat = flattened(*inner, settle, depth + 1);
    if (!flat) return std::nullopt;
    all.items.insert(all.items.end(), flat->items.begin(), flat->items.end());
  }
  return all;
}

// "%s" and "%d" only.
Maybe formatted(const std::vector<Maybe>& arguments) {
  if (arguments.empty() || std::ranges::any_of(arguments, [](const Maybe& a) { return !a; })) return std::nullopt;
  HclValue made = hcl_string("");
  std::size_t next = 1;
  const std::string& text = arguments[0]->text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      made.text += text[i];
    } else if (const char how = text[++i]; how == '%') {
      made.text += '%';
    } else if ((how == 's' || how == 'd') && next < arguments.size()) {
      made.text += text_of(*arguments[next++]);
    } else {
      return std::nullopt;
    }
  }
  return made;
}

Maybe listed(const HclValue& object, bool keys) {
  if (object.kind != Kind::kObject) return std::nullopt;
  HclValue list;
  list.kind = Kind::kList;
  for (const auto& [name, value] : object.members) list.items.push_back(keys ? hcl_string(name) : value);
  return list;
}

Maybe extreme(const std::vector<Maybe>& arguments, bool most) {
  std::optional<double> found;
  for (const Maybe& each : arguments) {
    const std::optional<double> number = each ? number_of(*each) : std::nullopt;
    if (!number) return std::nullopt;
    if (!found || (most ? *number > *found : *number < *found)) found = number;
  }
  return found ? Maybe(hcl_number(*found)) : std::nullopt;
}

// The first argument with a value; with `filled`, it must be neither null nor empty text.
Maybe first_of(const std::vector<Maybe>& arguments, bool filled) {
  for (const Maybe& each : arguments) {
    // An unknown value may exist, so coalesce must not return a later argument.
    if (!each && filled) return std::nullopt;
    if (!each) continue;
    const bool empty = each->kind == Kind::kNull || (each->kind == Kind::kString && each->text.empty());
    if (!filled || !empty) return each;
  }
  return std::nullopt;
}

Maybe looked_up(const std::vector<Maybe>& arguments, const Settle& settle) {
  if (arguments.size() < 2 || !arguments[0] || !arguments[1]) return std::nullopt;
  if (const HclValue* found = arguments[0]->find(text_of(*arguments[1]))) return settle(*found);
  return arguments.size() > 2 && arguments[0]->kind == Kind::kObject ? arguments[2] : std::nullopt;
}

}  // namespace

HclValue hcl_bool(bool value) {
  HclValue made;
  made.kind = Kind::kBool;
  made.boolean = value;
  return made;
}
HclValue hcl_number(double value) {
  HclValue made;
  made.kind = Kind::kNumber;
  made.number = value;
  made.text = fmt::format("{}", value);
  return made;
}
HclValue hcl_string(std::string text) {
  HclValue made;
  made.kind = Kind::kString;
  made.text = std::move(text);
  return made;
}

std::optional<double> number_of(const HclValue& value) {
  if (value.kind == Kind::kNumber) return value.number;
  if (value.kind != Kind::kString) return std::nullopt;
  const Result<double> number = parse_number(value.text);
  return number ? std::optional(*number) : std::nullopt;
}
std::optional<bool> truth_of(const HclValue& value) {
  if (value.kind == Kind::kBool) return value.boolean;
  if (value.kind == Kind::kString && is_any(value.text, {"true", "false"})) return value.text == "true";
  return std::nullopt;
}
std::string text_of(const HclValue& value) {
  if (value.kind == Kind::kBool) return value.boolean ? "true" : "false";
  return value.kind == Kind::kString || value.kind == Kind::kNumber ? value.text : std::string();
}

std::string shown_value(const HclValue& value) {
  if (value.kind == Kind::kExpression || !value.text.empty()) return value.text;
  return value.kind == Kind::kBool ? text_of(value) : "a list or an object";
}
std::optional<double> count_of(const HclValue* value, std::string_view name, GpuRequest& request) {
  if (value == nullptr) return 1;
  if (const std::optional<double> number = number_of(*value); number && *number >= 0) return number;
  request.unresolved.push_back(fmt::format("{} = {}", name, shown_value(*value)));
  return std::nullopt;
}

Maybe hcl_call(const std::string& name, std::vector<Maybe> arguments, const Settle& settle) {
  const bool any = std::ranges::any_of(arguments, [](const Maybe& argument) { return argument.has_value(); });
  if (name == "merge") return any ? merged(arguments) : std::nullopt;
  if (name == "concat") return any ? joined_lists(arguments) : std::nullopt;
  if (name == "try") return first_of(arguments, false);
  if (name == "coalesce") return first_of(arguments, true);
  // Azure's functions.
  if (name == "if" && arguments.size() == 3 && arguments[0]) {
    const std::optional<bool> truth = truth_of(*arguments[0]);
    return truth ? arguments[*truth ? 1 : 2] : std::nullopt;
  }
  if (name == "equals" && arguments.size() == 2 && arguments[0] && arguments[1])
    return hcl_bool(text_of(*arguments[0]) == text_of(*arguments[1]));
  if (name == "lookup") return looked_up(arguments, settle);
  if (name == "format") return formatted(arguments);
  if (name == "max" || name == "min") return extreme(arguments, name == "max");
  if (arguments.empty() || !arguments[0]) return std::nullopt;
  const HclValue& first = *arguments[0];
  // Functions that keep their argument, or encode it as text with the same values.
  if (is_any(name, {"toset", "tolist", "tomap", "distinct", "yamlencode", "jsonencode", "sensitive", "nonsensitive"}))
    return first;
  if (name == "flatten") return flattened(first, settle, 0);
  if (name == "keys" || name == "values") return listed(first, name == "keys");
  if (name == "empty") return hcl_bool(first.text.empty() && first.items.empty() && first.members.empty());
  if (name == "length") {
    if (first.kind == Kind::kString) return hcl_number(static_cast<double>(first.text.size()));
    return hcl_number(static_cast<double>(first.items.size() + first.members.size()));
  }
  if (name == "element" || name == "index") {
    const std::optional<double> at = arguments.size() > 1 && arguments[1] ? number_of(*arguments[1]) : std::nullopt;
    if (name == "index" || !at || *at < 0 || first.items.empty()) return std::nullopt;
    return settle(first.items[static_cast<std::size_t>(*at) % first.items.size()]);
  }
  if (name == "contains" && arguments.size() > 1 && arguments[1]) {
    const std::string wanted = text_of(*arguments[1]);
    if (std::ranges::any_of(first.items, [](const HclValue& item) { return item.kind == Kind::kExpression; }))
      return std::nullopt;
    return hcl_bool(std::ranges::any_of(first.items, [&](const HclValue& item) { return text_of(item) == wanted; }));
  }
  if (name == "tostring") return hcl_string(text_of(first));
  if (name == "lower" || name == "upper") {
    std::string text = to_lower(text_of(first));
    if (name == "upper")
      std::ranges::transform(text, text.begin(),
                             [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return hcl_string(std::move(text));
  }
  const std::optional<double> number = number_of(first);
  if (!number) return std::nullopt;
  if (name == "range" && arguments.size() == 2 && arguments[1]) {
    HclValue list;
    list.kind = Kind::kList;
    const double count = std::min(number_of(*arguments[1]).value_or(0), 1000.0);
    for (double i = 0; i < count; ++i) list.items.push_back(hcl_number(*number + i));
    return list;
  }
  if (name == "tonumber") return hcl_number(*number);
  if (name == "ceil") return hcl_number(std::ceil(*number));
  if (name == "floor") return hcl_number(std::floor(*number));
  return std::nullopt;
}

}  // namespace rightsize::manifests
