// Questions about offers: what they must have, the time, the money and the terms.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/call.h"
#include "rightsize/input/electricity.h"
#include "rightsize/typed/account.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/asked.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

constexpr std::string_view kCommitted =
    "commitment commitments reservation reserved contract term plan price prices pricing rate rates";

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
  std::vector<std::string> words, ignored, spent;
  Figure horizon, busy, kwh, share, machines, money;  // hours; the share of them with work; money in all, or per hour
  bool hourly = false, each = false;

  Offer(const QuestionKind& kind, const Sentence& said) : words(said.gpus) {
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
        // "incl spot", "spot is fine": beside the usual terms.
        const Permission also = permission(said.words, i);
        terms += (!terms.empty()         ? ","
                  : also.allowed && !two ? "on-demand,"
                                         : "") +
                 (two ? std::string("on-demand") : word);
        i += two + also.words;
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
    // "which is cheaper, us-east-1 or eu-west-1", "on lambda vs runpod": the best of each.
    const auto places = std::ranges::count_if(
        words, [](const std::string& word) { return is_region(word) || lists_word(listed("places"), word); });
    const auto sellers = std::ranges::count_if(
        words, [&](const std::string& word) { return !holds(said.gpus, word) && is_vendor_or_provider(word); });
    if (kind.command == "prices" && said.says(kCompared) && (places > 1 || sellers > 1))
      words.push_back(places > 1 ? "--best-per=region" : "--best-per=provider");
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

  void note_ignored(std::vector<std::string>& notes, std::vector<std::string>& taken) {
    taken.insert(taken.end(), spent.begin(), spent.end());
    for (const Figure* figure : figures())
      if (*figure) (figure->used ? taken : ignored).push_back(figure->text);
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
    if (i > 1 && said.words[i - 1] == "than" && lists_word("older newer younger", said.words[i - 2])) return false;
    if (is_digits(word) && lists_word("gpu gpus", said.at(i + 1)) && lists_word("hours hour h", said.at(i + 2))) {
      horizon.value = parse_amount(word).value_or(Amount{}).count;  // "1000 GPU hours"
      i += 2;
      return true;
    }
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
    if (word == "24/7" && !horizon) return horizon.value = in_hours(kMonth), true;
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
    const bool of_time = lists_word("time day week year hours", said.at(i + 3)) && !said.says(kWasted);
    const auto idle = [&](std::size_t at) { return lists_word("idle unused unutilized wasted", said.at(at)); };
    const bool unused = idle(i + 1) || (i > 0 && idle(i - 1 - apart)) || (i > 1 && idle(i - 2 - apart));
    const double part = std::atof(word.c_str()) / 100;
    (of_time ? busy : share).value = unused ? 1 - part : part;  // "idle 40% of the time"
    while (lists_word(listed("use of GPUs"), said.at(i + 1))) ++i;
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
    const bool priced = i > 0 && lists_word("at price cost costs for of spend spending spent", said.words[i - 1]);
    const std::string of = said.at(after + 1);  // "$3.90/h per H100"
    each = each || lists_word("each apiece", said.at(after)) || said.says("for-each per-gpu per-gpu-hour") ||
           (said.at(after) == "per" && (lists_word("gpu gpu-hour", of) || holds(said.gpus, of)));
    constexpr double kLeast = 1000;  // a purchase; a smaller number alone may be anything
    // "10k per month": the GPUs have another number.
    const bool bill = lists_word("per a monthly", said.at(after)) && lists_word("month year", said.at(after + 1));
    if (!dollars && !named && !said.is_hourly_limit(i) && !lists_word("each apiece", said.at(after)) &&
        !((priced || bill) && amount->count >= kLeast))
      return false;
    each = each || (said.is_hourly_limit(i) && lists_word("each apiece", said.at(i + 3)));  // "under 3.50 an hour each"
    // "2.80 per H100 hour", "per GPU hour", "per GPU-hour".
    const std::size_t gap = holds(said.gpus, said.at(after + 1)) || lists_word("gpu gpus", said.at(after + 1));
    std::string time = said.at(after + 1 + gap);
    const bool joined = time.starts_with("gpu-");
    if (joined) time = time.substr(4);
    each = each || gap > 0 || joined;
    const bool timed = lists_word("per an a each", said.at(after)) && parse_amount("1/" + time);
    const std::optional<Amount> rate = timed ? parse_amount(number + "/" + time) : amount;
    // "10k per month" is the bill of all GPUs, "$2.50/h" the price of one.
    hourly = rate && rate->per && (!bill || each);
    money.value = hourly ? rate->count / in_hours(*rate->per) : amount->count;
    i = after - 1 + (timed ? 2 + gap : 0);
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

// "in Sweden or Virginia": the answer is for the first place, and a note for each other.
void note_place(const std::string& place, std::vector<std::string> words, std::vector<std::string>& notes) {
  words.push_back("--carbon=" + place);
  const Checked<Outcome> answer = call("gpus", words);
  const auto* text = answer && !answer->report.blocks.empty()
                         ? std::get_if<report::Paragraph>(&answer->report.blocks.front())
                         : nullptr;
  notes.push_back(fmt::format("in {}: {}", place, text != nullptr ? text->text : "no answer"));
}

std::vector<std::string> words_for(const QuestionKind& kind, const Sentence& said, Offer& offer,
                                   std::vector<std::string>& notes) {
  const std::string_view command = kind.command;
  if (lists_word("buy spot", command.substr(command.find(' ') + 1)))
    std::erase_if(offer.words, [](const std::string& word) { return word.starts_with("--purchase"); });
  const double usual = said.says(kMachines) ? 8 : 0, gpus = said.count > 0 ? said.count : usual;
  // "40 A100s at 25 % utilization, what do we waste?": the hours without work.
  if (kind.asked == kWasted && offer.share) {
    offer.busy.value = 1 - *offer.share;
    const double all = offer.hourly ? *offer.money * std::max(gpus, 1.0) * offer.horizon.value_or(in_hours(kMonth))
                                    : offer.money.value_or(0);
    if (all > 0)
      notes.push_back(fmt::format("of {}, {} pay for hours without work", format_usd(usd(all)),
                                  format_usd(usd(all * *offer.busy))));
    if (offer.hourly) offer.words.push_back(fmt::format("--price={:.4g}", *offer.money));
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
    offer.spent.push_back(offer.busy.text), offer.busy = {};
    offer.put_count(gpus, "35040h", notes);
  } else if (said.says("pay pays paying paid charged charges") && offer.money) {
    const double each = offer.each || gpus <= 1 || said.says("gpu gpu-hour every") ? 1 : gpus;
    offer.words.push_back(fmt::format("--paid={:.4g}", *offer.money / each));
    offer.put_count(gpus, "730h", notes);
  } else if (kind.asked == kHowLong && offer.money && !offer.hourly) {
    offer.words.push_back(fmt::format("--budget={:.6g}", *offer.money));
    if (gpus > 1) offer.words.push_back(fmt::format("--gpus={:g}", gpus));
  } else if (command == "prices spot") {
    offer.put_count(gpus, "", notes);
  } else if ((kind.asked == kAtMost || said.says(kAtMost)) && (kind.needs & kGpu) && offer.money) {
    const double each = offer.each || gpus <= 1 ? 1 : gpus;
    offer.words.push_back(fmt::format("--max-price={:.4g}", *offer.money / each));
    offer.put_count(gpus, "1h", notes);  // in machines of any size
  } else if (said.gpus.empty() && command.starts_with("prices") && offer.money) {
    const double hours = offer.hourly ? 1 : offer.hours().value_or(in_hours(kMonth));
    offer.words.push_back(fmt::format("--max-price={:.4g}", *offer.money / hours));
    if (said.says("model models llm llms"))
      notes.push_back(
          fmt::format("the memory of a GPU limits the model: 'rightsize models --gpu NAME{}' lists those that fit",
                      said.says("qlora")  ? " --method qlora"
                      : said.says("lora") ? " --method lora"
                                          : ""));
  } else if (command == "gpus" && said.says(kPower)) {
    std::vector<std::string> places = offer.words;
    std::erase_if(places, [](const auto& word) { return !read_electricity({{}, word, {}}); });
    offer.words = {said.gpus.back(), fmt::format("--gpus={:g}", std::max(gpus, 1.0))};
    if (const auto hours = offer.hours()) offer.words.push_back(fmt::format("--hours={:.6g}h", *hours));
    if (offer.kwh) offer.words.push_back(fmt::format("--kwh-price={:g}", *offer.kwh));
    if (offer.share) offer.words.push_back(fmt::format("--busy-share={:g}", *offer.share));
    for (std::size_t i = 1; i < places.size(); ++i) note_place(places[i], offer.words, notes);
    if (!places.empty()) offer.words.push_back("--carbon=" + places.front());
  } else if (command == "gpus" && !said.gpus.empty()) {
    return said.gpus;
  } else if (command == "prices" && said.says("vs versus or") &&
             std::ranges::count_if(said.gpus, [](const auto& gpu) { return !gpus_of_instance(gpu).empty(); }) > 1) {
    return offer.words;  // two instance types
  } else if (command == "prices compare") {
    for (std::size_t i = 0; i < said.gpus.size() && said.count > 1; ++i)
      std::ranges::replace(offer.words, said.gpus[i], fmt::format("{:g}x{}", said.counts[i], said.gpus[i]));
    return offer.words;
  } else {
    // "an 8x H100 node" without a time names the machine.
    offer.put_count(gpus, command == "gpus" || (said.says(kMachines) && said.count > 1) ? "" : "730h", notes);
  }
  return offer.words;
}

}  // namespace

std::vector<std::string> offer_words(const QuestionKind& kind, const Sentence& said, std::vector<std::string>& notes,
                                     std::vector<std::string>& used) {
  Offer offer(kind, said);
  std::vector<std::string> words = words_for(kind, said, offer, notes);
  offer.note_ignored(notes, used);
  return words;
}

}  // namespace rightsize::app
