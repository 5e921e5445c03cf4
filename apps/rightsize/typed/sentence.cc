#include "rightsize/typed/sentence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <regex>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/typed/account.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

constexpr std::string_view kPunctuation = ",;:?!";
constexpr std::size_t kFewest = 3;  // words of a sentence

std::vector<std::string> split_words(const std::string& text) {
  const std::vector<std::string_view> words = split_list(text, ' ');
  return {words.begin(), words.end()};
}

// A condition of a search, as vast.ai writes it, as a flag: gpu_name=RTX_4090, num_gpus>=4, dph<0.5. Empty for others.
std::string flag_of_condition(const std::string& word) {
  static const std::regex kCondition(
      "(?:Name=)?([A-Za-z_][A-Za-z0-9_-]*)(?:,Values)? *([=<>])=? *(.+)");  // also aws --filters
  std::smatch parts;
  if (!std::regex_match(word, parts, kCondition)) return {};
  const char* limit = parts[2] == "<" ? "max-" : parts[2] == ">" ? "min-" : "";
  return tidied(fmt::format("--{}{}", limit, parts[1].str())) + "=" + parts[3].str();
}

// --filter "vram >= 80 and nvlink": each condition as a flag; the name of a column alone stays a condition.
std::vector<std::string> conditions_as_flags(const std::vector<std::string>& words) {
  static const std::regex kBetween(" and | ?&& ?| ?, ?(?!Values)");
  std::vector<std::string> out{words.front()};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool alone = lists_word("--filter --filters --where", words[i]) && i + 1 < words.size();
    const bool joined = words[i].starts_with("--filter=") || words[i].starts_with("--where=");
    const std::string text = alone ? words[++i] : joined ? words[i].substr(words[i].find('=') + 1) : words[i];
    // The value of a flag may look like a condition: --price h100-sxm=2.49.
    const bool of_flag = i > 1 && is_flag_word(words[i - 1]) && text.find_first_of("<>") == text.npos;
    const bool of_gpu = kind_of_word(text.substr(0, text.find('='))) == WordKind::kGpu;
    if (!alone && !joined && (is_flag_word(text) || of_flag || of_gpu || flag_of_condition(text).empty())) {
      out.push_back(text);
      continue;
    }
    const std::string lines = std::regex_replace(text, kBetween, "\n");
    for (const std::string_view one : split_list(lines, '\n')) {
      const std::string flag = flag_of_condition(std::string(one));
      out.push_back(flag.empty() ? "--filter=" + std::string(one) : flag);
    }
  }
  return out;
}

// "70B like llama" is a model, and a path may have spaces.
bool is_sentence(const std::string& text) {
  std::error_code ignored;
  if (text.find(' ') == std::string::npos || std::filesystem::exists(text, ignored)) return false;
  const std::vector<std::string> words = split_words(text);
  if (words.size() == 3 && words[1] == "like") return false;
  constexpr std::size_t kLongestName = 4;
  const bool links = std::ranges::any_of(words, [](const std::string& word) { return is_link(word); });
  const bool is_name = words.size() <= kLongestName && !text.ends_with('?') && !links &&
                       kind_of_word(fmt::format("{}", fmt::join(words, "-"))) != WordKind::kOther;
  if (is_name) return false;
  return words.size() >= kFewest || text.ends_with('?') ||
         std::ranges::none_of(words, [](const std::string& word) { return flag_of_condition(word).empty(); });
}

std::string without_punctuation(std::string word) {
  while (!word.empty() && kPunctuation.find(word.back()) != std::string_view::npos) word.pop_back();
  while (word.size() > 1 && word.back() == '.') word.pop_back();
  while (!word.empty() && (word.front() == '"' || word.front() == '(')) word.erase(0, 1);
  while (!word.empty() && (word.back() == '"' || word.back() == ')')) word.pop_back();
  return word;
}

void write_digits(std::vector<std::string>& words) {
  // Traffic decides the number of GPUs: "50 requests per second on an A100". Tokens per second are the speed of one.
  bool traffic = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool speed = i > 1 && lists_word("tokens token tok images", to_lower(words[i - 2]));
    traffic |= lists_word("users rps qps requests request req/s requests/s", to_lower(words[i])) ||
               (to_lower(words[i]) == "second" && !speed);
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& next = words[i + 1];
    const bool counted = continues_amount(next) || thing_of(next) != Thing::kNone;
    const std::string digits = digits_of(words[i]);
    const bool plural =
        (next.size() > 3 && next.ends_with('s')) || (lists_word("dgx hgx", to_lower(next)) && i + 2 < words.size());
    const std::size_t gpu = gpu_words(words, i + 1);
    if (!digits.empty() && (counted || plural || gpu > 0)) words[i] = digits;
    // "a", "my" and "a single" GPU are one, "a H100 node" is not.
    const std::string after = i + gpu + 1 < words.size() ? to_lower(words[i + gpu + 1]) : "";
    const bool compared = lists_word("vs or than better faster slower", after) ||
                          (i > 0 && lists_word("vs or than", to_lower(words[i - 1])));
    const bool article = lists_word("a an my", to_lower(words[i])) && !traffic && !compared &&
                         !lists_word("node nodes machine machines server cluster box instance pod", after);
    const bool numbered = gpu > 0 && catalog::split_gpu_count(next).count;  // "a single 8xH200 node"
    if (gpu > 0 && !numbered && (article || to_lower(words[i]) == "single")) words[i] = "1";
    if (gpu > 0 && words[i] == "1" && i > 0 && lists_word("a just only my the", to_lower(words[i - 1])))
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(--i));
    const bool time = i > 0 && lists_word("within in by under every for", to_lower(words[i - 1]));
    if (time && continues_amount(next) && !next.ends_with("ly") && lists_word("a an", to_lower(words[i])))
      words[i] = "1";
  }
}

// "what does it cost us": a region follows "in", a name or another region. A dash between words is punctuation.
void drop_pronouns(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string before = to_lower(words[i - 1]), next = i + 1 < words.size() ? to_lower(words[i + 1]) : "";
    const bool place = lists_word("in the from region regions or and vs eu uk europe asia", before) ||
                       lists_word("east west north south central", next) || is_vendor_or_provider(before) ||
                       before.find_first_of("0123456789") != std::string::npos;
    const bool range = is_digits(before.substr(0, 1)) && is_digits(next.substr(0, 1));  // "22:00 - 6:00"
    if ((words[i] == "us" && !place) || (lists_word("- \u2013 \u2014", words[i]) && !range)) words[i].clear();
  }
}

// Whether the words from this one on name a GPU with this memory: "RTX 4080" and 16GB.
bool has_this_memory(const std::vector<std::string>& words, std::size_t at, const std::string& size) {
  const Result<Bytes> memory = to_lower(size).ends_with("gb") ? parse_bytes(size.substr(0, size.size() - 2) + "GiB")
                                                              : Result<Bytes>(fail(bad_input("")));
  const std::size_t named = memory && word_facts() && at < words.size() ? gpu_words(words, at) : 0;
  if (named == 0) return false;
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
  const std::string name = fmt::format("{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(named), "-"));
  const auto gpu = word_facts()->find_gpu(singular_gpu(name));
  return gpu && std::llround(in_gib((*gpu)->memory)) == std::llround(in_gib(*memory));
}

// "a 40GB A100, or do I need the 80GB one": sizes before or after a GPU name its variants.
void name_variants(std::vector<std::string>& words) {
  const auto is_variant = [&](const std::string& gpu, const std::string& size) {
    return to_lower(size).ends_with("gb") && kind_of_word(singular_gpu(gpu) + "-" + size) == WordKind::kGpu;
  };
  std::string gpu, count;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    // "a 16 GB RTX 4080": a size that the GPU has anyway.
    if (is_digits(words[i]) && lists_word("gb gib", to_lower(words[i + 1])) && gpu_words(words, i + 2) > 0) {
      words[i] += "GB";
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i + 1));
    }
    if (has_this_memory(words, i + 1, words[i])) words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    if (i + 1 < words.size() && is_variant(words[i + 1], words[i])) std::swap(words[i], words[i + 1]);
    if (is_variant(words[i], words[i + 1])) {
      gpu = singular_gpu(words[i++]);
      const std::string before = i > 1 ? to_lower(words[i - 2]) : "";
      const bool number = (is_digits(before.substr(0, 1)) && before.size() < 4) || lists_word("a an one", before);
      count = number && !is_digits(gpu.substr(0, 1)) ? before : "";
    } else if (!gpu.empty() && is_variant(gpu, words[i + 1])) {
      const auto size = words.begin() + static_cast<std::ptrdiff_t>(i + 1);
      if (size + 1 != words.end() && lists_word("one ones version variant card cards", to_lower(*(size + 1))))
        words.erase(size + 1);
      words.insert(size, gpu);
      if (!count.empty()) words.insert(words.begin() + static_cast<std::ptrdiff_t>(++i), count);
    }
  }
}

}  // namespace

bool is_picture_size(std::string_view word) {
  const std::size_t x = word.find('x');  // "1024x1024" is not 1,024 GPUs, and "2x4090" is not a picture
  constexpr double kFewestPixels = 64;
  return x != std::string_view::npos && is_digits(std::string(word.substr(0, x))) &&
         is_digits(std::string(word.substr(x + 1))) && std::atof(std::string(word).c_str()) >= kFewestPixels &&
         std::atof(std::string(word.substr(x + 1)).c_str()) >= kFewestPixels;
}

bool is_rest_of_amount(std::string_view word) {
  const std::string_view amount = word.substr(0, word.find('/'));
  const bool timed = word.size() > amount.size();
  if (timed && !lists_word("h hr hour mo month d day", word.substr(amount.size() + 1))) return false;  // a path
  const std::size_t digits = amount.find_last_not_of("kKmM") + 1;
  const std::string_view number = amount.substr(0, digits), unit = amount.substr(digits);
  if (number.empty()) return unit.size() == 1 || (timed && unit.empty());
  if (word == "$") return true;
  const bool zeros = number.size() + unit.size() > 1 && number.find_first_not_of('0') == number.npos;
  const bool rest = (number[0] == '.' || number[0] == ',') && is_digits(number) && is_digits(number.substr(1)) &&
                    number.find_first_of("0123456789") == 1;
  return zeros || (rest && unit.size() < 2);
}

Error lost_amount(std::string_view rest) {
  return bad_input(fmt::format("an amount is incomplete{}: the shell replaced '$' and the digit after it",
                               rest == "$" ? "" : fmt::format(" ('{}')", rest)))
      .with_hint("use single quotes, '$3k', or write 3k USD; the command below has no such limit");
}

void drop_lost_amounts(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const bool named = words[i].size() == 1 && words[i] != "$";  // a letter alone may be a name
    if (is_flag_word(words[i - 1]) || !is_rest_of_amount(words[i]) || (named && !is_link(words[i - 1]))) continue;
    typed.refusal = lost_amount(words[i]);
    std::size_t first = i, last = i + 1;
    while (first > 1 && lists_word("under below less than at for of most up to with", to_lower(words[first - 1])))
      --first;
    while (last < words.size() && lists_word("per a an each hour month day gpu-hour", to_lower(words[last]))) ++last;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(first), words.begin() + static_cast<std::ptrdiff_t>(last));
    i = first - 1;
  }
}

std::string digits_of(std::string_view word) {
  constexpr std::array kNumbers = {"one",   "two",   "three", "four", "five",   "six",
                                   "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
  const auto found = std::find(kNumbers.begin(), kNumbers.end(), to_lower(word));
  return found == kNumbers.end() ? std::string() : std::to_string(found - kNumbers.begin() + 1);
}

std::vector<std::string> plain_text(std::vector<std::string> words) {
  constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"\u201c", ""},  {"\u201d", ""},  {"\u2018", "'"},  {"\u2019", "'"},  {"\u00a0", " "},
      {"\u00d7", "x"}, {"\u2212", "-"}, {"\u2264", "<="}, {"\u2265", ">="}, {"\u2026", ""}};
  static const std::regex kShell("(^| )[^ ]*sh(?=[.,][0-9])"), kDash("(^| )(\u2013|\u2014)(?=[A-Za-z])"),
      kNothing("( (?:under|below|at|for|of|have|than|most|pay|paying|spend|cost|costs|budget))  +");
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    for (const auto& [typed, plain] : kPlain)
      for (std::size_t at = word->find(typed); at != std::string::npos; at = word->find(typed))
        word->replace(at, typed.size(), plain);
    *word = std::regex_replace(std::regex_replace(*word, kDash, "$1--"), kShell, "$1$$0");
    *word = std::regex_replace(*word, kNothing, "$1 $$ ");
  }
  return words;
}

std::vector<std::string> split_sentences(std::vector<std::string> words) {
  if (words.empty() || lists_word("profile decide verify rollout mig bill", words.front())) return words;
  if (lists_word("prices gpus models", words.front())) words = conditions_as_flags(words);
  std::vector<std::string> out;
  std::size_t bare = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const bool value = i > 0 && is_flag_word(words[i - 1]) && words[i - 1].find('=') == std::string::npos;
    if (is_flag_word(words[i]) || value || !is_sentence(words[i])) {
      bare += !is_flag_word(words[i]) && !value;
      out.push_back(words[i]);
      continue;
    }
    quoted = true;
    for (std::string& word : split_words(words[i])) out.push_back(std::move(word));
  }
  if (!quoted && bare <= kFewest) return out;
  const auto end = std::ranges::find(out, "--");  // of the sentence
  const std::vector<std::string> rest(end, out.end());
  out.erase(end, out.end());
  for (std::string& flag : take_exclusions(out)) out.push_back(std::move(flag));
  out.insert(out.end(), rest.begin(), rest.end());
  for (std::size_t i = 0; i < out.size() && out[i] != "--"; ++i) {
    const bool value = i > 0 && is_flag_word(out[i - 1]) && out[i - 1].find('=') == std::string::npos;
    if (!is_flag_word(out[i]) && !value) out[i] = without_punctuation(out[i]);
  }
  if (quoted) drop_pronouns(out);
  std::erase(out, "");
  // "a 3-day job"; "3-year" alone names terms.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t dash = out[i].find('-');
    if (dash == 0 || dash == std::string::npos || !is_digits(out[i].substr(0, dash))) continue;
    const std::string unit = out[i].substr(dash + 1);
    if (is_digits(unit.substr(0, 1)) || catalog::read_purchase(out[i]) || !parse_duration("1 " + unit)) continue;
    out[i].resize(dash);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(i + 1), unit);
  }
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    // "30 percent"; "a 350M bert", "110M parameters": a size, not an amount of work.
    const std::string next = to_lower(out[i + 1]);
    const bool millions = out[i].size() > 1 && lists_word("m M", out[i].substr(out[i].size() - 1)) &&
                          is_digits(out[i].substr(0, out[i].size() - 1));
    const std::string unit = next == "thousand" ? "k" : next == "million" ? "M" : next == "billion" ? "B" : "";
    if (is_digits(out[i]) && !unit.empty()) {  // "40 million tokens"
      out[i] += unit;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i + 1));
      --i;  // "110 million parameters"
    } else if (is_digits(out[i]) && next == "percent") {
      out[i] += "%";
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i + 1));
    } else if (millions && (lists_word("model models parameter parameters param params", next) ||
                            kind_of_word(next) == WordKind::kModel)) {
      out[i] = fmt::format("{:g}B", std::atof(out[i].c_str()) / 1000);
    }
  }
  for (std::size_t i = 0; i + 2 < out.size(); ++i) {  // "4 x A6000"
    if (!is_digits(out[i]) || !lists_word("x \u00d7", to_lower(out[i + 1])) || gpu_words(out, i + 2) == 0) continue;
    out[i] += "x" + out[i + 2];
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i + 1), out.begin() + static_cast<std::ptrdiff_t>(i + 3));
  }
  for (std::size_t i = 0; i + 2 < out.size(); ++i) {  // "fully fine tuned"
    const std::string all = out[i] + "-" + out[i + 1] + "-" + out[i + 2];
    if (job_of(out[i]).empty() && all.find("--") == all.npos && !job_of(all).empty()) {
      out[i] = all;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i + 1), out.begin() + static_cast<std::ptrdiff_t>(i + 3));
    }
  }
  // "fine tune", "text generation": a job of two words. A batch size is not a batch job.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const std::string both = out[i] + "-" + out[i + 1];
    const bool job = !is_flag_word(out[i]) && job_of(out[i]).empty() && !job_of(both).empty();
    if (is_flag_word(out[i + 1]) || !(job || to_lower(both) == "batch-size")) continue;
    out[i] = both;
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i + 1));
  }
  // "70b inference" is a model, not a number of inferences.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (is_size(out[i]) && !job_of(out[i + 1]).empty() && !out[i + 1].ends_with('s'))
      out.insert(out.begin() + static_cast<std::ptrdiff_t>(i + 1), "model");
  }
  name_variants(out);
  write_digits(out);
  // "100k SDXL images", "2M 1024x1024 images": the model and the size, then the amount.
  for (std::size_t i = 0; i + 2 < out.size(); ++i) {
    std::size_t noun = i + 1;
    while (noun < out.size() && (is_picture_size(out[noun]) || kind_of_word(out[noun]) == WordKind::kModel)) ++noun;
    if (noun == i + 1 || noun >= out.size() || !parse_amount(out[i]) || thing_of(out[noun]) == Thing::kNone) continue;
    std::rotate(out.begin() + static_cast<std::ptrdiff_t>(i), out.begin() + static_cast<std::ptrdiff_t>(i + 1),
                out.begin() + static_cast<std::ptrdiff_t>(noun));
    i = noun;
  }
  // "20 tokens per second each", "20 tok/s per user": the slowest that an answer may be written.
  for (std::size_t i = 0; i + 2 < out.size(); ++i) {
    const auto at = [&](std::size_t k) { return i + k < out.size() ? to_lower(out[i + k]) : std::string(); };
    const bool spelled =
        lists_word("token tokens tok toks", at(1)) && lists_word("per a", at(2)) && lists_word("second sec s", at(3));
    if (!is_digits(out[i]) || !(spelled || lists_word("tokens/s tok/s tokens/sec tokens/second t/s tps", at(1))))
      continue;
    const std::size_t after = spelled ? 4 : 2;
    const bool each = lists_word("each apiece", at(after)) && thing_of(at(after + 1)) == Thing::kNone;
    const bool person =
        lists_word("per for each every", at(after)) &&
        (lists_word("user users person customer request stream session", at(after + 1)) ||
         (lists_word("each every a", at(after + 1)) && lists_word("user person request stream", at(after + 2))));
    bool gets = false;  // "each user gets at least 20 tokens per second"
    for (std::size_t k = i > 6 ? i - 6 : 0; k + 1 < i; ++k)
      gets |= lists_word("each every per a", to_lower(out[k])) &&
              lists_word("user person request stream", to_lower(out[k + 1]));
    if (!each && !person && !gets) continue;
    const std::size_t used = after + (each ? 1 : person ? lists_word("each every a", at(after + 1)) ? 3 : 2 : 0);
    out[i] = "--min-tps-per-user=" + out[i];
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i + 1), out.begin() + static_cast<std::ptrdiff_t>(i + used));
  }
  return out;
}

std::pair<double, std::size_t> share_of_time(const std::vector<std::string>& words, std::size_t at) {
  const auto word = [&](std::size_t i) { return i < words.size() ? to_lower(words[i]) : std::string(); };
  const bool apart = is_digits(word(at));
  const Result<Seconds> time = parse_duration(apart ? word(at) + " " + word(at + 1) : word(at));
  std::size_t end = at + (apart ? 2 : 1);
  end += lists_word("a per each every /", word(end));
  const bool daily = lists_word("day daily night nightly evening weekday weekdays workday", word(end));
  const Result<Seconds> span = daily ? Result<Seconds>(days(1)) : parse_duration("1 " + word(end));
  if (!time || !span || !(*time > Seconds{}) || *time > *span || *span < days(1)) return {0, 0};
  const bool workdays =
      daily && std::ranges::any_of(words, [](const std::string& one) {
        return lists_word("weekday weekdays workday workdays working business mon-fri", to_lower(one));
      });
  return {in_hours(*time) / in_hours(*span) * (workdays ? 5.0 / 7 : 1), end + 1 - at};
}

}  // namespace rightsize::app
