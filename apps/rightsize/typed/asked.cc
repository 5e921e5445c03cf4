#include "rightsize/typed/asked.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

bool describes(const std::string& word) {
  return kind_of_word(word) == WordKind::kOther && !is_link(word) && !is_size(word) && !is_digits(word.substr(0, 1)) &&
         thing_of(word) == Thing::kNone && job_of(word).empty() && !lists_word(listed("asking"), word) &&
         !lists_word("times hours days weeks months years", word);
}
// "20 requests per second", "500 concurrent users", "1B tokens".
bool counts_work(const std::vector<std::string>& typed, std::size_t at) {
  const std::optional<Amount> amount = is_size(typed[at]) ? std::nullopt : parse_amount(typed[at]);
  if (!amount || amount->per) return amount.has_value();
  const std::string next = at + 1 < typed.size() ? bare_word(typed[at + 1]) : "";
  if (typed[at].ends_with('p')) return false;                                 // "480p"
  if (is_size(next) || parse_duration(typed[at] + " " + next)) return false;  // "llama 3.3 70B", "3 day job"
  for (std::size_t i = at + 1; i < std::min(at + 4, typed.size()) && !is_link(typed[i]); ++i) {
    if (thing_of(bare_word(typed[i])) != Thing::kNone || lists_word("rps qps", bare_word(typed[i]))) return true;
    if (is_digits(typed[i]) || kind_of_word(typed[i]) != WordKind::kOther) return false;
  }
  return false;
}

}  // namespace

bool is_in_name(const std::vector<std::string>& words, std::size_t at) {
  if (at == 0) return false;
  const std::string two = bare_word(words[at - 1]) + "-" + bare_word(words[at]);
  return model::is_known_name(two) ||
         (at + 1 < words.size() && model::is_known_name(two + "-" + bare_word(words[at + 1])));
}

bool is_asked(const QuestionKind& kind, const Sentence& said, const std::string& word) {
  for (const std::string_view list : {kind.asked, kind.with}) {
    for (const std::string_view one : split_list(list, ' ')) {
      if (one == word || (holds(split_list(one, '-'), word) && said.says(one))) return true;
    }
  }
  return false;
}

Sentence::Sentence(const std::vector<std::string>& typed, bool quoted) {
  bool model = false, job = false, work = false, amount = false, gpu = false, several = false;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    if (typed[i].starts_with('-')) {
      flags.push_back(typed[i]);
      model |= typed[i].starts_with("--model");
      const bool value = typed[i].find('=') == std::string::npos && i + 1 < typed.size() && typed[i + 1][0] != '-';
      if (value) flags.push_back(typed[++i]);
      continue;
    }
    std::string word = bare_word(typed[i]);
    const bool pronoun =
        word == "of" && i + 1 < typed.size() && lists_word("them those these", bare_word(typed[i + 1]));
    const bool time = i + 1 < typed.size() && lists_word("hour hours", bare_word(typed[i + 1]));  // "1000 GPU hours"
    if ((pronoun || (lists_word("gpus gpu", word) && !time)) && !words.empty() &&
        is_digits(words.back())) {  // "the same 16 GPUs", "32 of them"
      count = std::atof(words.back().c_str());
      words.pop_back();
    }
    if (const std::size_t named = gpu_words(typed, i); named > 1) {
      for (std::size_t next = i + 1; next < i + named; ++next) word += "-" + bare_word(typed[next]);
      i += named - 1;
    }
    const std::string inside = gpus_of_instance(word);  // an instance type stands for its GPUs
    if (!inside.empty()) {
      gpus.push_back(word);
      const bool many = !words.empty() && is_digits(words.back());  // "10 p4d.24xlarge"
      const double machines = many ? std::atof(words.back().c_str()) : 1;
      if (many) words.pop_back();
      counts.push_back(count = machines * catalog::split_gpu_count(inside).count.value_or(1));
    }
    const catalog::CountedGpu counted = catalog::split_gpu_count(singular_gpu(word));
    // "5000 rows" is not an RTX 5000.
    const bool number = is_digits(word),
               priced = i + 2 < typed.size() && lists_word("per an", bare_word(typed[i + 1])) &&
                        lists_word("hour month", bare_word(typed[i + 2])) &&  // "cheapest 4090 per hour"
                        std::ranges::all_of(typed, [](const auto&one) { return job_of(one).empty(); }),
               measured = number && !priced && i + 1 < typed.size() && is_unit_word(bare_word(typed[i + 1]));
    if (!measured && kind_of_word(counted.name) == WordKind::kGpu) {
      gpus.push_back(counted.name);
      const double earlier = std::exchange(count, counted.count.value_or(0));
      const std::string before = words.empty() ? "" : words.back().substr(0, words.back().find('x'));  // "4 x", "4x"
      if (!counted.count && is_digits(before) && words.back().size() <= before.size() + 1) {
        count = std::atof(before.c_str());
        words.pop_back();
      } else if (const std::size_t end = words.size(); !counted.count && end > 1 && is_digits(words[end - 2]) &&
                                                       describes(words.back())) {  // "12 always-on A10Gs"
        count = std::atof(words[end - 2].c_str());
        words.resize(end - 2);
      }
      counts.push_back(std::max(count, 1.0));
      if (count == 0) count = earlier;
      several |= count > 1;
      word = counted.name;
    }
    gpu |= lists_word("gpu gpus card cards accelerator accelerators", word);
    model |= kind_of_word(word) == WordKind::kModel || is_size(word) || is_in_name(typed, i);
    job |= !job_of(word).empty() && word != "rank";  // "rank providers by price"
    work |= thing_of(word) != Thing::kNone && job_of(word).empty();
    amount |= counts_work(typed, i);
    words.push_back(std::move(word));
  }
  constexpr std::string_view kFirst =
      "how can could will would does do is are should what what's whats which when i we rent buy";
  set(kAsks,
      (!words.empty() && lists_word(kFirst, words.front())) || says("how what which when should") || asks_later());
  constexpr std::size_t kPhraseWords = 4;
  set(kPhrase, quoted || (has & kAsks) || (flags.empty() && words.size() >= kPhraseWords));
  set(kShare, std::ranges::any_of(words, [](const std::string& word) { return word.find('%') != word.npos; }));
  set(model ? kModel : kNoModel, true);
  set(gpus.empty() ? kNoGpu : kGpu, true);
  set(kTwoGpus, gpus.size() > 1);
  set(kCounted, gpus.size() > 1 && several);
  set(kTogether, says("context") && says("concurrent simultaneous parallel"));
  std::set<std::string> formats;
  for (const std::string& word : words)
    if (const std::string one = meant_value("--precision", word);
        !is_digits(word) && settings::read(settings::get("precision"), one))
      formats.insert(one);
  set(kFormats, formats.size() > 1);
  set(kNoAmount, !amount);
  constexpr double kLongestText = 1e6;  // fewer tokens are the length of a text
  bool tokens = false;
  for (std::size_t i = 1; i < words.size(); ++i)
    tokens |=
        thing_of(words[i]) == Thing::kToken && parse_amount(words[i - 1]).value_or(Amount{}).count >= kLongestText;
  set(tokens ? kTokens : kNoTokens, true);
  set(kTraffic, amount && says("request requests query queries user users rps qps req/s requests/s queries/s"));
  set(kNoWork, !job && !work && !amount);
  take_memory();
  set(kSized, gpu && !memory.empty());
  set(kPiece, !memory.empty());
  for (std::size_t i = 0; i < words.size(); ++i) set(kMoney, is_hourly_limit(i));
  set(kMoney, says("dollars dollar usd") ||
                  std::ranges::any_of(words, [](const std::string& word) { return word.starts_with('$'); }));
  find_kinds();
}

// "We have two A6000s, can they run mixtral?": the question follows a statement.
bool Sentence::asks_later() const {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (lists_word("can could will would does do is are should", words[i]) &&
        lists_word("i we you they it this that these those one", words[i + 1]))
      return true;
  }
  return false;
}

void Sentence::find_kinds() {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    set(kFamily, lists_word("which what", words[i]) && kind_of_word(words[i + 1]) == WordKind::kModel &&
                     lists_word("model models llm llms", this->at(i + 2)));
    set(kTimed, is_digits(words[i]) && parse_duration(words[i] + " " + words[i + 1]));
    // "tokens per second of llama-3.1-8b": a rate without a number is asked for.
    const bool rate = lists_word("per a an each", words[i + 1]) && continues_amount(this->at(i + 2)) &&
                      !(i > 0 && (words[i - 1] == "of" || parse_amount(words[i - 1])));
    const Thing thing_made = thing_of(words[i]);
    const bool load_made = thing_made == Thing::kUser || thing_made == Thing::kRequest;
    set(kSpeed, rate && !load_made && (thing_made != Thing::kNone || !job_of(words[i]).empty()));
    for (std::size_t at = i + 1; at < std::min(i + 3, words.size()); ++at) {
      const Thing thing = thing_of(words[at]);
      const bool load = thing == Thing::kUser || thing == Thing::kRequest;
      if (lists_word("many max maximum most", words[i]))
        set(kLoad, load || lists_word("streams sessions rps qps", words[at]));
      if (lists_word("longest max maximum largest biggest what which much long big", words[i]) &&
          lists_word("context sequence", words[at]))
        set(kLongest, !is_length(i - 1) && !is_length(at + 1) && !is_length(at + 2) && !is_length(at + 3));
      if (lists_word("what which", words[i])) set(kWhichGpu, lists_word("gpu gpus card cards hardware", words[at]));
    }
    // "how many SDXL 1024x1024 images"
    for (std::size_t at = i + 1; words[i] == "many" && at < words.size() && !holds(gpus, words[at]); ++at) {
      set(kSpeed,
          lists_word("seconds minutes tokens tokens/s tok/s tokens/sec tps t/s images samples videos", words[at]));
      if (lists_word(listed("asking"), words[at])) break;
    }
  }
  set(kSpeed, says("mfu"));
}

bool Sentence::says(std::string_view list) const {
  const std::string text = fmt::format(" {} ", fmt::join(words, " "));
  return std::ranges::any_of(split_list(list, ' '), [&](std::string_view one) {
    std::string phrase = fmt::format(" {} ", one);
    const bool whole = text.find(phrase) != std::string::npos;
    std::replace(phrase.begin(), phrase.end(), '-', ' ');
    return whole || text.find(phrase) != std::string::npos;
  });
}

bool Sentence::is_hourly_limit(std::size_t index) const {
  const std::optional<Amount> amount = parse_amount(at(index));
  if (index == 0 || !amount || !amount->thing.empty()) return false;
  const std::string before = words[index - 1], both = index > 1 ? words[index - 2] + "-" + before : "";
  constexpr std::string_view kPriced = "at pay paying paid charged costs < for";
  const bool limit = lists_word(kAtMost, before) || lists_word(kAtMost, both) || lists_word(kPriced, before);
  index += lists_word("dollars dollar usd", at(index + 1));
  const std::size_t gpu = holds(gpus, at(index + 2)) || at(index + 2) == "gpu";  // "2.80 per H100 hour"
  const bool apart =
      lists_word("per an a each", at(index + 1)) && lists_word("hour gpu-hour h hr", at(index + 2 + gpu));
  return limit && (amount->per ? *amount->per == hours(1) : apart);
}

bool Sentence::is_length(std::size_t index) const {
  const std::optional<Amount> tokens = parse_amount(at(index));
  return tokens && tokens->count >= 256 && !is_size(at(index)) && !holds(gpus, at(index));
}

// "80GB", "80 GB": the memory of GPUs.
void Sentence::take_memory() {
  for (std::size_t i = 0; i < words.size() && memory.empty(); ++i) {
    const bool apart = is_digits(words[i]) && lists_word("gb gib", at(i + 1));
    if (!apart && !(words[i].ends_with('b') && !is_size(words[i]) && parse_bytes(words[i]))) continue;
    memory = words[i] + (apart ? "GB" : "");
    const auto from = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(from, from + (apart ? 2 : 1));
  }
}

}  // namespace rightsize::app
