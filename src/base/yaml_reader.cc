#include "base/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize {

void YamlReader::mistake(const YamlValue& at, std::string message, std::string hint) {
  errors_.push_back(bad_input(std::move(message)).with_hint(std::move(hint)).at(document_.place(at)));
}

void YamlReader::add(Errors found, const YamlValue& at) {
  for (Error& error : found) {
    if (error.place.file.empty()) error.place = document_.place(at);
    errors_.push_back(std::move(error));
  }
}

void YamlReader::unknown_key(const YamlValue& key, const std::vector<std::string>& known) {
  constexpr std::size_t kMostListed = 24;
  const bool all = known.size() <= kMostListed;
  const std::vector<std::string> listed(known.begin(), all ? known.end() : known.begin() + kMostListed);
  errors_.push_back(bad_input(fmt::format("unknown key '{}'", key.scalar))
                        .with_hint(did_you_mean(key.scalar, known))
                        .with_hint(fmt::format("use {}{}", fmt::join(listed, ", "), all ? "" : ", ..."))
                        .at(document_.place(key)));
}

bool YamlReader::is(const YamlValue& value, YamlValue::Kind kind) {
  if (value.kind == kind) return true;
  const std::string_view wanted = name_of(kind);
  mistake(value, fmt::format("expected {}, not {}", wanted, name_of(value.kind)));
  return false;
}

void YamlReader::for_each_mapping(const YamlValue& list, const std::function<void(const YamlValue& entry)>& read) {
  if (!is(list, YamlValue::Kind::kList)) return;
  for (const YamlValue& entry : list.list) {
    if (is(entry, YamlValue::Kind::kMapping)) read(entry);
  }
}

Result<std::string> parse_word(std::string_view text) {
  if (trim(text).empty()) return fail(bad_input("the value is empty"));
  return std::string(text);
}

Result<bool> parse_flag(std::string_view text) {
  const std::string word = to_lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return fail(bad_input(fmt::format("'{}' is not true or false", text)));
}

}  // namespace rightsize
