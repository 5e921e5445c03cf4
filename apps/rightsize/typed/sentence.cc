#include "rightsize/typed/sentence.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

constexpr std::string_view kPunctuation = ",;?!";
constexpr std::size_t kFewest = 3;  // words of a sentence

std::vector<std::string> split_words(const std::string& text) {
  const std::vector<std::string_view> words = split_list(text, ' ');
  return {words.begin(), words.end()};
}

// "70B like llama" is a model, and a path may have spaces.
bool is_sentence(const std::string& text) {
  std::error_code ignored;
  if (text.find(' ') == std::string::npos || std::filesystem::exists(text, ignored)) return false;
  const std::vector<std::string> words = split_words(text);
  if (words.size() == 3 && words[1] == "like") return false;
  constexpr std::size_t kLongestName = 4;
  const bool is_name = words.size() <= kLongestName && !text.ends_with('?') &&
                       kind_of_word(fmt::format("{}", fmt::join(words, "-"))) != WordKind::kOther;
  if (is_name) return false;
  return words.size() >= kFewest || text.ends_with('?');
}

std::string without_punctuation(std::string word) {
  while (!word.empty() && kPunctuation.find(word.back()) != std::string_view::npos) word.pop_back();
  while (word.size() > 1 && word.back() == '.') word.pop_back();
  while (!word.empty() && (word.front() == '"' || word.front() == '(')) word.erase(0, 1);
  while (!word.empty() && (word.back() == '"' || word.back() == ')')) word.pop_back();
  return word;
}

std::string digits_of(std::string_view word) {
  constexpr std::array kNumbers = {"one",   "two",   "three", "four", "five",   "six",
                                   "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
  const auto found = std::find(kNumbers.begin(), kNumbers.end(), to_lower(word));
  return found == kNumbers.end() ? std::string() : std::to_string(found - kNumbers.begin() + 1);
}

void write_digits(std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& next = words[i + 1];
    const bool counted = continues_amount(next) || thing_of(next) != Thing::kNone;
    const std::string digits = digits_of(words[i]);
    if (!digits.empty() && (counted || kind_of_word(next) == WordKind::kGpu)) words[i] = digits;
    const bool time = i > 0 && lists_word("within in by under every", to_lower(words[i - 1]));
    if (time && continues_amount(next) && lists_word("a an", to_lower(words[i]))) words[i] = "1";
  }
}

}  // namespace

std::vector<std::string> split_sentences(std::vector<std::string> words) {
  if (words.empty() || lists_word("profile decide verify rollout", words.front())) return words;
  std::vector<std::string> out;
  std::size_t bare = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const bool value = i > 0 && is_flag_word(words[i - 1]) && words[i - 1].find('=') == std::string::npos;
    if (is_flag_word(words[i]) || value || !is_sentence(words[i])) {
      bare += !is_flag_word(words[i]) && !value;
      out.push_back(words[i]);
      continue;
    }
    quoted = true;
    for (std::string& word : split_words(words[i])) out.push_back(std::move(word));
  }
  if (!quoted && bare <= kFewest) return out;
  for (std::size_t i = 0; i < out.size() && out[i] != "--"; ++i) {
    const bool value = i > 0 && is_flag_word(out[i - 1]) && out[i - 1].find('=') == std::string::npos;
    if (!is_flag_word(out[i]) && !value) out[i] = without_punctuation(out[i]);
  }
  std::erase(out, "");
  write_digits(out);
  return out;
}

std::string length_of_hours(const std::string& text) {
  int from_hour = 0, from_minute = 0, to_hour = 0, to_minute = 0, used = 0;
  const int read =
      std::sscanf(text.c_str(), "%2d:%2d-%2d:%2d%n", &from_hour, &from_minute, &to_hour, &to_minute, &used);
  if (read != 4 || static_cast<std::size_t>(used) != text.size()) return {};
  constexpr int kDayMinutes = 24 * 60;
  const int from = from_hour * 60 + from_minute, to = to_hour * 60 + to_minute;
  if (from < 0 || to < 0 || from > kDayMinutes || to > kDayMinutes || from_minute > 59 || to_minute > 59) return {};
  return fmt::format("{}min", (to - from + kDayMinutes - 1) % kDayMinutes + 1);
}

}  // namespace rightsize::app
