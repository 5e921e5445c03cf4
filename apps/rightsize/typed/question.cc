#include "rightsize/typed/question.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

constexpr std::string_view kAsking =
    "how can could will would does do is are should what what's whats which i we my our me you give tell show many "
    "much "
    "the a an it s be to for run runs running need needed want use using take takes does enough there have fast long "
    "big large fit fits fitting cost costs price prices cheap cheaper cheapest best gpu gpus gpu's memory vram ram "
    "speed "
    "throughput please get buy rent if or will room expect mfu co2 carbon emit emits emissions";

struct Topic {
  std::string_view command, words;
};
// In this order: "what does it cost to run fast" asks for a cost.
constexpr Topic kTopics[] = {
    {"memory", "fit fits fitting memory vram ram oom room"},
    {"recommend", "cost costs cheap cheapest cheaper many buy rent best"},
    {"estimate", "fast speed throughput latency slow slower faster quick tokens/s tok/s mfu"},
};

// "how many seconds per image": a speed, not a number of GPUs.
bool asks_speed(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (to_lower(words[i]) == "many" &&
        lists_word("seconds minutes tokens images requests samples videos", to_lower(words[i + 1])))
      return true;
  }
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return to_lower(word) == "mfu"; });
}

std::string bare(std::string word) {
  while (!word.empty() && (word.back() == '?' || word.back() == ',' || word.back() == '!')) word.pop_back();
  return to_lower(word);
}

const Checked<catalog::Catalog>& hardware() {
  static const Checked<catalog::Catalog> kFacts = catalog::load_hardware("");
  return kFacts;
}

// The words of a question about prices: GPUs and their number, hours and providers. "16 H100s for 3 months on AWS" is
// h100 --gpus 16 --hours 2190 aws.
std::vector<std::string> price_words(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  std::string terms;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string next = i + 1 < words.size() ? words[i + 1] : std::string();
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    const Result<Seconds> time = parse_duration(word + " " + next);
    if (number && kind_of_word(singular_gpu(next)) == WordKind::kGpu && kind_of_word(word) == WordKind::kOther) {
      kept.push_back("--gpus=" + word);
    } else if (number && time) {
      kept.push_back(fmt::format("--hours={:.6g}h", in_hours(*time)));
      ++i;
    } else if (lists_word("per a monthly", bare(word)) &&
               lists_word("month monthly", bare(word == "monthly" ? word : next))) {
      kept.emplace_back("--hours=730h");
    } else if (lists_word("weekend weekends", to_lower(word))) {
      kept.emplace_back("--hours=48h");
    } else if (const bool two = to_lower(word + "-" + next) == "on-demand";
               two || catalog::read_purchase(to_lower(word))) {
      terms += (terms.empty() ? "" : ",") + (two ? std::string("on-demand") : to_lower(word));
      i += two;
    } else if (word.starts_with('-') || kind_of_word(singular_gpu(word)) == WordKind::kGpu ||
               is_vendor_or_provider(word) || !gpus_of_instance(word).empty()) {
      kept.push_back(singular_gpu(word));
    }
  }
  if (!terms.empty()) kept.push_back("--purchase=" + terms);
  return kept;
}

// "cheapest gpu with 48gb of memory", "gpus with at least 80 GB vram".
bool answer_memory(std::vector<std::string>& words) {
  std::string size;
  bool gpu = false, cheap = false, memory = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = bare(words[i]);
    if (words[i].starts_with('-') || kind_of_word(words[i]) == WordKind::kModel) return false;
    gpu |= lists_word("gpu gpus card cards", word);
    cheap |= lists_word("cheapest cheap price prices cost costs", word);
    memory |= lists_word("memory vram ram", word);
    const bool next_unit = i + 1 < words.size() && lists_word("gb gib", bare(words[i + 1]));
    if (parse_bytes(word + (next_unit ? "GB" : "")) && word.front() >= '0' && word.front() <= '9' &&
        (next_unit || word.find_first_not_of("0123456789.") != std::string::npos))
      size = word + (next_unit ? "GB" : "");
  }
  if (!gpu || size.empty() || words.size() < 3 ||
      !(memory || lists_word("with having of", bare(words[words.size() - 2]))))
    return false;
  words = cheap ? std::vector<std::string>{"prices", "--min-memory=" + size, "--best-per=gpu"}
                : std::vector<std::string>{"gpus", "--min-memory=" + size};
  return true;
}

// "at home", "on my gaming pc", "locally": removes the words that name the user's computer. Empty if there are none.
std::string take_own_computer(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::size_t end = i + 1;
    if (lists_word("at on", bare(words[i]))) {
      while (end < words.size() && lists_word("my our own gaming a the", bare(words[end]))) ++end;
      if (end == words.size() || !lists_word("home pc desktop laptop computer workstation rig", bare(words[end])))
        continue;
      ++end;
    } else if (bare(words[i]) != "locally") {
      continue;
    }
    const auto from = words.begin() + static_cast<std::ptrdiff_t>(i),
               to = words.begin() + static_cast<std::ptrdiff_t>(end);
    const std::string phrase = fmt::format("{}", fmt::join(from, to, " "));
    words.erase(from, to);
    return phrase;
  }
  return {};
}

// Whether the word at `at` is part of a model's name: "large" in "whisper large v3".
bool is_in_name(const std::vector<std::string>& words, std::size_t at) {
  if (at == 0) return false;
  const std::string two = bare(words[at - 1]) + "-" + bare(words[at]);
  return model::is_known_name(two) || (at + 1 < words.size() && model::is_known_name(two + "-" + bare(words[at + 1])));
}

// "how much electricity do 8 H100s use per month at 60 % utilization": the data sheet, and its power over that time.
bool answer_power(std::vector<std::string>& words, std::vector<std::string>* notes) {
  double count = 1, share = 1;
  std::string gpu;
  bool power = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = bare(words[i]);
    if (words[i].starts_with('-') || kind_of_word(words[i]) == WordKind::kModel) return false;
    power |= lists_word("electricity power energy kwh watts watt", word);
    if (word.ends_with('%')) share = std::atof(word.c_str()) / 100;
    const catalog::CountedGpu counted = catalog::split_gpu_count(singular_gpu(word));
    if (kind_of_word(counted.name) != WordKind::kGpu || parse_number(word)) continue;
    gpu = counted.name;
    if (counted.count) count = *counted.count;
    if (i > 0 && parse_number(words[i - 1]) && !counted.count) count = *parse_number(words[i - 1]);
  }
  if (!power || gpu.empty() || !hardware()) return false;
  const Result<std::vector<const catalog::Gpu*>> found = catalog::gpus_meant(gpu, *hardware());
  if (!found || found->empty() || !(*found)[0]->tdp || !(share > 0) || !(count > 0)) return false;
  const double watts = count * in_watts(*(*found)[0]->tdp) * share, hours_of_month = in_hours(kMonth);
  if (notes != nullptr)
    notes->push_back(
        fmt::format("{:g} x {} at {:g} % of {:.0f} W draw {:.2f} kW, {:.0f} kWh per month, without hosts "
                    "and cooling; 'rightsize estimate MODEL {}' gives the energy of a job",
                    count, (*found)[0]->name, 100 * share, in_watts(*(*found)[0]->tdp), watts / 1e3,
                    watts * hours_of_month / 1e3, gpu));
  words = {"gpus", (*found)[0]->name};
  return true;
}

}  // namespace

bool is_vendor_or_provider(std::string_view word) {
  return hardware() && catalog::match_names(word, *hardware()).has_value();
}

std::string answer_question(std::vector<std::string>& words, std::vector<std::string>* notes) {
  if (answer_memory(words) || answer_power(words, notes)) return words.front();
  constexpr std::string_view kFirst =
      "how can could will would does do is are should what what's whats which i we rent buy";
  if (words.size() < 3 || !lists_word(kFirst, bare(words.front()))) return {};
  const std::string own = take_own_computer(words);
  std::string command = "recommend";
  bool found = false, model = false, gpu = false, run = false, job = false;
  if (asks_speed(words)) command = "estimate", found = true;
  for (const Topic& topic : kTopics) {
    for (const std::string& word : words) {
      if (found || !lists_word(topic.words, bare(word))) continue;
      command = topic.command;
      found = true;
    }
  }
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const bool each = i > 0 && i + 1 < words.size() && lists_word("a an", bare(word)) &&
                      thing_of(words[i - 1]) != Thing::kNone && continues_amount(bare(words[i + 1]));
    if (each) word = "per";  // "3 questions a day"
    if (!word.starts_with('-')) word = word.substr(0, bare(word).size());
    run |= bare(word) == "run" || bare(word) == "use";
    if (word.empty() || (lists_word(kAsking, bare(word)) && !is_in_name(words, i))) continue;
    const WordKind kind = word.starts_with('-') ? WordKind::kOther : kind_of_word(singular_gpu(word));
    model |= kind == WordKind::kModel;
    gpu |= kind == WordKind::kGpu || !gpus_of_instance(word).empty();
    job |= !job_of(word).empty();
    kept.push_back(std::move(word));
  }
  if (!found && run && gpu) command = "memory";  // "can I run mixtral on an a100"
  if (command == "memory" && gpu && !model && bare(words.front()) == "what")
    command = "models";  // "what can I run on ..."
  if (!own.empty() && command == "recommend") {
    command = "memory";
    if (!gpu) kept.emplace_back("--gpu=rtx-4090");
    if (notes != nullptr)
      notes->push_back(fmt::format("'{}' is read as a GPU of your own{}; 'rightsize recommend' plans rented ones", own,
                                   gpu ? "" : ", assumed: --gpu rtx-4090 (24 GB)"));
  }
  const bool work =
      std::any_of(kept.begin(), kept.end(), [](const auto& word) { return thing_of(word) != Thing::kNone; });
  const bool sized = std::any_of(kept.begin(), kept.end(), [](const auto& word) {
    return word.size() > 1 && to_lower(word).back() == 'b' && word.find_first_not_of("0123456789.") == word.size() - 1;
  });
  if (command == "recommend" && gpu && !model && !job && !work && !sized) command = "prices";
  if (command == "prices") kept = price_words(words);
  const bool buys = std::any_of(words.begin(), words.end(),
                                [](const auto& word) { return lists_word("buy buying purchase own", bare(word)); });
  if (buys && command == "prices" && notes != nullptr) {
    const auto named =
        std::ranges::find_if(kept, [](const auto& word) { return kind_of_word(word) == WordKind::kGpu; });
    const std::string name = named == kept.end() ? "h100-sxm" : to_lower(catalog::split_gpu_count(*named).name);
    notes->push_back(fmt::format(
        "'buy': purchase prices are not on file. Buying costs less if the machines, their power and their hosting "
        "cost less than the rent below; 'rightsize recommend llama-3.1-8b --rate 5/s --on-prem 8x{}=280000USD' "
        "compares a purchase with renting",
        name));
  }
  // "How much CO2 does ... emit in Sweden": a place on file, otherwise that of each plan.
  const bool carbon = std::any_of(words.begin(), words.end(),
                                  [](const auto& word) { return lists_word("co2 carbon emissions", bare(word)); });
  if (carbon && command == "recommend") {
    const auto in = std::find(kept.begin(), kept.end(), "in");
    const bool place = in != kept.end() && in + 1 != kept.end() && !is_vendor_or_provider(*(in + 1));
    kept.push_back("--carbon=" + (place ? *(in + 1) : std::string("region")));
    if (place) kept.erase(in, in + 2);
  }
  const bool asks_job = command == "memory" || command == "estimate";
  if (asks_job && !job) kept.emplace_back("--job=serve");
  words = std::move(kept);
  words.insert(words.begin(), command);
  return command;
}

std::string meant_choice(std::string_view flag, const std::deque<FlagInfo>& declared) {
  if (!flag.starts_with("--")) return {};
  flag.remove_prefix(2);
  const auto is_kind = [](std::string_view word) {
    return lists_word("provider providers cloud clouds gpu gpus vendor vendors instance instances machine machines",
                      word);
  };
  for (const std::string_view no : {"no-", "not-", "without-", "exclude-", "skip-", "avoid-", "except-"}) {
    if (!flag.starts_with(no) || find_flag(declared, "--exclude") == nullptr) continue;
    const std::string_view what = flag.substr(no.size());
    if (is_kind(what)) return "--exclude";
    if (is_vendor_or_provider(what)) return "--exclude=" + std::string(what);
  }
  std::string_view only = flag;
  if (flag.ends_with("-only"))
    only.remove_suffix(5);
  else if (flag.starts_with("only-"))
    only.remove_prefix(5);
  else
    return {};
  if (const std::string place = offer_named(only, declared); !place.empty()) return place;
  if (find_flag(declared, "--" + std::string(only)) != nullptr) return "--" + std::string(only);
  const bool gpu = find_flag(declared, "--gpu") != nullptr && hardware() && catalog::gpus_meant(only, *hardware());
  return gpu ? "--gpu=" + std::string(only) : std::string();
}

std::string offer_named(std::string_view word, const std::deque<FlagInfo>& declared) {
  const std::string lower = to_lower(word);
  if (find_flag(declared, "--purchase") != nullptr && catalog::read_purchase(lower)) return "--purchase=" + lower;
  // A region of each place that is asked for by its name; codes of two letters are mostly words.
  static const std::set<std::string> kPlaces{
      "us-x", "eu-x", "ap-x", "eu-central-1", "eu-west-3", "eu-west-2", "eu-west-1", "ie",   "nl",   "be",  "se", "fi",
      "no",   "dk",   "is",   "pl",           "it",        "es",        "ch",        "at",   "jp",   "kr",  "in", "sg",
      "hk",   "tw",   "id",   "br",           "il",        "ca-x",      "au-x",      "me-x", "af-x", "sa-x"};
  const bool place = lower.size() > 3 || lists_word("us usa eu uk", lower);
  if (find_flag(declared, "--region") != nullptr && place && lower.find('-') == std::string::npos &&
      catalog::match_regions(lower, kPlaces))
    return "--region=" + lower;
  if (find_flag(declared, "--provider") == nullptr || !hardware()) return {};
  static const std::set<std::string> kProviders = [] {
    std::set<std::string> names;
    for (const catalog::Machine& machine : hardware()->machines) names.insert(machine.provider);
    return names;
  }();
  return catalog::match_providers(lower, kProviders) ? "--provider=" + lower : std::string();
}

}  // namespace rightsize::app
