// The words of a sentence as the readers of phrases see them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/amount.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

class PhraseWords {
 protected:
  explicit PhraseWords(Typed& typed) : typed_(typed), words_(typed.words) {}

  // In lower case; empty for flags, their values and what is behind the end.
  std::string at(std::size_t i) const {
    if (i >= words_.size() || is_flag_word(words_[i])) return {};
    const bool value = i > 0 && is_flag_word(words_[i - 1]) && words_[i - 1].find('=') == std::string::npos &&
                       !words_[i - 1].starts_with("--no-");
    return value ? std::string() : bare_word(words_[i]);
  }
  std::optional<double> count_at(std::size_t i) const {
    const auto amount = parse_amount(at(i));
    return amount && !amount->per && amount->thing.empty() ? std::optional(amount->count) : std::nullopt;
  }
  std::string text(std::size_t from, std::size_t end) const {
    std::string all;
    for (std::size_t i = from; i < std::min(end, words_.size()); ++i) all += (i > from ? " " : "") + words_[i];
    return all;
  }
  void erase(std::size_t from, std::size_t end) {
    words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(from), words_.begin() + static_cast<std::ptrdiff_t>(end));
  }
  bool says(std::string_view list) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (lists_word(list, at(i))) return true;
    return false;
  }
  bool says_part(std::string_view part) const {
    return std::ranges::any_of(words_, [&](const auto& word) { return to_lower(word).find(part) != word.npos; });
  }
  bool says_before(std::size_t at, std::string_view list, std::size_t near) const {
    for (std::size_t i = at - std::min(at, near); i < at; ++i)
      if (lists_word(list, this->at(i))) return true;
    return false;
  }
  bool says_job(std::string_view jobs) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (lists_word(jobs, job_of(at(i)))) return true;
    return false;
  }

  // "a month", "per day", "monthly": the time, and the number of words.
  std::optional<Seconds> period_at(std::size_t i) const {
    const std::string word = at(i), next = at(i + 1) == "night" ? "day" : at(i + 1);
    if (lists_word("a an per each every", word) && lists_word("hour day week month quarter year", next))
      return parse_amount("1 x per " + next).value_or(Amount{}).per;
    return lists_word("hourly daily weekly monthly yearly", word) ? parse_amount("1 x " + word).value_or(Amount{}).per
                                                                  : std::nullopt;
  }
  std::size_t period_words(std::size_t i) const { return at(i).ends_with("ly") ? 1 : 2; }
  // The first period from this word on, or before it.
  std::pair<std::size_t, std::optional<Seconds>> period_from(std::size_t start) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      const std::size_t i = (start + k) % words_.size();
      if (const auto time = period_at(i)) return {i, time};
    }
    return {};
  }

  static bool is_tokens(std::string_view word) { return lists_word("token tokens tok toks", word); }
  static std::string bare_number(std::string word) {
    while (!word.empty() && (word.back() == ',' || word.back() == '?')) word.pop_back();
    return word;
  }

  void put(const std::string& flag) { flags_.push_back(flag); }
  void finish() {
    words_.insert(std::ranges::find(words_, "--"), flags_.begin(), flags_.end());
    flags_.clear();
  }

  Typed& typed_;
  std::vector<std::string>& words_;
  std::vector<std::string> flags_;
};

}  // namespace rightsize::app
