#include "rightsize/typed/typed.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/join_names.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

// Lower case with hyphens, as in our flags and commands.
std::string tidied(std::string_view name) {
  std::string out = name.size() > 2 ? to_lower(name) : std::string(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,") == std::string_view::npos;
}

bool is_model_name(std::string_view word) { return model::is_known_name(word); }

bool is_yes(std::string_view word) { return holds(std::array{"yes", "true", "on"}, to_lower(word)); }
bool is_no(std::string_view word) { return holds(std::array{"no", "false", "off"}, to_lower(word)); }

// ---- commands

std::string our_command(std::string_view typed, std::span<const std::string> commands) {
  const std::string name = tidied(typed);
  for (const std::string& ours : commands) {
    if (name == ours || name + "s" == ours || name == ours + "s") return ours;
  }
  for (const CommandAlias& alias : command_aliases()) {
    if (alias.note.empty() && holds(split_list(alias.typed, ' '), name)) return std::string(alias.meant);
  }
  return {};
}

// Moves flags that precede the command after it.
void put_command_first(std::vector<std::string>& words) {
  std::size_t first = 0;
  while (first < words.size() && words[first].starts_with('-'))
    first += holds(std::array{"-o", "--output", "--format"}, words[first]) ? 2 : 1;
  if (first >= words.size()) return;
  const auto command = words.begin() + static_cast<std::ptrdiff_t>(first);
  std::rotate(words.begin(), command, command + 1);
}

// `serve llama-3.1-8b`, `embed bge-m3 --docs 1M`: a job and its model. 'serve' alone is the web page, and 'batch' the
// simulator, which takes arrivals.
bool is_plan(const std::vector<std::string>& words, std::span<const std::string> commands) {
  if (words.size() < 2 || words.front().starts_with('-') || job_of(words.front()).empty()) return false;
  if (words.front() != "serve" && words.front() != "batch" && holds(commands, words.front())) return false;
  if (words.front() != "serve" && words.front() != "batch") return holds(words, "--help") ? words.size() > 2 : true;
  const auto has = [&](auto&& test) { return std::any_of(words.begin() + 1, words.end(), test); };
  if (words.front() == "serve") {
    return has([](const std::string& word) {
      return word.starts_with("--model") || word == "-m" || (!word.starts_with('-') && is_model_name(word));
    });
  }
  return has([](const std::string& word) {
    const auto work = read_work_flag(word.substr(0, word.find('=')));
    return word.starts_with("--") && word != "--requests" && !word.starts_with("--requests=") && work &&
           work->thing != Thing::kUser && !work->per;
  });
}

// Some job names imply more than the job: OCR reads images, LoRA is a method. Such names are kept for later steps.
std::string named_job(const std::string& word) {
  return lists_word("ocr lora qlora", to_lower(word)) ? to_lower(word) : job_of(word);
}

bool is_verb(std::string_view word) {
  return holds(std::array{"get", "list", "ls", "show", "describe"}, to_lower(word));
}

// A pasted start command names the engine: "vllm serve X", "python -m sglang.launch_server --model-path X".
void read_start_command(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool module = lists_word("python python3", words[i]) && i + 2 < words.size() && words[i + 1] == "-m";
    const bool verb = i + 1 < words.size() && words[i + 1] == "serve";
    const std::string program = to_lower(words[module ? i + 2 : i]);
    if (!module && !verb && !program.ends_with("-serve")) continue;
    for (const auto& [name, stack] :
         {std::pair{"sglang", "sglang"}, {"vllm", "vllm"}, {"tensorrt_llm", "trtllm"}, {"trtllm", "trtllm"}}) {
      if (program.find(name) == program.npos) continue;
      const auto from = words.begin() + static_cast<std::ptrdiff_t>(i);
      words.erase(from, from + (module ? 3 : verb ? 2 : 1));
      words.insert(words.end(), {fmt::format("--stack={}", stack), "--job=serve"});
      return;
    }
  }
}

// Adds what a short question leaves out.
void assume_question(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  const auto add = [&](const std::string& flag, const std::string& note) {
    words.push_back(flag);
    typed.notes.push_back("assumed: " + note);
  };
  if (words.front() == "mig" && words.size() == 2 && kind_of_word(words[1]) == WordKind::kGpu) {
    words[1] = "--gpu=" + words[1];
    add("--list-layouts", "its layouts are asked for (--list-layouts)");
  }
  if (words.front() == "batch" && words.size() > 1 && words[1].ends_with(".csv")) words[1] = "--service=" + words[1];
  if (words.front() == "profile" && words.size() > 1 && words[1] == "-") words.insert(words.begin() + 1, "--replay");
  std::error_code ignored;
  if (words.front() == "diff" && words.size() > 1 && std::filesystem::is_regular_file(words[1], ignored) &&
      (words.size() == 2 || words[2].starts_with("--"))) {
    words.insert(words.begin() + 1, "/dev/null");
    typed.notes.push_back(fmt::format("showing what {} costs; name two files to compare them", words[2]));
  }
  if (words.front() == "batch" && words.size() == 3 && is_model_name(words[1]))
    add("--arrivals=1/s", "1 request/s arrives (--arrivals)");
}

// ---- flags

// Finds a flag in other spellings too: upper case, underscores, singular or plural (--Model, --batch_size, --regions).
const FlagInfo* find_alike(const std::deque<FlagInfo>& declared, const std::string& name) {
  const std::string tidy = tidied(name);
  const FlagInfo* found = find_flag(declared, tidy);
  if (found == nullptr && tidy.size() > 3) found = find_flag(declared, tidy + "s");
  if (found == nullptr && tidy.size() > 4 && tidy.ends_with('s'))
    found = find_flag(declared, tidy.substr(0, tidy.size() - 1));
  return found;
}

class Rewriter {
 public:
  Rewriter(Typed typed, const std::deque<FlagInfo>& declared) : in_(std::move(typed.words)), declared_(declared) {
    out_.renamed = std::move(typed.renamed);
    out_.notes = std::move(typed.notes);
    serving_ = std::any_of(in_.begin() + (in_.empty() ? 0 : 1), in_.end(), [](const std::string& word) {
      const bool flag_alone = word.starts_with('-') && word.find('=') == std::string::npos;  // --batch
      const std::string job = flag_alone ? std::string() : job_of(word.substr(word.find('=') + 1));
      const std::string flag = word.starts_with('-') ? tidied(word.substr(0, word.find('='))) : std::string();
      const auto work = read_work_flag(flag);
      const bool traffic =
          holds(std::array{"--serve", "--inference", "--concurrency", "--rate"}, flag) ||
          (work && (work->thing == Thing::kUser || work->thing == Thing::kRequest)) ||
          (!flag.empty() &&
           read_limit_name(flag.substr(std::min(flag.find_first_not_of('-'), flag.size()))).has_value());
      return (!job.empty() && !holds(std::array{"train", "finetune", "dpo"}, job)) || traffic;
    });
  }

  Typed run() {
    const bool runs_others = !in_.empty() && in_.front() == "profile";
    for (at_ = 0; at_ < in_.size(); ++at_) {
      const std::string& word = in_[at_];
      if (word == "--" || (runs_others && at_ > 0 && !word.starts_with('-'))) {
        out_.words.insert(out_.words.end(), in_.begin() + static_cast<std::ptrdiff_t>(at_), in_.end());
        break;
      }
      if (at_ > 0 && word.size() > 1 && word.front() == '-')
        take_flag(word);
      else
        out_.words.push_back(word);
    }
    add_method();
    return std::move(out_);
  }

 private:
  // --lora-rank 64 alone implies training adapters.
  void add_method() {
    const auto has = [&](const char* flag) {
      return std::any_of(out_.words.begin(), out_.words.end(), [&](const std::string& word) {
        return word == flag || word.starts_with(flag + std::string("="));
      });
    };
    if (find_flag(declared_, "--method") == nullptr || has("--method")) return;
    if (!has("--lora-rank") && !has("--lora-targets")) return;
    out_.notes.emplace_back("adapters are trained: --method lora");
    out_.words.insert(out_.words.begin() + 1, "--method=lora");
  }

  std::string next() const { return at_ + 1 < in_.size() ? in_[at_ + 1] : std::string(); }

  // The value after '=', or the next word.
  std::string take_value(const std::optional<std::string>& value) { return value ? *value : in_[++at_]; }

  void take_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), tidy = tidied(name);
    const auto value = equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1));
    const FlagInfo* exact = find_flag(declared_, tidy);
    const bool alias_first = exact == nullptr && !meant_flag(tidy, declared_, serving_).empty();
    const FlagInfo* same = alias_first ? nullptr : find_alike(declared_, name);
    if (same != nullptr && same->name != "--format") return put(*same, same->name, value, {});
    if (tidy == "--no-color" || tidy == "--no-colour") {
      out_.plain = true;
      return;
    }
    std::string meant = same != nullptr ? same->name : meant_flag(tidy, declared_, serving_);
    const std::string said = value.value_or(next());
    const std::optional<Amount> tokens = parse_amount(said);
    const bool length = tokens && tokens->thing.empty() && !tokens->per && find_flag(declared_, "--isl") != nullptr;
    if (length && holds(std::array{"--input", "--in"}, tidy)) meant = "--isl";
    if (length && holds(std::array{"--output", "--out"}, tidy)) meant = "--osl";
    if (same != nullptr && meant == same->name) return put(*same, same->name, value, {});
    if (meant.empty() && find_flag(declared_, "--model") != nullptr && is_model_name(said)) meant = "--model";
    if (meant.empty()) meant = meant_choice(tidy, declared_);
    if (meant.empty()) meant = by_words(tidy, said);
    if (meant.empty()) meant = file_flag(said);
    if (meant.empty() && is_argument(tidy)) return;  // --old FILE: the file alone
    if (meant.empty()) return out_.words.push_back(word);
    if (meant == "argument" || meant == "default") return;  // -f FILE: the file alone; --all-regions: as without it
    if (meant == "ignored") {
      out_.notes.push_back(fmt::format("ignored: {}; it changes no answer here", name));
      at_ += !value && !next().empty() && !is_flag_word(next());
      return;
    }
    const std::size_t fixed = meant.find('=');
    const FlagInfo& flag = *find_flag(declared_, meant.substr(0, fixed));
    const std::string rest = fixed == std::string::npos ? "" : meant.substr(fixed + 1);
    if (!rest.empty() && rest.find('*') == std::string::npos) {
      const std::string file = file_flag(said);  // --kubernetes pods.json
      if (file.empty()) return put_switch(flag, name, rest, value);
      out_.renamed.push_back(fmt::format("{} is {}", name, file));
      return put(*find_flag(declared_, file), tidy, value, "");
    }
    if (flag.name != "--format") out_.renamed.push_back(fmt::format("{} is {}", name, flag.name));
    put(flag, tidy, value, rest);
  }

  // For an unknown flag with an existing file, as in --traffic rps.csv: the command's flag that takes a file.
  std::string file_flag(const std::string& value) const {
    std::error_code ignored;
    if (value.find('.') == std::string::npos || !std::filesystem::is_regular_file(value, ignored)) return {};
    for (const char* flag : {"--from", "--trace", "--usage"}) {
      if (find_flag(declared_, flag) != nullptr) return flag;
    }
    return {};
  }

  bool is_argument(std::string_view name) const {
    return std::any_of(declared_.begin(), declared_.end(), [&](const FlagInfo& flag) {
      return !flag.name.starts_with('-') && "--" + to_lower(flag.name) == name;
    });
  }

  // A flag by its words: --monthly-budget is --budget, --peak-qps is --qps, --layouts is --list-layouts, and --vllm is
  // the value of one flag. Empty if several flags match.
  std::string by_words(const std::string& typed, const std::string& said) const {
    if (typed.ends_with("-price") && typed.find("max") != std::string::npos) return {};  // a limit is not a price
    if (read_work_flag(typed) || read_limit_name(typed.substr(2))) return {};
    if (const std::string meant = flag_by_words(typed, said, declared_, serving_); !meant.empty()) return meant;
    const std::string value = meant_value("--precision", typed.substr(std::min<std::size_t>(2, typed.size())));
    std::vector<std::string> found;
    for (const FlagInfo& flag : declared_) {
      const bool names_value = holds(std::array{"--precision", "--stack", "--method"}, flag.name) &&
                               settings::read(*flag.setting, value).has_value();
      constexpr std::size_t kDistinct = 7;  // "--layouts": long enough to mean one flag
      const bool part = typed.size() >= kDistinct && flag.name.ends_with(typed.substr(1)) && flag.values.empty();
      if (names_value) found.push_back(flag.name + "=" + value);
      if (part) found.push_back(flag.name + "=yes");
    }
    return found.size() == 1 ? found.front() : std::string();
  }

  // For a switch of another tool that is a value here: --spot is --purchase spot. Switches of Hugging Face take True
  // and False, and --fsdp may name a strategy.
  void put_switch(const FlagInfo& flag, const std::string& name, std::string meant,
                  const std::optional<std::string>& value) {
    const std::string said = value.value_or(next());
    const std::string spelled = meant_value(flag.name, said.substr(0, said.find(' ')));
    const bool given = is_yes(said) || is_no(said) || spelled != said;
    const bool count = flag.values.empty() && is_number(said);  // -n 1
    const bool allowed = flag.name == "--purchase" && lists_word("ok allowed fine optional too", to_lower(said));
    if ((given || count || allowed) && !value) ++at_;
    if (is_no(said)) return;
    if (given && !is_yes(said)) meant = spelled;
    if (allowed && meant != "on-demand") meant = "on-demand," + meant;
    const bool is_switch = flag.values.empty();
    out_.renamed.push_back(fmt::format("{} is {}{}", name, flag.name, is_switch ? "" : " " + meant));
    is_switch ? out_.words.push_back(flag.name) : push(flag, meant);
  }

  // The flag and its value. `pattern` has the unit of a bare number: "*h", "ttft=*ms".
  void put(const FlagInfo& flag, const std::string& typed, const std::optional<std::string>& value,
           std::string_view pattern) {
    const bool follows = !next().empty() && !next().starts_with("--");
    if (flag.values.empty()) {
      if (value && !is_yes(*value)) return out_.words.push_back(flag.name + "=" + *value);
      if (!value && is_no(next())) return void(++at_);
      if (!value && is_yes(next())) ++at_;
      return out_.words.push_back(flag.name);
    }
    if (!value && !follows) {
      out_.words.push_back(flag.values == "yes|no" ? flag.name + "=yes" : flag.name);
      return;
    }
    std::string text = take_value(value);
    if (!value) take_more_words(flag, text);
    if (flag.name == "--max-watts" && (text.ends_with('W') || text.ends_with('w'))) text.pop_back();
    // A node label: nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB.
    if (const std::size_t label = text.find("gpu.product="); label != std::string::npos) text.erase(0, label + 12);
    // Slurm: --gres gpu:a100:4.
    if ((flag.name == "--gpu" || flag.name == "--gpus") && text.starts_with("gpu:")) text.erase(0, 4);
    // `--gpu "h100 or a100"`.
    if (flag.list || flag.name == "--gpu") {
      for (const std::string_view between : {" or ", " and ", " vs ", "|"}) {
        for (std::size_t at = text.find(between); at != std::string::npos; at = text.find(between))
          text.replace(at, between.size(), ",");
      }
    }
    // SkyPilot: --gpus A100-80GB:4, but a bare number has another meaning here.
    if (flag.name == "--gpus" && in_.front() == "prices" && kind_of_word(text) == WordKind::kGpu && !is_number(text))
      return push(*find_flag(declared_, "--gpu"), text);
    const bool any = holds(std::array{"any", "all", "*"}, to_lower(text));
    if (any && holds(std::array{"--gpu", "--provider", "--region"}, flag.name)) return;
    if (flag.name == "--format" && text == "wide") return out_.words.push_back("--wide");
    // In `--emit kubernetes -o yaml`, the tool decides the format of its file.
    const auto emits = [](const std::string& word) { return word.starts_with("--emit"); };
    if (flag.name == "--format" && text == "yaml" && std::any_of(in_.begin(), in_.end(), emits)) return;
    if (const std::string hours = length_of_hours(text); !hours.empty() &&
                                                         flag.setting->kind == settings::Kind::kDuration &&
                                                         !(in_.front() == "window" && flag.name == "--window")) {
      out_.renamed.push_back(fmt::format("{} {} is {} {}", flag.name, text, flag.name, hours));
      text = hours;
    }
    // Slurm: --time 2-12:00:00.
    if (const std::string time = length_of_time(text); !time.empty() && flag.setting->kind == settings::Kind::kDuration)
      text = time;
    if (const std::string sized = flag.name == "--gpu" ? gpu_with_memory(text) : std::string(); !sized.empty()) {
      out_.notes.push_back(fmt::format("assumed: a GPU of {} is {} (--gpu names another)", text, sized));
      text = sized;
    }
    // estimate --concurrency 1,8,32: several values of one setting.
    if (!flag.list && text.find(',') != std::string::npos && settings::is_number(flag.setting->kind) &&
        find_flag(declared_, "--sweep") != nullptr && !settings::read(*flag.setting, text)) {
      out_.renamed.push_back(fmt::format("{} {} is --sweep {}={}", flag.name, text, flag.name.substr(2), text));
      const auto names_job = [](const std::string& word) { return word.starts_with("--job"); };
      if (flag.setting->jobs == settings::Jobs::kServe && std::none_of(in_.begin(), in_.end(), names_job))
        out_.words.emplace_back("--job=serve");
      return push(*find_flag(declared_, "--sweep"), fmt::format("{}={}", flag.name.substr(2), text));
    }
    const std::string by_typed = meant_value(typed, text);
    text = by_typed != text ? by_typed : meant_value(flag.name, text);
    if (!pattern.empty()) {
      const std::size_t star = pattern.find('*');
      text = std::string(pattern.substr(0, star)) + text +
             std::string(is_number(text) ? pattern.substr(star + 1) : std::string_view{});
    }
    push(flag, text);
  }

  // A value of several words: --deadline 2 weeks, --docs 50 M, --gpu RTX 4090, --deadline by next friday.
  void take_more_words(const FlagInfo& flag, std::string& text) {
    const bool number = text.front() >= '0' && text.front() <= '9';
    const bool gpu = flag.name == "--gpu" || flag.name == "--gpus";
    while (!next().empty() && !next().starts_with('-')) {
      const bool unit = number && settings::is_number(flag.setting->kind) &&
                        (continues_amount(next()) || (flag.setting->kind == settings::Kind::kCount &&
                                                      thing_of(next()) != Thing::kNone && job_of(next()).empty()));
      const bool day = flag.name == "--deadline" && holds(std::array{"by", "next", "in", "end", "this", "of", "before"},
                                                          to_lower(text.substr(text.rfind(' ') + 1)));
      const std::string joined = text + (unit || day ? " " : "-") + next();
      if (!unit && !day && !(gpu && kind_of_word(joined) == WordKind::kGpu)) break;
      text = joined;
      ++at_;
    }
  }

  // Joins the values of a list that is given twice: --provider aws --provider gcp.
  void push(const FlagInfo& flag, const std::string& value) {
    const bool list = flag.list || flag.name == "--slo";
    const auto given = std::find_if(out_.words.begin(), out_.words.end(),
                                    [&](const std::string& word) { return word.starts_with(flag.name + "="); });
    if (list && !flag.repeatable && given != out_.words.end())
      *given += "," + value;
    else if (flag.repeatable)
      out_.words.insert(out_.words.end(), {flag.name, value});  // further words may be values too: --from *.csv
    else
      out_.words.push_back(flag.name + "=" + value);
  }

  std::vector<std::string> in_;
  const std::deque<FlagInfo>& declared_;
  bool serving_ = false;
  std::size_t at_ = 0;
  Typed out_;
};

}  // namespace

Typed meant_command(std::vector<std::string> words, std::span<const std::string> commands) {
  std::vector<std::string> questions;
  if (!words.empty() && lists_word("bill profile fleet service diff decisions rollout cache", words.front())) {
    // `profile "why is my GPU idle" --replay smi.csv`: the command answers the question.
    std::erase_if(words, [&](const std::string& word) {
      const std::string first = to_lower(word.substr(0, word.find(' ')));
      const bool asks = word.find(' ') != std::string::npos &&
                        lists_word("how why what which is are does do can where when who show find", first);
      if (asks) questions.push_back(fmt::format("'{}' is read as 'rightsize {}'", word, words.front()));
      return asks;
    });
  }
  Typed typed{split_sentences(std::move(words))};
  typed.notes = std::move(questions);
  std::vector<std::string>& all = typed.words;
  put_command_first(all);
  if (all.size() > 1 && all.front() == "rightsize" && !all[1].starts_with('-')) all.erase(all.begin());
  if (all.empty()) return typed;
  const std::string question = fmt::format("{}", fmt::join(all, " "));
  if (!answer_question(all).empty())
    typed.notes.push_back(fmt::format("'{}' is read as 'rightsize {}'", question, fmt::join(all, " ")));
  // `memory "can I run mixtral on a 4090?"`: the question, and the command that was named.
  if (std::vector<std::string> asked(all.begin() + 1, all.end());
      holds(std::array{"memory", "estimate", "recommend", "prices"}, all.front()) && !asked.empty() &&
      lists_word("how can could will would does what which is are", to_lower(asked.front())) &&
      !answer_question(asked).empty()) {
    if (asked.front() != "prices" && all.front() != "prices") asked.front() = all.front();
    all = std::move(asked);
  }
  // `h100 price`, `cheapest h100`: a GPU and no model is a question about prices.
  const auto command_at = std::find_if(all.begin(), all.end(), [&](const std::string& word) {
    return !word.starts_with('-') && !our_command(word, commands).empty();
  });
  if (all.size() == 2 && command_at == all.begin() + 1 && kind_of_word(all[0]) != WordKind::kOther)
    std::swap(all[0], all[1]);
  if (all.size() == 2 && lists_word("cheapest best find", all[0]) && kind_of_word(all[1]) == WordKind::kGpu)
    all[0] = "prices";
  // `compare h100 a100 --model llama-3.1-8b` compares speeds; without a model, prices.
  const bool compares_speed = all.front() == "compare" && std::any_of(all.begin() + 1, all.end(), [](const auto& word) {
                                return word.starts_with("--model") || (!word.starts_with('-') && is_model_name(word));
                              });
  if (compares_speed) all.front() = "estimate";
  if (all.front() == "-v" || all.front() == "version") all = {"--version"};
  if (all.size() > 1 && is_verb(all[0]) && our_command(all[0], commands).empty()) {
    // `get gpus`, `describe model llama-3.1-8b`, `show h100`.
    const bool named = !our_command(all[1], commands).empty();
    if (named)
      all.erase(all.begin());
    else if (const WordKind kind = kind_of_word(all[1]); kind != WordKind::kOther)
      all.front() = kind == WordKind::kGpu ? "gpus" : "models";
  }
  // `energy gpu.csv`: a recording, so `profile` answers it.
  std::error_code ignored;
  if (all.front() == "energy" && all.size() > 1 && all[1].find('.') != std::string::npos &&
      !all[1].ends_with(".json") && std::filesystem::is_regular_file(all[1], ignored)) {
    typed.renamed.push_back(fmt::format("'energy {0}' is 'rightsize profile --replay {0}'", all[1]));
    all.front() = "profile";
    all.insert(all.begin() + 1, "--replay");
  }
  // `energy llama-2-7b --tokens 1B`: the energy of a whole job, with the carbon of each plan's region.
  const bool whole_job =
      all.front() == "energy" && std::any_of(all.begin() + 1, all.end(), [](const std::string& word) {
        return word.starts_with("--") && read_work_flag(word.substr(0, word.find('=')));
      });
  if (whole_job) {
    typed.renamed.emplace_back("'energy' is 'rightsize recommend'");
    all.front() = "recommend";
    const auto carbon = [](const std::string& word) {
      return word.starts_with("--carbon") || word.starts_with("--grid");
    };
    if (std::none_of(all.begin(), all.end(), carbon)) all.emplace_back("--carbon=region");
  }
  // 'window' takes measured times of items; a plan for a model is a recommendation.
  const bool named =
      all.front() == "window" && std::any_of(all.begin() + 1, all.end(), [](const std::string& word) {
        return word.starts_with("--model") || (!is_flag_word(word) && kind_of_word(word) == WordKind::kModel);
      });
  if (named) {
    typed.renamed.emplace_back("'window' with a model is 'rightsize recommend'");
    all.front() = "recommend";
  }
  const std::string written = all.front();
  const std::string meant =
      is_plan(all, commands) ? "recommend --job=" + named_job(written) : our_command(written, commands);
  if (meant.empty()) return typed;
  const std::size_t space = std::min(meant.find(' '), meant.size());
  all.front() = meant.substr(0, space);
  if (space < meant.size()) {
    const bool flag = meant[space + 1] == '-';  // after the words, which together may be a name
    all.insert(flag ? all.end() : all.begin() + 1, meant.substr(space + 1));
  }
  if (fold_name(all.front()) != fold_name(written) && fold_name(all.front()) != fold_name(written + "s"))
    typed.renamed.push_back(fmt::format("'{}' is 'rightsize {}'", written, meant));
  // SkyPilot's `show-gpus H100` lists prices, and `gpus --cloud aws` can only mean prices too.
  const auto is_offer = [](const std::string& word) {
    return holds(std::array{"--cloud", "--infra", "--provider", "--region", "--spot", "--max-price", "--price"},
                 word.substr(0, word.find('=')));
  };
  const bool priced = written == "show-gpus" && all.size() > 1 && !all[1].starts_with('-');
  if (all.front() == "gpus" && (priced || std::any_of(all.begin() + 1, all.end(), is_offer))) all.front() = "prices";
  if (all.size() == 2 && to_lower(all[1]) == "help") all[1] = "--help";
  const bool lists = holds(std::array{"gpus", "models", "prices"}, all.front());
  const bool compared = all.size() > 3 && all.front() != "prices" && to_lower(all[1]) == "compare";
  if (lists && all.size() > 1 && (is_verb(all[1]) || all[1] == "cheapest" || compared)) all.erase(all.begin() + 1);
  for (std::size_t i = 1; all.front() == "gpus" && i < all.size() && !is_flag_word(all[i]); ++i) {
    const std::string gpus = gpus_of_instance(all[i]);
    if (gpus.empty()) continue;
    typed.notes.push_back(fmt::format("{} has {}", all[i], gpus));
    all[i] = catalog::split_gpu_count(gpus).name;
  }
  if (holds(std::array{"recommend", "memory", "estimate", "checklist", "init"}, all.front())) {
    read_start_command(all);
    // `recommend serve llama-3.1-8b`, `memory fine-tuning llama-3.1-8b`
    while (all.size() > 1 && !all[1].starts_with('-') && !job_of(all[1]).empty()) {
      if (const std::string algorithm = algorithm_of(all[1]); !algorithm.empty())
        all.push_back("--algorithm=" + algorithm);
      all.push_back("--job=" + named_job(all[1]));
      all.erase(all.begin() + 1);
    }
    if (const std::string algorithm = algorithm_of(written); !algorithm.empty())
      all.push_back("--algorithm=" + algorithm);
  }
  // Every model's page has these.
  if (all.front() == "models")
    std::erase_if(all, [](const std::string& word) {
      return lists_word("--kv-per-token --kv --kv-cache --layers --shape --info --details --architecture", word);
    });
  if (all.front() == "models" && lists_word("--params --parameters", all.back())) all.pop_back();
  join_names(typed);
  assume_question(typed);
  return typed;
}

std::string meant_flag(std::string_view typed, const std::deque<FlagInfo>& declared, bool serving) {
  const bool has_argument =
      std::any_of(declared.begin(), declared.end(), [](const FlagInfo& flag) { return !flag.name.starts_with('-'); });
  for (const FlagAlias& alias : flag_aliases()) {
    if (alias.when == When::kServing && !serving) continue;
    const std::string_view flag = alias.meant.substr(0, alias.meant.find('='));
    const bool has = flag == "argument" ? has_argument
                     : flag == "default" || flag == "ignored"
                         ? find_flag(declared, "--model") != nullptr || find_flag(declared, "--region") != nullptr
                         : find_flag(declared, flag) != nullptr;
    if (has && holds(split_list(alias.typed, ' '), typed)) return std::string(alias.meant);
  }
  return {};
}

std::string suggested_command(std::string_view typed) {
  for (const CommandAlias& alias : command_aliases()) {
    if (!alias.note.empty() && holds(split_list(alias.typed, ' '), tidied(typed)))
      return fmt::format("'rightsize {}' {}", alias.meant, alias.note);
  }
  return {};
}

Typed meant_flags(Typed typed, const std::deque<FlagInfo>& declared) {
  if (!typed.words.empty()) combine_flags(typed, declared);
  return Rewriter(std::move(typed), declared).run();
}

}  // namespace rightsize::app
