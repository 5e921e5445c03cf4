#include "rightsize/typed/said_words.h"

#include <algorithm>
#include <array>
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

bool names_thing(const std::string& word) { return thing_of(word) != Thing::kNone; }

}  // namespace

bool is_link(std::string_view word) {
  constexpr std::string_view kLinks =
      "for on with using of at the a an model models and vs gpu gpus how many much do i need to is my me in run can "
      "could would should will we our it its that this be have has want like please about around roughly each per "
      "from by some only under over below than less more most max at least cheapest best cheap low cost costs which "
      "what if or single tokens token concurrent machine machines node nodes";
  return lists_word(kLinks, to_lower(word));
}

bool is_unit_word(const std::string& word) {
  return !word.starts_with('-') && (continues_amount(word) || names_thing(word));
}

WordReader::WordReader(Typed typed, const std::deque<FlagInfo>& declared)
    : in_(std::move(typed.words)), declared_(declared) {
  out_.rest = std::move(typed);
  out_.rest.words.clear();
}

void WordReader::keep(const std::string& word) { out_.rest.words.push_back(word); }

const FlagInfo* WordReader::find(std::string_view name) const {
  for (const FlagInfo& flag : declared_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

bool WordReader::has(std::string_view name) const { return find(name) != nullptr; }

void WordReader::set_job(const std::string& job) {
  // "batch inference" is a batch job: the more specific word counts.
  if (out_.job.empty() || out_.job == "serve" || (out_.job == "rl" && job == "dpo")) out_.job = job;
}

bool WordReader::take_bare() {
  const std::string& word = in_[at_];
  if (has("--prometheus") && (word.starts_with("http://") || word.starts_with("https://"))) {
    keep("--prometheus=" + word);
    return true;
  }
  if (is_workload_file(word)) return false;
  if (take_offer(word)) return true;
  if (!has("--job") && !has("--arrivals") && !has("--volume")) return false;
  if (take_lengths(word) || take_stated_limit() || take_money(word)) return true;
  if (take_short_limit(word) || take_window(word)) return true;
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
  if (thing != Thing::kToken) take_length_of_each();
  return true;
}

std::string WordReader::lower_at(std::size_t at) const { return at < in_.size() ? to_lower(in_[at]) : std::string(); }

bool WordReader::take_offer(const std::string& word) {
  const bool verb = std::exchange(first_bare_, false) && out_.command == "prices";  // prices spot, prices compare
  if (verb || !has("--provider")) return false;
  // "1 year", "3-year".
  const bool years = lists_word("year years yr y", lower_at(at_ + 1)) && (word == "1" || word == "3");
  const bool hyphened = lists_word("1-year 3-year 1-years 3-years one-year three-year", to_lower(word));
  if ((years || hyphened) && has("--purchase")) {
    keep(word.starts_with('3') || to_lower(word).starts_with('t') ? "--purchase=3y" : "--purchase=1y");
    at_ += years;
    return true;
  }
  const bool gpus = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  if (gpus && has("--base") && kind_of_word(word) != WordKind::kGpu) {
    keep("--base=" + word);
    at_ += lists_word("gpus gpu", lower_at(at_ + 1));
    return true;
  }
  if (model::is_known_name(word)) return false;
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

bool WordReader::take_lengths(const std::string& word) {
  if (!has("--isl") || !has("--osl")) return false;
  constexpr std::string_view kIn = "input in prompt context",
                             kOut = "output out answer response completion generated outputs answers responses";
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
    // "5 in us" and "1M tokens in 3 days" are not lengths.
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

bool WordReader::take_stated_limit() {
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

bool WordReader::take_short_limit(const std::string& word) {
  if (!has("--ttft-slo") || !lists_word("under below within in", to_lower(word)) || at_ + 1 >= in_.size()) return false;
  constexpr Seconds kLongest = seconds(60);
  std::size_t at = at_ + 1;
  Result<Seconds> time = parse_duration(in_[at]);
  if (!time && at + 1 < in_.size()) time = parse_duration(in_[at] + " " + in_[at + 1]), ++at;
  if (!time || !(*time > Seconds{}) || *time >= kLongest) return false;
  LatencyLimit limit;
  limit.metric = LatencyMetric::kTtft;
  limit.most = *time;
  limit.text = in_[at_ + 1] + (at > at_ + 1 ? " " + in_[at] : "");
  out_.limits.push_back(limit);
  out_.rest.notes.push_back(fmt::format("'{} {}' limits the time to the first token: --ttft-slo {}", word, limit.text,
                                        format_duration(*time)));
  at_ = at;
  return true;
}

bool WordReader::take_window(const std::string& word) {
  if (!has("--volume") || !parse_duration(word)) return false;
  const bool window = lists_word("window windows", lower_at(at_ + 1)) && has("--window");
  const bool each = lists_word("each", lower_at(at_ + 1)) && has("--item-time");
  if (!window && !each) return false;
  keep((window ? "--window=" : "--item-time=") + word);
  ++at_;
  return true;
}

void WordReader::take_length_of_each() {
  const std::size_t at = at_ + (lower_at(at_ + 1) == "of" ? 2 : 1);
  const auto length = parse_amount(lower_at(at));
  const bool tokens = lists_word("token tokens tok", lower_at(at + 1));
  if (!tokens || !length || length->per || !length->thing.empty()) return;
  const bool trains =
      lists_word("train finetune dpo", out_.job) || std::any_of(in_.begin(), in_.end(), [](const std::string& word) {
        return lists_word("--job=train --job=finetune --job=dpo", word);
      });
  const std::string flag = trains && has("--seq") ? "--seq=" : has("--isl") ? "--isl=" : "";
  if (flag.empty()) return;
  keep(flag + in_[at]);
  at_ = at + 1;
}

bool WordReader::take_money(const std::string& typed) {
  if (!has("--budget")) return false;
  // "5000 dollars a month", "budget 5000 usd".
  const bool dollars = lists_word("dollars dollar usd bucks", lower_at(at_ + 1)) && parse_amount(typed).has_value();
  const std::string word = dollars ? "$" + typed : typed;
  if (dollars) in_[++at_] = word;
  if (word.size() < 2 || word.front() != '$') return false;
  std::string text = word;
  std::size_t at = at_;
  if (lists_word("per a", lower_at(at + 1)) && continues_amount(lower_at(at + 2)))
    text += "/" + lower_at(at + 2), at += 2;
  else if (lists_word("monthly month", lower_at(at + 1)))
    text += "/month", at += 1;
  if (!parse_amount(std::string_view(text).substr(1))) return false;
  keep("--budget=" + text);
  at_ = at;
  return true;
}

bool WordReader::take_pair(const std::string& word) {
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

bool WordReader::take_audio(const std::string& word) {
  const auto hours = parse_amount(word);
  if (!plans_ || !hours || at_ + 2 >= in_.size() || !lists_word("hours hour h", to_lower(in_[at_ + 1]))) return false;
  const std::size_t what = at_ + (to_lower(in_[at_ + 2]) == "of" ? 3 : 2);
  if (what >= in_.size() || !lists_word("audio speech podcasts calls recordings", to_lower(in_[what]))) return false;
  out_.amounts.push_back({"", word + " hours of audio", Thing::kAudioHour, *hours, false});
  at_ = what;
  return true;
}

bool WordReader::skip_word(const std::string& word) {
  if (!has("--model") || word.find_first_of("./\\:0123456789") != std::string::npos || model::is_known_name(word))
    return false;
  const bool model_given = std::any_of(in_.begin() + 1, in_.end(), [&](const std::string& other) {
    const bool size = other.size() > 1 && other.find_first_not_of("0123456789.") == other.size() - 1;
    return (size && to_lower(other).back() == 'b') || other.starts_with("--model=") ||
           (!is_flag_word(other) && other != word && model::is_known_name(other));
  });
  if (!model_given) return false;
  out_.ignored += (out_.ignored.empty() ? "" : ", ") + word;
  return true;
}

bool WordReader::take_name(const std::string& word) {
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

}  // namespace rightsize::app
