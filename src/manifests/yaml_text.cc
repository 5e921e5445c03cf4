#include "manifests/yaml_text.h"

#include <cctype>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::manifests {

std::string YamlText::text(const YamlValue* value) const {
  return is_scalar(value) ? text_.original(value->scalar) : std::string();
}

std::optional<double> YamlText::number(const YamlValue* value, std::string_view name, GpuRequest& request) const {
  if (value == nullptr || value->kind == YamlValue::Kind::kNull) return std::nullopt;
  if (is_scalar(value) && !Templated::is_open(value->scalar)) {
    if (const Result<double> read = parse_number(value->scalar); read && *read >= 0) return *read;
  }
  request.unresolved.push_back(fmt::format("{}: {}", name, is_scalar(value) ? text(value) : "no number"));
  return std::nullopt;
}

bool YamlText::is_true(const YamlValue* value) const {
  return is_scalar(value) && (to_lower(value->scalar) == "true" || to_lower(value->scalar) == "yes");
}

const YamlValue* find_path(const YamlValue& value, std::initializer_list<std::string_view> keys) {
  const YamlValue* at = &value;
  for (const std::string_view key : keys) {
    if (at != nullptr) at = at->find(key);
  }
  return at;
}

std::string_view gpu_machine_provider(std::string_view type) {
  if (type.starts_with("ml.")) type.remove_prefix(3);
  const std::size_t dot = type.find('.');
  if (dot != std::string_view::npos && dot >= 2) {
    const bool digit = std::isdigit(static_cast<unsigned char>(type[1])) != 0;
    if ((type[0] == 'p' || type[0] == 'g') && digit) {
      // g1 and g2 are long gone; p1 never was.
      return type[1] >= '2' ? "aws" : "";
    }
    if (type.starts_with("trn") || type.starts_with("inf") || type.starts_with("dl1") || type.starts_with("dl2"))
      return "aws";
  }
  for (const char* family : {"a2-", "a3-", "a4-", "a4x-", "g2-", "g4-"}) {
    if (type.starts_with(family)) return "gcp";
  }
  const std::string lower = to_lower(type.substr(0, 12));
  for (const char* family : {"standard_nc", "standard_nd", "standard_nv", "standard_ng"}) {
    if (lower.starts_with(family)) return "azure";
  }
  return "";
}

}  // namespace rightsize::manifests
