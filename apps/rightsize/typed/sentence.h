// Sentences on the command line: "serve llama 3.3 70B at 10 requests per second in us" as words that the readers of
// names, amounts and limits understand.
#pragma once

#include <string>
#include <vector>

namespace rightsize::app {

// Splits sentences in quotes, drops punctuation between words, and writes numbers as digits: "within a week" is "within
// 1 week". Files, models of several words and values of flags stay as they are.
std::vector<std::string> split_sentences(std::vector<std::string> words);

// A range of hours of a day as its length: 22:00-06:00 is 8h. Empty if the text is not such a range.
std::string length_of_hours(const std::string& text);

}  // namespace rightsize::app
