#include "rightsize/typed/flag_edits.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

// A flag's name as ours are written: --MAX_STEPS=400 is --max-steps, and -tp stays.
std::string plain_flag(const std::string& word) {
  std::string name = to_lower(word.substr(0, word.find('=')));
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

std::optional<std::string> FlagEdits::take(std::string_view names, const Test& test) {
  std::vector<std::string>& words = typed_.words;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = plain_flag(words[i]);
    if (!is_flag_word(name) || !lists_word(names, name) || (!test && has(name))) continue;
    const bool joined = equals != std::string::npos;
    if (!joined && (i + 1 >= words.size() || is_flag_word(words[i + 1]))) continue;
    const std::string value = joined ? words[i].substr(equals + 1) : words[i + 1];
    if (test && !test(value)) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
    return value;
  }
  return std::nullopt;
}

std::string FlagEdits::value_in(std::string_view names) const {
  const std::vector<std::string>& words = typed_.words;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!is_flag_word(words[i]) || !lists_word(names, plain_flag(words[i]))) continue;
    if (const std::size_t equals = words[i].find('='); equals != std::string::npos) return words[i].substr(equals + 1);
    if (i + 1 < words.size() && !is_flag_word(words[i + 1])) return words[i + 1];
  }
  return {};
}

bool FlagEdits::has_word(std::string_view flag) const {
  return std::ranges::any_of(typed_.words, [&](const std::string& word) { return plain_flag(word) == flag; });
}

bool FlagEdits::take_switch(std::string_view name) {
  std::vector<std::string>& words = typed_.words;
  const auto asked = std::ranges::find_if(
      words, [&](const std::string& word) { return word.find('=') == word.npos && plain_flag(word) == name; });
  if (asked == words.end() || (asked + 1 != words.end() && !is_flag_word(*(asked + 1)))) return false;
  words.erase(asked);
  return true;
}

void FlagEdits::put(const std::string& flag, const std::string& value) {
  typed_.words.push_back(flag);
  if (!value.empty()) typed_.words.push_back(value);
}

void FlagEdits::rename(std::string_view names, const std::string& flag) {
  const auto value = take(names);
  if (value) put(flag, *value), say(fmt::format("{} is {}", names.substr(0, names.find(' ')), flag));
}

}  // namespace rightsize::app
