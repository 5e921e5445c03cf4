// Files for other tools, written from the templates in data/templates.
//
//   Facts facts;
//   facts.set("name", "chat").set("replicas", 2).set("inputs", std::vector<Facts>{input});
//   std::string manifest = fill_in("deployment.yaml", facts);
//
// The template language is a small subset of Mustache. A tag starts with two braces and no space; "{{ $labels.gpu }}"
// of Prometheus therefore passes through unchanged:
//
//   {{name}}                  the value on one line: control characters become spaces
//   {{"name"}}                the value in double quotes, as YAML, JSON and HCL read it
//   {{'name'}}                the value in single quotes, as a POSIX shell reads it
//   {{&name}}                 a value of several lines, each indented like the tag
//   {{>file}}                 another template, each line indented like the tag
//   {{#name}} ... {{/name}}   once for a value that is true, non-zero or not empty; once per entry of a list
//   {{^name}} ... {{/name}}   once for a value that is false, zero, empty or not set
//
// A section tag alone on its line leaves no line behind. Inside a list the facts of the entry hide those outside. A
// value that was not set is written as REPLACE-BY-NAME, the mark for values that the user has to fill in.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rightsize::hand_over {

class Facts {
 public:
  Facts& set(std::string name, std::string text);
  Facts& set(std::string name, std::string_view text) { return set(std::move(name), std::string(text)); }
  Facts& set(std::string name, const char* text) { return set(std::move(name), std::string(text)); }
  Facts& set(std::string name, bool value) { return set(std::move(name), std::string(value ? "true" : "")); }
  Facts& set(std::string name, std::vector<Facts> list);
  template <class Number>
  requires(std::integral<Number> || std::floating_point<Number>) Facts& set(std::string name, Number value) {
    set(name, fmt::format("{}", value));
    values_[std::move(name)].is_true = value != Number{};
    return *this;
  }

 private:
  friend class Filler;
  struct Value {
    std::string text;
    std::vector<Facts> list;
    bool is_true = false;
  };
  std::map<std::string, Value, std::less<>> values_;
};

// The template data/templates/NAME with its tags replaced.
std::string fill_in(std::string_view name, const Facts& facts);

// The same for text that is not a file of data/templates.
std::string fill_in_text(std::string_view text, const Facts& facts);

// A template with one part of a command per line, as one command: blank lines are dropped and the others joined.
std::string command(std::string_view name, const Facts& facts, std::string_view joined_by = " \\\n  ");

// `text` as a Kubernetes object name (DNS-1123 label that starts with a letter, at most 50 characters).
std::string object_name(std::string_view text);

std::string double_quoted(std::string_view text);
std::string single_quoted(std::string_view text);

// Indents every line of `text` by `indent`; empty lines stay empty.
std::string indented(std::string_view text, std::string_view indent);

}  // namespace rightsize::hand_over
