// YAML with its template expressions ({{ ... }} of Helm and Jinja, ${...} and $NAME of shells), which are never
// guessed; for the readers of this module.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "manifests/request.h"

namespace rightsize::manifests {

// YAML with its template expressions replaced by marks that a YAML reader takes for words. Lines that hold nothing but
// template control ({{- if }}, {{- end }}, {{ include ... }}) become empty, which preserves line numbers.
class Templated {
 public:
  explicit Templated(std::string_view text);

  const std::string& text() const { return text_; }
  // The text of a scalar as it was written, with its expressions.
  std::string original(std::string_view scalar) const;
  static bool is_open(std::string_view scalar);

 private:
  std::string text_;
  std::vector<std::string> holes_;
};

// Whether a word of a shell script or a template contains a variable.
bool has_variable(std::string_view word);

// A number that is not negative, or the least of a range as dstack writes it: "2..4".
std::optional<double> least_number(std::string_view text);

// One document.
class YamlText {
 public:
  YamlText(const std::string& file, const YamlValue& root, const Templated& text)
      : file_(file), root_(root), text_(text) {}

  const std::string& file() const { return file_; }
  const YamlValue& root() const { return root_; }
  // The same text with another root inside it.
  YamlText within(const YamlValue& root) const { return {file_, root, text_}; }
  int line_of(const YamlValue& value) const { return static_cast<int>(value.line) + 1; }

  // The text of a scalar; empty for anything else.
  std::string text(const YamlValue* value) const;
  // A number; if the value is a template expression or not a number, `request.unresolved` lists it under `name`.
  std::optional<double> number(const YamlValue* value, std::string_view name, GpuRequest& request) const;
  bool is_true(const YamlValue* value) const;
  // Everything in `value` is part of the request, for GpuRequest::lines.
  void use(const YamlValue& value, GpuRequest& request) const;

 private:
  const std::string& file_;
  const YamlValue& root_;
  const Templated& text_;
};

inline bool is_mapping(const YamlValue* value) { return value != nullptr && value->kind == YamlValue::Kind::kMapping; }
inline bool is_list(const YamlValue* value) { return value != nullptr && value->kind == YamlValue::Kind::kList; }
inline bool is_scalar(const YamlValue* value) { return value != nullptr && value->kind == YamlValue::Kind::kScalar; }
// The value at a path of nested keys; null if one is missing.
const YamlValue* find_path(const YamlValue& value, std::initializer_list<std::string_view> keys);

// Machines by the names of clouds, whether the catalogue has them or not: p5.48xlarge, a3-highgpu-8g,
// Standard_ND96isr_H100_v5, BM.GPU.H100.8. The provider, or empty.
std::string_view gpu_machine_provider(std::string_view type);

}  // namespace rightsize::manifests
