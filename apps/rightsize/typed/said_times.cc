// Times in the bare words of a command line: windows, deadlines and the hours in which a service runs; and numbers with
// words that are none of ours.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

// "tommorow" is tomorrow.
std::string spelled_time(const std::string& word) {
  constexpr std::string_view kTimes =
      "tomorrow tonight overnight midnight weekend monday tuesday wednesday thursday friday saturday sunday";
  constexpr std::size_t kShortest = 6;
  constexpr int kErrors = 2;
  for (const std::string_view time : split_list(kTimes, ' '))
    if (word.size() >= kShortest && edit_distance(to_lower(word), time) <= kErrors) return std::string(time);
  return word;
}

// Times without work, and machines that are stopped.
constexpr std::string_view kOff =
    "nothing none idle quiet little zero unused empty off down stop stopped closed asleep sleep";

}  // namespace

std::string WordReader::words_at(std::size_t from, std::size_t count) const {
  std::string text;
  for (std::size_t i = from; i < std::min(from + count, in_.size()); ++i) text += (text.empty() ? "" : " ") + in_[i];
  return text;
}

bool WordReader::take_window(const std::string& word) {
  if (!has("--volume") || !has("--window")) return false;
  // "between midnight and 6am", "from 22:00 to 06:00".
  if (lists_word("between from", to_lower(word)) && lists_word("and to until till", lower_at(at_ + 2))) {
    const std::string hours = lower_at(at_ + 1) + "-" + lower_at(at_ + 3);
    if (!hours_of_day(hours)) return false;
    keep("--window=" + hours);
    at_ += 3;
    return true;
  }
  const std::string apart = word + " " + lower_at(at_ + 1);
  const bool joined = parse_duration(word).has_value();
  if (!joined && !parse_duration(apart)) return false;
  const std::size_t next = at_ + (joined ? 1 : 2);
  const bool window = lists_word("window windows", lower_at(next));
  const bool each = lists_word("each apiece", lower_at(next));
  const bool per = lists_word("per an a for", lower_at(next)) && thing_of(lower_at(next + 1)) == Thing::kItem;
  if (!window && !each && !per) return false;
  keep((window ? "--window=" : "--item-time=") + (joined ? word : apart));
  at_ = next + per;
  return true;
}

// "off from 8pm to 7am", "200 requests per hour between 9:00 and 17:00": the hours in which a service runs.
bool WordReader::take_hours_of_day(const std::string& range, const std::string& length) {
  const auto time = parse_duration(length);
  if (!has("--hours-per-day") || !plans_ || !time) return false;
  constexpr std::size_t kNear = 8;
  bool off = false, rate = false;
  for (std::size_t i = at_ > kNear ? at_ - kNear : 1; i < at_; ++i) off |= lists_word(kOff, lower_at(i));
  for (std::size_t i = 1; i < in_.size(); ++i)
    rate |= lists_word("rps qps req/s requests/s", lower_at(i)) ||
            (thing_of(lower_at(i)) == Thing::kRequest && lists_word("per a an each", lower_at(i + 1)) &&
             continues_amount(lower_at(i + 2)));
  if (!off && !(rate && out_.job == "serve")) return false;
  const double running = off ? 24 - in_hours(*time) : in_hours(*time);
  if (kept("--hours-per-day=") == nullptr) keep(fmt::format("--hours-per-day={:.4g}", running));
  out_.rest.notes.push_back(fmt::format("'{}': the service runs for {:.4g} hours of each day", range, running));
  return true;
}

bool WordReader::take_deadline(const std::string& word) {
  // "between 22:00 and 06:00", "10pm-6am".
  for (const std::size_t words : {3U, 2U, 1U}) {
    const std::size_t from = at_ + lists_word("between from", to_lower(word));
    if (!has("--deadline") || from + words > in_.size()) continue;
    std::string range;
    for (std::size_t i = from; i < from + words; ++i) range += (range.empty() ? "" : " ") + in_[i];
    // "and" may already be gone between names.
    if (words == 2 && length_of_hours(range).empty() && from > at_) range = in_[from] + "-" + in_[from + 1];
    const std::string length = length_of_hours(range);
    if (length.empty()) continue;
    if (take_hours_of_day(range, length)) return at_ = from + words - 1, true;
    const bool clock = has("--volume") && has("--window");           // `window` has a schedule by the clock
    if (std::string* given = clock ? nullptr : kept("--deadline="))  // "tonight between 10pm and 6am"
      out_.rest.words.erase(out_.rest.words.begin() + (given - out_.rest.words.data()));
    keep(clock ? "--window=" + range : "--deadline=" + length);
    if (!clock) out_.rest.notes.push_back(fmt::format("'{}' is {} of each day: --deadline {}", range, length, length));
    at_ = from + words - 1;
    return true;
  }
  const bool alone = lists_word("overnight tonight", to_lower(word));
  // Only with a duration: "under 12 hours", "max 3 days".
  const bool compared = lists_word("under below less max maximum most", to_lower(word));
  if (!has("--deadline") || !(alone || compared || lists_word("by before within until in over during", to_lower(word))))
    return false;
  std::size_t before = at_;  // the last word before the time: "in under 12 hours"
  while (!alone && lists_word("under below less than at most about around", lower_at(before + 1))) ++before;
  constexpr std::size_t kLongest = 5;  // "the end of the month"
  const std::size_t most = before + 1 < in_.size() ? in_.size() - before - 1 : 0;
  for (std::size_t words = alone ? 0 : std::min(kLongest, most); alone || words > 0; --words) {
    std::string text = alone ? word : std::string();
    for (std::size_t i = 1; i <= words; ++i) text += (i == 1 ? "" : " ") + spelled_time(in_[before + i]);
    const bool flag =
        text.find(" -") != std::string::npos || text.starts_with('-') || (words > 0 && is_link(in_[before + words])) ||
        (words > 2 && thing_of(lower_at(before + words + 1)) != Thing::kNone);  // "in 3 weeks 200M tokens"
    const Result<Seconds> time = parse_duration(text);
    if (time && *time < seconds(60) && has("--ttft-slo")) return false;  // a latency
    if (!flag && ((!compared && time_until(text, local_now())) || time)) {
      // "overnight in 8 hours": the hours count.
      std::string* given = kept("--deadline=");
      if (given != nullptr && lists_word("overnight tonight", to_lower(given->substr(given->find('=') + 1))))
        *given = "--deadline=" + text;
      else if (given == nullptr || !alone)
        keep("--deadline=" + text);
      at_ = before + words;
      return true;
    }
    if (alone) return false;
  }
  // "before the launch": a deadline of unknown date.
  const bool due = lists_word("before until till", to_lower(word)) ||
                   (to_lower(word) == "by" &&
                    lists_word("done ready finished finish due needed complete completed", lower_at(at_ - 1)));
  if (!compared && due && out_.sentence && most > 0 && !out_.rest.refusal) {
    std::string text = word;
    for (std::size_t i = at_ + 1; i < std::min(at_ + 4, in_.size()) && !is_flag_word(in_[i]); ++i) text += " " + in_[i];
    out_.rest.refusal = bad_input(fmt::format("the deadline '{}' is not a date on file", text))
                            .with_hint(
                                "write the day or the time: by 2026-12-20, in 3 weeks; the command below has no "
                                "deadline");
  }
  return false;
}

bool WordReader::take_hours(const std::string& word) {
  // "almost nothing at night"
  if (has("--hours-per-day") && plans_ && lists_word(kOff, to_lower(word))) {
    std::size_t at = at_ + 1;
    constexpr std::size_t kNear = 8;  // "zero at night from 8pm to 7am": the hours follow
    for (std::size_t i = at; i < std::min(at + kNear, in_.size()); ++i) {
      if (!lists_word("from between", lower_at(i)) ||
          (length_of_hours(words_at(i + 1, 3)).empty() &&
           length_of_hours(lower_at(i + 1) + "-" + lower_at(i + 2)).empty()))
        continue;
      at_ = i - 1;
      return true;
    }
    while (is_link(lower_at(at)) || lists_word("traffic during load happens", lower_at(at))) ++at;
    if (lists_word("night nights overnight weekend weekends", lower_at(at))) {
      out_.rest.notes.push_back(fmt::format(
          "planned for the busiest hours around the clock; --hours-per-day 12 stops the machines during the {}, and "
          "'rightsize autoscale' compares policies that follow the traffic",
          lower_at(at)));
      at_ = at;
      return true;
    }
  }
  if (!has("--hours-per-day") || lower_at(at_ + 1) != "hours" ||
      !lists_word("office business working work", to_lower(word)))
    return false;
  keep("--hours-per-day=8");
  out_.rest.notes.push_back(fmt::format("assumed: {} hours are 8 of each day (--hours-per-day)", word));
  ++at_;
  return true;
}

// "50 Millionen Tokens": a word between a number and its unit that may multiply it.
bool WordReader::refuse_number_word(const std::string& number, std::size_t at) {
  const std::string word = lower_at(at), job = out_.job.empty() ? job_of(value_of(in_, "--job")) : out_.job;
  if (thing_of(lower_at(at + 1)) == Thing::kNone || word.empty() || thing_of(word) != Thing::kNone ||
      lists_word("input prompt context sequence output answer response completion generated reply", word) ||
      lists_word(listed("links"), word) || kind_of_word(word) != WordKind::kOther)
    return false;
  // Most languages have these beginnings. Training never has fewer tokens than a thousand.
  constexpr std::array kScales = {"mil", "mio", "mrd", "mld", "bil", "tril", "tau", "lakh", "crore", "hund"};
  constexpr double kFewest = 1000;
  const bool scale = std::ranges::any_of(kScales, [&](const char* one) { return word.starts_with(one); }) ||
                     std::ranges::any_of(word, [](char letter) { return static_cast<unsigned char>(letter) > 127; });
  const auto amount = parse_amount(number);
  const bool few = amount && amount->count < kFewest && thing_of(lower_at(at + 1)) == Thing::kToken &&
                   (lists_word("train finetune dpo", job) || kept("--method=") != nullptr);
  if (!amount || !(scale || few)) return false;
  if (!out_.rest.refusal)
    out_.rest.refusal =
        bad_input(fmt::format("the word '{}' between {} and '{}' is not understood", in_[at], number, in_[at + 1]))
            .with_hint("write the number with k, M or B, or with thousand, million or billion");
  ++at_;  // the noun
  return true;
}

}  // namespace rightsize::app
