#include "manifests/template_text.h"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::manifests {
namespace {

constexpr std::string_view kMark = "RIGHTSIZE-HOLE-";

// "{{ x }}" or "{% x %}" from `at`; its length, 0 where none begins or none ends.
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

Templated::Templated(std::string_view text) {
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    // A hole may go over several lines.
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
