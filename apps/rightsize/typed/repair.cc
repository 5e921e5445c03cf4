#include "rightsize/typed/repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/url.h"
#include "presets/hub_names.h"
#include "presets/presets.h"
#include "rightsize/call.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/foreign_file.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

// A part of a command line: a flag with its value, a switch, or a bare word.
struct WordPart {
  std::string flag;  // empty: a bare word
  std::optional<std::string> value;

  bool operator==(const WordPart&) const = default;
};
using WordParts = std::vector<WordPart>;

WordParts parts_of(const std::vector<std::string>& words, const std::deque<FlagInfo>& declared) {
  WordParts parts;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!is_flag_word(word)) {
      parts.push_back({"", word});
      continue;
    }
    const std::size_t equals = word.find('=');
    const FlagInfo* flag = find_flag(declared, word.substr(0, equals));
    const bool follows = i + 1 < words.size() && !is_flag_word(words[i + 1]);
    const bool takes_next = equals == std::string::npos && follows && (flag == nullptr || !flag->values.empty());
    if (equals != std::string::npos) {
      parts.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else if (takes_next) {
      parts.push_back({word, words[++i]});
      // A unit belongs to its number, also where the value is refused: --since 3 fortnights.
      while (i + 1 < words.size() && is_digits(*parts.back().value) && continues_amount(words[i + 1]))
        *parts.back().value += " " + words[++i];
    } else {
      parts.push_back({word, std::nullopt});
    }
  }
  return parts;
}

// perf-per-watt and bf16-per-watt have one.
std::ptrdiff_t common_words(std::string_view one, std::string_view other) {
  return std::ranges::count_if(split_list(one, '-'), [&](std::string_view part) {
    return part != "per" && holds(split_list(other, '-'), part);
  });
}

// Values that the row may accept, closest to the typed one first. What was typed is never replaced by something
// unrelated: no example in place of a value, no other choice.
std::vector<std::string> values_near(const settings::Setting& row, std::string typed) {
  std::vector<std::string> found;
  typed.erase(0, std::min(typed.find_first_not_of("<>=~ "), typed.size()));  // ">=80GB"
  if (row.kind == settings::Kind::kChoice) {
    std::vector<std::string> known;
    for (const std::string_view one : split_list(row.values, '|')) known.emplace_back(one);
    found = typed.empty() ? known : suggest(typed, known);
    const auto common = [&](const std::string& one) { return common_words(one, typed); };
    if (found.empty() && std::ranges::any_of(known, common)) found = {*std::ranges::max_element(known, {}, common)};
    return found;
  }
  if (row.kind == settings::Kind::kBytes && is_digits(typed)) return {typed + "GB"};
  if (row.kind == settings::Kind::kYesNo || row.kind == settings::Kind::kSwitch) return {"yes"};
  if (row.kind == settings::Kind::kDuration && is_digits(typed)) {  // 24 hours, 7 days, or the unit of the example
    const bool day = row.example.ends_with('d') && std::fmod(std::atof(typed.c_str()), 12) == 0;
    const std::size_t unit = row.example.find_first_not_of("0123456789.");
    if (unit != row.example.npos) return {typed + (day ? "h" : std::string(row.example.substr(unit)))};
  }
  if (settings::is_number(row.kind)) {
    // The readable part of the number, after a sign or a currency: never a number that was not typed.
    std::string digits = typed.substr(std::min(typed.find_first_of("0123456789"), typed.size()));
    const std::size_t end = std::min(digits.find_first_not_of("0123456789."), digits.size());
    if (end < digits.size() && (std::isalpha(static_cast<unsigned char>(digits[end])) != 0 || digits[end] == '%'))
      return {};  // 500M is not 500
    digits.resize(end);
    constexpr std::size_t kLongestSign = 3;
    if (typed.size() > 0 && (digits.empty() || typed.find(digits) > kLongestSign ||
                             (typed.front() >= 'A' && typed.find_first_of("./_") != std::string::npos)))
      return {};
    // In Europe, $3.000 is three thousand.
    const bool grouped = row.kind == settings::Kind::kUsd && digits.size() > 4 && digits[digits.size() - 4] == '.';
    if (grouped) std::erase(digits, '.');
    if (!digits.empty() && !typed.starts_with('-')) return {typed, digits};
  }
  if (!typed.empty()) return found;
  if (!row.preset.empty()) found.emplace_back(row.preset);
  if (!row.example.empty()) found.emplace_back(row.example);
  return found;
}

// Example values for missing settings.
constexpr std::pair<std::string_view, std::string_view> kStandIns[] = {
    {"--gpu", "h100-sxm"}, {"--arrivals", "1/s"},       {"--rate", "1/s"},    {"--tokens", "1B"},
    {"--job", "serve"},    {"--job", "train"},          {"--samples", "10M"}, {"--items", "1M"},
    {"--volume", "1M/d"},  {"--item-time", "80ms"},     {"--base", "8"},      {"--tp", "8"},
    {"--gpus", "8"},       {"--model", "llama-3.1-8b"}, {"--price", "2.49"},
};

// What the answer must not exceed.
bool is_limit(std::string_view flag) {
  return flag.starts_with("--max-") || flag.ends_with("-slo") || lists_word("--budget --deadline --slo", flag);
}

struct WordEdit {
  enum class Kind { kDrop, kSet, kExpand, kVerb } kind = Kind::kDrop;
  WordPart part;  // to drop, to set (replaces the flag's other values), the file to replace by what it contains, a verb
  double cost = 0;  // how far it is from what was typed
};

// A command line to try, and the errors that led to it.
struct Candidate {
  double cost = 0;
  WordParts parts;
  std::string cause = {};
};

class Repair {
 public:
  Repair(const std::vector<std::string>& words, const std::deque<FlagInfo>& declared, const Trial& trial)
      : command_(words.front()), declared_(declared), trial_(trial), typed_(parts_of(words, declared)) {}

  std::vector<std::string> with_known_flags() const { return words_of(accepted(typed_, 0)); }

  // The nearest command that runs, found by following the errors of each one that does not.
  std::optional<std::vector<std::string>> run(const Errors& errors) {
    std::vector<Candidate> first;
    read_errors(errors);  // of the line as it was typed: without what they name
    for (const WordPart& part : typed_) {
      const bool model = part.flag == "--model" && !is_digits(part.value.value_or(""));
      if (model || messages_.empty() || !mentions(messages_, part)) continue;
      WordParts rest = typed_;
      std::erase_if(rest,
                    [&](const WordPart& other) { return part.flag.empty() ? other == part : other.flag == part.flag; });
      first.push_back({kDropped, accepted(rest, 0)});
    }
    for (std::size_t choice = 0; choice < 3; ++choice)
      first.push_back({0.5 * static_cast<double>(choice), accepted(typed_, choice)});
    return search(first);
  }

 private:
  // Makes every flag known and unique, and every value acceptable. `choice`: which of the nearest values to take.
  WordParts accepted(const WordParts& typed, std::size_t choice) const {
    WordParts parts;
    for (WordPart part : typed) {
      if (part.flag.empty()) {
        parts.push_back(part);
        continue;
      }
      const FlagInfo* flag = find_flag(declared_, part.flag);
      if (flag == nullptr) {
        const std::vector<std::string> near = flags_spelled_like(part.flag, part.value, declared_);
        if (choice >= near.size()) continue;
        flag = find_flag(declared_, near[choice]);
      }
      part.flag = flag->name;
      if (flag->values.empty()) part.value.reset();
      if (!flag->values.empty() && (!part.value || !is_accepted(*flag, *part.value))) {
        std::vector<std::string> values = values_near(*flag->setting, part.value.value_or(""));
        std::erase_if(values, [&](const std::string& value) { return !is_accepted(*flag, value); });
        if (values.empty()) continue;
        part.value = values[std::min(choice, values.size() - 1)];
      }
      if (!flag->repeatable) std::erase_if(parts, [&](const WordPart& other) { return other.flag == part.flag; });
      parts.push_back(part);
    }
    return parts;
  }

  // A value that was typed, is accepted and was not refused is never replaced by an example.
  std::string typed_or(std::string_view name, std::string_view example) const {
    const FlagInfo& flag = *find_flag(declared_, name);
    const auto typed = std::ranges::find_if(typed_, [&](const WordPart& part) {
      const bool refused = part.value && part.value->size() > 2 && mentions(refused_, {"", part.value});
      return part.flag == flag.name && part.value && !refused && is_accepted(flag, *part.value);
    });
    return typed == typed_.end() ? std::string(example) : *typed->value;
  }

  // '8..2' is a piece of batch=8..2.
  static bool quotes_piece(const std::string& text, const std::string& value) {
    constexpr std::size_t kLeast = 3;
    for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + 1)) {
      const std::size_t end = text.find('\'', at + 1);
      if (end == text.npos) return false;
      if (end - at - 1 >= kLeast && value.find(text.substr(at + 1, end - at - 1)) != value.npos) return true;
    }
    return false;
  }

  bool mentions(const std::string& text, const WordPart& part) const {
    const std::string name = part.flag.empty() ? *part.value : part.flag;
    const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    const bool word = part.flag.size() > 5 && text.find(" " + bare) != std::string::npos;
    return word || text.find(name) != std::string::npos || text.find("'" + bare + "'") != std::string::npos ||
           (part.value && part.value->size() > 2 && text.find(*part.value) != std::string::npos) ||
           (part.value && !is_digits(*part.value) && quotes_piece(text, *part.value)) ||
           (part.value && part.value->starts_with("trace:") && text.find(part.value->substr(6)) != std::string::npos);
  }

  // Flags in a message, with their values: "add --gpus 8", "use --rate 50/s". A value that was typed is replaced only
  // by one that the message has, never by an example.
  std::vector<WordEdit> named_in(const std::string& text, const WordParts& base, bool hint) const {
    std::vector<WordEdit> edits;
    for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
      const std::size_t end = std::min(text.find_first_of(" ,;:'\n)=", at), text.size());
      const FlagInfo* flag = find_flag(declared_, text.substr(at, end - at));
      if (flag == nullptr) continue;
      std::string value;
      if (end < text.size() && (text[end] == ' ' || text[end] == '=')) {
        std::size_t stop = end;  // a comma without a space is part of the value: users=2,turn-in=8
        do {
          stop = std::min(text.find_first_of(" ,;'\n)", stop + 1), text.size());
        } while (stop + 1 < text.size() && text[stop] == ',' && text[stop + 1] != ' ' && text[stop + 1] != '\n');
        value = text.substr(end + 1, stop - end - 1);
        while (value.ends_with(':') || value.ends_with('.')) value.pop_back();
      }
      const bool given = std::ranges::any_of(base, [&](const WordPart& part) { return part.flag == flag->name; });
      // Another job or limit is another question. A hint may correct a number, a message only states what is possible.
      const bool number = flag->setting != nullptr && settings::is_number(flag->setting->kind);
      if (given && (flag->name == "--job" || flag->name == "--price" || is_limit(flag->name) || (number && !hint)))
        continue;
      const double all = kNamed + (given ? kReplaced : 0);
      if (flag->values.empty())
        edits.push_back({WordEdit::Kind::kSet, {flag->name, std::nullopt}, all});
      else if (std::error_code ignored; !value.empty() && std::filesystem::exists(value, ignored))
        continue;  // a file that was not typed
      else if (!value.empty() && is_accepted(*flag, value))
        edits.push_back({WordEdit::Kind::kSet, {flag->name, given ? value : typed_or(flag->name, value)}, all});
      else if (!flag->setting->example.empty() && !given)
        edits.push_back(
            {WordEdit::Kind::kSet, {flag->name, typed_or(flag->name, flag->setting->example)}, all + kExample});
    }
    return edits;
  }

  // Names in the hints that can replace a wrong one: did you mean 'llama-3.1-8b'?
  std::vector<WordEdit> renamed(const WordParts& base) const {
    std::vector<std::string> names;
    std::vector<WordEdit> edits;
    for (std::size_t at = hints_.find('\''); at != std::string::npos;) {
      const std::size_t end = hints_.find('\'', at + 1);
      if (end == std::string::npos) break;
      const std::string name = hints_.substr(at + 1, end - at - 1);
      const std::size_t space = name.find(' ');
      if (!name.empty() && space == std::string::npos && !name.starts_with('-')) names.push_back(name);
      if (space != std::string::npos && name.substr(0, space) == command_ && name.find(' ', space + 1) == name.npos)
        edits.push_back({WordEdit::Kind::kVerb, {"", name.substr(space + 1)}, kNamed});
      at = hints_.find('\'', end + 1);
    }
    for (const WordPart& part : base) {
      if (!part.value || !mentions(messages_, {"", part.value})) continue;
      if (const auto billions = model::billions_in_name(*part.value); billions && *billions >= 0.1 &&
                                                                      messages_.find("model") != std::string::npos &&
                                                                      !model::is_known_name(*part.value))
        names.push_back(fmt::format("{:g}B like llama", *billions));
      std::string listed = hints_;  // "one of memory, bf16-per-watt"
      std::ranges::replace_if(
          listed, [](char c) { return c == ',' || c == '\n' || c == ':'; }, ' ');
      for (const std::string_view one : split_list(listed, ' ')) {
        if (!one.starts_with('-') && one.find('-') != one.npos && common_words(one, *part.value) > 0)
          names.emplace_back(one);
      }
      const bool model = messages_.find("unknown model") != std::string::npos;
      for (const std::string& name : names) {
        if (name == *part.value || (model && !is_near_model(*part.value, name))) continue;
        // poison:3 with "did you mean 'poisson'".
        const std::size_t colon = std::min(part.value->find(':'), part.value->size());
        if (colon < part.value->size() && !part.flag.empty())
          edits.push_back({WordEdit::Kind::kSet, {part.flag, name + part.value->substr(colon)}, kNamed});
        WordEdit edit{WordEdit::Kind::kSet, {part.flag, name}, kNamed};
        if (part.flag.empty()) edit.part = {"bare:" + *part.value, name};
        edits.push_back(edit);
      }
    }
    return edits;
  }

  // A similar name may be another model: deepseek-ocr is not deepseek-v2.
  static bool is_near_model(const std::string& typed, const std::string& name) {
    const auto size = model::billions_in_name(typed), other = model::billions_in_name(name);
    if (size && other && std::abs(std::log(*size / *other)) > 0.1) return false;  // another size is another question
    const std::string a = fold_name(typed.substr(typed.rfind('/') + 1)), b = fold_name(name);
    constexpr int kErrors = 2;
    return name.find(' ') != std::string::npos || a.starts_with(b) || b.starts_with(a) ||
           edit_distance(a, b) <= kErrors;
  }

  // Lists without the members that the error names: --provider runpod,vast without vast.
  std::vector<WordEdit> shortened(const WordParts& base) const {
    std::vector<WordEdit> edits;
    for (const WordPart& part : base) {
      if (part.flag.empty() || !part.value || part.value->find(',') == std::string::npos) continue;
      std::string kept;
      for (const std::string_view member : split_list(*part.value, ',')) {
        if (messages_.find(fmt::format("'{}'", member)) == std::string::npos)
          kept += (kept.empty() ? "" : ",") + std::string(member);
      }
      if (!kept.empty() && kept != *part.value) edits.push_back({WordEdit::Kind::kSet, {part.flag, kept}, kNamed});
    }
    return edits;
  }

  std::vector<WordEdit> edits_for(const WordParts& base) const {
    std::vector<WordEdit> edits = renamed(base);
    const auto add = [&](const std::vector<WordEdit>& more) { edits.insert(edits.end(), more.begin(), more.end()); };
    add(shortened(base));
    for (const WordPart& part : base) {
      const bool second = part.flag == "--model" && std::ranges::any_of(base, [](const WordPart& other) {
                            return other.flag.empty() && kind_of_word(*other.value) == WordKind::kModel;
                          });
      const bool model = part.flag == "--model" && !second && !is_digits(part.value.value_or(""));  // a number is none
      if (model || part.flag == "--format") continue;
      const bool wrong_file = part.value && holds(files_, *part.value);
      if (wrong_file) edits.push_back({WordEdit::Kind::kExpand, part, kNamed});
      if (mentions(messages_, part) || wrong_file)
        edits.push_back({WordEdit::Kind::kDrop, part, kDropped});
      else if (mentions(hints_, part))
        edits.push_back({WordEdit::Kind::kDrop, part, kDropped + kNamed});
    }
    add(named_in(hints_, base, true));
    add(named_in(messages_, base, false));
    // A stand-in must not replace what was typed: another model is another question.
    const bool names_model = std::any_of(typed_.begin(), typed_.end(), [](const WordPart& part) {
      std::error_code ignored;
      return (part.flag == "--model" && part.value && !is_digits(*part.value)) ||
             (part.flag.empty() && !std::filesystem::exists(*part.value, ignored));
    });
    for (const auto& [flag, value] : kStandIns) {
      const bool given = std::ranges::any_of(base, [flag = flag](const WordPart& part) { return part.flag == flag; });
      if (given || (flag == "--model" && names_model) || find_flag(declared_, flag) == nullptr) continue;
      const bool missing = messages_.find(flag) != std::string::npos;
      edits.push_back({WordEdit::Kind::kSet, {std::string(flag), typed_or(flag, value)}, missing ? kNamed : kAdded});
    }
    return edits;
  }

  WordParts changed(WordParts parts, const WordEdit& edit) const {
    if (edit.kind == WordEdit::Kind::kDrop) {
      std::erase(parts, edit.part);
      return parts;
    }
    if (edit.kind == WordEdit::Kind::kExpand) {
      std::erase(parts, edit.part);
      std::vector<std::string> words{command_};
      for (const std::string& flag : flags_in_file(*edit.part.value, declared_)) words.push_back(flag);
      for (const WordPart& part : parts_of(words, declared_)) {
        if (std::ranges::none_of(parts, [&](const WordPart& other) { return other.flag == part.flag; }))
          parts.push_back(part);
      }
      return parts;
    }
    if (edit.kind == WordEdit::Kind::kVerb) {
      constexpr int kErrors = 2;
      const bool misspelt = !parts.empty() && parts.front().flag.empty() &&
                            edit_distance(*parts.front().value, *edit.part.value) <= kErrors;
      if (misspelt) parts.erase(parts.begin());
      parts.insert(parts.begin(), edit.part);
      return parts;
    }
    if (edit.part.flag.starts_with("bare:")) {
      for (WordPart& part : parts) {
        if (part.flag.empty() && part.value == edit.part.flag.substr(5)) part.value = edit.part.value;
      }
      return parts;
    }
    // A model replaces a word that is not a model.
    if (edit.part.flag == "--model")
      std::erase_if(parts, [&](const WordPart& part) { return part.flag.empty() && mentions(messages_, part); });
    const auto given =
        std::find_if(parts.begin(), parts.end(), [&](const WordPart& part) { return part.flag == edit.part.flag; });
    if (given != parts.end())
      *given = edit.part;
    else
      parts.push_back(edit.part);
    return parts;
  }

  void read_errors(const Errors& errors) {
    messages_.clear(), hints_.clear(), files_.clear();
    for (const Error& error : errors) {
      messages_ += error.message + "\n", refused_ += error.message + " " + error.place.file + "\n";
      for (const std::string& hint : error.hints) hints_ += hint + "\n";
      if (!error.place.file.empty()) files_.push_back(error.place.file);
    }
  }

  // A file carries the question: a command without it, or without what it contains, answers another one.
  bool keeps_files(const WordParts& parts) const {
    return std::ranges::all_of(typed_, [&](const WordPart& typed) {
      std::error_code ignored;
      const bool is_read =
          typed.value && typed.flag != "--output" && std::filesystem::is_regular_file(*typed.value, ignored);
      if (!is_read) return true;
      const std::vector<std::string> inside = flags_in_file(*typed.value, declared_);
      return std::ranges::any_of(parts, [&](const WordPart& part) {
        return part.value && (*part.value == *typed.value || holds(inside, part.flag + "=" + *part.value));
      });
    });
  }

  // The cheapest change first. A change that leaves the errors as they were is not pursued.
  std::optional<std::vector<std::string>> search(std::vector<Candidate> open) {
    while (!open.empty() && tried_.size() < kMostTrials) {
      const auto nearest = std::ranges::min_element(open, {}, &Candidate::cost);
      const Candidate next = std::move(*nearest);
      open.erase(nearest);
      const std::vector<std::string> words = words_of(next.parts);
      if (!tried_.insert(words).second) continue;
      const std::optional<Errors> refused = trial_(words);
      if (!refused && keeps_files(next.parts)) return words;
      if (!refused) continue;
      read_errors(*refused);
      if (messages_.empty() || messages_ == next.cause) continue;
      for (const WordEdit& edit : edits_for(next.parts))
        open.push_back({next.cost + edit.cost, changed(next.parts, edit), messages_});
    }
    return std::nullopt;
  }

  std::vector<std::string> words_of(const WordParts& parts) const {
    std::vector<std::string> words{command_};
    for (const WordPart& part : parts) {
      if (!part.flag.empty()) words.push_back(part.flag);
      if (part.value) words.push_back(*part.value);
    }
    return words;
  }

  std::string command_;
  const std::deque<FlagInfo>& declared_;
  const Trial trial_;
  WordParts typed_;
  std::string messages_, hints_;    // of the last trial
  std::string refused_;             // the messages of all trials
  std::vector<std::string> files_;  // in which it found mistakes
  std::set<std::vector<std::string>> tried_;
  static constexpr std::size_t kMostTrials = 60;
  // Costs of a change: to what the error names, to an example, replacing or dropping what was typed, and additions that
  // no error suggests.
  static constexpr double kNamed = 1, kExample = 0.5, kReplaced = 0.5, kDropped = 2, kAdded = 5;
};

// The command that an unknown flag names, with the rest of the line.
std::optional<std::vector<std::string>> command_of_flag(const std::vector<std::string>& words,
                                                        const std::deque<FlagInfo>& declared, const Trial& trial) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with("--") || find_flag(declared, words[i].substr(0, words[i].find('='))) != nullptr) continue;
    std::vector<std::string> line = words;
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(i));
    line.front() = words[i].substr(2);
    line = meant_command(std::move(line), command_names()).words;
    if (holds(command_names(), line.front()) && line.front() != words.front() && !trial(line)) return line;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> repaired(const std::vector<std::string>& words,
                                                 const std::deque<FlagInfo>& declared, const Trial& trial,
                                                 const Errors& errors) {
  if (words.empty()) return std::nullopt;
  if (auto other = command_of_flag(words, declared, trial)) return other;
  return Repair(words, declared, trial).run(errors);
}

std::vector<std::vector<std::string>> names_like(const Errors& errors) {
  constexpr std::string_view kUnknown = "unknown model '";
  const std::string text = errors.empty() ? std::string() : errors.front().message;
  if (text.starts_with("unknown GPU")) return {{"gpus"}};
  const std::size_t at = text.find(kUnknown);
  if (at == std::string::npos) return {};
  std::string name = text.substr(at + kUnknown.size());
  name = name.substr(0, name.find('\''));
  name = name.substr(name.rfind('/') + 1);
  return {{"models", name.substr(0, name.find_first_of("-_0123456789"))}, {"models"}};
}

std::vector<std::string> named_things(const std::vector<std::string>& words) {
  std::vector<std::string> named;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::error_code ignored;
    const std::string value = words[i].substr(words[i].starts_with("--") ? words[i].find('=') + 1 : 0);
    const bool model = words[i - 1] == "--model" || words[i].starts_with("--model=") ||
                       (!is_flag_word(words[i]) && !is_flag_word(words[i - 1]) && is_unknown_name(words[i]));
    if (!value.starts_with('-') &&
        (model || kind_of_word(value) != WordKind::kOther || std::filesystem::exists(value, ignored)))
      named.push_back(value);
  }
  return named;
}

std::vector<std::string> with_known_flags(const std::vector<std::string>& words, const std::deque<FlagInfo>& declared) {
  return Repair(words, declared, {}).with_known_flags();
}

std::vector<std::string> changes(const std::vector<std::string>& typed, const std::vector<std::string>& suggested,
                                 const std::deque<FlagInfo>& declared) {
  const auto named = [&](const std::vector<std::string>& words) {
    WordParts parts = parts_of(words, declared);
    for (WordPart& part : parts) {
      if (const FlagInfo* flag = find_flag(declared, part.flag)) part.flag = flag->name;
    }
    return parts;
  };
  // Headers and URLs may contain credentials.
  const auto shown_value = [](const WordPart& part) {
    if (!part.value || part.flag == "--header") return std::string();
    return part.value->find("://") == std::string::npos ? *part.value : shown_url(*part.value);
  };
  const auto shown = [&](const WordPart& part) {
    const std::string value = shown_value(part);
    return part.flag + (part.flag.empty() || value.empty() ? "" : " ") + value;
  };
  WordParts added = named(suggested), dropped;
  std::vector<std::string> lost, replaced, examples;
  for (const WordPart& part : named(typed)) {
    // A bare word may now be the value of a flag, and the other way round; a misspelt flag has its value still.
    const auto same = std::ranges::find_if(
        added, [&](const WordPart& other) { return other == part || (other.value && other.value == part.value); });
    if (same == added.end()) {
      dropped.push_back(part);
      continue;
    }
    if (same->flag != part.flag && !same->flag.empty() && !part.flag.empty())
      replaced.push_back(fmt::format("{} instead of {}", same->flag, part.flag));
    added.erase(same);
  }
  for (const WordPart& part : dropped) {
    const auto other =
        std::ranges::find_if(added, [&](const WordPart& each) { return each.flag == part.flag && each.value; });
    if (other == added.end() || !part.value) {
      lost.push_back(shown(part));
      continue;
    }
    replaced.push_back(fmt::format("{} instead of {}", shown(*other), shown_value(part)));
    added.erase(other);
  }
  // The settings of a file are not examples.
  std::vector<std::string> lines;
  for (const std::string& name : named_things(typed)) {
    if (!holds(lost, name)) continue;
    const std::vector<std::string> inside = flags_in_file(name, declared);
    const std::size_t from_file = std::erase_if(
        added, [&](const WordPart& part) { return holds(inside, part.flag + "=" + part.value.value_or("")); });
    if (from_file == 0) continue;
    std::erase(lost, name);
    lines.push_back(fmt::format("the command below has the settings of {} as flags", name));
  }
  for (const WordPart& part : added) examples.push_back(shown(part));
  if (!lost.empty()) lines.push_back(fmt::format("the command below leaves out {}", fmt::join(lost, ", ")));
  if (!replaced.empty()) lines.push_back(fmt::format("the command below has {}", fmt::join(replaced, ", ")));
  if (!examples.empty())
    lines.push_back(fmt::format("{} {}: put in your own", fmt::join(examples, ", "),
                                examples.size() == 1 ? "is an example" : "are examples"));
  return lines;
}

std::string as_typed(const std::vector<std::string>& words) {
  const auto quoted = [](const std::string& word) {
    if (!word.empty() && word.find_first_of(" \t\"$&|;<>()*?[]{}'\\`!#~") == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  };
  std::string text = "rightsize";
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool apart = word.starts_with("--") && equals + 1 < word.size() && word[equals + 1] != '-';
    text += " " + (apart ? word.substr(0, equals) + " " + quoted(word.substr(equals + 1)) : quoted(word));
  }
  return text;
}

}  // namespace rightsize::app
