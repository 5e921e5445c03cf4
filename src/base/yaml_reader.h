// Reads mappings of a YAML file key by key and collects every mistake with its place.
//
//   YamlReader reader(document);
//   reader.read(entry, keys, pool);  // unknown and repeated keys become errors with suggestions
//
// `keys` maps names to setters, such as yaml_field<&Pool::name, parse_word>.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml.h"

namespace rightsize {

class YamlReader;

// Our name for a key as other tools spell it ("input_tokens": "isl"); empty: unknown.
using KeyNames = std::function<std::string(const std::string& key)>;

// The keys of a mapping, and what each does with its value.
template <class T>
using YamlKeys =
    std::vector<std::pair<std::string, std::function<void(YamlReader& reader, const YamlValue& value, T& into)>>>;

class YamlReader {
 public:
  // The document must outlive the reader.
  explicit YamlReader(const YamlDocument& document, KeyNames names = {})
      : document_(document), names_(std::move(names)) {}

  const YamlDocument& document() const { return document_; }
  Errors& errors() { return errors_; }
  Errors take_errors() { return std::move(errors_); }

  void mistake(const YamlValue& at, std::string message, std::string hint = {});
  // Adds errors of another reader; those without a place get this one.
  void add(Errors found, const YamlValue& at);
  void unknown_key(const YamlValue& key, const std::vector<std::string>& known);
  std::string our_name(const std::string& key) const { return names_ ? names_(key) : std::string(); }

  // Parses a single value with a function of base/parse_units.h.
  template <class Parse, class Into>
  void take(const YamlValue& value, Parse parse, Into& into) {
    if (!is(value, YamlValue::Kind::kScalar)) return;
    auto parsed = parse(value.scalar);
    if (parsed) {
      into = *std::move(parsed);
    } else {
      errors_.push_back(std::move(parsed).error().at(document_.place(value)));
    }
  }

  // Whether the value is of this kind; if not, adds an error.
  bool is(const YamlValue& value, YamlValue::Kind kind);

  // Calls read(entry) for each mapping of a list.
  void for_each_mapping(const YamlValue& list, const std::function<void(const YamlValue& entry)>& read);

  // Whether the mapping has no mistake.
  template <class T>
  bool read(const YamlValue& mapping, const YamlKeys<T>& keys, T& into) {
    const std::size_t before = errors_.size();
    for_each_entry(document_, mapping, errors_, [&](const YamlValue& key, const YamlValue& value) {
      for (const std::string& spelled : {key.scalar, our_name(key.scalar)}) {
        for (const auto& [name, take_value] : keys) {
          if (name == spelled) return take_value(*this, value, into);
        }
      }
      std::vector<std::string> known;
      for (const auto& [name, take_value] : keys) known.push_back(name);
      unknown_key(key, known);
    });
    return errors_.size() == before;
  }

 private:
  const YamlDocument& document_;
  KeyNames names_;
  Errors errors_;
};

// Reads a value into a member.
template <auto kMember, auto kParse, class T>
void yaml_field(YamlReader& reader, const YamlValue& value, T& into) {
  reader.take(value, kParse, into.*kMember);
}

// Values without a unit.
Result<std::string> parse_word(std::string_view text);  // any text that is not empty
Result<bool> parse_flag(std::string_view text);         // true, yes, on; false, no, off

}  // namespace rightsize
