// Sentences on the command line: "serve llama 3.3 70B at 10 requests per second in us" as words that the readers of
// names, amounts and limits understand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace rightsize::app {

// Splits sentences in quotes, drops punctuation between words, and writes numbers as digits: "within a week" is "within
// 1 week". Files, models of several words and values of flags stay as they are.
std::vector<std::string> split_sentences(std::vector<std::string> words);

// "two" as "2"; empty for other words.
std::string digits_of(std::string_view word);

// A range of hours of a day: 22:00-06:00, 10pm-6am.
struct DayHours {
  Seconds from, length;  // from midnight
};
std::optional<DayHours> hours_of_day(const std::string& text);
// The same as its length: 22:00-06:00 and 10pm-6am are 480min. Empty where the text is none.
std::string length_of_hours(const std::string& text);

// Slurm's times: 2-12:00:00 and 60:00:00 are 3600min. Empty where the text is none.
std::string length_of_time(const std::string& text);

}  // namespace rightsize::app
