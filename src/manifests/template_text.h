// Text with template expressions: {{ ... }} of Helm and Jinja, ${...} and $NAME of shells. They are never guessed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rightsize::manifests {

// YAML with its template expressions replaced by marks that a YAML reader takes for words. Lines that hold nothing but
// template control ({{- if }}, {{- end }}, {{ include ... }}) become empty, so that line numbers stay.
class Templated {
 public:
  explicit Templated(std::string_view text);

  const std::string& text() const { return text_; }
  bool has_holes() const { return !holes_.empty(); }
  // The text of a scalar as it was written, with its expressions.
  std::string original(std::string_view scalar) const;
  static bool is_open(std::string_view scalar);

 private:
  std::string text_;
  std::vector<std::string> holes_;
};

// Whether a word of a shell script or a template contains a variable.
bool has_variable(std::string_view word);

}  // namespace rightsize::manifests
