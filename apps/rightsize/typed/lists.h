// Small helpers for the words of a command line.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace rightsize::app {

template <class Words>
bool holds(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Whether a list of words, separated by spaces, contains this word.
inline bool lists_word(std::string_view words, std::string_view word) { return holds(split_list(words, ' '), word); }

// "--gpu" and "-g" are flags; "-" and "-5" are not.
inline bool is_flag_word(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !(word[1] >= '0' && word[1] <= '9');
}

// The value of a flag among words, "--name=value" or "--name value"; empty if it is not there.
inline std::string value_of(const std::vector<std::string>& words, std::string_view flag) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(flag) && words[i].substr(flag.size(), 1) == "=") return words[i].substr(flag.size() + 1);
    if (words[i] == flag && i + 1 < words.size() && !is_flag_word(words[i + 1])) return words[i + 1];
  }
  return {};
}

inline bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,") == std::string_view::npos;
}

// "13B": the parameters of a model.
inline bool is_size(std::string_view word) {
  return word.size() > 1 && (word.back() == 'b' || word.back() == 'B') &&
         word.find_first_not_of("0123456789.") == word.size() - 1;
}

// A word of a sentence in lower case, without the marks after it.
inline std::string bare_word(std::string word) {
  while (!word.empty() && (word.back() == '?' || word.back() == ',' || word.back() == '!')) word.pop_back();
  return to_lower(word);
}

// Lower case with hyphens, as in our flags and commands.
inline std::string tidied(std::string_view name) {
  std::string out = name.size() > 2 ? to_lower(name) : std::string(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace rightsize::app
