#include "rightsize/typed/said.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/said_words.h"

namespace rightsize::app {
namespace {

// A form that parse_slos() reads itself: p99=100ms, ttft-p95=1s.
bool is_plain_slo(std::string_view text) {
  for (const std::string_view part : split_list(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || !parse_duration(part.substr(equals + 1))) return false;
    std::string_view name = part.substr(0, equals);
    if (name == "ttft" || name == "tpot") continue;
    if (name.starts_with("ttft-") || name.starts_with("tpot-")) name.remove_prefix(5);
    if (!holds(std::array{"mean", "p50", "p90", "p95", "p99"}, name)) return false;
  }
  return !text.empty();
}

class SaidReader : WordReader {
 public:
  SaidReader(Typed typed, const std::deque<FlagInfo>& declared) : WordReader(std::move(typed), declared) {}

  Said run() {
    if (in_.empty()) return std::move(out_);
    out_.command = in_.front();
    plans_ = plans_work(declared_);
    keep(in_.front());
    for (at_ = 1; at_ < in_.size(); ++at_) {
      if (in_[at_] == "--") {
        while (at_ < in_.size()) keep(in_[at_++]);
        break;
      }
      if (!(is_flag_word(in_[at_]) ? take_flag() : take_bare())) keep(in_[at_]);
    }
    for (SaidAmount& said : out_.amounts) {
      if (!said.amount.per) said.amount.per = every_;
    }
    count_documents();
    put_share();
    return std::move(out_);
  }

 private:
  // A query to a reranker reads all its documents: --rate 30/s --docs 50.
  void count_documents() {
    const auto first = [&](auto test) { return std::find_if(out_.amounts.begin(), out_.amounts.end(), test); };
    const auto documents =
        first([](const SaidAmount& s) { return s.thing == Thing::kItem && !s.amount.per && !s.is_rate; });
    const auto rate =
        first([](const SaidAmount& s) { return s.is_rate || (s.thing == Thing::kRequest && s.amount.per); });
    const bool ranks = out_.job == "rerank" || std::ranges::any_of(in_, [](const std::string& word) {
                         return to_lower(word).find("rerank") != std::string::npos;
                       });
    if (!ranks || !has("--docs-per-query") || documents == out_.amounts.end() || rate == out_.amounts.end()) return;
    keep(fmt::format("--docs-per-query={:.0f}", documents->amount.count));
    out_.amounts.erase(documents);
  }

  // The value of a flag: after '=', or the next word that is not a flag. Units may be separate words.
  std::optional<std::string> value_here() const {
    const std::string& word = in_[at_];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) return word.substr(equals + 1);
    if (at_ + 1 >= in_.size() || is_flag_word(in_[at_ + 1])) return std::nullopt;
    std::string text = in_[at_ + 1];
    for (std::size_t i = at_ + 2; i < in_.size() && is_unit_word(in_[i]); ++i) text += " " + in_[i];
    return text;
  }
  void skip_value() {
    if (in_[at_].find('=') != std::string::npos) return;
    ++at_;
    while (at_ + 1 < in_.size() && is_unit_word(in_[at_ + 1])) ++at_;
  }

  bool take_flag() {
    const std::string name = in_[at_].substr(0, in_[at_].find('='));
    const std::optional<std::string> value = value_here();
    if (take_job(name, value)) return true;
    if (!value) return false;
    // --requests 2M --every day
    if (lists_word("--every --per --each", name) && (has("--volume") || plans_) && !has(name)) {
      if (const auto once = parse_amount("1/" + *value)) return every_ = once->per, skip_value(), true;
    }
    // --p99 ttft=300ms
    if (value->find('=') != std::string::npos && read_limit_name(name.substr(std::min<std::size_t>(2, name.size()))) &&
        take_limits(name.substr(2) + "-" + *value))
      return skip_value(), true;
    if (const std::size_t per = name.find("-per-"); per != name.npos && is_digits(*value) && find(name) == nullptr) {
      const FlagInfo* time = has("--item-time") ? find("--item-time") : find("--per-item");
      const auto [rest, unit] = split_unit(name.substr(0, per));
      const Thing thing = thing_of(name.substr(per + 5));
      if (time != nullptr && rest == "-" && !unit.empty() && (thing == Thing::kItem || thing == Thing::kImage))
        return out_.rest.renamed.push_back(fmt::format("{} is {}", name, time->name)),
               keep(fmt::format("{}={}{}", time->name, *value, unit)), skip_value(), true;
    }
    if (take_number(name, *value) || take_size(name, *value) || take_length(name, *value) || take_limit(name, *value) ||
        take_amount(name, *value))
      return true;
    // The value of a flag is not a word by itself.
    const FlagInfo* flag = find(name);
    const bool is_switch = flag != nullptr && flag->values.empty();
    if (is_switch || in_[at_].find('=') != std::string::npos) return false;
    const bool misspelt = flag == nullptr && !flags_spelled_like(name, value, declared_).empty();
    if (misspelt) return keep(name + "=" + in_[++at_]), true;  // `--tokns 1B` names no model of this size
    keep(in_[at_]);
    keep(in_[++at_]);
    return true;
  }

  bool take_job(const std::string& name, const std::optional<std::string>& value) {
    if (!has("--job")) return false;
    if (name == "--job") {
      if (!value || job_of(*value).empty()) return false;
      set_job(job_of(*value));
      if (lists_word("kto orpo simpo cpo", to_lower(*value)))
        out_.rest.notes.push_back(
            fmt::format("{} is planned like DPO, with a reference model that it may not need", *value));
      if (const std::string algorithm = algorithm_of(*value); !algorithm.empty() && has("--algorithm"))
        keep("--algorithm=" + algorithm);
      if (lists_word("lora qlora", to_lower(*value)) && has("--method")) keep("--method=" + to_lower(*value));
      if (in_[at_].find('=') == std::string::npos) ++at_;
      return true;
    }
    if (find(name) != nullptr || in_[at_].find('=') != std::string::npos) return false;
    const std::string job = job_of(name);
    if (job.empty() || read_work_flag(name)) return false;
    set_job(job);
    // --embeddings 30M: the job and its amount. A number of parameters is the model's.
    if (const auto amount = value ? parse_amount(*value) : std::nullopt;
        amount && amount->thing.empty() && !is_size(*value) && !lists_word("train finetune dpo rl", job)) {
      const Thing thing = job == "serve" ? Thing::kRequest : job == "image" ? Thing::kImage : Thing::kItem;
      out_.amounts.push_back({name, *value, thing, *amount, false});
      skip_value();
    }
    return true;
  }

  // Numbers from which settings follow: --nodes 2 --gpus-per-node 8 are 16 GPUs, --dp 2 doubles those of one copy, and
  // users with their messages are traffic.
  bool take_number(const std::string& name, const std::string& value) {
    static constexpr struct {
      std::string_view list;
      std::optional<double> Said::*to;
      bool traffic;
    } kNumbers[] = {
        {"nodes", &Said::nodes, false}, {"GPUs of a node", &Said::per_node, false}, {"copies", &Said::copies, false},
        {"turns", &Said::turns, true},  {"in flight", &Said::concurrency, true},    {"think", &Said::think, true},
    };
    const std::vector<std::string_view> parts = split_list(name, '-');
    const auto says = [&](auto&& test) { return std::ranges::any_of(parts, test); };
    const bool in_flight =  // --parallel-requests
        says([](std::string_view part) { return lists_word("parallel concurrent simultaneous inflight", part); }) &&
        says([](std::string_view part) { return thing_of(part) == Thing::kRequest; });
    const auto row = std::ranges::find_if(kNumbers, [&](const auto& one) {
      return lists_word(listed(one.list), name) || (in_flight && one.to == &Said::concurrency);
    });
    if (row == std::end(kNumbers) ||
        !(row->traffic ? plans_ || has("--arrivals") || in_flight : has("--gpus") && !has(name)))
      return false;
    const std::optional<Amount> amount = parse_amount(value);
    const Result<Seconds> time = parse_duration(value);
    constexpr double kMostCount = 1e12;  // more is refused as it was typed
    const bool is_time = row->to == &Said::think, often = row->to == &Said::turns;
    if (is_time ? !time.has_value()
                : !amount || (amount->per && !often) || !(amount->count > 0 && amount->count < kMostCount))
      return false;
    out_.*row->to = is_time ? in_seconds(*time) : amount->count;
    if (often && amount->per) out_.turns_per = amount->per;
    skip_value();
    return true;
  }

  // A model that is known only by its size.
  bool take_size(const std::string& name, const std::string& value) {
    if (!has("--model") || has(name)) return false;
    if (name == "--like" || name == "--similar-to")
      out_.like = value;
    else if (lists_word(listed("sizes of models"), name) && parse_amount(value))
      out_.parameters = value;
    else
      return false;
    skip_value();
    return true;
  }

  // The longest request that an engine accepts.
  bool take_length(const std::string& name, const std::string& value) {
    const auto tokens = parse_amount(value);
    if (!has("--isl") || !lists_word(listed("longest request"), name) || !tokens || tokens->per) return false;
    keep_longest(value);
    skip_value();
    return true;
  }

  bool take_limits(const std::string& text) {
    const auto limits = read_limits(text);
    if (limits) out_.limits.insert(out_.limits.end(), limits->begin(), limits->end());
    return limits.has_value();
  }

  bool take_limit(const std::string& name, const std::string& value) {
    if (!has("--slo") && !has("--ttft-slo") && !has("--job")) return false;
    if (name == "--slo" && has("--slo") && is_plain_slo(value)) return false;
    const bool slo = lists_word("--slo --slos --sla", name) ||
                     (find(name) == nullptr && value.find_first_of(" =<:") != value.npos && read_limits(value));
    std::optional<std::vector<LatencyLimit>> limits;
    if (slo) {
      limits = read_limits(value);
    } else if (const auto limit_name =
                   read_limit_name(name.substr(std::min(name.find_first_not_of('-'), name.size())))) {
      if (const auto limit = read_limit(*limit_name, value)) limits = {*limit};
    }
    if (!limits) return false;
    for (const LatencyLimit& limit : *limits) {
      if (limit.unit_assumed) out_.rest.notes.push_back(fmt::format("{} {} is {}", name, value, limit.text));
    }
    out_.limits.insert(out_.limits.end(), limits->begin(), limits->end());
    skip_value();
    return true;
  }

  bool take_amount(const std::string& name, const std::string& value) {
    const FlagInfo* declared = find(name);
    // --rps 3..25, --rate 2-10/s: from the lowest to the highest.
    const std::size_t dots = value.find(".."), dash = dots != value.npos ? dots : value.find('-');
    if (lists_word("--rate --arrivals", name) && dash != value.npos && dash > 0) {
      const auto low = parse_amount(value.substr(0, dash)),
                 high = parse_amount(value.substr(dash + 1 + (dots == dash)));
      if (low && high && !low->per && low->thing.empty() && put_range(*low, *high, value)) return skip_value(), true;
    }
    const bool is_rate = name == "--rate" || name == "--arrivals" || name == "--volume";
    // The command's own flags keep their meaning, except that plans accept rates for every amount of work.
    constexpr std::array kWork = {"--tokens", "--items", "--rate", "--images", "--audio-hours", "--prompts"};
    const bool repeated = name == "--items" && has("--volume") && parse_amount(value).value_or(Amount{}).per;
    if (declared != nullptr && !repeated && (!plans_ || !holds(kWork, name))) return false;
    if (declared != nullptr && name == "--prompts" && says_rl(in_)) return false;
    std::optional<WorkFlag> work = is_rate             ? WorkFlag{Thing::kRequest, {}}
                                   : name == "--items" ? WorkFlag{Thing::kItem, {}}
                                                       : read_work_flag(name);
    const std::optional<Amount> amount = parse_amount(value);
    if (!work && plans_ && amount && is_noun(name) && (amount->per || amount->count >= kMany) &&
        flags_spelled_like(name, value, declared_).empty())
      work = WorkFlag{Thing::kItem, {}};
    // --traffic 5rps: the value has the unit.
    if (!work && !declared && amount && amount->per && thing_of(amount->thing) != Thing::kNone)
      work = WorkFlag{thing_of(amount->thing), {}};
    // --traffic 20/s, --peak-load 40/s.
    const auto loads = [](std::string_view part) { return lists_word(listed("traffic"), part); };
    const bool load = !work && !declared && amount && amount->thing.empty() &&
                      std::ranges::any_of(split_list(name, '-'), loads) && (has("--rate") || has("--arrivals"));
    if (load) work = WorkFlag{Thing::kRequest, amount->per ? std::nullopt : std::optional(seconds(1))};
    // --volume "10000 hours/day" of a model of speech.
    const bool minutes = amount && lists_word("min mins minute minutes", amount->thing);
    const bool audio =
        amount && work && has("--audio-hours") && (minutes || lists_word("h hr hrs hour hours", amount->thing));
    if (audio) work = WorkFlag{Thing::kAudioHour, {}};
    if (!work || !amount || !(amount->count > 0)) return false;
    if (name == "--images" && !is_image_work(*amount)) return false;
    SaidAmount said{name, value, work->thing, *amount, is_rate};
    if (minutes || work->minutes) said.amount.count /= 60;
    if (!said.amount.per) said.amount.per = work->per;
    if (is_rate && !said.amount.per) said.amount.per = seconds(1);
    said.is_rate = is_rate || work->per == seconds(1);
    if (const Thing named = thing_of(amount->thing); is_rate && named == Thing::kToken) said.thing = named;
    out_.amounts.push_back(said);
    skip_value();
    return true;
  }

  // --pdfs 100k: an unknown plural with a number that is large enough to be an amount of work.
  static constexpr double kMany = 1000;
  static bool is_noun(std::string_view name) {
    constexpr std::size_t kShortest = 6;  // "--pdfs"
    return name.size() >= kShortest && name.ends_with('s') && name.find('-', 2) == std::string_view::npos;
  }

  std::optional<Seconds> every_;  // the time in which all amounts arrive

  // --images 1 is part of a prompt if the model reads images; otherwise images are the work.
  bool is_image_work(const Amount& amount) {
    const auto shape = shape_among(in_);
    return amount.per || amount.count > 64 || (shape ? !shape->vision : amount.count > 1);
  }
};

}  // namespace

bool plans_work(const std::deque<FlagInfo>& declared) {
  return find_flag(declared, "--items") != nullptr && find_flag(declared, "--rate") != nullptr;
}

bool is_workload_file(const std::string& word) {
  std::error_code ignored;
  return word == "-" || word.ends_with(".yaml") || word.ends_with(".yml") ||
         std::filesystem::is_regular_file(word, ignored);
}

std::string model_among(const std::vector<std::string>& words) {
  if (const std::string named = value_of(words, "--model"); !named.empty()) return named;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool value = i > 1 && is_flag_word(words[i - 1]) && words[i - 1].find('=') == std::string::npos;
    if (is_flag_word(word) || word.starts_with('$') || value || is_workload_file(word) || is_link(word) ||
        !job_of(word).empty())
      continue;
    if (const auto amount = parse_amount(word); amount && (amount->per || amount->thing.empty())) continue;
    return word;
  }
  return {};
}

std::optional<model::ModelShape> shape_among(const std::vector<std::string>& words) {
  const std::string name = model_among(words);
  if (name.empty() || name == "-") return std::nullopt;
  Checked<model::ModelShape> shape = model::find_model(name);
  return shape ? std::optional(*std::move(shape)) : std::nullopt;
}

Said read_said(Typed typed, const std::deque<FlagInfo>& declared) {
  return SaidReader(std::move(typed), declared).run();
}

}  // namespace rightsize::app
