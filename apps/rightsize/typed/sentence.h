// Sentences on the command line: "serve llama 3.3 70B at 10 requests per second in us" as words that the readers of
// names, amounts and limits understand.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/day_hours.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

// What editors and shells make of plain text, as it was meant: dashes and quotes of text processors, and "/bin/sh.90"
// or "-bash.90", which a shell makes of $0.90 in double quotes.
std::vector<std::string> plain_text(std::vector<std::string> words);

// Splits sentences in quotes, drops punctuation between words, and writes numbers as digits: "within a week" is "within
// 1 week". Files, models of several words and values of flags stay as they are.
std::vector<std::string> split_sentences(std::vector<std::string> words);

// Whether a word is what a shell leaves of an amount without single quotes: "k" of $3k, ".50" of $3.50, "/h" of $2/h,
// "$" where it leaves nothing; and the error for that.
bool is_rest_of_amount(std::string_view word);
Error lost_amount(std::string_view rest);
// Removes such words from a sentence, with the words before and after them: "under $ an hour".
void drop_lost_amounts(Typed& typed);

bool is_picture_size(std::string_view word);   // 1024x1024
std::string digits_of(std::string_view word);  // "two" as "2"; empty for other words

// "12 hours a day on weekdays", "10 days a month": the share of the time, and the number of words; 0: none.
std::pair<double, std::size_t> share_of_time(const std::vector<std::string>& words, std::size_t at);

}  // namespace rightsize::app
