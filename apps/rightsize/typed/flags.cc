#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/spellings.h"
#include "rightsize/typed/typed.h"
#include "rightsize/typed/values.h"

namespace rightsize::app {
namespace {

// Lower case with hyphens: how flags are written.
std::string tidied(std::string_view name) {
  std::string out = name.size() > 2 ? to_lower(name) : std::string(name);
  for (char& c : out) c = c == '_' ? '-' : c;
  return out;
}

bool is_yes(std::string_view word) { return word == "yes" || word == "true" || word == "on"; }
bool is_no(std::string_view word) { return word == "no" || word == "false" || word == "off"; }

class Rewriter {
 public:
  Rewriter(Typed typed, const std::deque<FlagInfo>& declared) : in_(std::move(typed.words)) {
    out_.notes = std::move(typed.notes);
    for (const FlagInfo& flag : declared) {
      if (!flag.name.starts_with('-')) argument_ = true;
      flags_[flag.name] = &flag;
      for (std::string_view other : split_list(flag.others, ',')) flags_[std::string(trim(other))] = &flag;
    }
    serving_ = std::any_of(in_.begin(), in_.end(), [](const std::string& word) {
      const std::string lower = to_lower(word);
      return lower == "serve" || lower == "--serve" || lower == "inference" || lower == "--inference" ||
             lower == "serving" || lower == "--job=serve";
    });
  }

  Result<Typed> run() {
    const bool runs_others = !in_.empty() && in_.front() == "profile";
    for (at_ = 0; at_ < in_.size(); ++at_) {
      const std::string& word = in_[at_];
      const bool stop = word == "--" || (runs_others && at_ > 0 && !word.starts_with('-'));
      if (stop) {
        out_.words.insert(out_.words.end(), in_.begin() + static_cast<std::ptrdiff_t>(at_), in_.end());
        break;
      }
      const bool flag = word.size() > 1 && word.front() == '-' && at_ > 0;
      if (!flag) {
        out_.words.push_back(word);
      } else if (Result<> taken = take_flag(word); !taken) {
        return fail(taken.error());
      }
    }
    if (!slos_.empty()) out_.words.insert(out_.words.end(), {"--slo", slos_});
    imply_adapters();
    return std::move(out_);
  }

 private:
  const FlagInfo* find(const std::string& name) const {
    const auto found = flags_.find(name);
    return found == flags_.end() ? nullptr : found->second;
  }

  // The flag itself, in another case, with underscores, or in the other number: --Model, --batch_size, --regions.
  const FlagInfo* find_alike(const std::string& name) const {
    const std::string tidy = tidied(name);
    if (const FlagInfo* found = find(tidy)) return found;
    if (tidy.size() < 4) return nullptr;
    if (const FlagInfo* found = find(tidy + "s")) return found;
    return tidy.ends_with('s') ? find(tidy.substr(0, tidy.size() - 1)) : nullptr;
  }

  Result<> take_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    const bool counts = tidied(name) == "--gpus" && is_number(value.value_or(next())) && find("--gpus") == nullptr;
    if (const FlagInfo* same = counts ? nullptr : find_alike(name)) {
      if (same->name == "--zone" && take_zone(name, value)) return {};
      if (same->name == "--slo" && joins_slos()) return add_slo(value);
      return put(*same, tidied(name), value);
    }
    const std::string tidy = tidied(name);
    if (tidy == "--no-color" || tidy == "--no-colour") {
      out_.plain = true;
      return {};
    }
    const bool filter = tidy == "--filter" || tidy == "--filters" || tidy == "--selector" ||
                        (tidy == "-l" && value.value_or(next()).find('=') != std::string::npos);
    if (filter && take_filter(name, value)) return {};
    if ((tidy == "--peft" || tidy == "--use-peft") && next().ends_with("lora") && find("--method") != nullptr) {
      push("--method", in_[++at_]);
      return {};
    }
    if (take_slos(name, value) || take_goodput(tidy) || take_gres(tidy, value) || take_namespace(tidy, value))
      return {};
    if (tidy == "--zone" && take_zone(name, value)) return {};
    if (tidy == "--deepspeed" && value.value_or(next()).ends_with(".json") && find("--zero") != nullptr)
      return take_deepspeed(value);
    if (tidy == "--max-model-len") return refuse_longest(value.value_or(next()));
    if (in_.front() == "top") {
      RIGHTSIZE_TRY(const bool taken, take_monitor_flag(tidy, value));
      if (taken) return {};
    }
    for (const Spelling& spelling : spellings()) {
      if (spelling.typed != tidy || !applies(spelling)) continue;
      // -n 5 is so many, -n chat a namespace.
      if (tidy == "-n" && spelling.flag == "--top" && !is_number(value.value_or(next()))) continue;
      return take_spelling(spelling, name, value);
    }
    for (const Refusal& refusal : refusals()) {
      if (refusal.typed == tidy)
        return fail(bad_input(fmt::format("there is no flag '{}'", name)).with_hint(std::string(refusal.why)));
    }
    out_.words.push_back(word);
    return {};
  }

  std::string next() const { return at_ + 1 < in_.size() ? in_[at_ + 1] : std::string(); }

  // Zones matter for the history of prices; elsewhere their region is meant: us-central1-a, us-east-1a.
  bool take_zone(const std::string& typed, const std::optional<std::string>& value) {
    const bool history = std::find(in_.begin(), in_.end(), "history") != in_.end();
    const FlagInfo* flag = find("--region") != nullptr ? find("--region") : find("--regions");
    if (history || flag == nullptr) return false;
    const std::string zones = value.value_or(next());
    std::string regions;
    for (std::string_view zone : split_list(zones, ',')) {
      const bool lettered = zone.size() > 3 && zone.back() >= 'a' && zone.back() <= 'f';
      if (lettered) zone.remove_suffix(zone[zone.size() - 2] == '-' ? 2 : 1);
      regions += (regions.empty() ? "" : ",") + std::string(zone);
    }
    if (regions.empty()) return false;
    if (!value) ++at_;
    out_.notes.push_back(fmt::format("{} is {} {} here", typed, flag->name, regions));
    push(flag->name, regions);
    return true;
  }

  // The flags of nvidia-smi, dcgmi and nvitop that choose GPUs and columns.
  Result<bool> take_monitor_flag(const std::string& tidy, const std::optional<std::string>& value) {
    const std::string said = value.value_or(next());
    const bool index = said == "0" || said.find(',') != std::string::npos;
    if ((tidy == "-i" && index) || (tidy == "-o" && is_number(said))) {
      return fail(bad_input("every GPU of this machine is shown; none can be chosen by its index")
                      .with_hint("--interval 1s says how often they are read"));
    }
    const bool columns = tidy == "-s" || tidy == "-e" || tidy == "-c" || tidy == "-j" || tidy == "-p" ||
                         (tidy == "-d" && !is_number(said)) || (tidy == "-l" && !is_number(said));
    if (!columns) return false;
    if (!value && !said.empty() && !said.starts_with('-')) ++at_;
    out_.notes.push_back(fmt::format("{} has no effect: everything is shown", tidy));
    return true;
  }

  // vLLM's benchmark: --goodput ttft:500 tpot:50, in milliseconds.
  bool take_goodput(const std::string& tidy) {
    if (tidy != "--goodput") return false;
    std::vector<std::string> parts;
    while (next().starts_with("ttft:") || next().starts_with("tpot:")) {
      const std::string& part = in_[++at_];
      parts.push_back(fmt::format("{}={}ms", part.substr(0, 4), part.substr(5)));
    }
    if (parts.empty()) return false;
    const std::string limits = fmt::format("{}", fmt::join(parts, ","));
    if (!joins_slos()) return take_slos("--slo", limits);
    slos_ += (slos_.empty() ? "" : ",") + limits;
    out_.notes.push_back(fmt::format("--goodput is --slo {} here", limits));
    return true;
  }

  // Slurm's --gres=gpu:h100:8.
  bool take_gres(const std::string& tidy, const std::optional<std::string>& value) {
    if (tidy != "--gres" || find("--gpu") == nullptr) return false;
    const std::string text = value.value_or(next());
    const auto parts = split_list(text, ':');
    if (parts.size() < 2 || parts[0] != "gpu") return false;
    if (!value) ++at_;
    if (!is_number(parts[1])) push("--gpu", std::string(parts[1]));
    if (is_number(parts.back()) && find("--gpus") != nullptr) push("--gpus", std::string(parts.back()));
    out_.notes.push_back(fmt::format("--gres {} is --gpu and --gpus here", text));
    return true;
  }

  // kubectl's -n team: a part of what a metrics server knows.
  bool take_namespace(const std::string& tidy, const std::optional<std::string>& value) {
    if ((tidy != "-n" && tidy != "--namespace") || find("--match") == nullptr) return false;
    const std::string name = value.value_or(next());
    const bool server = std::any_of(in_.begin(), in_.end(), [](const std::string& word) {
      return word.starts_with("--prometheus") || word == "-p" || word == "--prom";
    });
    if (name.empty() || is_number(name) || !server) return false;
    if (!value) ++at_;
    push("--match", fmt::format("namespace=\"{}\"", name));
    out_.notes.push_back(fmt::format("{} {} is --match 'namespace=\"{}\"' here", tidy, name, name));
    return true;
  }

  // A DeepSpeed configuration says which stage it shards to.
  Result<> take_deepspeed(const std::optional<std::string>& value) {
    const std::string file = value ? *value : in_[++at_];
    const Result<std::string> text = read_file(file);
    if (!text) return fail(Error(text.error()).with_hint("or give its stage: --zero 3"));
    const std::size_t stage = text->find("\"stage\"");
    const std::size_t digit = stage == std::string::npos ? stage : text->find_first_of("0123", stage);
    if (digit == std::string::npos)
      return fail(bad_input(fmt::format("'{}' names no ZeRO stage", file)).with_hint("give it: --zero 3"));
    push("--zero", text->substr(digit, 1));
    out_.notes.push_back(fmt::format("--deepspeed {} is --zero {} here", file, text->substr(digit, 1)));
    return {};
  }

  static Result<> refuse_longest(const std::string& longest) {
    const std::string typed = is_number(longest) ? longest : "8192";
    const long tokens = std::max(2L, std::strtol(typed.c_str(), nullptr, 10));
    const long answer = std::min(256L, tokens / 2);
    return fail(bad_input("there is no flag '--max-model-len'")
                    .with_hint(fmt::format("--isl {} --osl {} are requests that fill it; usual ones are shorter. "
                                           "'recommend --emit' writes --max-model-len from the lengths",
                                           tokens - answer, answer)));
  }

  bool take_filter(const std::string& typed, const std::optional<std::string>& value) {
    const std::string text = value.value_or(next());
    const auto meant = meant_filter(text, [this](const std::string& flag) { return find(flag) != nullptr; });
    if (!meant) return false;
    if (!value) ++at_;
    out_.notes.push_back(fmt::format("{} {} is {} {} here", typed, text, meant->flag, meant->value));
    out_.words.insert(out_.words.end(), {meant->flag, meant->value});
    return true;
  }

  // SLOs are one flag where a simulation is asked for several of them, and a flag each where a job is described. Both
  // spellings are understood in both.
  bool joins_slos() const { return !in_.empty() && (in_.front() == "batch" || in_.front() == "service"); }

  Result<> add_slo(const std::optional<std::string>& value) {
    if (!value && (next().empty() || is_flag(next()))) {
      out_.words.emplace_back("--slo");  // for the parser to refuse
      return {};
    }
    slos_ += (slos_.empty() ? "" : ",") + (value ? *value : in_[++at_]);
    return {};
  }

  bool take_slos(const std::string& typed, const std::optional<std::string>& value) {
    const std::string text = value.value_or(next());
    if (text.empty()) return false;
    const std::string tidy = tidied(typed);
    std::string meant;
    if (joins_slos()) {
      const auto spelling =
          std::find_if(spellings().begin(), spellings().end(), [&](const Spelling& s) { return s.typed == tidy; });
      const std::string_view flag = spelling == spellings().end() ? std::string_view(tidy) : spelling->flag;
      if (flag != "--ttft-slo" && flag != "--tpot-slo") return false;
      meant = std::string(flag.substr(2, 4)) + "=" + text + (is_number(text) && tidy != flag ? "ms" : "");
      slos_ += (slos_.empty() ? "" : ",") + meant;
      meant = "--slo " + meant;
    } else if (tidy == "--slo" && find("--ttft-slo") != nullptr) {
      std::vector<std::string> words;
      for (std::string_view part : split_list(text, ',')) {
        const bool known = part.starts_with("ttft=") || part.starts_with("tpot=");
        if (!known) return false;
        words.push_back(fmt::format("--{}-slo", part.substr(0, 4)));
        words.emplace_back(part.substr(5));
      }
      meant = fmt::format("{}", fmt::join(words, " "));
      out_.words.insert(out_.words.end(), words.begin(), words.end());
    } else {
      return false;
    }
    if (!value) ++at_;
    out_.notes.push_back(fmt::format("{} {} is {} here", typed, text, meant));
    return true;
  }

  bool applies(const Spelling& spelling) const {
    if (spelling.when == When::kServing && !serving_) return false;
    if (spelling.when == When::kTraining && serving_) return false;
    if (spelling.flag.empty()) return true;
    return spelling.flag == kArgument ? argument_ : find(std::string(spelling.flag)) != nullptr;
  }

  Result<> take_spelling(const Spelling& spelling, const std::string& typed, const std::optional<std::string>& value) {
    if (spelling.flag.empty()) {  // means nothing here
      out_.notes.push_back(fmt::format("{} has no effect: {}", typed, spelling.value));
      if (!spelling.takes_value && !value && (is_no(to_lower(next())) || is_yes(to_lower(next())))) ++at_;
      if (spelling.takes_value && !value) ++at_;
      while (spelling.takes_value && is_number(next())) ++at_;  // --only 0 1
      return {};
    }
    if (spelling.flag == kArgument) return {};  // -f FILE: the file alone
    const FlagInfo& flag = *find(std::string(spelling.flag));
    // --fsdp full_shard: a switch here, with a value there.
    if (!spelling.value.empty() && flag.name == "--zero") {
      const std::string said = value.value_or(next());
      const std::string meant = meant_value(flag.name, said.substr(0, said.find(' ')));
      if (is_number(meant) && !is_number(said)) return put(flag, typed, value);
    }
    if (!spelling.value.empty()) {
      // Hugging Face's switches take True and False.
      const std::string said = to_lower(value.value_or(next()));
      const bool off = is_no(said);
      if (!spelling.takes_value && !value && (off || is_yes(said))) ++at_;
      if (spelling.takes_value && !value) ++at_;
      if (off) return {};
      out_.notes.push_back(fmt::format("{} is {}{}{} here", typed, flag.name, flag.values.empty() ? "" : " ",
                                       flag.values.empty() ? "" : spelling.value));
      if (flag.values.empty()) {
        out_.words.push_back(flag.name);
      } else {
        push(flag.name, std::string(spelling.value));
      }
      return {};
    }
    // `prices h100 --gpus 8`: the number belongs to the name.
    if (flag.name == "--gpu" && is_number(value.value_or(next()))) {
      return fail(bad_input(fmt::format("{} {}: so many GPUs in one machine are written with the name", typed,
                                        value.value_or(next())))
                      .with_hint(fmt::format("for example H100:{}", value.value_or(next()))));
    }
    if (flag.name != "--format") out_.notes.push_back(fmt::format("{} is {} here", typed, flag.name));
    if (Result<> done = put(flag, typed, value, spelling.unit); !done) return done;
    if (typed == "--dtypes") drop_further_values(flag.name);
    return {};
  }

  // accelerate takes several formats at once: --dtypes float32 float16.
  void drop_further_values(const std::string& flag) {
    while (!next().empty() && next().front() != '-' && meant_value(flag, next()) != next()) {
      out_.notes.push_back(fmt::format("{} {} is left out: one at a time", flag, next()));
      ++at_;
    }
  }

  // The flag and its value, which is the next word where it does not stand behind '='.
  Result<> put(const FlagInfo& flag, const std::string& typed, std::optional<std::string> value,
               std::string_view unit = {}) {
    const std::string& name = flag.name;
    if (flag.values.empty()) {
      put_switch(name, value);
      return {};
    }
    if (!value) {
      if (at_ + 1 >= in_.size() || is_flag(in_[at_ + 1])) {
        out_.words.push_back(name);
        if (flag.values == "yes|no") out_.words.emplace_back("yes");
        return {};
      }
      value = in_[++at_];
      // --deadline 2 weeks
      constexpr std::string_view kLengths[] = {"week", "weeks", "day", "days", "hour", "hours", "minutes", "months"};
      if (is_number(*value) && std::find(std::begin(kLengths), std::end(kLengths), next()) != std::end(kLengths))
        *value += " " + in_[++at_];
    }
    if (name == "--zero") value = value->substr(0, value->find(' '));  // "full_shard auto_wrap"
    const auto has = [this](const std::string& other) { return find(other) != nullptr; };
    RIGHTSIZE_TRY(const MeantValues meant, meant_values(name, tidied(typed), *value, has));
    if (!meant.note.empty()) out_.notes.push_back(meant.note);
    for (const MeantFlag& one : meant.flags) {
      if (one.flag == "--format" && one.value == "wide") {
        out_.words.emplace_back("--wide");
        continue;
      }
      push(one.flag, one.value + std::string(is_number(one.value) ? unit : ""));
    }
    return {};
  }

  // A flag that takes one value, given again: lists grow, and adapters over a 4-bit base are QLoRA.
  void push(const std::string& flag, const std::string& value) {
    constexpr std::string_view kLists[] = {"--provider", "--providers", "--region", "--regions", "--gpu", "--purchase"};
    const auto given = std::find(out_.words.begin(), out_.words.end(), flag);
    const bool again = given != out_.words.end() && std::next(given) != out_.words.end();
    if (again && flag == "--method") {
      std::string& method = *std::next(given);
      method = method == "qlora" || value == "qlora" ? "qlora" : value;
    } else if (again && std::find(std::begin(kLists), std::end(kLists), flag) != std::end(kLists)) {
      *std::next(given) += "," + value;
    } else {
      out_.words.insert(out_.words.end(), {flag, value});
    }
  }

  // --lora-rank 64 alone says that adapters are trained.
  void imply_adapters() {
    const auto has = [&](std::string_view flag) {
      return std::any_of(out_.words.begin(), out_.words.end(), [&](const std::string& word) {
        return word == flag || word.starts_with(std::string(flag) + "=");
      });
    };
    if (find("--method") == nullptr || has("--method") || !(has("--lora-rank") || has("--lora-targets"))) return;
    out_.notes.emplace_back("adapters are trained: --method lora");
    out_.words.insert(out_.words.end(), {"--method", "lora"});
  }

  // A flag of ours, so that `--gpu --json` is not a GPU called --json.
  bool is_flag(const std::string& word) const {
    return word.size() > 2 && word.starts_with("--") && find_alike(word.substr(0, word.find('='))) != nullptr;
  }

  // `--community yes`: a switch stands alone.
  void put_switch(const std::string& name, std::optional<std::string> value) {
    if (!value && at_ + 1 < in_.size() && (is_yes(to_lower(in_[at_ + 1])) || is_no(to_lower(in_[at_ + 1]))))
      value = in_[++at_];
    if (!value || is_yes(to_lower(*value))) {
      out_.words.push_back(name);
    } else if (!is_no(to_lower(*value))) {
      out_.words.push_back(name + "=" + *value);
    }
  }

  std::vector<std::string> in_;
  std::map<std::string, const FlagInfo*> flags_;
  bool serving_ = false, argument_ = false;
  std::string slos_;  // of commands that take them together
  std::size_t at_ = 0;
  Typed out_;
};

}  // namespace

Result<Typed> meant_flags(Typed typed, const std::deque<FlagInfo>& declared) {
  return Rewriter(std::move(typed), declared).run();
}

}  // namespace rightsize::app
