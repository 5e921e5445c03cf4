#include "rightsize/typed/account.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/asked.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"

namespace rightsize::app {
namespace {

// ---- exclusions

constexpr std::string_view kExcluding =
    "not no without except excluding excl exclude but neither nor avoid avoiding never minus outside skip";
constexpr std::string_view kUncommitted = "commitment commitments reservation reservations reserved contract upfront";

// The setting behind a word of another tool or our own, with its value for a switch: "--recompute=full".
std::string setting_behind(const std::string& word) {
  for (const NameRow& row : names_of("flag"))
    if (row.meant.starts_with("--") && lists_word(row.names, "--" + word)) return std::string(row.meant);
  return settings::find(word) != nullptr ? "--" + word : std::string();
}

// The value of a setting that is not used: none of --recompute, 1 of --tp.
std::string unused_value(const settings::Setting& row) {
  if (row.name == "method") return "full";
  if (row.name == "precision") return "bf16";
  if (row.kind == settings::Kind::kYesNo) return "no";
  if (row.kind == settings::Kind::kChoice && holds(split_list(row.values, '|'), "none")) return "none";
  if (lists_word("tp pp cp ep", row.name)) return "1";
  return lists_word("zero prefix-hit", row.name) ? "0" : "";
}

// What an exclusion can name, by kind; lists have one kind: "not aws or gcp".
enum class Excluded { kNothing, kTerms, kSeller, kGpu, kPlace, kSetting };

Excluded kind_of_excluded(const std::string& word) {
  if (word.empty() || is_flag_word(word)) return Excluded::kNothing;
  if (catalog::read_purchase(word) || word == "on-demand" || lists_word(kUncommitted, word)) return Excluded::kTerms;
  if (kind_of_word(singular_gpu(word)) == WordKind::kGpu) return Excluded::kGpu;
  if (is_vendor_or_provider(word)) return Excluded::kSeller;
  if (lists_word("us usa eu uk europe asia africa canada oceania america apac emea latam", word) || is_region(word))
    return Excluded::kPlace;
  if (lists_word("nvlink infiniband mig", word)) return Excluded::kSetting;
  const std::string setting = setting_behind(word);
  const settings::Setting* row =
      setting.empty() ? nullptr : settings::find(std::string_view(setting).substr(2, setting.find('=') - 2));
  const bool off = row != nullptr && (!unused_value(*row).empty() || row->name == "speculate");
  return off || !setting_behind("no-" + word).empty() ? Excluded::kSetting : Excluded::kNothing;
}

struct ExcludedName {
  Excluded kind = Excluded::kNothing;
  std::string name;
  std::size_t words = 0;
  explicit operator bool() const { return kind != Excluded::kNothing; }
};

// The name from this word on: "H100 PCIe", "gradient checkpointing", "aws".
ExcludedName excluded_at(const std::vector<std::string>& words, std::size_t at) {
  const auto joined = [&](std::size_t count) {
    std::string name;
    for (std::size_t i = at; i < std::min(at + count, words.size()); ++i)
      name += (i > at ? "-" : "") + to_lower(words[i]);
    return name;
  };
  if (at >= words.size()) return {};
  if (const std::size_t gpu = gpu_words(words, at); gpu > 0) return {Excluded::kGpu, singular_gpu(joined(gpu)), gpu};
  for (const std::size_t count : {2U, 1U}) {
    if (at + count > words.size()) continue;
    if (const Excluded kind = kind_of_excluded(joined(count)); kind != Excluded::kNothing)
      return {kind, joined(count), count};
  }
  return {};
}

bool is_limit(const std::string& word) {  // "no more than 4", "not only"
  return lists_word("more less later longer over above under below only just fewer worse even sure", word);
}

}  // namespace

std::vector<std::string> take_exclusions(std::vector<std::string>& words) {
  constexpr std::string_view kSkipped =
      "use using want wanting run running need needing a an any the on in at from with via of to hosted rent rented "
      "have having it";
  constexpr std::string_view kBetween = "or and nor neither on in the";
  constexpr std::string_view kOfNames =
      "instances instance machines machine gpus gpu cards pricing regions region terms clusters or and nor neither on "
      "in "
      "the";
  std::vector<std::string> bare, flags;
  for (const std::string& word : words) {
    std::string plain = bare_word(word);
    while (!plain.empty() && std::string_view(",;:.").find(plain.back()) != std::string_view::npos) plain.pop_back();
    bare.push_back(plain);
  }
  const auto before = [&](std::size_t i) { return i > 0 ? bare[i - 1] : std::string(); };
  for (std::size_t i = 0, next = 1; i < words.size(); i = next, next = i + 1) {
    std::size_t at = i + 1;
    const bool two = lists_word("other apart", bare[i]) && at < bare.size() && lists_word("than from", bare[at]);
    if (two) ++at;
    if ((!two && !lists_word(kExcluding, bare[i])) || before(i) == "why") continue;  // "why not an L4?"
    if (bare[i] == "but" && !lists_word("anything everything all any anywhere every nothing", before(i))) continue;
    const auto demand = [&] { return bare[at] == "on" && at + 1 < bare.size() && bare[at + 1] == "demand"; };
    while (at < bare.size() && lists_word(kSkipped, bare[at]) && !demand()) ++at;
    if (at + 1 < bare.size() && lists_word("more longer later over above", bare[at]) && bare[at + 1] == "than") {
      words[at] = bare[at] = "at", words[at + 1] = bare[at + 1] = "most";  // "not more than"
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(at));
      bare.erase(bare.begin() + static_cast<std::ptrdiff_t>(i), bare.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    if (at >= bare.size() || is_limit(bare[at])) continue;
    std::size_t end = i;
    Excluded kind = Excluded::kNothing;
    while (const ExcludedName name = excluded_at(bare, at)) {
      if (kind != Excluded::kNothing && kind != name.kind) break;
      kind = name.kind;
      flags.push_back("--no-" + name.name);
      end = at += name.words;
      for (; at < bare.size() && lists_word(kOfNames, bare[at]); ++at)
        if (!lists_word(kBetween, bare[at])) end = at + 1;
      if (at == end && !words[end - 1].ends_with(',')) break;
    }
    if (kind == Excluded::kNothing) continue;
    const bool joined = bare[i] == "but" || (bare[i] == "not" && lists_word("do does but and", before(i)));
    const auto first = static_cast<std::ptrdiff_t>(i - joined), last = static_cast<std::ptrdiff_t>(end);
    words.erase(words.begin() + first, words.begin() + last);
    bare.erase(bare.begin() + first, bare.begin() + last);
    next = i - joined;
  }
  return flags;
}

namespace {

// Every part of the world but this one.
std::string regions_outside(std::string_view place) {
  static const std::set<std::string> kPlaces = [] {
    const std::vector<std::string_view> names = split_list(listed("places"), ' ');
    return std::set<std::string>(names.begin(), names.end());
  }();
  const auto inside = catalog::match_regions(place, kPlaces);
  if (!inside) return {};
  std::string others;
  bool whole = false;  // a country would exclude its whole part of the world
  for (const char* part : {"us", "canada", "latin-america", "europe", "asia", "oceania", "middle-east", "africa"}) {
    const auto regions = catalog::match_regions(part, kPlaces);
    const bool apart = !regions || std::ranges::none_of(*regions, [&](const auto& one) { return holds(*inside, one); });
    if (apart) others += (others.empty() ? "" : ",") + std::string(part);
    whole |= regions && (*regions == *inside || (part == std::string_view("europe") && fold_name(place) == "eu"));
  }
  return whole ? others : std::string();
}

}  // namespace

std::string meant_exclusion(std::string_view flag, const std::deque<FlagInfo>& declared) {
  const auto has = [&](std::string_view name) { return find_flag(declared, name) != nullptr; };
  const auto is_kind = [](std::string_view word) {
    return lists_word("provider providers cloud clouds gpu gpus vendor vendors instance instances machine machines",
                      word);
  };
  for (const std::string_view no : {"no-", "not-", "without-", "exclude-", "skip-", "avoid-", "except-"}) {
    if (!flag.starts_with(no)) continue;
    const std::string what = to_lower(flag.substr(no.size()));
    if (has("--exclude") && is_kind(what)) return "--exclude";
    const bool terms = catalog::read_purchase(what) || what == "on-demand" || lists_word(kUncommitted, what);
    if (terms && has("--purchase")) return what == "on-demand" ? "--purchase=spot" : "--purchase=on-demand";
    if (has("--exclude") && is_vendor_or_provider(what)) return "--exclude=" + what;
    if (const std::string others = has("--region") ? regions_outside(what) : ""; !others.empty())
      return "--region=" + others;
    const std::string setting = setting_behind(what), name = setting.substr(0, setting.find('='));
    if (setting.empty() || !has(name)) continue;
    const std::string value = unused_value(*find_flag(declared, name)->setting);
    if (!value.empty()) return name + "=" + value;
    using enum settings::Kind;  // no limit
    const settings::Kind kind = find_flag(declared, name)->setting->kind;
    if (kind == kUsd || kind == kDuration || kind == kUsdPerHour || name == "--speculate") return "default";
  }
  return {};
}

Permission permission(const std::vector<std::string>& words, std::size_t at) {
  const auto word = [&](std::size_t i) { return i < words.size() ? bare_word(words[i]) : std::string(); };
  std::size_t end = at + 1;
  while (lists_word("instances machines gpus is are would be also", word(end))) ++end;
  constexpr std::string_view kAllowed =
      "fine ok okay allowed possible acceptable accepted welcome good alright too works included optional";
  if (lists_word(kAllowed, word(end))) return {true, end - at};
  if (end - at > 1 && word(end - 1) == "also") return {true, end - 1 - at};
  const std::string before = at > 0 ? word(at - 1) : "", both = at > 1 ? word(at - 2) : "";
  return {lists_word("incl incl. including include included also even allow allowing accept accepting plus", before) ||
              (lists_word("use using take", before) && lists_word("can may could might", both)),
          0};
}

namespace {

struct SaidNumber {
  double value = 0, scaled = 0;  // 3k is 3 and 3,000
};

// The numbers of a text: digits with a point, commas between thousands and a multiplier.
std::vector<SaidNumber> numbers_in(std::string_view text) {
  std::vector<SaidNumber> found;
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(i)) {
      ++i;
      continue;
    }
    std::string digits;
    while (is_digit(i) || ((text[i < text.size() ? i : 0] == '.' || text[i < text.size() ? i : 0] == ',') &&
                           i < text.size() && is_digit(i + 1))) {
      const bool thousands =
          text[i] == ',' && is_digit(i + 1) && is_digit(i + 2) && is_digit(i + 3) && !is_digit(i + 4);
      if (text[i] == ',' && !thousands) break;
      if (text[i] != ',') digits += text[i];
      ++i;
    }
    constexpr std::pair<char, double> kMultipliers[] = {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'b', 1e9}, {'t', 1e12}};
    SaidNumber number{std::atof(digits.c_str()), std::atof(digits.c_str())};
    if (i < text.size())
      for (const auto& [letter, times] : kMultipliers)
        if ((text[i] | 0x20) == letter) number.scaled *= times;
    found.push_back(number);
    if (i < text.size() && text[i] == ',') ++i;
  }
  return found;
}

bool is_near(double one, double other) { return std::abs(one - other) <= 0.006 * std::max(std::abs(one), 1e-9); }

// The numbers and times that the words and notes of a reading have.
struct ReadNumbers {
  std::vector<double> numbers, times;

  void add(std::string_view text) {
    for (const SaidNumber& number : numbers_in(text)) numbers.insert(numbers.end(), {number.value, number.scaled});
    const std::size_t equals = text.find('=');
    if (const auto time = parse_duration(text.substr(equals == text.npos ? 0 : equals + 1)))
      times.push_back(in_seconds(*time));
  }
  bool has(double number) const {
    return std::ranges::any_of(numbers, [&](double one) { return is_near(number, one); });
  }
};

bool is_period(std::string_view word) { return lists_word("24/7 24x7 7x24 1 1x 0 2d 3d", word); }

}  // namespace

namespace {

// "300 clips a day": a period of work that no flag or note has. Rates, deadlines and budgets have one.
std::string unread_period(const Typed& typed) {
  constexpr std::array kTimed = {"--rate",  "--arrivals", "--volume", "--deadline", "--per=",  "--hours",  "--window",
                                 "--turns", "--budget",   "--usage",  " of work",   " a week", " a month", " a day"};
  for (const auto* texts : {&typed.words, &typed.notes, &typed.renamed})
    for (const std::string& text : *texts)
      if (std::ranges::any_of(kTimed, [&](const char* part) { return text.find(part) != text.npos; })) return {};
  const std::vector<std::string>& said = typed.said;
  constexpr std::size_t kNear = 5;
  for (std::size_t i = 1; i + 1 < said.size(); ++i) {
    if (!lists_word("a per each every", bare_word(said[i])) ||
        !lists_word("hour day night week month", bare_word(said[i + 1])))
      continue;
    for (std::size_t k = i - std::min(i, kNear); k + 1 < i; ++k) {
      const auto amount = parse_amount(bare_word(said[k]));
      if (amount && !amount->per && thing_of(bare_word(said[k + 1])) != Thing::kNone)
        return fmt::format("{} {}", said[i], said[i + 1]);
    }
  }
  return {};
}

}  // namespace

std::string unread_phrase(const Typed& typed) {
  if (const std::string period = unread_period(typed); !period.empty()) return period;
  ReadNumbers read;
  for (std::size_t i = 1; i < typed.words.size(); ++i) read.add(typed.words[i]);
  for (const std::string& text : typed.renamed) read.add(text);
  for (const std::string& text : typed.used) read.add(text);
  for (const std::string& text : typed.notes)
    if (!text.starts_with("ignored: ")) read.add(text);
  // Hardware and rules that no setting has, and names of models like those on file: bge-small.
  const auto names_model = [](std::string_view word) {
    const std::string line(word.substr(0, word.find('-') + 1));
    return line.size() > 2 &&
           std::ranges::any_of(model::preset_names(), [&](const std::string& name) { return name.starts_with(line); });
  };
  for (const std::string& text : typed.notes) {
    if (!text.starts_with("ignored: ")) continue;
    for (const std::string_view one : split_list(std::string_view(text).substr(9), ' ')) {
      const std::string word = to_lower(one.substr(0, one.find(',')));
      if (lists_word(listed("requirements"), word) || (word.find('-') != word.npos && names_model(word))) return word;
    }
  }
  const std::vector<std::string>& said = typed.said;
  const auto phrase = [&](std::size_t at) {
    std::string text = said[at];
    for (std::size_t i = at + 1;
         i < std::min(at + 3, said.size()) && numbers_in(said[i]).empty() && !is_flag_word(said[i]); ++i)
      text += " " + said[i];
    return text;
  };
  for (std::size_t i = 0; i < said.size(); ++i) {
    const std::string word = bare_word(said[i]);
    if (lists_word("without except excluding", word) && i + 1 < said.size()) return phrase(i);
    const bool percentile = word.size() > 1 && word[0] == 'p' && is_digits(word.substr(1));
    const std::size_t digits = word.find_first_of("0123456789");
    if (digits == std::string::npos || is_period(word) ||
        (std::isalpha(static_cast<unsigned char>(word[0])) && !percentile))
      continue;
    if (kind_of_word(singular_gpu(word)) != WordKind::kOther || is_in_name(said, i) || is_size(word)) continue;
    const std::vector<SaidNumber> numbers = numbers_in(word);
    const auto time = parse_duration(word),
               apart = parse_duration(word + " " + (i + 1 < said.size() ? bare_word(said[i + 1]) : ""));
    const double length = time ? in_seconds(*time) : apart ? in_seconds(*apart) : -1;
    const bool timed = length >= 0 && std::ranges::any_of(read.times, [&](double one) { return is_near(length, one); });
    const bool all = std::ranges::all_of(numbers, [&](const SaidNumber& number) {
      const bool percent = word.find('%') != std::string::npos || (i + 1 < said.size() && said[i + 1].starts_with('%'));
      const bool binary = number.scaled != number.value;  // 32k is 32,768
      return read.has(number.value) || read.has(number.scaled) ||
             (binary && (read.has(number.scaled * 1.024) || read.has(number.scaled * 1.048576))) ||
             (percent &&
              (read.has(number.value / 100) || read.has(1 - number.value / 100) || read.has(100 - number.value)));
    });
    if (!timed && !all) return phrase(i);
  }
  return {};
}

}  // namespace rightsize::app
