// Sentences on the command line: "serve llama 3.3 70B at 10 requests per second in us" as words that the readers of
// names, amounts and limits understand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"

namespace rightsize::app {

// Splits sentences in quotes, drops punctuation between words, and writes numbers as digits: "within a week" is "within
// 1 week". Files, models of several words and values of flags stay as they are.
std::vector<std::string> split_sentences(std::vector<std::string> words);

std::string digits_of(std::string_view word);  // "two" as "2"; empty for other words

// "12 hours a day", "10h per weekday", "6 hours every night": the hours, and how many words say so; no words: none.
std::pair<double, std::size_t> hours_a_day(const std::vector<std::string>& words, std::size_t at);
bool says_workdays(const std::vector<std::string>& words);  // whether only working days count

// A range of hours of a day: 22:00-06:00, 10pm-6am.
struct DayHours {
  Seconds from, length;  // from midnight
};
std::optional<DayHours> hours_of_day(const std::string& text);
// The same as its length: 22:00-06:00 and 10pm-6am are 480min. Empty where the text is none.
std::string length_of_hours(const std::string& text);

}  // namespace rightsize::app
