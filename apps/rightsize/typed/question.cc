#include "rightsize/typed/question.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/call.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/join_names.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/said_words.h"
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

// Words of a question about prices.
constexpr std::string_view kWeighing =
    "worth pay pays paying paid charged overpaying each per hour hourly save saves saving savings risk risky vs versus "
    "than compared better difference good too";

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

// Whether the word at `at` is part of a model's name: "large" in "whisper large v3".
bool is_in_name(const std::vector<std::string>& words, std::size_t at) {
  if (at == 0) return false;
  const std::string two = bare(words[at - 1]) + "-" + bare(words[at]);
  return model::is_known_name(two) || (at + 1 < words.size() && model::is_known_name(two + "-" + bare(words[at + 1])));
}

// What a sentence names, and the words it has. GPUs of several words are one: "H100 PCIe".
struct Sentence {
  std::vector<std::string> words, flags, gpus;  // words and GPUs without their number
  double count = 0;                             // GPUs
  bool model = false, job = false, work = false, gpu = false;

  explicit Sentence(const std::vector<std::string>& typed) {
    for (std::size_t i = 0; i < typed.size(); ++i) {
      if (typed[i].starts_with('-')) {
        flags.push_back(typed[i]);
        const bool value = typed[i].find('=') == std::string::npos && i + 1 < typed.size() && typed[i + 1][0] != '-';
        if (value) flags.push_back(typed[++i]);
        continue;
      }
      std::string word = bare(typed[i]);
      if (const std::size_t named = gpu_words(typed, i); named > 1) {
        for (std::size_t next = i + 1; next < i + named; ++next) word += "-" + bare(typed[next]);
        i += named - 1;
      }
      const catalog::CountedGpu counted = catalog::split_gpu_count(singular_gpu(word));
      const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
      // "5000 rows" is not an RTX 5000.
      const bool amount = number && i + 1 < typed.size() && is_unit_word(to_lower(typed[i + 1]));
      if (!amount && kind_of_word(counted.name) == WordKind::kGpu) {
        gpus.push_back(counted.name);
        if (counted.count) count = *counted.count;
        if (!counted.count && !words.empty() && parse_number(words.back())) {
          count = *parse_number(words.back());
          words.pop_back();
        }
        word = counted.name;
      }
      gpu |= lists_word("gpu gpus card cards accelerator accelerators", word);
      model |= kind_of_word(word) == WordKind::kModel || is_size(word) || is_in_name(typed, i);
      job |= !job_of(word).empty();
      work |= thing_of(word) != Thing::kNone && job_of(word).empty();
      words.push_back(std::move(word));
    }
  }
  bool says(std::string_view list) const {
    return std::ranges::any_of(words, [&](const std::string& word) { return lists_word(list, word); });
  }
};

// What an offer must have: memory, terms, places and the time. Other words stay, and their reader names what it
// ignores.
std::vector<std::string> offer_words(const Sentence& said, std::vector<std::string>* notes) {
  std::vector<std::string> kept = said.gpus;
  std::string terms;
  bool hours = false;
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    const std::string& word = said.words[i];
    const std::string next = i + 1 < said.words.size() ? said.words[i + 1] : std::string();
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    const bool unit = lists_word("gb gib", next);
    const Result<Bytes> memory = parse_bytes(word + (unit ? "GB" : ""));
    const auto add_hours = [&](double length) { kept.push_back(fmt::format("--hours={:.6g}h", length)), hours = true; };
    if (number && parse_duration(word + " " + next)) {
      add_hours(in_hours(*parse_duration(word + " " + next)));
      ++i;
    } else if (memory && word.front() >= '0' && word.front() <= '9' && (unit || !number)) {
      kept.push_back("--min-memory=" + word + (unit ? "GB" : ""));
      i += unit;
    } else if (word == "monthly" || (lists_word("per a", word) && next == "month")) {
      add_hours(in_hours(kMonth));
      i += word != "monthly";
    } else if (lists_word("weekend weekends", word)) {
      add_hours(48);
    } else if (const bool two = word + "-" + next == "on-demand"; two || catalog::read_purchase(word)) {
      terms += (terms.empty() ? "" : ",") + (two ? std::string("on-demand") : word);
      i += two;
    } else if (!holds(said.gpus, word) && !lists_word(kAsking, word) && !lists_word(kWeighing, word)) {
      kept.push_back(word);
    }
  }
  if (!terms.empty()) kept.push_back("--purchase=" + terms);
  if (said.count > 1) {
    kept.push_back(fmt::format("--gpus={:g}", said.count));
    if (!hours) kept.emplace_back("--hours=730h");
    if (!hours && notes != nullptr) notes->emplace_back("assumed: for a month (--hours 730h)");
  }
  return kept;
}

// "we pay $3.90 per hour for each H100": the price of a GPU per hour; empty if the sentence has none.
std::string price_paid(const Sentence& said) {
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    const std::string& word = said.words[i];
    const auto at = [&](std::size_t offset) { return i + offset < said.words.size() ? said.words[i + offset] : ""; };
    const bool dollars = word.starts_with('$'), named = lists_word("dollars dollar usd", at(1));
    const std::size_t per = named ? 2 : 1;
    const bool timed = lists_word("per an a each", at(per)) && parse_amount("1/" + at(per + 1));
    const std::string text = word.substr(dollars ? 1 : 0) + (timed ? "/" + at(per + 1) : "");
    const std::optional<Amount> amount = parse_amount(text);
    if (!amount || !(dollars || named)) continue;
    const bool each = said.count <= 1 || said.says("each every apiece gpu gpu-hour");
    const double hourly = amount->count / in_hours(amount->per.value_or(hours(1))) / (each ? 1 : said.count);
    return fmt::format("{:.4g}", hourly);
  }
  return {};
}

// Questions about GPUs alone: what limits them, their prices, their data sheets.
std::vector<std::string> answer_gpus(const Sentence& said, std::vector<std::string>* notes) {
  constexpr std::string_view kMoney = "cheap cheaper cheapest price prices cost costs expensive pricing";
  const bool asks_why = said.says("why") || (said.says("how") && said.says("come"));
  if (asks_why && said.says("gpu gpus training train utilization util slow idle busy job jobs"))
    return {"profile"};
  if (said.model || said.work) return {};
  const std::vector<std::string>& gpus = said.gpus;
  const auto with = [](std::vector<std::string> first, const std::vector<std::string>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  };
  const bool spot = said.says("spot preemptible");
  if (spot && said.says("worth cheaper save saves saving savings risk risky vs versus than compared should better")) {
    std::vector<std::string> rest = offer_words(said, notes);
    std::erase_if(rest, [](const std::string& word) { return word.starts_with("--purchase"); });
    return with({"prices", "spot"}, rest);
  }
  if (const std::string paid = price_paid(said); !paid.empty() && said.says("pay pays paying paid charged charges")) {
    Sentence offer = said;
    offer.count = 0;
    std::erase_if(offer.words, [](const std::string& word) { return word.find('$') == 0; });
    return with({"prices", "--paid=" + paid}, offer_words(offer, notes));
  }
  constexpr std::string_view kCompared =
      "faster slower better best worse difference differ differs compare compared comparison vs versus or than between "
      "against";
  if (gpus.size() > 1 && said.says(kCompared))
    return with(said.says(kMoney) ? std::vector<std::string>{"prices", "compare"} : std::vector<std::string>{"gpus"},
                gpus);
  if ((gpus.empty() && !said.gpu) || said.job) return {};
  std::vector<std::string> offer = offer_words(said, notes);
  const bool sized = std::ranges::any_of(offer, [](const auto& word) { return word.starts_with("--min-memory"); });
  if (said.says(kMoney) && (!gpus.empty() || sized)) {
    if (gpus.empty()) offer.emplace_back("--best-per=gpu");
    return with({"prices"}, offer);
  }
  if (sized && gpus.empty()) return with({"gpus"}, offer);
  return {};
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

// "how much electricity do 8 H100s use per month at 60 % utilization": the data sheet, and its power over that time.
bool answer_power(const Sentence& said, std::vector<std::string>& words, std::vector<std::string>* notes) {
  if (!said.says("electricity power energy kwh watts watt") || said.gpus.empty() || said.model || !said.flags.empty())
    return false;
  double share = 1;
  for (const std::string& word : said.words) {
    if (word.ends_with('%')) share = std::atof(word.c_str()) / 100;
  }
  const double count = std::max(1.0, said.count);
  const std::string& gpu = said.gpus.back();
  const auto found = hardware() ? catalog::gpus_meant(gpu, *hardware()) : Result<std::vector<const catalog::Gpu*>>();
  if (!found || found->empty() || !(*found)[0]->tdp || !(share > 0)) return false;
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
  const bool command_named = holds(command_names(), words.front());
  if (words.size() < 3 || (command_named && !lists_word("gpus prices", words.front()))) return {};
  const Sentence said(words);
  if (answer_power(said, words, notes)) return words.front();
  if (!command_named || (said.flags.empty() && said.gpus.empty())) {
    if (std::vector<std::string> meant = answer_gpus(said, notes); !meant.empty()) {
      words = std::move(meant);
      words.insert(words.end(), said.flags.begin(), said.flags.end());
      return words.front();
    }
  }
  constexpr std::string_view kFirst =
      "how can could will would does do is are should what what's whats which i we rent buy";
  if (!lists_word(kFirst, bare(words.front()))) return {};
  const std::string own = take_own_computer(words);
  std::string command = asks_speed(words) ? "estimate" : "";
  for (const Topic& topic : kTopics) {
    if (command.empty() && said.says(topic.words)) command = topic.command;
  }
  const bool found = !command.empty();
  if (!found) command = "recommend";
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const bool each = i > 0 && i + 1 < words.size() && lists_word("a an", bare(word)) &&
                      thing_of(words[i - 1]) != Thing::kNone && continues_amount(bare(words[i + 1]));
    if (each) word = "per";  // "3 questions a day"
    if (!word.starts_with('-')) word = word.substr(0, bare(word).size());
    if (word.empty() || (lists_word(kAsking, bare(word)) && !is_in_name(words, i))) continue;
    kept.push_back(std::move(word));
  }
  const bool run = said.says("run use"), model = said.model, job = said.job;
  const bool gpu = !said.gpus.empty() ||
                   std::ranges::any_of(kept, [](const std::string& word) { return !gpus_of_instance(word).empty(); });
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
  if (command == "recommend" && gpu && !model && !job && !said.work) command = "prices";
  if (command == "prices") {
    kept = offer_words(said, notes);
    kept.insert(kept.end(), said.flags.begin(), said.flags.end());
  }
  const bool buys = said.says("buy buying purchase own");
  if (buys && command == "prices" && notes != nullptr) {
    const std::string name = said.gpus.empty() ? "h100-sxm" : said.gpus.front();
    notes->push_back(fmt::format(
        "'buy': purchase prices are not on file. Buying costs less if the machines, their power and their hosting "
        "cost less than the rent below; 'rightsize recommend llama-3.1-8b --rate 5/s --on-prem 8x{}=280000USD' "
        "compares a purchase with renting",
        name));
  }
  // "How much CO2 does ... emit in Sweden": a place on file, otherwise that of each plan.
  if (said.says("co2 carbon emissions") && command == "recommend") {
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
