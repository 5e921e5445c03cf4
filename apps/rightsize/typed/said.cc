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
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"

namespace rightsize::app {
namespace {

// Words between names that have no meaning alone.
bool is_link(std::string_view word) {
  constexpr std::string_view kLinks =
      "for on with using of at the a an model models and vs gpu gpus how many much do i need to is my me in run can "
      "could would should will we our it its that this be have has want like please about around roughly each per "
      "from by some only under over below than less more most max at least cheapest best cheap low cost costs which "
      "what if or single tokens token concurrent machine machines node nodes";
  return lists_word(kLinks, to_lower(word));
}

bool names_thing(const std::string& word) { return thing_of(word) != Thing::kNone && job_of(word).empty(); }

// What parse_slos() of the commands reads itself: p99=100ms, ttft-p95=1s.
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

// A unit may be a separate word: --docs 50 M per day.
bool is_unit_word(const std::string& word) {
  return !word.starts_with('-') && (continues_amount(word) || names_thing(word));
}

class SaidReader {
 public:
  SaidReader(Typed typed, const std::deque<FlagInfo>& declared) : in_(std::move(typed.words)), declared_(declared) {
    out_.rest = std::move(typed);
    out_.rest.words.clear();
  }

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
    count_documents();
    return std::move(out_);
  }

 private:
  // A query of a reranker is as many passes as it has documents: --rate 30/s --pairs 50.
  void count_documents() {
    const auto first = [&](auto test) { return std::find_if(out_.amounts.begin(), out_.amounts.end(), test); };
    const auto documents =
        first([](const SaidAmount& s) { return s.thing == Thing::kItem && !s.amount.per && !s.is_rate; });
    const auto rate =
        first([](const SaidAmount& s) { return s.is_rate || (s.thing == Thing::kRequest && s.amount.per); });
    if (out_.job != "rerank" || documents == out_.amounts.end() || rate == out_.amounts.end()) return;
    const double many = documents->amount.count;
    rate->amount.count *= many;
    rate->flag.clear();
    rate->value = fmt::format("{} queries of {} documents", rate->value, format_count(many));
    out_.amounts.erase(documents);
  }

  void keep(const std::string& word) { out_.rest.words.push_back(word); }

  const FlagInfo* find(std::string_view name) const {
    for (const FlagInfo& flag : declared_) {
      if (flag.name == name) return &flag;
    }
    return nullptr;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }

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
    // --p99 ttft=300ms
    if (value->find('=') != std::string::npos && read_limit_name(name.substr(std::min<std::size_t>(2, name.size()))) &&
        take_limits(name.substr(2) + "-" + *value))
      return skip_value(), true;
    if (take_nodes(name, *value) || take_size(name, *value) || take_person(name, *value) || take_length(name, *value) ||
        take_limit(name, *value) || take_amount(name, *value))
      return true;
    // The value of a flag is not a word by itself.
    const FlagInfo* flag = find(name);
    const bool is_switch = flag != nullptr && flag->values.empty();
    if (is_switch || in_[at_].find('=') != std::string::npos) return false;
    keep(in_[at_]);
    keep(in_[++at_]);
    return true;
  }

  void set_job(const std::string& job) {
    // "batch inference" is a batch job: the more specific word counts.
    if (out_.job.empty() || out_.job == "serve") out_.job = job;
  }

  bool take_job(const std::string& name, const std::optional<std::string>& value) {
    if (!has("--job")) return false;
    if (name == "--job") {
      if (!value || job_of(*value).empty()) return false;
      set_job(job_of(*value));
      if (in_[at_].find('=') == std::string::npos) ++at_;
      return true;
    }
    if (find(name) != nullptr || in_[at_].find('=') != std::string::npos) return false;
    const std::string job = job_of(name);
    if (job.empty() || read_work_flag(name)) return false;
    set_job(job);
    return true;
  }

  // Prompts of a step of reinforcement learning are not work to serve.
  bool says_rl() const {
    return std::any_of(in_.begin(), in_.end(), [](const std::string& word) {
      const std::string_view value = std::string_view(word).substr(word.find('=') + 1);
      return word.starts_with("--algorithm") || word.starts_with("--rollout-") ||
             (job_of(std::string(value)) == "rl" && (value == word || word.starts_with("--job=")));
    });
  }

  // People and what they do between two requests.
  bool take_person(const std::string& name, const std::string& value) {
    if (!plans_ && !has("--arrivals")) return false;
    if (holds(std::array{"--think", "--think-time", "--thinktime", "--pause"}, name)) {
      const Result<Seconds> time = parse_duration(value);
      if (!time) return false;
      out_.think = in_seconds(*time);
    } else if (holds(std::array{"--turns", "--messages", "--messages-per-user", "--requests-per-user",
                                "--turns-per-session", "--turns-per-user", "--prompts-per-user"},
                     name)) {
      const auto turns = parse_amount(value);
      if (!turns) return false;
      out_.turns = turns->count;
      if (turns->per) out_.turns_per = turns->per;
    } else if (holds(std::array{"--concurrency", "--max-concurrency", "--concurrent-requests", "--in-flight",
                                "--parallel-requests", "--simultaneous-requests"},
                     name)) {
      const auto many = parse_amount(value);
      if (!many || many->per || !(many->count > 0)) return false;
      out_.concurrency = many->count;
    } else {
      return false;
    }
    skip_value();
    return true;
  }

  // --nodes 2 --gpus-per-node 8 are 16 GPUs.
  bool take_nodes(const std::string& name, const std::string& value) {
    const auto many = parse_amount(value);
    if (!has("--gpus") || has(name) || !many || many->per) return false;
    if (holds(std::array{"--nodes", "--num-nodes", "--nnodes"}, name))
      out_.nodes = many->count;
    else if (holds(std::array{"--gpus-per-node", "--ntasks-per-node", "--gpus-per-machine"}, name))
      out_.per_node = many->count;
    else
      return false;
    skip_value();
    return true;
  }

  // A model that is known only by its size.
  bool take_size(const std::string& name, const std::string& value) {
    constexpr std::array kSizes = {"--params",         "--parameters", "--num-params",
                                   "--num-parameters", "--model-size", "--param-count"};
    if (!has("--model") || has(name)) return false;
    if (name == "--like" || name == "--similar-to")
      out_.like = value;
    else if (holds(kSizes, name) && parse_amount(value))
      out_.parameters = value;
    else
      return false;
    skip_value();
    return true;
  }

  // The longest request that an engine accepts.
  bool take_length(const std::string& name, const std::string& value) {
    constexpr std::array kNames = {"--max-model-len",  "--max-model-length", "--max-total-tokens",
                                   "--context-window", "--ctx-size",         "--num-ctx",
                                   "--n-ctx",          "--max-context"};
    const auto tokens = parse_amount(value);
    if (!has("--isl") || !holds(kNames, name) || !tokens || tokens->per) return false;
    const bool binary = to_lower(value).ends_with('k') && tokens->count < 1e6;  // 32k is 32,768
    out_.longest = binary ? tokens->count * 1.024 : tokens->count;
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
    const bool slo = name == "--slo" || name == "--slos" || name == "--sla";
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
    // --dataset 10k samples: the unit decides.
    if (const auto size = parse_amount(value); name == "--dataset-tokens" && size && !size->per &&
                                               thing_of(size->thing) == Thing::kItem && has("--dataset-samples")) {
      keep(fmt::format("--dataset-samples={:.0f}", size->count));
      skip_value();
      return true;
    }
    const bool is_rate = name == "--rate" || name == "--arrivals" || name == "--volume";
    // A flag of the command means what the command says, except that plans take rates for every amount of work.
    constexpr std::array kWork = {"--tokens", "--items", "--rate", "--images", "--audio-hours", "--prompts"};
    if (declared != nullptr && (!plans_ || !holds(kWork, name))) return false;
    if (declared != nullptr && name == "--prompts" && says_rl()) return false;
    std::optional<WorkFlag> work = is_rate             ? WorkFlag{Thing::kRequest, {}}
                                   : name == "--items" ? WorkFlag{Thing::kItem, {}}
                                                       : read_work_flag(name);
    const std::optional<Amount> amount = parse_amount(value);
    if (!work && plans_ && amount && is_noun(name) && (amount->per || amount->count >= kMany))
      work = WorkFlag{Thing::kItem, {}};
    // --traffic 5rps: the value says what it is.
    if (!work && !declared && amount && amount->per && thing_of(amount->thing) != Thing::kNone)
      work = WorkFlag{thing_of(amount->thing), {}};
    if (!work || !amount || !(amount->count > 0)) return false;
    if (name == "--images" && !is_image_work(*amount)) return false;
    SaidAmount said{name, value, work->thing, *amount, is_rate};
    if (!said.amount.per) said.amount.per = work->per;
    if (is_rate && !said.amount.per) said.amount.per = seconds(1);
    said.is_rate = is_rate || work->per == seconds(1);
    if (const Thing named = thing_of(amount->thing); is_rate && named == Thing::kToken) said.thing = named;
    out_.amounts.push_back(said);
    skip_value();
    return true;
  }

  // --pdfs 100k: a plural that no table has, with a number that only an amount of work has.
  static constexpr double kMany = 1000;
  static bool is_noun(std::string_view name) {
    constexpr std::size_t kShortest = 6;  // "--pdfs"
    return name.size() >= kShortest && name.ends_with('s') && name.find('-', 2) == std::string_view::npos;
  }

  // --images 1 is part of a prompt where the model reads images; otherwise images are the work.
  bool is_image_work(const Amount& amount) {
    const auto shape = shape_among(in_);
    return !shape || !shape->vision || amount.per || amount.count > 64;
  }

  // "embed", "50M docs/day", "20 req/s", "by friday", a server's address.
  bool take_bare() {
    const std::string& word = in_[at_];
    if (has("--prometheus") && (word.starts_with("http://") || word.starts_with("https://"))) {
      keep("--prometheus=" + word);
      return true;
    }
    if (is_workload_file(word)) return false;
    if (take_offer(word)) return true;
    if (!has("--job") && !has("--arrivals") && !has("--volume")) return false;
    if (take_lengths(word) || take_stated_limit() || take_money(word)) return true;
    if (has("--deadline") && holds(std::array{"by", "before", "within", "until", "in"}, to_lower(word)) &&
        at_ + 1 < in_.size()) {
      std::string text = in_[at_ + 1];
      std::size_t used = 1;
      while (at_ + used + 1 < in_.size() && continues_amount(in_[at_ + used + 1])) text += " " + in_[at_ + ++used];
      if (time_until(text, local_now()) || parse_duration(text)) {
        keep("--deadline=" + text);
        at_ += used;
        return true;
      }
    }
    if (take_pair(word)) return true;
    if (has("--job") && !job_of(word).empty()) {
      set_job(job_of(word));
      return true;
    }
    if (is_link(word) && in_.size() > 2) return true;
    if (out_.command == "init" && model::is_known_name(word)) {
      keep("--model=" + word);
      return true;
    }
    if (take_audio(word) || take_name(word) || skip_word(word)) return true;
    if (word.front() < '0' || word.front() > '9') return false;
    std::string text = word;
    std::size_t used = 0;
    bool together = false;  // "500 concurrent users", "10k daily active users"
    for (; at_ + used + 1 < in_.size(); ++used) {
      const std::string next = to_lower(in_[at_ + used + 1]);
      const bool said = lists_word("concurrent simultaneous parallel active", next);
      together |= said && next != "active";
      if (!said && !is_unit_word(next)) break;
      if (!said) text += " " + in_[at_ + used + 1];
    }
    const std::optional<Amount> amount = parse_amount(text);
    const Thing thing = amount ? thing_of(amount->thing) : Thing::kNone;
    if (!amount || thing == Thing::kNone) return false;
    if (together && thing == Thing::kRequest && !amount->per)
      out_.concurrency = amount->count;
    else
      out_.amounts.push_back({"", text, thing, *amount, false});
    at_ += used;
    return true;
  }

  std::string lower_at(std::size_t at) const { return at < in_.size() ? to_lower(in_[at]) : std::string(); }

  // "spot", "on aws", "in eu", "in us-east-1": terms, a provider or a region. A word alone may also be a link.
  bool take_offer(const std::string& word) {
    const bool verb = std::exchange(first_bare_, false) && out_.command == "prices";  // prices spot, prices compare
    if (verb || !has("--provider") || model::is_known_name(word)) return false;
    const bool after = lists_word("in on from at using with via", to_lower(word));
    const std::string& name = after && at_ + 1 < in_.size() ? in_[at_ + 1] : word;
    std::string flag = is_link(name) && !after ? std::string() : offer_named(name, declared_);
    const bool region = to_lower(word) == "in" && name.find('-') != std::string::npos && name.back() >= '0' &&
                        name.back() <= '9' && kind_of_word(name) == WordKind::kOther;
    if (flag.empty() && region && has("--region")) flag = "--region=" + name;
    if (flag.empty()) {
      const bool lists_offers = !has("--job") && !has("--model") && has("--gpu");
      return lists_offers && in_.size() > 3 && is_link(word);
    }
    keep(flag);
    at_ += after;
    return true;
  }

  // "1000 input and 300 output tokens", "1k tokens in", "prompts of 2000 tokens" after "input".
  bool take_lengths(const std::string& word) {
    if (!has("--isl") || !has("--osl")) return false;
    constexpr std::string_view kIn = "input in prompt context",
                               kOut = "output out answer response completion generated";
    const auto side = [&](const std::string& said) {
      return lists_word(kIn, said) ? "--isl" : lists_word(kOut, said) ? "--osl" : "";
    };
    const auto is_tokens = [](const std::string& said) { return lists_word("token tokens tok toks", said); };
    constexpr double kLongest = 1e7;
    const auto amount = parse_amount(word);
    if (amount && !amount->per && amount->thing.empty() && amount->count <= kLongest) {
      std::size_t at = at_ + 1;
      const bool tokens = is_tokens(lower_at(at));
      if (tokens) at += lower_at(at + 1) == "of" ? 2 : 1;
      const std::string flag = side(lower_at(at)), after = lower_at(at + 1);
      // "5 in us" and "1M tokens in 3 days" are no lengths.
      const bool other = parse_duration(after + " " + lower_at(at + 2)) || !offer_named(after, declared_).empty();
      const bool plain = lower_at(at) != "in" || after.empty() || is_tokens(after) || after == "and" ||
                         ((tokens || parse_amount(after)) && !other);
      if (flag.empty() || !plain) return false;
      keep(flag + "=" + word);
      at_ = at + (is_tokens(after) ? 1 : 0);
      return true;
    }
    const std::string flag =
        lists_word("input prompt output answer response", to_lower(word)) ? side(to_lower(word)) : "";
    const std::size_t at = at_ + (lower_at(at_ + 1) == "of" ? 2 : 1);
    const auto length = parse_amount(lower_at(at));
    if (flag.empty() || !length || length->per || !length->thing.empty()) return false;
    keep(flag + "=" + in_[at]);
    at_ = at + (is_tokens(lower_at(at + 1)) ? 1 : 0);
    return true;
  }

  // "p95 TTFT under 1 s", "latency below 200ms".
  bool take_stated_limit() {
    if (!has("--slo") && !has("--ttft-slo")) return false;
    std::string name;
    std::optional<LatencyLimitName> limit;
    std::size_t at = at_;
    for (; at < in_.size() && at < at_ + 6 && !is_flag_word(in_[at]); ++at) {
      const std::string next = name + (name.empty() ? "" : "-") + lower_at(at);
      const auto read = read_limit_name(next);
      const bool filler = lists_word("less than is < <= =", lower_at(at));
      if (!read && !filler) break;
      if (read) name = next, limit = read;
    }
    if (!limit || !limit->metric || at >= in_.size()) return false;
    std::string value = in_[at];
    if (at + 1 < in_.size() && lists_word("s ms sec second seconds millisecond milliseconds", lower_at(at + 1)))
      value += (lower_at(++at).starts_with('m') ? "ms" : "s");
    const auto stated = read_limit(*limit, value);
    if (!stated) return false;
    out_.limits.push_back(*stated);
    at_ = at;
    return true;
  }

  // "$2000/month", "$50": a budget.
  bool take_money(const std::string& word) {
    if (!has("--budget") || word.size() < 2 || word.front() != '$') return false;
    std::string text = word;
    std::size_t at = at_;
    if (lists_word("per a", lower_at(at + 1)) && continues_amount(lower_at(at + 2)))
      text += "/" + lower_at(at + 2), at += 2;
    else if (lists_word("monthly", lower_at(at + 1)))
      text += "/month", at += 1;
    if (!parse_amount(std::string_view(text).substr(1))) return false;
    keep("--budget=" + text);
    at_ = at;
    return true;
  }

  // A flag without its dashes: `estimate llama-3.1-8b l4 batch 4`.
  bool take_pair(const std::string& word) {
    for (const std::size_t words : {2, 1}) {  // `global batch 512`, `batch 4`
      if (at_ + words >= in_.size()) continue;
      const FlagInfo* flag = find("--" + to_lower(word) + (words == 2 ? "-" + lower_at(at_ + 1) : ""));
      if (flag == nullptr || !settings::is_number(flag->setting->kind)) continue;
      if (!settings::read(*flag->setting, in_[at_ + words])) continue;
      keep(flag->name + "=" + in_[at_ + words]);
      at_ += words;
      return true;
    }
    return false;
  }

  // "5000 hours of audio".
  bool take_audio(const std::string& word) {
    const auto hours = parse_amount(word);
    if (!plans_ || !hours || at_ + 2 >= in_.size() || !lists_word("hours hour h", to_lower(in_[at_ + 1]))) return false;
    const std::size_t what = at_ + (to_lower(in_[at_ + 2]) == "of" ? 3 : 2);
    if (what >= in_.size() || !lists_word("audio speech podcasts calls recordings", to_lower(in_[what]))) return false;
    out_.amounts.push_back({"", word + " hours of audio", Thing::kAudioHour, *hours, false});
    at_ = what;
    return true;
  }

  // A word that says nothing, beside a model: `estimate throughput llama-3.1-8b`. Paths and numbers are kept.
  bool skip_word(const std::string& word) {
    if (!has("--model") || word.find_first_of("./\\:0123456789") != std::string::npos || model::is_known_name(word))
      return false;
    const bool model_given = std::any_of(in_.begin() + 1, in_.end(), [&](const std::string& other) {
      return other.starts_with("--model=") || (!is_flag_word(other) && other != word && model::is_known_name(other));
    });
    if (!model_given) return false;
    out_.rest.notes.push_back(fmt::format("'{}' is not used", word));
    return true;
  }

  // A GPU or a number format in any place: `memory deepseek-v3 fp8 8xH200`.
  bool take_name(const std::string& word) {
    if (!has("--model") || !has("--gpu") || model::is_known_name(word)) return false;
    if (const std::string size = meant_value("--resolution", word); size != word && has("--resolution")) {
      keep("--resolution=" + size);
      return true;
    }
    const std::string value = meant_value("--precision", to_lower(word));
    for (const std::string& flag : {std::string("precision"), std::string("method"), std::string("stack")}) {
      if (!has("--" + flag) || !settings::read(settings::get(flag), value)) continue;
      keep("--" + flag + "=" + value);
      return true;
    }
    if (kind_of_word(word) != WordKind::kGpu) return false;
    keep("--gpu=" + word);
    return true;
  }

  std::vector<std::string> in_;
  const std::deque<FlagInfo>& declared_;
  bool plans_ = false, first_bare_ = true;
  std::size_t at_ = 0;
  Said out_;
};

}  // namespace

bool plans_work(const std::deque<FlagInfo>& declared) {
  const auto has = [&](std::string_view name) {
    return std::any_of(declared.begin(), declared.end(), [&](const FlagInfo& flag) { return flag.name == name; });
  };
  return has("--items") && has("--rate");
}

bool is_workload_file(const std::string& word) {
  std::error_code ignored;
  return word == "-" || word.ends_with(".yaml") || word.ends_with(".yml") ||
         std::filesystem::is_regular_file(word, ignored);
}

std::string model_among(const std::vector<std::string>& words) {
  constexpr std::string_view kModel = "--model=";
  for (const std::string& word : words) {
    if (word.starts_with(kModel)) return word.substr(kModel.size());
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool value = i > 1 && is_flag_word(words[i - 1]) && words[i - 1].find('=') == std::string::npos;
    if (is_flag_word(word) || value || is_workload_file(word) || is_link(word) || !job_of(word).empty()) continue;
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
