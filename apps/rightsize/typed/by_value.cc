#include "rightsize/typed/by_value.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/slurm_time.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/flag_edits.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

// A number, with or without a dollar sign; empty for other texts.
std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('$')) text.remove_prefix(1);
  const Result<double> number = parse_number(text);
  return number ? std::optional(*number) : std::nullopt;
}

bool any_value(const std::string&) { return true; }

class ByValue : private FlagEdits {
 public:
  using FlagEdits::FlagEdits;

  void run() {
    put_steps();
    if (has("--attention-dp") && has("--ep")) put_expert_groups();
    if (has("--kwh-price")) put_power_price();
    if (has("--budget") && has("--max-price")) put_total();
    if (has("--price") && !has("--rate") && !has("--arrivals")) put_price();
    name_short_flags();
    refuse_network();
  }

 private:
  // What no setting filters by is named, before other mistakes hide it.
  void refuse_network() {
    constexpr std::string_view kNames = "--interconnect --network --network-type --networking --fabric";
    const std::string wanted = value_in(kNames);
    if (wanted.empty() || typed_.refusal || !has("--provider") || has("--interconnect") || has("--network")) return;
    const auto flag = std::ranges::find_if(typed_.words, [&](const std::string& word) {
      return is_flag_word(word) && lists_word(kNames, tidied(word.substr(0, word.find('='))));
    });
    typed_.refusal = bad_input(fmt::format("{} {}: plans are not filtered by their network",
                                           flag->substr(0, flag->find('=')), wanted))
                         .with_hint("leave it out, or choose the providers: --provider aws,gcp");
  }

  // Trainers like Hugging Face's stop after max_steps, whatever the epochs say; a negative number is no limit.
  void put_steps() {
    const auto number = [](const std::string& value) { return parse_amount(value).value_or(Amount{}).count; };
    constexpr std::string_view kSteps = "--max-steps --steps --max-train-steps --num-train-steps --training-steps";
    take(kSteps, [](const std::string& value) { return std::atof(value.c_str()) < 0; });
    const std::string steps = value_in(kSteps);
    if (!(number(steps) > 0)) return;
    const auto epochs = take("--epochs --num-epochs --num-train-epochs", any_value);
    if (epochs)
      typed_.notes.push_back(fmt::format("max_steps replaces {} epoch{}, as in Hugging Face's Trainer: {} steps",
                                         *epochs, *epochs == "1" ? "" : "s", format_count(number(steps))));
  }

  // vLLM: --dp 8 --ep 8 splits the attention into 8 groups and the experts over all GPUs. SGLang's --tp counts them
  // all.
  void put_expert_groups() {
    constexpr std::string_view kTp = "--tp -tp --tp-size --tensor-parallel-size --tensor-parallel",
                               kEp = "--ep --ep-size --expert-parallel-size";
    const auto number = [&](std::string_view names) { return std::round(std::atof(value_in(names).c_str())); };
    const double groups = number(listed("copies")), typed_tp = number(kTp), ep = number(kEp);
    const bool spreads = has_word("--enable-expert-parallel"), of_all = has_word("--enable-dp-attention");
    if (!(groups > 1) || !(ep > 0 || spreads || of_all) || !serves()) return;
    const double tp = std::max(1.0, typed_tp);
    const bool counts_all = of_all || (ep == tp && tp >= groups && std::fmod(tp, groups) == 0);
    const double gpus = counts_all ? tp : tp * groups;
    if (ep > 0 && ep != gpus) return;
    take(listed("copies"), any_value), take(kTp, any_value), take(kEp, any_value);
    take_switch("--enable-expert-parallel"), take_switch("--enable-dp-attention");
    const bool experts = spreads || ep > 0;
    const std::string meant = fmt::format("--tp {0:.0f} --attention-dp {1:.0f}{2}", gpus, groups,
                                          experts ? fmt::format(" --ep {:.0f}", gpus) : "");
    for (const std::string_view word : split_list(meant, ' ')) typed_.words.emplace_back(word);
    typed_.notes.push_back(
        fmt::format("{:.0f} groups share the attention of one copy on {:.0f} GPUs: {}", groups, gpus, meant));
  }

  bool serves() const {
    return std::ranges::any_of(typed_.words, [](const std::string& word) {
      const std::string flag = word.substr(0, word.find('='));
      const bool traffic =
          is_flag_word(word) && (lists_word("--rate --qps --rps --concurrency --enable-expert-parallel "
                                            "--enable-dp-attention",
                                            tidied(flag)) ||
                                 lists_word(listed("engine flags"), tidied(flag)));
      return traffic || job_of(std::string_view(word).substr(word.find('=') + 1)) == "serve";
    });
  }

  // No GPU draws less than 2 W, and no electricity costs more than $2/kWh.
  void put_power_price() {
    constexpr std::string_view kNames =
        "--power --power-price --power-cost --energy --energy-price --energy-cost --electricity --electricity-price "
        "--electricity-cost --kwh --kwh-cost";
    const auto without_unit = [](std::string value) {
      const std::size_t unit = to_lower(value).find("/kwh");
      return value.substr(0, unit);
    };
    const auto price = take(kNames, [&](const std::string& value) {
      const auto number = plain_number(without_unit(value));
      return number && *number >= 0 && *number < 2;
    });
    if (price)
      put("--kwh-price", without_unit(*price)), say("the price of power is --kwh-price " + without_unit(*price));
  }

  // No GPU or machine costs this much an hour: it is the limit of the whole cost.
  void put_total() {
    constexpr double kMostPerHour = 500;
    if (!value_in("--budget").empty()) return;
    const auto total =
        take("--max-price", [](const std::string& value) { return plain_number(value).value_or(0) > kMostPerHour; });
    if (!total) return;
    put("--budget", *total);
    typed_.notes.push_back(
        fmt::format("no machine costs {} an hour: --max-price is read as the limit of the whole cost (--budget)",
                    format_usd(usd(*plain_number(*total)))));
  }

  // --rate 2.10 where nothing arrives: the price of a GPU.
  void put_price() {
    constexpr double kMostPerHour = 500;
    const auto price = take("--rate --gpu-rate", [](const std::string& value) {
      const std::size_t unit = std::min(value.find("/h"), value.size());
      const auto number = plain_number(std::string_view(value).substr(0, unit));
      return number && *number > 0 && *number < kMostPerHour;
    });
    if (price) put("--price", price->substr(0, price->find("/h"))), say("--rate is --price");
  }

  // A letter means different things to different tools; an amount of tokens, a time and dollars mean one thing.
  void name_short_flags() {
    std::vector<std::string>& words = typed_.words;
    for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
      const std::string name = words[i].substr(0, words[i].find('='));
      if (name.size() != 2 || !is_flag_word(name) || has(name)) continue;
      const bool joined = name.size() < words[i].size();
      if (!joined && i + 1 == words.size()) continue;
      std::string value = joined ? words[i].substr(3) : words[i + 1];
      const std::string flag = flag_of_value(value);
      if (flag.empty() || !has(flag) || !value_in(flag).empty()) continue;
      words[i] = flag + "=" + value;
      if (!joined) words.erase(words.begin() + static_cast<std::ptrdiff_t>(i + 1));
      say(fmt::format("{} {} is {}", name, value, flag));
    }
  }

  // Sets the value in the form that the flag takes.
  static std::string flag_of_value(std::string& value) {
    const auto amount = parse_amount(value);
    const bool large = value.ends_with('M') || value.ends_with('B') || value.ends_with('T');
    if (amount && !amount->per && (thing_of(amount->thing) == Thing::kToken || (large && amount->thing.empty())))
      return "--tokens";
    if (value.starts_with('$') && plain_number(value)) return "--budget";
    if (const auto time = value.find(':') != value.npos ? parse_slurm_time(value) : std::nullopt) {
      value = fmt::format("{:.6g}h", in_hours(*time));
      return "--deadline";
    }
    return !is_digits(value) && parse_duration(value) ? "--deadline" : "";
  }
};

}  // namespace

void name_by_value(Typed& typed, const std::deque<FlagInfo>& declared) { ByValue(typed, declared).run(); }

}  // namespace rightsize::app
