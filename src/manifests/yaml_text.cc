#include "manifests/yaml_text.h"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::manifests {
namespace {

constexpr std::string_view kMark = "RIGHTSIZE-HOLE-";

// "{{ x }}" or "{% x %}" from `at`; its length, 0 if none begins or none ends.
std::size_t hole_length(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '{' || (text[at + 1] != '{' && text[at + 1] != '%')) return 0;
  const std::string_view close = text[at + 1] == '{' ? "}}" : "%}";
  const std::size_t end = text.find(close, at + 2);
  return end == std::string_view::npos ? 0 : end + 2 - at;
}

// A line with only template expressions: control flow, or a block inserted by a function.
bool is_control(std::string_view line) {
  line = trim(line);
  if (line.empty()) return false;
  while (!line.empty()) {
    const std::size_t length = hole_length(line, 0);
    if (length == 0) return line.starts_with("#");
    line = trim(line.substr(length));
  }
  return true;
}

}  // namespace

std::optional<double> least_number(std::string_view text) {
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos && dots > 0) text = text.substr(0, dots);
  const Result<double> read = parse_number(text);
  return read && *read >= 0 ? std::optional(*read) : std::nullopt;
}

std::string YamlText::text(const YamlValue* value) const {
  return is_scalar(value) ? text_.original(value->scalar) : std::string();
}

std::optional<double> YamlText::number(const YamlValue* value, std::string_view name, GpuRequest& request) const {
  if (value == nullptr || value->kind == YamlValue::Kind::kNull) return std::nullopt;
  request.lines.insert(line_of(*value));
  if (is_scalar(value) && !Templated::is_open(value->scalar)) {
    if (const std::optional<double> least = least_number(value->scalar)) return least;
  }
  request.unresolved.push_back(fmt::format("{}: {}", name, is_scalar(value) ? text(value) : "no number"));
  return std::nullopt;
}

void YamlText::use(const YamlValue& value, GpuRequest& request) const {
  request.lines.insert(line_of(value));
  for (const YamlValue& item : value.list) use(item, request);
  for (const auto& [key, inner] : value.mapping) {
    request.lines.insert(line_of(key));
    use(inner, request);
  }
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
      // g1 and g2 are retired; p1 never existed.
      return type[1] >= '2' ? "aws" : "";
    }
    if (starts_with_any(type, {"trn", "inf", "dl1", "dl2"})) return "aws";
  }
  if (starts_with_any(type, {"a2-", "a3-", "a4-", "a4x-", "g2-standard-", "g4-standard-"})) return "gcp";
  if (starts_with_any(type, {"VM.GPU", "BM.GPU"})) return "oci";
  if (type.size() > 4 && type.starts_with("gd-") && type[4] == 'x') return "coreweave";
  if (starts_with_any(type, {"g1-gpu-", "g2-gpu-"})) return "linode";
  if (type.size() > 6 && type.starts_with("gpu_") && type.substr(5).starts_with("x_")) return "lambda";  // gpu_8x_a100
  if (type.starts_with("gpu-") && type.find("vcpu") != std::string_view::npos) return "nebius";
  if (type.starts_with("gpu-") && type.find_first_of("0123456789") != std::string_view::npos &&
      type.find("gb") != std::string_view::npos)
    return "digitalocean";
  const bool azure =
      starts_with_any(to_lower(type.substr(0, 14)), {"standard_nc", "standard_nd", "standard_nv", "standard_ng",
                                                     "singularity.nc", "singularity.nd", "singularity.nv"});
  return azure ? "azure" : "";
}

Templated::Templated(std::string_view text) {
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    // A template expression may span several lines.
    for (std::size_t open = text.find("{{"); open != std::string_view::npos && open < end;) {
      const std::size_t length = hole_length(text, open);
      if (length == 0) break;
      if (open + length > end) end = text.find('\n', open + length);
      open = text.find("{{", open + length);
    }
    const std::string_view line = text.substr(0, end);
    const bool control = is_control(line) && line.find('{') != std::string_view::npos;
    for (std::size_t i = 0; i < line.size();) {
      const std::size_t length = hole_length(line, i);
      if (length == 0) {
        if (!control) text_ += line[i];
        ++i;
        continue;
      }
      if (!control) text_ += fmt::format("{}{}-", kMark, holes_.size());
      const std::string_view hole = line.substr(i, length);
      holes_.emplace_back(hole);
      for (const char c : hole) {
        if (c == '\n' && control) text_ += '\n';
      }
      i += length;
    }
    if (end == std::string_view::npos) break;
    text_ += '\n';
    text.remove_prefix(end + 1);
  }
}

bool Templated::is_open(std::string_view scalar) { return scalar.find(kMark) != std::string_view::npos; }

std::string Templated::original(std::string_view scalar) const {
  std::string text;
  while (true) {
    const std::size_t mark = scalar.find(kMark);
    text += scalar.substr(0, mark);
    if (mark == std::string_view::npos) return text;
    scalar.remove_prefix(mark + kMark.size());
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(scalar.data(), scalar.data() + scalar.size(), number);
    if (error != std::errc{} || number >= holes_.size()) return text;
    text += holes_[number];
    scalar.remove_prefix(static_cast<std::size_t>(end - scalar.data()));
    if (scalar.starts_with('-')) scalar.remove_prefix(1);
  }
}

bool has_variable(std::string_view word) {
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    const char after = word[i + 1];
    const bool name =
        std::isalpha(static_cast<unsigned char>(after)) != 0 || after == '_' || after == '{' || after == '(';
    if (word[i] == '$' && name) return true;
    if (word[i] == '{' && (after == '{' || after == '%')) return true;
    if (word[i] == '<' && std::isalpha(static_cast<unsigned char>(after)) != 0) return true;  // <NODES>
  }
  return false;
}

}  // namespace rightsize::manifests
