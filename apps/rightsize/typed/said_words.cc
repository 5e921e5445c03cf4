#include "rightsize/typed/said_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/work_writer.h"

namespace rightsize::app {
namespace {

// Sides of a request. The plurals count only after "tokens": "64 prompts" is not a length.
constexpr std::string_view kIn = "input in prompt context sequence", kPrompts = "inputs prompts sequences",
                           kOut = "output out answer response completion generated reply outputs answers responses",
                           kAnswers = "completions replies", kContext = "context sequence sequences";

bool names_thing(const std::string& word) { return thing_of(word) != Thing::kNone; }

}  // namespace

bool is_link(std::string_view word) { return lists_word(listed("links"), to_lower(word)); }

bool is_unit_word(const std::string& word) {
  return !word.starts_with('-') && (continues_amount(word) || names_thing(word));
}

WordReader::WordReader(Typed typed, const std::deque<FlagInfo>& declared)
    : in_(std::move(typed.words)), declared_(declared) {
  constexpr std::ptrdiff_t kFewest = 4;
  out_.sentence = std::ranges::count_if(in_, [](const auto& word) { return !is_flag_word(word); }) > kFewest ||
                  !typed.asked.empty();  // most of it may be flags by now
  out_.rest = std::move(typed);
  out_.rest.words.clear();
}

void WordReader::keep(const std::string& word) {
  // "1 year vs 3 years", "in uk or germany": one list.
  const std::size_t equals = std::min(word.find('='), word.size());
  const FlagInfo* flag = equals < word.size() ? find(word.substr(0, equals)) : nullptr;
  std::string* given = flag != nullptr && flag->list && !flag->repeatable ? kept(flag->name + "=") : nullptr;
  if (given == nullptr) return out_.rest.words.push_back(word);
  const std::string value = word.substr(equals + 1), list = given->substr(equals + 1);
  if (!holds(split_list(list, ','), value)) *given += "," + value;
}

std::string* WordReader::kept(std::string_view beginning) {
  const auto found = std::find_if(out_.rest.words.begin(), out_.rest.words.end(),
                                  [&](const std::string& word) { return word.starts_with(beginning); });
  return found == out_.rest.words.end() ? nullptr : &*found;
}

void WordReader::ignore(const std::string& word) {
  constexpr std::string_view kBefore = "in on at for with by from to of my our the a an during around under";
  // What every answer has needs no note.
  if (lists_word(listed("answered"), to_lower(word))) return;
  if (ignored_end_ == at_ && at_ > 0 && to_lower(in_[at_ - 1]) == to_lower(word)) return;  // "idle idle"
  std::size_t from = at_;
  while (from > std::max<std::size_t>(1, ignored_end_) && lists_word(kBefore, lower_at(from - 1))) --from;
  const bool adjacent = ignored_end_ > 0 && from == ignored_end_;
  out_.ignored += out_.ignored.empty() ? "" : adjacent ? " " : ", ";
  for (std::size_t i = from; i < at_; ++i) out_.ignored += in_[i] + " ";
  out_.ignored += word;
  ignored_end_ = at_ + 1;
}

const FlagInfo* WordReader::flag_named(const std::string& name) const {
  if (const FlagInfo* own = find("--" + name)) return own;
  const std::string meant = meant_flag("--" + name, declared_, out_.job == "serve");
  return meant.find('=') == std::string::npos ? find(meant) : nullptr;
}

void WordReader::set_job(const std::string& job) {
  // "batch inference" is a batch job: the more specific word counts.
  if (out_.job.empty() || out_.job == "serve" || job == "dpo") out_.job = job;
}

bool WordReader::take_bare() {
  in_[at_] = singular_gpu(in_[at_]);
  const std::string& word = in_[at_];
  if (has("--prometheus") && (word.starts_with("http://") || word.starts_with("https://"))) {
    keep((word.ends_with("/metrics") && has("--from") ? "--from=" : "--prometheus=") + word);
    return true;
  }
  if (is_workload_file(word)) return false;
  // "a 7B reward model": the policy decides.
  if (has("--algorithm") && lists_word("reward critic value reference judge teacher", lower_at(at_ + 1)) &&
      (is_size(word) || model::is_known_name(word))) {
    out_.rest.notes.push_back(fmt::format("not modelled: a {} model of {}", lower_at(at_ + 1), word));
    at_ += lower_at(at_ + 2) == "model" ? 2 : 1;
    return true;
  }
  if (lists_word("policy actor", to_lower(word)) && has("--algorithm")) return true;
  // An instance type keeps its provider; a family next to its provider adds nothing.
  if (has("--instance") && machine_named(word) != nullptr) {
    keep("--instance=" + word);
    return true;
  }
  if (out_.sentence && is_instance_family(word) &&
      (is_vendor_or_provider(lower_at(at_ - 1)) || is_vendor_or_provider(lower_at(at_ + 1))))
    return true;
  if (!has("--region") && is_region(word)) return ignore(word), true;
  if (has("--growth") && take_share()) return true;
  if (take_offer(word)) return true;
  // "3 million inferences of bert-large, 128 tokens each"
  if (parse_amount(word) && lower_at(at_ + 1) == "tokens" && lower_at(at_ + 2) == "each") {
    --at_, take_length_of_each();
    if (lower_at(at_) == "each") return true;
    ++at_;
  }
  if (has("--growth") && (take_growth(word) || take_peak(word))) return true;
  if (has("--supports") && take_hardware(word)) return true;
  const bool names = out_.command == "models" && std::ranges::none_of(in_, [](const std::string& one) {
                       return one.starts_with("--gpu");
                     });  // `models embedding` lists models of this kind
  if (names || (!has("--job") && !has("--arrivals") && !has("--volume"))) return false;
  if (take_data_set(word) || take_range(word) || take_lengths(word) || take_stated_limit() ||
      take_limit_before_name() || take_percentile(word) || take_money(word))
    return true;
  if (take_short_limit(word) || take_window(word)) return true;
  if (take_deadline(word)) return true;
  if (take_network(word) || take_seconds(word) || take_hours(word) || take_habit(word) || take_pair(word) ||
      take_counted(word) || take_asked_rate())
    return true;
  read_preference(at_);
  if (has("--job") && !job_of(word).empty()) {
    set_job(job_of(word));
    if (lists_word("lora qlora", to_lower(word)) && has("--method")) keep_method(to_lower(word));
    return true;
  }
  if (lists_word("dora peft adapter adapters", to_lower(word)) && has("--method")) return keep_method("lora"), true;
  if (is_link(word) && in_.size() > 2) return true;
  if (out_.command == "init" && model::is_known_name(word)) {
    keep("--model=" + word);
    return true;
  }
  // "on a 4090: tokens per second" asks for the speed of a GPU.
  if (lists_word("tokens tok", lower_at(at_ + 1)) && lower_at(at_ + 2) == "per" && out_.command == "estimate" &&
      kind_of_word(word) == WordKind::kGpu && take_name(word))
    return true;
  // "4k documents" is not a resolution, as it is in "4k images".
  const char* digits = job_of(lower_at(at_ + 1)).empty() ? "0123456789.,kK" : "0123456789.,";
  const bool counted = word.find_first_not_of(digits) == std::string::npos &&
                       (is_unit_word(lower_at(at_ + 1)) || is_adjective(at_ + 1));  // "5000 rows" is not an RTX 5000
  if (has("--volume") && !counted && take_window_gpu(word)) return true;
  if (take_audio(word) || take_machines(word) || (!counted && take_name(word)) || skip_word(word)) return true;
  if (word.front() < '0' || word.front() > '9') return false;
  std::string text = word;
  std::size_t used = 0;
  bool together = false;  // "500 concurrent users", "10k daily active users"
  bool counts = false;    // what is counted was named
  for (; at_ + used + 1 < in_.size(); ++used) {
    const std::string next = to_lower(in_[at_ + used + 1]);
    const std::string time = lower_at(at_ + used + 2);  // "3 questions a day", "500M documents every night"
    if (lists_word("a an every each", next) && continues_amount(time) && parse_amount("1 x per " + time)) {
      text += " per " + time;
      used += 2;
      break;
    }
    const bool said = lists_word("concurrent simultaneous parallel active", next);
    together |= said && next != "active";
    // "12 rps, prompts 2k": a label with its own number. "6 rps run inference": the rate has its noun.
    const Amount so_far = parse_amount(text).value_or(Amount{});
    if (names_thing(next) && so_far.per && (!so_far.thing.empty() || parse_amount(lower_at(at_ + used + 2)))) break;
    if (!said && counts && names_thing(next)) {
      const std::string last = lower_at(at_ + used);
      if (last.ends_with('s') || !next.ends_with('s') || text.find(' ') == std::string::npos)
        break;                                              // "500 employees, answers ..."
      text = text.substr(0, text.rfind(' ')) + " " + next;  // "1 million product images"
      continue;
    }
    if (!said && !is_unit_word(next)) {
      if (!counts && refuse_number_word(word, at_ + used + 1)) return at_ += used + 1, true;
      if (counts || so_far.per || !is_adjective(at_ + used + 1)) break;
      read_preference(at_ + used + 1);  // "60k preference pairs"
      continue;                         // "1 million product images"
    }
    counts |= names_thing(next);
    if (!said) text += " " + in_[at_ + used + 1];
  }
  used = std::min(used, in_.size() - at_ - 1);
  std::optional<Amount> amount = parse_amount(text);
  Thing thing = amount ? thing_of(amount->thing) : Thing::kNone;
  // "2 million PDFs": any plural, with a number that only an amount of work has.
  const std::string noun = lower_at(at_ + used + 1);
  constexpr double kMany = 1000;
  if (amount && amount->thing.empty() && (plans_ || has("--volume")) && amount->count >= kMany && noun.size() > 3 &&
      noun.ends_with('s') && noun.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos &&
      !is_link(noun)) {
    text += " " + noun;
    amount->thing = noun;
    thing = Thing::kItem;
    ++used;
  }
  // `window 300k/day`: its items.
  if (amount && amount->per && amount->thing.empty() && has("--volume")) thing = Thing::kItem;
  if (!amount || thing == Thing::kNone) return skip_number(word);
  if (together && thing == Thing::kRequest && !amount->per)
    out_.concurrency = amount->count;
  else
    out_.amounts.push_back({"", text, thing, *amount, false});
  at_ += used;
  if (thing != Thing::kToken) take_length_of_each();
  return true;
}

std::string WordReader::lower_at(std::size_t at) const { return at < in_.size() ? to_lower(in_[at]) : std::string(); }

bool WordReader::take_lengths(const std::string& word) {
  if (!has("--isl") || !has("--osl")) return false;
  const auto side = [&](const std::string& said) {
    return lists_word(kIn, said) ? "--isl" : lists_word(kOut, said) ? "--osl" : "";
  };
  const auto side_of_tokens = [&](const std::string& said) {
    return lists_word(kPrompts, said) ? "--isl" : lists_word(kAnswers, said) ? "--osl" : side(said);
  };
  const auto is_tokens = [](const std::string& said) { return lists_word("token tokens tok toks", said); };
  constexpr double kLongest = 1e7;
  // "1500/300 tokens"
  if (const std::size_t slash = word.find('/'); slash != std::string::npos && is_tokens(lower_at(at_ + 1))) {
    const std::string in = word.substr(0, slash), out = word.substr(slash + 1);
    if (is_digits(in.substr(0, 1)) && is_digits(out.substr(0, 1)) && parse_count(in) && parse_count(out)) {
      keep("--isl=" + in), keep("--osl=" + out);
      at_ += lists_word("each", lower_at(at_ + 2)) ? 2 : 1;
      return true;
    }
  }
  const auto amount = parse_amount(word);
  if (amount && !amount->per && amount->thing.empty() && amount->count <= kLongest) {
    std::size_t at = at_ + 1;
    const bool tokens = is_tokens(lower_at(at));
    if (tokens) at += lower_at(at + 1) == "of" ? 2 : 1;
    const std::string flag = tokens ? side_of_tokens(lower_at(at)) : side(lower_at(at)), after = lower_at(at + 1);
    // "5 in us" and "1M tokens in 3 days" are not lengths.
    const bool other = parse_duration(after + " " + lower_at(at + 2)) || !offer_named(after, declared_).empty();
    const bool plain = lower_at(at) != "in" || after.empty() || is_tokens(after) || after == "and" ||
                       ((tokens || parse_amount(after)) && !other);
    if (flag.empty() || !plain) return false;
    lists_word(kContext, lower_at(at)) ? keep_longest(word) : keep(flag + "=" + word);
    at_ = at + (is_tokens(after) || lists_word("length window", after) ? 1 : 0);
    return true;
  }
  // "prompts 3k, answers 500", "sequence length 8192", "context of up to 32k".
  const std::string label = to_lower(word);
  const std::string flag = lists_word("in out", label) ? "" : label == "seq" ? "--isl" : side_of_tokens(label);
  std::size_t at = at_ + 1;
  while (lists_word("length lengths len size of is are about around roughly averaging average up to =", lower_at(at)))
    ++at;
  const auto length = parse_amount(lower_at(at));
  if (flag.empty() || !length || length->per || !length->thing.empty()) return false;
  // "prompts, 12 requests/s", but "prompts 3k, answers 500".
  const bool other = !is_tokens(lower_at(at + 1)) && names_thing(lower_at(at + 1)) && !parse_amount(lower_at(at + 2));
  if (other || length->count > kLongest) return false;
  lists_word(kContext, label) || label == "seq" ? keep_longest(in_[at]) : keep(flag + "=" + in_[at]);
  at_ = at + (is_tokens(lower_at(at + 1)) ? 1 : 0);
  return true;
}

void WordReader::keep_longest(const std::string& tokens) {
  if (has("--max-model-len")) return keep("--max-model-len=" + tokens);
  const double count = parse_amount(tokens).value_or(Amount{}).count;
  const bool binary = to_lower(tokens).ends_with('k') && count < 1e6;  // 32k is 32,768
  out_.longest = binary ? count * 1.024 : count;
}

bool WordReader::take_window_gpu(const std::string& word) {
  const bool number = word.find_first_not_of("0123456789") == std::string::npos;
  const std::string name = number && at_ + 1 < in_.size() ? singular_gpu(in_[at_ + 1]) : word;
  if (has("--model") || !has("--gpu") || kind_of_word(name) != WordKind::kGpu) return false;
  keep("--gpu=" + name);
  // "on an L4" names the GPU; the work decides how many are needed.
  if (number && word != "1") keep("--gpus=" + word);
  at_ += number;
  return true;
}

void WordReader::take_length_of_each() {
  std::size_t at = at_ + 1;
  while (lists_word("of with at each having about around roughly approximately averaging some ~", lower_at(at))) ++at;
  const auto length = parse_amount(lower_at(at));
  constexpr double kLongest = 1e7;  // a larger number is a total
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"token tokens tok", 1}, {"word words", 4.0 / 3}, {"page pages", 500}};
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const auto& row) { return lists_word(row.first, lower_at(at + 1)); });
  if (unit == std::end(kUnits) || !length || length->per || !length->thing.empty() || length->count > kLongest) return;
  const std::string noun = lower_at(at + 2);  // take_lengths() reads "300 token answers"
  if (lists_word(kPrompts, noun) || lists_word(kOut, noun) || lists_word(kAnswers, noun)) return;
  const std::string job = out_.job.empty() ? job_of(value_of(in_, "--job")) : out_.job;
  const bool trains = lists_word("train finetune dpo", job);
  const std::string flag = trains && has("--seq") ? "--seq=" : has("--isl") ? "--isl=" : "";
  if (flag.empty()) return;
  const std::string tokens = unit->second == 1 ? in_[at] : fmt::format("{:.0f}", length->count * unit->second);
  if (unit->second != 1)
    out_.rest.notes.push_back(
        fmt::format("assumed: {:g} {} are {} tokens ({}{})", length->count, in_[at + 1], tokens, flag, tokens));
  keep(flag + tokens);
  at_ = at + 1 + (lower_at(at + 2) == "each");
}

bool WordReader::take_pair(const std::string& word) {
  if (lists_word("under below over less than most up within", to_lower(word))) return false;  // "under $100": a budget
  for (const std::size_t words : {2U, 1U}) {  // `global batch 512`, `batch 4`
    if (at_ + words >= in_.size()) continue;
    const FlagInfo* flag = flag_named(to_lower(word) + (words == 2 ? "-" + lower_at(at_ + 1) : ""));
    if (flag == nullptr ||
        !(settings::is_number(flag->setting->kind) || flag->setting->kind == settings::Kind::kLength))
      continue;
    if (!settings::read(*flag->setting, in_[at_ + words])) continue;
    if (names_thing(lower_at(at_ + words + 1))) continue;  // "1500 token prompts, 300 token answers"
    keep(flag->name + "=" + in_[at_ + words]);
    if (flag->name == "--lora-rank" && has("--method") && kept("--method=") == nullptr) keep("--method=lora");
    at_ += words;
    return true;
  }
  return false;
}

void WordReader::keep_method(const std::string& method) {
  // "QLoRA fine-tuning with adapters": what was said most exactly counts. "LoRA versus QLoRA": both.
  std::string* given = kept("--method=");
  const bool compared = lists_word("or vs versus than against lora qlora", lower_at(at_ - 1));
  if (given == nullptr || compared)
    keep("--method=" + method);
  else if (method == "qlora")
    *given = "--method=qlora";
}

void WordReader::read_preference(std::size_t at) {
  if (lower_at(at) == "preference" && has("--preference") &&
      lists_word("pair pairs data dataset tuning optimization", lower_at(at + 1)))
    set_job("dpo");
}

bool WordReader::is_adjective(std::size_t at) const {
  const auto plain = [&](std::size_t i) {
    const std::string word = lower_at(i);
    return word.size() > 2 && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos &&
           !is_link(word) && (job_of(word).empty() || lists_word("audio video speech image text", word)) &&
           kind_of_word(word) == WordKind::kOther;
  };
  constexpr std::size_t kMost = 2;
  for (std::size_t i = at; i < at + kMost && plain(i) && !names_thing(lower_at(i)); ++i) {
    if (names_thing(lower_at(i + 1))) return true;
  }
  return false;
}

bool WordReader::take_machines(const std::string& word) {
  const auto many = parse_amount(word);
  if (!has("--gpus") || !many || many->per || !many->thing.empty() ||
      !lists_word("nodes node machines servers hosts boxes", lower_at(at_ + 1)))
    return false;
  out_.nodes = many->count;
  ++at_;
  return true;
}

bool WordReader::take_counted(const std::string& word) {
  if (at_ + 1 >= in_.size() || word.find_first_not_of("0123456789.,kKmM") != std::string::npos) return false;
  const std::string noun = lower_at(at_ + 1);
  // "3 fine-tunes a week": the answer is for one of them.
  const std::string job = noun.ends_with('s') ? job_of(noun.substr(0, noun.size() - 1)) : "";
  if (plans_ && is_digits(word) &&
      (lists_word("train finetune dpo", job) || lists_word("trainings finetunings", noun))) {
    const bool often = lists_word("a per each every", lower_at(at_ + 2)) && continues_amount(lower_at(at_ + 3));
    const bool short_form = !often && lists_word("week month day", lower_at(at_ + 2));  // "a" may be gone
    const std::string time = often ? lower_at(at_ + 3) : short_form ? lower_at(at_ + 2) : "";
    set_job(job.empty() ? "train" : job);
    out_.rest.notes.push_back(fmt::format("the plan and its cost are for one run; {} runs{} cost {} times as much",
                                          word, time.empty() ? "" : " a " + time, word));
    at_ += often ? 3 : short_form ? 2 : 1;
    return true;
  }
  // "in 4 bit".
  if (lists_word("bit bits", noun) && has("--precision")) {
    keep("--precision=" + meant_value("--bits", word));
    ++at_;
    return true;
  }
  // "8 rollouts per prompt".
  if (has("--algorithm") && has("--samples") && lower_at(at_ + 2) == "per" && lower_at(at_ + 3) == "prompt") {
    keep("--samples=" + word);
    at_ += 3;
    return true;
  }
  if (has("--algorithm") && has("--samples") && says_rl(in_) && lower_at(at_ + 2) == "each" &&
      lists_word("samples rollouts answers responses generations completions", noun)) {
    keep("--samples=" + word);
    at_ += 2;
    return true;
  }
  // "64 prompts per step", "50 passages per query".
  if (const std::string unit = lower_at(at_ + 3); lower_at(at_ + 2) == "per" && !parse_amount("1 x per " + unit)) {
    const FlagInfo* ratio = flag_named(noun + "-per-" + unit);
    if (ratio != nullptr && settings::is_number(ratio->setting->kind) && settings::read(*ratio->setting, word)) {
      keep(ratio->name + "=" + word);
      at_ += 3;
      return true;
    }
  }
  const FlagInfo* flag = find("--" + noun);
  if (flag == nullptr) flag = find("--" + noun + "s");
  if (flag == nullptr && lists_word("epoch epochs", noun)) return out_.epochs = std::atof(word.c_str()), ++at_, true;
  const bool named = flag != nullptr && lists_word("--epochs --steps --gpus --turns", flag->name);
  if (!named || !settings::read(*flag->setting, word)) return false;
  const bool most = flag->name == "--gpus" && has("--max-gpus") &&
                    lists_word("max maximum most to under", lower_at(at_ - 1));  // "at most 8 GPUs"
  keep((most ? "--max-gpus" : flag->name) + "=" + word);
  ++at_;
  return true;
}

bool WordReader::take_asked_rate() {
  const bool tokens = lists_word("tokens token tok toks", lower_at(at_));
  const bool spelled = tokens && lower_at(at_ + 1) == "per" && lists_word("second sec s", lower_at(at_ + 2));
  if (!spelled && !lists_word("tokens/s tok/s tokens/sec tokens/second t/s tps", lower_at(at_))) return false;
  out_.asks_rate = true;
  at_ += spelled ? 2 : 0;
  return true;
}

bool WordReader::skip_word(const std::string& word) {
  if (!has("--model") || word.find_first_of("./\\:0123456789") != std::string::npos || model::is_known_name(word))
    return false;
  const bool model_given = std::any_of(in_.begin() + 1, in_.end(), [&](const std::string& other) {
    return is_size(other) || other.starts_with("--model=") ||
           (!is_flag_word(other) && other != word && model::is_known_name(other));
  });
  constexpr std::size_t kSentence = 6;
  if (!model_given && (in_.size() < kSentence || kind_of_word(word) != WordKind::kOther)) return false;
  ignore(word);
  return true;
}

bool WordReader::skip_number(const std::string& word) {
  const std::size_t unit = word.find_first_not_of("0123456789.,");
  const bool percent = unit != std::string::npos && word.substr(unit) == "%";
  const bool apart = at_ + 1 < in_.size() && parse_duration(word + " " + in_[at_ + 1]);
  if (!has("--model") || (!out_.sentence && out_.rest.asked.empty()) || is_size(word) || model::is_known_name(word) ||
      !(unit == std::string::npos || percent || apart || parse_duration(word) || parse_amount(word)))
    return false;
  // "for $500, 3 days": a time next to a budget is a deadline.
  if (apart && plans_ && has("--deadline") && kept("--deadline") == nullptr && kept("--budget") != nullptr) {
    keep("--deadline=" + word + " " + in_[++at_]);
    return true;
  }
  ignore(word);
  if (apart) ++at_, ignore(in_[at_]);
  return true;
}

bool WordReader::take_name(const std::string& word) {
  if (!has("--model") || !has("--gpu") || model::is_known_name(word)) return false;
  if (const std::string size = meant_value("--resolution", word);
      (is_picture_size(word) || size != word) && has("--resolution")) {
    keep("--resolution=" + size);
    return true;
  }
  // "tensor parallel" without a number: over all GPUs.
  const bool split = lists_word("tensor-parallel tensor-parallelism tp", to_lower(word)),
             apart = to_lower(word) == "tensor" && lists_word("parallel parallelism", lower_at(at_ + 1));
  if (const double gpus = gpus_of(Typed{in_}); (split || apart) && has("--tp") && gpus > 1) {
    at_ += apart;
    keep(fmt::format("--tp={:g}", gpus));
    return true;
  }
  const std::string both = to_lower(word) + lower_at(at_ + 1), optimizer = meant_value("--optimizer", both);
  if (has("--optimizer") && optimizer != both && settings::read(settings::get("optimizer"), optimizer)) {
    keep("--optimizer=" + optimizer);  // "adam 8bit"
    ++at_;
    return true;
  }
  const std::string value = meant_value("--precision", to_lower(word));
  for (const std::string& flag :
       {std::string("precision"), std::string("method"), std::string("stack"), std::string("optimizer")}) {
    if (!has("--" + flag) || !settings::read(settings::get(flag), value)) continue;
    keep("--" + flag + "=" + value);
    return true;
  }
  if (const std::string stage = meant_value("--zero", word); stage != word && has("--zero")) {
    keep("--zero=" + stage);
    return true;
  }
  // A setting of another tool without a value: fsdp, gradient-checkpointing, fastest.
  if (const std::string meant = meant_flag("--" + to_lower(word), declared_, out_.job == "serve");
      meant.find('=') != std::string::npos && meant.find('*') == std::string::npos &&
      lists_word("--zero --recompute --objective --method --compile --offload", meant.substr(0, meant.find('=')))) {
    keep(meant);
    return true;
  }
  const bool named = std::any_of(in_.begin() + 1, in_.end(), [](const std::string& other) {
    return other.starts_with("--gpu") || (!is_flag_word(other) && kind_of_word(other) == WordKind::kGpu);
  });
  if (const std::string sized = named ? std::string() : gpu_with_memory(word); !sized.empty()) {
    out_.rest.notes.push_back(fmt::format("assumed: a GPU of {} is {} (--gpu names another)", word, sized));
    keep("--gpu=" + sized);
    return true;
  }
  if (kind_of_word(word) != WordKind::kGpu) return false;
  keep("--gpu=" + word);
  return true;
}

}  // namespace rightsize::app
