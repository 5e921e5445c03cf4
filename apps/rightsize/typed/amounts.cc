#include "rightsize/typed/amounts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

constexpr std::pair<Thing, std::string_view> kThings[] = {{Thing::kItem, "item"},
                                                          {Thing::kRequest, "request"},
                                                          {Thing::kToken, "token"},
                                                          {Thing::kImage, "image"},
                                                          {Thing::kUser, "user"}};

// The time of "second", "day" or "daily".
std::optional<Seconds> time_named(std::string_view word) {
  const auto once = parse_amount((word.ends_with("ly") ? "1 x " : "1 x per ") + std::string(word));
  return once ? once->per : std::nullopt;
}

// The words of "dailyrequests" or "requestsperday", with dashes between; the name itself if it has other words.
std::string apart(const std::string& name) {
  constexpr std::size_t kShortest = 3;
  const auto is_word = [](std::string_view part) {
    return part == "per" || thing_of(part) != Thing::kNone || lists_word(listed("amount fillers"), part) ||
           lists_word("daily hourly weekly monthly day hour week month second minute", part);
  };
  std::vector<std::string> until(name.size() + 1);  // the words up to each letter
  for (std::size_t end = kShortest; end <= name.size(); ++end) {
    for (std::size_t from = 0; from + kShortest <= end && until[end].empty(); ++from) {
      const std::string part = name.substr(from, end - from);
      if ((from == 0 || !until[from].empty()) && is_word(part)) until[end] = until[from] + (from > 0 ? "-" : "") + part;
    }
  }
  return until.back().empty() ? name : until.back();
}

}  // namespace

Thing thing_of(std::string_view noun) {
  const std::string lower = to_lower(noun);
  const NameRow* row = row_of("noun", lower);
  if (row == nullptr && lower.size() > 3 && lower.ends_with('s'))
    row = row_of("noun", std::string_view(lower).substr(0, lower.size() - 1));
  for (const auto& [thing, name] : kThings)
    if (row != nullptr && row->meant == name) return thing;
  return Thing::kNone;
}

std::optional<WorkFlag> read_work_flag(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  const std::string lower = to_lower(flag);
  WorkFlag work;
  if (lower == "rps" || lower == "qps" || lower == "rpm" || lower == "qpm" || lower == "rph" || lower == "rpd" ||
      lower == "tps" || lower == "tpm") {
    const std::optional<Amount> short_form = parse_amount("1 " + lower);
    return WorkFlag{thing_of(short_form->thing), short_form->per};
  }
  if (lower == "hours-of-audio" || lower == "hours-audio") return WorkFlag{Thing::kAudioHour, {}};
  std::string spaced = lower;
  std::replace(spaced.begin(), spaced.end(), '_', '-');
  if (spaced.find('-') == std::string::npos) spaced = apart(spaced);
  const std::vector<std::string_view> words = split_list(spaced, '-');
  bool audio = false, hours = false, plural = false, rate = false, together = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "per" && i + 2 == words.size()) {
      work.per = time_named(words[i + 1]);
      // --requests-per-user and similar flags are not rates.
      if (!work.per) return std::nullopt;
      break;
    }
    if (lists_word("audio speech call calls podcast podcasts recording recordings meeting meetings", word) &&
        (word == "audio" || word == "speech" ||
         (i + 1 < words.size() && lists_word("hours hour minutes mins", words[i + 1])))) {
      audio = true;
    } else if (audio && lists_word("hours hour minutes mins", word)) {
      hours = true, work.minutes = word.starts_with('m');
    } else if (word.ends_with("ly") && time_named(word)) {
      work.per = time_named(word);
    } else if (const Thing thing = thing_of(word); thing != Thing::kNone) {
      if (work.thing != Thing::kNone) return std::nullopt;
      work.thing = thing;
      plural = word.ends_with('s') || word == "people" || word == "tok";
    } else if (!lists_word(listed("amount fillers"), word)) {
      return std::nullopt;
    }
    rate |= word == "rate" || word == "throughput";
    together |= word == "concurrent" || word == "simultaneous";
  }
  if (rate && !work.per) work.per = seconds(1);
  if (lower == "throughput") work.thing = Thing::kToken;
  // --file and --task are not amounts, and concurrent requests are not a rate.
  if (!audio && !plural && !work.per) return std::nullopt;
  if (together && work.thing != Thing::kUser) return std::nullopt;
  if (audio) {
    if (!hours || work.thing != Thing::kNone) return std::nullopt;
    work.thing = Thing::kAudioHour;
  }
  // --input-tokens and --max-tokens are lengths and limits of a request, --batch-... of an engine.
  const bool length =
      work.thing == Thing::kToken && (words.front() == "max" || words.front() == "input" || words.front() == "batch" ||
                                      words.front() == "avg" || words.front() == "mean" || words.front() == "average");
  if (work.thing == Thing::kNone || length) return std::nullopt;
  return work;
}

bool read_data_size(std::string& text, bool images, std::vector<std::string>& notes) {
  if (const std::string size = meant_value("--dataset", text.substr(text.rfind('/') + 1)); size != text) {
    const auto known = parse_amount(size);
    if (known) notes.push_back(fmt::format("assumed: {} has {} {}", text, format_count(known->count), known->thing));
    text = known ? size : text;
  }
  constexpr double kCharactersPerToken = 4, kFewTokens = 1e6;
  const std::optional<Amount> amount = parse_amount(text);
  const std::string lower = to_lower(text);
  const bool bytes = (lower.size() > 2 && lower.ends_with('b') && !is_size(lower)) && parse_bytes(text);
  const Thing thing = amount ? thing_of(amount->thing) : Thing::kNone;
  if (bytes) {
    const std::string tokens = fmt::format("{:.0f}", in_bytes(*parse_bytes(text)) / kCharactersPerToken);
    notes.push_back(fmt::format("assumed: {} of text are {} tokens, at 4 characters each", text, tokens));
    text = tokens;
  } else if (amount && !amount->per && thing != Thing::kNone) {
    text = fmt::format("{:.0f}", amount->count);
  }
  return amount && !bytes && thing != Thing::kToken && (thing == Thing::kItem || amount->count < kFewTokens || images);
}

std::string job_of(std::string_view word) {
  const NameRow* row = row_of("job", fold_name(word));
  return row == nullptr ? std::string() : std::string(row->meant);
}

}  // namespace rightsize::app
