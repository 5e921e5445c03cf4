// A sentence as the readers of questions see it: its words, its GPUs and what else it has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rightsize/typed/question_kinds.h"

namespace rightsize::app {

inline constexpr std::string_view kMachines = "node nodes machine machines server servers box boxes dgx hgx";

// GPUs of several words are one: "H100 PCIe".
struct Sentence {
  std::vector<std::string> words, flags, gpus;  // words and GPUs without their number
  std::vector<double> counts;                   // of each of `gpus`, at least 1
  double count = 0;                             // GPUs, the last number that was given
  std::string memory;                           // of each: "80GB"
  unsigned has = 0;

  Sentence(const std::vector<std::string>& typed, bool quoted);

  bool says(std::string_view list) const;  // one of these words or phrases: "how-many"
  std::string at(std::size_t index) const { return index < words.size() ? words[index] : std::string(); }

  // "3.50 an hour", "3.50/h" after a word such as under.
  bool is_hourly_limit(std::size_t index) const;

 private:
  void find_kinds();  // sets `has` from the words
  bool asks_later() const;
  void set(Has one, bool given) { has |= given ? one : 0U; }
  bool is_length(std::size_t index) const;
  void take_memory();
};

// Whether the word at `at` is part of a model's name: "large" in "whisper large v3".
bool is_in_name(const std::vector<std::string>& words, std::size_t at);
// Whether a word is a part of the question: in one of its lists, alone or in a phrase that was said.
bool is_asked(const QuestionKind& kind, const Sentence& said, const std::string& word);

// The words of `gpus` and `prices` that answer a question about offers, with notes on what they assume and ignore.
std::vector<std::string> offer_words(const QuestionKind& kind, const Sentence& said, std::vector<std::string>& notes,
                                     std::vector<std::string>& used);

}  // namespace rightsize::app
