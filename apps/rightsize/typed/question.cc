#include "rightsize/typed/question.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/call.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question_kinds.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

constexpr std::string_view kCommitted = "commitment commitments reservation reserved contract term plan";
constexpr std::string_view kMachines = "node nodes machine machines server servers box boxes dgx hgx";

// Whether the word at `at` is part of a model's name: "large" in "whisper large v3".
bool is_in_name(const std::vector<std::string>& words, std::size_t at) {
  if (at == 0) return false;
  const std::string two = bare_word(words[at - 1]) + "-" + bare_word(words[at]);
  return model::is_known_name(two) ||
         (at + 1 < words.size() && model::is_known_name(two + "-" + bare_word(words[at + 1])));
}

// What a sentence names, and the words it has. GPUs of several words are one: "H100 PCIe".
struct Sentence {
  std::vector<std::string> words, flags, gpus;  // words and GPUs without their number
  double count = 0;                             // GPUs
  std::string memory;                           // of each: "80GB"
  unsigned has = 0;

  Sentence(const std::vector<std::string>& typed, bool quoted) {
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
      if ((pronoun || word == "gpus") && !words.empty() &&
          is_digits(words.back())) {  // "the same 16 GPUs", "32 of them"
        count = std::atof(words.back().c_str());
        words.pop_back();
      }
      if (const std::size_t named = gpu_words(typed, i); named > 1) {
        for (std::size_t next = i + 1; next < i + named; ++next) word += "-" + bare_word(typed[next]);
        i += named - 1;
      }
      const std::string inside = gpus_of_instance(word);  // an instance type stands for its GPUs
      if (!inside.empty()) gpus.push_back(word), count = catalog::split_gpu_count(inside).count.value_or(1);
      const catalog::CountedGpu counted = catalog::split_gpu_count(singular_gpu(word));
      // "5000 rows" is not an RTX 5000.
      const bool number = is_digits(word),
                 counts = number && i + 1 < typed.size() && is_unit_word(bare_word(typed[i + 1]));
      if (!counts && kind_of_word(counted.name) == WordKind::kGpu) {
        gpus.push_back(counted.name);
        if (counted.count) count = *counted.count;
        const std::string before = words.empty() ? "" : words.back().substr(0, words.back().find('x'));  // "4 x", "4x"
        if (!counted.count && is_digits(before) && words.back().size() <= before.size() + 1) {
          count = std::atof(before.c_str());
          words.pop_back();
        } else if (const std::size_t end = words.size(); !counted.count && end > 1 && is_digits(words[end - 2]) &&
                                                         describes(words.back())) {  // "12 always-on A10Gs"
          count = std::atof(words[end - 2].c_str());
          words.resize(end - 2);
        }
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
    const auto set = [&](Has one, bool given) { has |= given ? one : 0U; };
    constexpr std::string_view kFirst =
        "how can could will would does do is are should what what's whats which when i we rent buy";
    set(kAsks, (!words.empty() && lists_word(kFirst, words.front())) || says("how what which when should"));
    constexpr std::size_t kPhraseWords = 4;
    set(kPhrase, quoted || (has & kAsks) || (flags.empty() && words.size() >= kPhraseWords));
    set(kShare, std::ranges::any_of(words, [](const std::string& word) { return word.find('%') != word.npos; }));
    set(model ? kModel : kNoModel, true);
    set(gpus.empty() ? kNoGpu : kGpu, true);
    set(kTwoGpus, gpus.size() > 1);
    set(kCounted, gpus.size() > 1 && several);
    set(kTogether, says("context") && says("concurrent simultaneous parallel"));
    set(kNoAmount, !amount);
    set(kNoWork, !job && !work && !amount);
    take_memory();
    set(kSized, gpu && !memory.empty());
    set(kPiece, !memory.empty());
    set(kMoney, says("dollars dollar usd") ||
                    std::ranges::any_of(words, [](const std::string& word) { return word.starts_with('$'); }));
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
        if (lists_word("longest max maximum largest biggest", words[i]) && lists_word("context sequence", words[at]))
          set(kLongest, !is_length(i - 1) && !is_length(at + 1) && !is_length(at + 2) && !is_length(at + 3));
        if (lists_word("what which", words[i])) set(kWhichGpu, lists_word("gpu gpus card cards hardware", words[at]));
      }
      // "how many SDXL 1024x1024 images"
      for (std::size_t at = i + 1; words[i] == "many" && at < words.size() && !holds(gpus, words[at]); ++at) {
        set(kSpeed, lists_word("seconds minutes tokens images samples videos", words[at]));
        if (lists_word(listed("asking"), words[at])) break;
      }
    }
    set(kSpeed, says("mfu"));
  }

  bool says(std::string_view list) const {
    const std::string text = fmt::format(" {} ", fmt::join(words, " "));
    return std::ranges::any_of(split_list(list, ' '), [&](std::string_view one) {
      std::string phrase = fmt::format(" {} ", one);
      const bool whole = text.find(phrase) != std::string::npos;
      std::replace(phrase.begin(), phrase.end(), '-', ' ');
      return whole || text.find(phrase) != std::string::npos;
    });
  }
  std::string at(std::size_t index) const { return index < words.size() ? words[index] : std::string(); }

 private:
  static bool describes(const std::string& word) {
    return kind_of_word(word) == WordKind::kOther && !is_link(word) && !is_size(word) &&
           !is_digits(word.substr(0, 1)) && thing_of(word) == Thing::kNone && job_of(word).empty() &&
           !lists_word(listed("asking"), word) && !lists_word("times hours days weeks months years", word);
  }
  // "20 requests per second", "500 concurrent users", "1B tokens".
  static bool counts_work(const std::vector<std::string>& typed, std::size_t at) {
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
  bool is_length(std::size_t index) const {
    const std::optional<Amount> tokens = parse_amount(at(index));
    return tokens && tokens->count >= 256 && !is_size(at(index)) && !holds(gpus, at(index));
  }
  // "80GB", "80 GB": the memory of GPUs.
  void take_memory() {
    for (std::size_t i = 0; i < words.size() && memory.empty(); ++i) {
      const bool apart = is_digits(words[i]) && lists_word("gb gib", at(i + 1));
      if (!apart && !(words[i].ends_with('b') && !is_size(words[i]) && parse_bytes(words[i]))) continue;
      memory = words[i] + (apart ? "GB" : "");
      const auto from = words.begin() + static_cast<std::ptrdiff_t>(i);
      words.erase(from, from + (apart ? 2 : 1));
    }
  }
};

bool applies(const Kind& kind, const Sentence& said) {
  return (kind.needs & ~said.has) == 0 && (kind.asked.empty() || said.says(kind.asked)) &&
         (kind.with.empty() || said.says(kind.with));
}

// Whether a word is a part of the question: in one of its lists, alone or in a phrase that was said.
bool is_asked(const Kind& kind, const Sentence& said, const std::string& word) {
  for (const std::string_view list : {kind.asked, kind.with}) {
    for (const std::string_view one : split_list(list, ' ')) {
      if (one == word || (holds(split_list(one, '-'), word) && said.says(one))) return true;
    }
  }
  return false;
}

// What an offer must have: memory, terms, places and the time. Other words stay; their reader names what it ignores.
struct Offer {
  // A number of the question. Reading it uses it; the others are named in a note.
  struct Figure {
    std::optional<double> value;
    std::string text;
    mutable bool used = false;
    explicit operator bool() const { return value.has_value(); }
    double operator*() const { return used = true, *value; }
    double value_or(double otherwise) const { return value ? **this : otherwise; }
  };
  std::vector<std::string> words, ignored;
  Figure horizon, busy, kwh, share, machines, money;  // hours; the share of them with work; money in all, or per hour
  bool hourly = false, each = false;

  Offer(const Kind& kind, const Sentence& said) : words(said.gpus) {
    std::string terms;
    // "we pay $3.90 on AWS, what would it cost at Lambda": the place of the payment is not asked for.
    const bool pays = (kind.needs & kMoney) && said.says("would same instead compared");
    const auto asks = std::ranges::find_if(said.words, [](const auto& word) { return lists_word("what how", word); });
    for (std::size_t i = 0; i < said.words.size(); ++i) {
      const std::size_t first = i;
      const std::string& word = said.words[i];
      if (pays && said.words.begin() + static_cast<std::ptrdiff_t>(i) < asks && is_vendor_or_provider(word)) continue;
      const std::string next = said.at(i + 1);
      const bool term = kind.command != "prices buy" && catalog::read_purchase(word);  // "3y" is also a time
      if (is_digits(word) && lists_word("year years", next) && lists_word(kCommitted, said.at(i + 2))) {
        terms += (terms.empty() ? "" : ",") + word + "y";
        i += 2;
        continue;
      }
      if ((!term && take_time(said, i)) || take_money(said, i) || take_share(said, i)) {
        name_figures(said, first, i);
        continue;
      }
      if (is_digits(word) && (lists_word(kMachines, next) || lists_word(kMachines, said.at(i + 2)))) {
        machines.value = std::atof(word.c_str());
        name_figures(said, first, ++i);
      } else if (const bool two = word + "-" + next == "on-demand"; two || catalog::read_purchase(word)) {
        terms += (terms.empty() ? "" : ",") + (two ? std::string("on-demand") : word);
        i += two;
      } else if (!holds(said.gpus, word) && !lists_word(listed("asking"), word) &&
                 !lists_word(listed("weighing"), word) && !lists_word(kMachines, word) && !is_asked(kind, said, word) &&
                 job_of(word).empty() && !is_size(word)) {
        (is_digits(word) ? ignored : words).push_back(word);
      }
    }
    if (!said.memory.empty()) words.push_back("--min-memory=" + said.memory);
    if (!terms.empty()) words.push_back("--purchase=" + terms);
    // "which clouds": the best offer of each.
    if (kind.command == "prices" && said.says(kSellers)) words.push_back("--best-per=provider");
  }

  // The hours with work; of a month where a share is given without a time.
  std::optional<double> hours() const {
    return horizon || busy ? std::optional(horizon.value_or(in_hours(kMonth)) * busy.value_or(1)) : std::nullopt;
  }

  // The flags of a number of GPUs over a time.
  void put_count(double count, const std::string& otherwise, std::vector<std::string>& notes) {
    const std::optional<double> time = hours();
    if (count > 1) words.push_back(fmt::format("--gpus={:g}", count));
    if (time) words.push_back(fmt::format("--hours={:.6g}h", *time));
    if (time || count <= 1 || otherwise.empty()) return;
    words.push_back("--hours=" + otherwise);
    notes.push_back(fmt::format("assumed: --hours {} (no time was given)", otherwise));
  }

  void note_ignored(std::vector<std::string>& notes) {
    for (const Figure* figure : figures())
      if (*figure && !figure->used) ignored.push_back(figure->text);
    if (!ignored.empty()) notes.push_back(fmt::format("ignored: {}", fmt::join(ignored, ", ")));
  }

 private:
  std::array<Figure*, 6> figures() { return {&horizon, &busy, &kwh, &share, &machines, &money}; }
  void name_figures(const Sentence& said, std::size_t first, std::size_t last) {
    const auto from = said.words.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = said.words.begin() + static_cast<std::ptrdiff_t>(std::min(last + 1, said.words.size()));
    for (Figure* figure : figures()) {
      if (*figure && figure->text.empty()) figure->text = fmt::format("{}", fmt::join(from, to, " "));
    }
  }

  // "for 2 weeks", "6 hours every night", "10h per weekday", "a month", "over the weekend".
  bool take_time(const Sentence& said, std::size_t& i) {
    const std::string& word = said.words[i];
    const std::string next = said.at(i + 1);
    if (const auto [share_of_it, words_of_it] = share_of_time(said.words, i); words_of_it > 0) {
      busy.value = share_of_it;
      i += words_of_it - 1;
      return true;
    }
    const bool apart = is_digits(word) || lists_word("a an", word);
    const Result<Seconds> time = apart ? parse_duration((is_digits(word) ? word : "1") + " " + next)
                                 : is_digits(word.substr(0, 1)) ? parse_duration(word)
                                                                : Result<Seconds>(fail(bad_input("")));
    if (lists_word("weekend weekends", word)) return horizon.value = 48, true;
    // "per month", "monthly", "per year".
    const auto span = parse_duration("1 " + (word.ends_with("ly") ? word.substr(0, word.size() - 2) : next));
    if (span && (lists_word("monthly yearly", word) || lists_word("per each every", word))) {
      if (!horizon) horizon.value = in_hours(*span);
      i += word.ends_with("ly") ? 0 : 1;
      return true;
    }
    if (!time || lists_word("per an", said.at(i - std::min<std::size_t>(i, 1)))) return false;
    i += apart ? 1 : 0;
    if (!horizon || horizon.text == "monthly" || horizon.text.ends_with(" month"))
      horizon.value = in_hours(*time);
    else
      ignored.push_back(apart ? word + " " + next : word);  // the first time counts
    return true;
  }

  // "25% utilization", "60 % of the time".
  bool take_share(const Sentence& said, std::size_t& i) {
    const std::string& word = said.words[i];
    const bool apart = is_digits(word) && said.at(i + 1) == "%";
    if (!apart && !(word.ends_with('%') && parse_number(word.substr(0, word.size() - 1)))) return false;
    i += apart;
    const bool of_time = lists_word("time day week year hours", said.at(i + 3)) && !said.says("waste wasted wasting");
    (of_time ? busy : share).value = std::atof(word.c_str()) / 100;
    return true;
  }

  // "$3.90 per hour", "320k each", "at 280000", "0.30 EUR per kWh". Bytes have a unit.
  bool take_money(const Sentence& said, std::size_t& i) {
    const std::string& word = said.words[i];
    const bool dollars = word.starts_with('$');
    std::string number = word.substr(dollars ? 1 : 0);
    const std::size_t slash = number.find("/kwh");
    if (slash != std::string::npos) number.resize(slash);
    const std::optional<Amount> amount = parse_amount(number);
    if (!amount || number.ends_with('%') || number.ends_with("gb")) return false;
    const bool named = lists_word("dollars dollar usd eur euro euros cents ct", said.at(i + 1));
    const double unit = lists_word("cents ct", said.at(i + 1)) ? 0.01 : 1;
    const std::size_t after = i + 1 + named;
    if (slash != std::string::npos || said.at(after) == "kwh" || said.at(after + 1) == "kwh") {
      kwh.value = amount->count * unit;
      i = slash != std::string::npos ? after - 1 : said.at(after) == "kwh" ? after : after + 1;
      return true;
    }
    const bool priced = i > 0 && lists_word("at price cost costs for of", said.words[i - 1]);
    const std::string of = said.at(after + 1);  // "$3.90/h per H100"
    each = each || lists_word("each apiece", said.at(after)) || said.says("for-each per-gpu per-gpu-hour") ||
           (said.at(after) == "per" && (lists_word("gpu gpu-hour", of) || holds(said.gpus, of)));
    constexpr double kLeast = 1000;  // a purchase; a smaller number alone may be anything
    if (!dollars && !named && !lists_word("each apiece", said.at(after)) && !(priced && amount->count >= kLeast))
      return false;
    const bool timed = lists_word("per an a each", said.at(after)) && parse_amount("1/" + said.at(after + 1));
    const std::optional<Amount> rate = timed ? parse_amount(number + "/" + said.at(after + 1)) : amount;
    hourly = rate && rate->per;
    money.value = hourly ? rate->count / in_hours(*rate->per) : amount->count;
    i = after - 1 + (timed ? 2 : 0);
    return true;
  }
};

// "buy two DGX boxes at 320k each": machines of up to eight GPUs with the price of one. Without a price, the answer is
// the price that pays off.
std::string gpu_to_buy(const Sentence& said) {
  const auto buy = std::ranges::find_if(said.words, [](const auto& word) { return lists_word("buy buying", word); });
  const auto gpu = std::find_if(buy, said.words.end(), [&](const auto& word) { return holds(said.gpus, word); });
  return gpu == said.words.end() ? said.gpus.front() : *gpu;
}
std::string bought(const Sentence& said, const Offer& offer, double gpus) {
  constexpr double kMost = 8;  // GPUs of a machine
  const double machines = offer.machines.value_or(std::ceil(gpus / kMost)), of_each = std::ceil(gpus / machines);
  const bool per_machine = offer.each && (offer.machines || said.says(kMachines));
  const double price = offer.money.value_or(0) * (per_machine ? 1 : offer.each ? of_each : 1 / machines);
  return fmt::format("--on-prem={:g}x{}{} --on-prem-machines={:g}", of_each, gpu_to_buy(said),
                     price > 0 ? fmt::format("={:.0f}USD", price) : "", machines);
}

std::vector<std::string> offer_words(const Kind& kind, const Sentence& said, Offer& offer,
                                     std::vector<std::string>& notes) {
  const std::string_view command = kind.command;
  if (lists_word("buy spot", command.substr(command.find(' ') + 1)))
    std::erase_if(offer.words, [](const std::string& word) { return word.starts_with("--purchase"); });
  const double usual = said.says(kMachines) ? 8 : 0, gpus = said.count > 0 ? said.count : usual;
  // "40 A100s at 25 % utilization, what do we waste?": the hours without work.
  if (said.says("waste wasted wasting") && offer.share) {
    offer.busy.value = 1 - *offer.share;
    notes.push_back(fmt::format("the GPUs are unused for {:.0f} % of the time: --hours {:.4g}h",
                                100 * (1 - *offer.share), *offer.hours()));
  }
  if (command == "prices buy") {
    const std::string machines = bought(said, offer, std::max(gpus, 1.0));
    for (const std::string_view flag : split_list(machines, ' ')) offer.words.emplace_back(flag);
    const auto rented = std::ranges::find_if(said.gpus, [&](const auto& gpu) { return gpu != gpu_to_buy(said); });
    std::erase_if(offer.words, [&](const std::string& word) { return holds(said.gpus, word); });
    if (rented != said.gpus.end()) offer.ignored.push_back(*rented);
    // A bought machine is there all the time; a rented one is paid for while it works.
    const double busy = offer.busy ? *offer.busy : offer.share.value_or(1);
    if (busy < 1) offer.words.push_back(fmt::format("--busy-share={:.4g}", busy));
    offer.busy = {};
    offer.put_count(gpus, "35040h", notes);
  } else if (said.says("pay pays paying paid charged charges") && offer.money) {
    const double each = offer.each || gpus <= 1 || said.says("gpu gpu-hour every") ? 1 : gpus;
    offer.words.push_back(fmt::format("--paid={:.4g}", *offer.money / each));
    offer.put_count(gpus, "730h", notes);
  } else if (command == "prices spot") {
    offer.put_count(gpus, "", notes);
  } else if ((kind.asked == kAtMost || said.says(kAtMost)) && (kind.needs & kGpu) && offer.money) {
    const double each = offer.each || gpus <= 1 ? 1 : gpus;
    offer.words.push_back(fmt::format("--max-price={:.4g}", *offer.money / each));
    if (gpus > 1) offer.words.push_back(fmt::format("--gpus={:g}", gpus));
  } else if ((kind.needs & kMoney) && (kind.needs & kNoGpu) && offer.money) {
    const double hours = offer.hourly ? 1 : offer.hours().value_or(in_hours(kMonth));
    offer.words.push_back(fmt::format("--max-price={:.4g}", *offer.money / hours));
    notes.emplace_back("the memory of a GPU limits the model: 'rightsize models --gpu NAME' lists those that fit");
  } else if (command == "gpus" && said.says(kPower)) {
    offer.words = {said.gpus.back(), fmt::format("--gpus={:g}", std::max(gpus, 1.0))};
    if (const auto hours = offer.hours()) offer.words.push_back(fmt::format("--hours={:.6g}h", *hours));
    if (offer.kwh) offer.words.push_back(fmt::format("--kwh-price={:g}", *offer.kwh));
    if (offer.share) offer.words.push_back(fmt::format("--busy-share={:g}", *offer.share));
  } else if (command == "gpus" && !said.gpus.empty()) {
    return said.gpus;
  } else if (command == "prices compare") {
    return offer.words;
  } else {
    // "an 8x H100 node" without a time names the machine.
    offer.put_count(gpus, command == "gpus" || (said.says(kMachines) && said.count > 1) ? "" : "730h", notes);
  }
  return offer.words;
}

// `mig` reads slices and sizes itself; a model is placed on the GPU, and the GPU alone has its profiles listed.
std::vector<std::string> mig_words(const Sentence& said, const std::vector<std::string>& typed) {
  if (said.says("how-many")) return {"--gpu=" + said.gpus.front()};  // the number of each profile
  const bool slices = !said.memory.empty() || std::ranges::any_of(said.words, [](const std::string& word) {
    return word.find("g.") != std::string::npos;
  });
  Typed names{{"memory"}};
  names.words.insert(names.words.end(), typed.begin(), typed.end());
  join_names(names);
  std::string model;
  double copies = 1;  // "three 7B models"
  for (std::size_t i = 0; i < names.words.size() && model.empty(); ++i) {
    const std::string& word = names.words[i];
    const bool guessed = model::note_on_name(word).find("by its name") != std::string::npos;
    if (is_size(word)) model = word + " like llama";
    if (model.empty() && !guessed && kind_of_word(word) == WordKind::kModel) model = word;
    const std::string before = i == 0 ? "" : digits_of(names.words[i - 1]) + names.words[i - 1];
    if (!model.empty() && is_digits(before.substr(0, 1))) copies = std::max(1.0, std::atof(before.c_str()));
  }
  constexpr double kMost = 56;  // slices of eight GPUs
  const std::vector<std::string> all(static_cast<std::size_t>(std::min(copies, kMost)), model);
  if (slices && model.empty()) return {fmt::format("{}", fmt::join(typed, " "))};
  std::vector<std::string> words{"--gpu=" + said.gpus.front()};
  if (!model.empty()) words.push_back(fmt::format("--models={}", fmt::join(all, ",")));
  return words;
}

// The words that are left for the settings of a job.
std::vector<std::string> job_words(const Kind& kind, const Sentence& said, const std::vector<std::string>& words,
                                   bool load) {
  const auto is_question = [&](const std::string& word) {
    const Thing thing = thing_of(word);
    const bool of_load = lists_word(listed("load"), word) || thing == Thing::kUser || thing == Thing::kRequest;
    return lists_word(listed("asking"), word) || (job_of(word).empty() && is_asked(kind, said, word)) ||
           (load && of_load);
  };
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (word.starts_with('-')) {
      kept.push_back(std::move(word));
      continue;
    }
    // "100 candidates per query" is a number of each request, not a rate.
    const std::string of_each = i + 1 < words.size() ? bare_word(words[i + 1]) : "";
    if (bare_word(word) == "per" && i > 1 && parse_amount(words[i - 2]) && !continues_amount(of_each) &&
        thing_of(of_each) != Thing::kNone) {
      kept.insert(kept.end(), {word, of_each});
      ++i;
      continue;
    }
    const bool each = i > 0 && i + 1 < words.size() && lists_word("a an", bare_word(word)) &&
                      thing_of(words[i - 1]) != Thing::kNone && continues_amount(bare_word(words[i + 1]));
    if (each) word = "per";  // "3 questions a day"
    word = word.substr(0, bare_word(word).size());
    const bool computes = lists_word("memory estimate", kind.command);
    if (const std::string inside = gpus_of_instance(word); computes && !inside.empty()) word = inside;
    // "p99 latency" of an estimate, which has no percentiles.
    if (computes && word.size() < 4 && word.starts_with('p') && is_digits(word.substr(1))) continue;
    const bool counted =
        lists_word("gpu gpus", bare_word(word)) && !kept.empty() && is_digits(kept.back());  // "4 GPUs"
    const bool pronoun =
        bare_word(word) == "one" || (word == "1" && i > 0 && lists_word("which this that", bare_word(words[i - 1])));
    if (word.empty() || pronoun || (is_question(bare_word(word)) && !counted && !is_in_name(words, i))) continue;
    if (is_digits(word) && i + 1 < words.size() && lists_word("gb gib", bare_word(words[i + 1]))) word += words[++i];
    kept.push_back(std::move(word));
  }
  return kept;
}

}  // namespace

bool answer_question(Typed& typed, bool quoted) {
  std::vector<std::string>& words = typed.words;
  const bool command_named = holds(command_names(), words.front());
  if (words.size() < 2 || (command_named && !quoted && !lists_word("gpus prices", words.front()))) return false;
  const bool file = std::ranges::any_of(words, [](const auto& word) { return !command_for_file(word).empty(); });
  const Sentence said(words, quoted);
  const auto found = std::ranges::find_if(kKinds, [&](const Kind& one) { return applies(one, said); });
  const bool known = found != std::end(kKinds);
  // A symptom is a question in any form: "training is slow", "slow training".
  const bool worded = words.size() > 2 && (job_of(words.front()).empty() || words.front() == "rank");
  if (file || (!worded && !(known && found->command == "profile")) ||
      (command_named && !quoted && !(said.flags.empty() && said.gpus.empty())))
    return false;
  const unsigned enough = kPhrase | kModel;  // "monthly bill for serving llama-3.1-70b at 3 requests per second"
  if (!known && (command_named || ((said.has & kAsks) == 0 && (said.has & enough) != enough))) return false;
  Kind kind = known ? *found : Kind{"recommend", "", ""};
  if (!known && (said.has & kGpu) && (said.has & kNoModel) && (said.has & kNoWork)) kind.command = "prices";
  // How long it takes needs no price.
  const bool timed = kind.command == "recommend" && said.says("how-long") && said.gpus.size() == 1 &&
                     !(said.has & (kNoModel | kNoAmount));
  const auto prices = timed ? call("prices", {said.gpus.front()}) : Checked<Outcome>(Outcome{});
  if (!prices || prices->exit_code != kDone) kind.command = "estimate";
  const std::string command(kind.command), first = command.substr(0, command.find(' '));
  std::vector<std::string> kept;
  if (first == "mig") {
    kept = mig_words(said, words);
  } else if (lists_word("gpus prices", first)) {
    Offer offer(kind, said);
    kept = offer_words(kind, said, offer, typed.notes);
    offer.note_ignored(typed.notes);
    kept.insert(kept.end(), said.flags.begin(), said.flags.end());
  } else if (lists_word("profile fleet", first)) {
    kept = said.flags;
    std::vector<std::string> numbers = said.words;
    std::erase_if(numbers, [](const std::string& word) { return !is_digits(word.substr(0, 1)); });
    if (!numbers.empty()) typed.notes.push_back(fmt::format("ignored: {}", fmt::join(numbers, ", ")));
  } else {
    const bool load = command == "recommend" && (kind.needs & kModel) && (kind.needs & kGpu) && !(said.has & kTwoGpus);
    kept = job_words(kind, said, words, load || (kind.needs & kSpeed));
    const bool today = said.gpus.size() == 1 && said.says(kPresent) && said.says(kChanged);
    if (first == "recommend" && today)
      typed.notes.push_back("today: " + take_present(said.words, said.gpus.front(), std::max(said.count, 1.0), kept));
    if (load) kept.insert(kept.end(), {fmt::format("--gpus={:g}", std::max(said.count, 1.0)), "--job=serve"});
    const bool no_job = std::ranges::all_of(kept, [](const auto& word) { return job_of(word).empty(); });
    const bool trained = (kind.needs & kModel) && said.says(kTrainParts);
    constexpr std::size_t kModelFlag = 2;
    if (lists_word("memory estimate", first) && no_job && (first == "memory" || said.flags.size() <= kModelFlag))
      kept.emplace_back(trained ? "--job=train" : "--job=serve");
    // "embeddings per second at 512 tokens": the length of each.
    const bool trains = std::ranges::any_of(kept, [](const auto& word) { return job_of(word) == "train"; });
    for (std::size_t i = 0; (kind.needs & kSpeed) && !trains && i + 1 < kept.size(); ++i) {
      if (!parse_amount(kept[i]) || !lists_word("token tokens", kept[i + 1]) ||
          (i + 2 < kept.size() && lists_word("in out per", kept[i + 2])))
        continue;
      kept[i] = "--isl=" + kept[i];
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i + 1));
    }
    for (const char* unit : {"minute", "hour", "day", "month"})
      if ((kind.needs & kSpeed) && said.says(fmt::format("per-{0} a-{0} an-{0} each-{0} {0}ly", unit)))
        kept.push_back(fmt::format("--per={}", unit));
    if (kind.needs & kLongest) kept.push_back(fmt::format("--tp={:g}", std::max(said.count, 1.0)));
    // "we pay an API 8000 dollars a month for 2 billion tokens": the traffic of a month.
    const auto tokens = std::ranges::find(kept, "tokens");
    if (command.ends_with("--job=serve") && said.says("month monthly") && tokens != kept.end())
      kept.insert(tokens + 1, {"per", "month"});
  }
  // "How much CO2 does ... emit in Sweden", "how many kWh": a place on file, otherwise that of each plan.
  const bool energy = said.says(kPower) || said.says("co2 carbon emissions");
  if (const auto in = std::ranges::find(kept, "in"); energy && first == "recommend") {
    const bool place = kept.end() - in > 1 && !is_vendor_or_provider(*(in + 1));
    const std::string carbon = "--carbon=" + (place ? *(in + 1) : std::string("region"));
    if (place) kept.erase(in, in + 2);
    std::erase_if(kept, [](const auto& word) { return lists_word("kwh energy electricity", bare_word(word)); });
    kept.push_back(carbon);
  }
  // An answer that ignores what is asked for is none.
  const bool named = (said.has & kNoModel) && std::ranges::any_of(words, is_unknown_name);  // its error names it
  // A phrase with a model and its work needs no more, and a plan answers what it costs.
  const bool plan =
      (said.has & kNoWork) == 0 && (!(said.has & kAsks) || said.says("pay worth host setup budget money"));
  for (std::size_t i = 0; !known && !named && !plan && i < words.size() && typed.object.empty(); ++i) {
    if (!lists_word(listed("asking"), bare_word(words[i])) && !is_link(bare_word(words[i])))
      typed.object = bare_word(words[i]);
  }
  std::ptrdiff_t verbs = 0;  // "prices spot"; flags follow the words, which together may be a name
  for (const std::string_view word : split_list(command, ' '))
    kept.emplace(word.starts_with('-') ? kept.end() : kept.begin() + verbs++, word);
  words = std::move(kept);
  return true;
}

}  // namespace rightsize::app
