// YAML text with a position for every error. Only yaml.cc calls yaml-cpp and catches its exceptions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace rightsize {

// A value of a document: a scalar, a list, or a mapping in the order of the file.
struct YamlValue {
  enum class Kind { kNull, kScalar, kList, kMapping };
  Kind kind = Kind::kNull;
  std::string scalar;
  std::vector<YamlValue> list;
  std::vector<std::pair<YamlValue, YamlValue>> mapping;
  std::size_t line = 0, column = 0;  // from 0, as yaml-cpp counts

  // Defined in yaml.cc, where the pair type is complete: clang requires that when a value is constructed.
  YamlValue();
  YamlValue(const YamlValue&);
  YamlValue(YamlValue&&) noexcept;
  YamlValue& operator=(const YamlValue&);
  YamlValue& operator=(YamlValue&&) noexcept;
  ~YamlValue();

  // The value of a key, or nullptr.
  const YamlValue* find(std::string_view key) const;
};

class YamlDocument {
 public:
  // One document. Aliases, tags and further documents are refused: our files do not need them, and an alias can make a
  // small file enormous.
  static Result<YamlDocument> parse(std::string file, std::string text);

  // All documents of another tool's file, separated by `---`. Ignores tags, expands aliases (to at most 100,000 values)
  // and applies merge keys (<<). Empty documents are omitted. After an error, also returns the documents before it.
  struct Several {
    std::vector<YamlDocument> documents = {};
    std::optional<Error> mistake = {};
  };
  static Several parse_all(std::string file, std::string text);

  const YamlValue& root() const { return root_; }
  Place place(const YamlValue& value) const;

 private:
  // Shared by the documents of one file.
  struct Source {
    Source(std::string name, std::string content);
    std::string file, text;
    std::vector<std::size_t> line_starts;
  };
  explicit YamlDocument(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  std::shared_ptr<const Source> source_;
  YamlValue root_;
};

// Calls `read(key, value)` for every entry; keys that are not scalars and duplicate keys become errors.
void for_each_entry(const YamlDocument& document, const YamlValue& mapping, Errors& errors,
                    const std::function<void(const YamlValue& key, const YamlValue& value)>& read);

std::string_view name_of(YamlValue::Kind kind);

}  // namespace rightsize
