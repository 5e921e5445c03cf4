// Names the flags of a command line as the command declares them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <regex>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "presets/presets.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/foreign_keys.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/said.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

bool is_yes(std::string_view word) { return holds(std::array{"yes", "true", "on"}, to_lower(word)); }
bool is_no(std::string_view word) { return holds(std::array{"no", "false", "off"}, to_lower(word)); }

// Finds a flag in other spellings too: upper case, underscores, singular or plural (--Model, --batch_size, --regions).
const FlagInfo* find_alike(const std::deque<FlagInfo>& declared, const std::string& name) {
  const std::string tidy = tidied(name);
  const FlagInfo* found = find_flag(declared, tidy);
  if (found == nullptr && tidy.size() > 3) found = find_flag(declared, tidy + "s");
  if (found == nullptr && tidy.size() > 4 && tidy.ends_with('s'))
    found = find_flag(declared, tidy.substr(0, tidy.size() - 1));
  return found;
}

// The regions of zones: us-east-1 of us-east-1a, us-central1 of us-central1-a. Other names stay.
std::string regions_of(const std::string& places) {
  static const std::regex kZone("([a-z]-?[0-9]+)-?[a-f](?=,|$)");
  return std::regex_replace(places, kZone, "$1");
}

// "5x4GB,2x9GB": the memory of models, with how many there are.
bool is_sizes(const std::string& text) {
  static const std::regex kSizes("([0-9]+x)?[0-9.]+ ?[GM]i?B(,.*)?", std::regex::icase);
  return std::regex_match(text, kSizes);
}

// Flags that only engines have.
bool is_of_engine(std::string_view flag) { return lists_word(listed("engine flags"), flag); }

class Rewriter {
 public:
  Rewriter(Typed typed, const std::deque<FlagInfo>& declared) : declared_(declared), out_(std::move(typed)) {
    in_.swap(out_.words);
    // vLLM's --quantization, unless adapters are trained on quantized weights.
    const bool trained = std::ranges::any_of(in_, [](const std::string& word) {
      return to_lower(word).find("lora") != std::string::npos || job_of(word.substr(word.find('=') + 1)) == "train";
    });
    serving_ = std::any_of(in_.begin() + (in_.empty() ? 0 : 1), in_.end(), [&](const std::string& word) {
      const bool flag_alone = word.starts_with('-') && word.find('=') == std::string::npos;  // --batch
      const std::string job = flag_alone ? std::string() : job_of(word.substr(word.find('=') + 1));
      const std::string flag = word.starts_with('-') ? tidied(word.substr(0, word.find('='))) : std::string();
      const auto work = read_work_flag(flag);
      const bool traffic =
          lists_word("--serve --inference --concurrency --concurrent --rate", flag) || is_of_engine(flag) ||
          (!trained && lists_word("--quantization --quantize --quant", flag)) ||
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
      std::error_code ignored;
      const bool program = runs_others && at_ > 0 && !word.starts_with('-') && command_for_file(word).empty();
      if (word == "--" || program) {
        out_.words.insert(out_.words.end(), in_.begin() + static_cast<std::ptrdiff_t>(at_), in_.end());
        break;
      }
      if (at_ > 0 && word.size() > 1 && word.front() == '-')
        take_flag(word);
      else
        out_.words.push_back(at_ == 0 ? word : named_beside_file(word));
    }
    add_method();
    if (of_engine_ && serving_ && find_flag(declared_, "--job") != nullptr && value_of(out_.words, "--job").empty())
      out_.words.emplace_back("--job=serve");
    return std::move(out_);
  }

 private:
  // --lora-rank 64 alone implies training adapters.
  void add_method() {
    const auto has = [&](const char* flag) { return !value_of(out_.words, flag).empty(); };
    if (find_flag(declared_, "--method") == nullptr || has("--method")) return;
    if (!has("--lora-rank") && !has("--lora-targets")) return;
    out_.notes.emplace_back("adapters are trained: --method lora");
    out_.words.insert(out_.words.begin() + 1, "--method=lora");
  }

  // In a command whose bare words are files, the name of a model or a GPU is its flag: `cache chat.jsonl llama-3.1-8b`.
  // In a list, the name of a column is a condition.
  std::string named_beside_file(const std::string& word) const {
    const WordKind kind = kind_of_word(word);
    const FlagInfo* filter = find_flag(declared_, "--filter");
    const std::string column =
        filter == nullptr || kind != WordKind::kOther ? std::string() : column_called(word, filter->columns);
    if (!column.empty()) return "--filter=" + column;
    const bool files = lists_word("bill cache calibrate commit exporter fleet mig portfolio service", in_.front());
    std::error_code ignored;
    if (!files || std::filesystem::exists(word, ignored)) return word;
    const char* flag = kind == WordKind::kGpu ? "--gpu" : kind == WordKind::kModel ? "--model" : "";
    return find_flag(declared_, flag) == nullptr ? word : fmt::format("{}={}", flag, word);
  }

  // An unknown flag with a model, and no other model on the line: --hf Qwen/Qwen2.5-7B-Instruct.
  bool names_model(const std::string& flag, const std::string& said) const {
    if (find_flag(declared_, "--model") == nullptr || is_negative(flag)) return false;
    const std::string named = model_among(in_);
    if (model::is_known_name(said) && (named == said || named.empty())) return true;
    static const std::regex kHubId("[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*");
    std::error_code ignored;
    const bool id = std::regex_match(said, kHubId) && !std::filesystem::exists(said, ignored);
    return id && (named.empty() || named == said);
  }

  // --no-gpu, --exclude-model, --draft, --docker-image: what is not wanted, or something else's.
  static bool is_negative(std::string_view flag) {
    return std::ranges::any_of(split_list(flag, '-'), [](std::string_view part) {
      return lists_word("no not non exclude without except avoid skip draft drafter old image tokenizer data", part);
    });
  }

  std::string next() const { return at_ + 1 < in_.size() ? in_[at_ + 1] : std::string(); }

  // The value after '=', or the next word.
  std::string take_value(const std::optional<std::string>& value) { return value ? *value : in_[++at_]; }

  void take_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), tidy = tidied(name);
    const auto value = equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1));
    const FlagInfo* exact = find_flag(declared_, tidy);
    const std::string said = value.value_or(is_flag_word(next()) ? "" : next());
    const bool alias_first = exact == nullptr && !meant_flag(tidy, declared_, serving_, said).empty();
    const FlagInfo* same = alias_first ? nullptr : find_alike(declared_, name);
    if (same != nullptr && same->name == "--zone" && in_.front() == "prices" && !holds(in_, "history")) {
      out_.renamed.push_back(fmt::format("{} is --region", name));
      same = find_flag(declared_, "--region");
    }
    // --batch without a number is a job.
    if (same != nullptr && !same->values.empty() && !value && said.empty() &&
        find_flag(declared_, "--job") != nullptr && !job_of(tidy).empty())
      return out_.words.push_back("--job=" + job_of(tidy));
    if (same != nullptr && same->name != "--format") return put(*same, same->name, value, {});
    if (tidy == "--no-color" || tidy == "--no-colour") {
      out_.plain = true;
      return;
    }
    of_engine_ |= is_of_engine(tidy) || (serving_ && lists_word("--quantization --quantize --quant", tidy));
    if (tidy == "-n" && find_flag(declared_, "--namespace") != nullptr && !is_digits(value.value_or(next())))
      return put(*find_flag(declared_, "--namespace"), tidy, value, {});
    const std::optional<Amount> tokens = parse_amount(said);
    // llama.cpp's -c 8192 is a length: no engine has this many requests in flight.
    constexpr double kMostInFlight = 1000;
    const bool engine =
        serving_ && tokens && lists_word(listed("engine's context"), tidy.substr(tidy.find_first_not_of('-')));
    const bool context = engine || (tidy == "-c" && tokens && tokens->count > kMostInFlight);
    std::string meant =
        same != nullptr ? same->name : meant_flag(context ? "--ctx-size" : tidy, declared_, serving_, said);
    if (context && meant.empty()) return out_.words.push_back("--ctx-size=" + take_value(value));
    const bool length = tokens && tokens->thing.empty() && !tokens->per && find_flag(declared_, "--isl") != nullptr;
    if (length && holds(std::array{"--input", "--in"}, tidy)) meant = "--isl";
    if (length && holds(std::array{"--output", "--out"}, tidy)) meant = "--osl";
    if (same != nullptr && meant == same->name) return put(*same, same->name, value, {});
    if (meant.empty() && names_model(tidy, said)) meant = "--model";
    if (meant.empty() && !value && tidy.size() > 2) meant = offer_named(tidy.substr(2), declared_);  // --aws, --spot
    if (meant.empty() && take_column(tidy.substr(std::min<std::size_t>(2, tidy.size())), value)) return;
    if (meant.empty()) meant = meant_choice(tidy, declared_);
    if (meant.empty()) meant = by_words(tidy, said);
    if (meant.empty()) meant = file_flag(said);
    if (meant.empty() && !value && take_joined(tidy)) return;
    if (meant.empty()) meant = flag_of_name(tidy, said);
    if (meant.empty() && !said.empty() && lists_word("--only --kind --type --show", tidy) &&
        find_flag(declared_, "--filter") != nullptr)
      meant = "--filter";
    if (meant.empty() && tidy.starts_with("--fsdp-")) meant = "ignored";
    if (meant.empty() && !value && (tidy.starts_with("--all-") || tidy.starts_with("--any-"))) return;  // as without it
    // Tables of costs start with the largest cost.
    if (meant.empty() && lists_word("--sort --sort-by --order-by", tidy) && lists_word("fleet bill", in_.front()) &&
        lists_word("cost costs price spend spent usd", to_lower(said))) {
      out_.notes.push_back(fmt::format("the tables are sorted by {} already", said));
      return void(at_ += !value);
    }
    const bool later =
        std::ranges::any_of(names_of("list"), [&](const auto& row) { return lists_word(row.names, tidy); });
    if (meant.empty() && tidy.size() > 2 && !later) {  // the key of a file of the same tool
      const Meaning key = meaning_of(tidy.substr(2), said, declared_, serving_);
      if (key.kind == Meaning::Kind::kFlag && find_flag(declared_, key.flag.substr(0, key.flag.find('=')))) {
        meant = key.flag.substr(0, key.flag.find('='));
        if (key.flag == meant || key.flag.substr(meant.size() + 1) != said) meant = key.flag;
      }
    }
    if (meant.empty() && is_argument(tidy)) return;  // --old FILE: the file alone
    // An existing file in a command that takes files: diff --plan tfplan.json.
    if (std::error_code ignored; meant.empty() && takes_files() && std::filesystem::is_regular_file(said, ignored)) {
      out_.renamed.push_back(fmt::format("{} {} is {}", name, said, said));
      // The old side of a comparison comes first.
      if (lists_word("--compare-to --base --baseline --before --old --previous --from --main", tidy))
        out_.words.insert(out_.words.begin() + 1, take_value(value));
      else if (value)
        out_.words.push_back(said);
      return;
    }
    if (meant.empty()) return out_.words.push_back(word);
    // A file of workloads, or their models.
    if (std::error_code ignored;
        meant == "--models" && (std::filesystem::is_regular_file(said, ignored) || is_sizes(said)))
      meant = "argument";
    if (put_members(tidy, said, meant)) return void(at_ += !value);
    if (meant == "argument" && value) return out_.words.push_back(*value);
    if (meant == "argument" || meant == "default") return;  // -f FILE: the file alone; --all-regions: as without it
    if (meant == "ignored") {
      const bool adapters = tidy.find("lora") != std::string::npos && is_of_engine(tidy);
      out_.notes.push_back(adapters ? fmt::format("not modelled: {}; each adapter adds 2 bytes per parameter", name)
                                    : fmt::format("ignored: {}; it changes no answer here", name));
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
    if (flag.name == "--dataset-tokens")
      return put_data(flag, name, rest.empty() ? value : std::optional(take_value(value) + rest.substr(1)));
    if (flag.name != "--format") out_.renamed.push_back(fmt::format("{} is {}", name, flag.name));
    put(flag, tidy, value, rest);
  }

  // --min-tflops 500, --year 2024, --nvlink, --no-nvlink: conditions on a column.
  bool take_column(const std::string& name, const std::optional<std::string>& value) {
    const FlagInfo* filter = find_flag(declared_, "--filter");
    if (filter == nullptr) return false;
    static constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
        {"min-", ">="}, {"max-", "<="}, {"with-", ""}, {"has-", ""}, {"no-", "=no"}, {"without-", "=no"}};
    std::string column = column_called(name, filter->columns), sign, said;
    for (const auto& [prefix, meant] : kSigns) {
      if (!column.empty() || !name.starts_with(prefix)) continue;
      column = column_called(name.substr(prefix.size()), filter->columns);
      sign = meant;
    }
    const bool follows = !next().empty() && !is_flag_word(next()) && kind_of_word(next()) == WordKind::kOther;
    const bool takes = sign != "=no" && (value || follows), limit = sign.ends_with('=');
    if (column.empty() || (limit && !takes)) return false;
    if (takes) said = take_value(value);
    const bool compared = said.find_first_of("<>=") == 0;  // --memory ">=80GB"
    if (takes && !limit) sign = compared ? "" : "=";
    out_.renamed.push_back(fmt::format("--{}{} is --filter '{}'", name, takes ? " " + said : "", column + sign + said));
    out_.words.insert(out_.words.end(), {"--filter", column + sign + said});
    return true;
  }

  // --parallelism tp=8,pp=2: flags as members of a value.
  bool put_members(const std::string& name, const std::string& value, const std::string& meant) {
    const FlagInfo* flag = find_flag(declared_, meant);
    if (flag == nullptr || value.find('=') == std::string::npos || settings::read_list(*flag->setting, value))
      return false;
    std::vector<std::string> members;
    for (const std::string_view member : split_list(value, ',')) {
      const std::size_t equals = std::min(member.find('='), member.size());
      const FlagInfo* own = find_flag(declared_, "--" + std::string(member.substr(0, equals)));
      if (own == nullptr || equals == member.size() ||
          !settings::read_list(*own->setting, std::string(member.substr(equals + 1))))
        return false;
      members.push_back("--" + std::string(member));
    }
    out_.renamed.push_back(fmt::format("{} {} is {}", name, value, fmt::join(members, " ")));
    out_.words.insert(out_.words.end(), members.begin(), members.end());
    return true;
  }

  // The size of a data set by its unit: 2GB, "50k rows". Without one, a million and more are tokens, fewer are samples.
  void put_data(const FlagInfo& flag, const std::string& name, const std::optional<std::string>& value) {
    if (!value && next().empty()) return out_.words.push_back(name);
    std::string text = take_value(value);
    if (!value) take_more_words(flag, text);
    const auto shape = shape_among(in_);
    const bool samples = read_data_size(text, shape && shape->image_size > 0, out_.notes) &&
                         find_flag(declared_, "--dataset-samples") != nullptr;
    const std::string meant = samples ? "--dataset-samples" : flag.name;
    out_.renamed.push_back(fmt::format("{} is {}", name, meant));
    push(*find_flag(declared_, meant), text);
  }

  // --tp8, --zero2: a flag with its number; --h100: a GPU.
  bool take_joined(const std::string& typed) {
    const std::size_t digits = typed.find_last_not_of("0123456789") + 1;
    const std::string name = typed.substr(0, digits), number = typed.substr(digits);
    if (name.size() == typed.size() || name.size() < 3) return false;
    const bool gpu = kind_of_word(typed.substr(2)) == WordKind::kGpu;
    const std::string meant = gpu                                     ? "--gpu"
                              : find_flag(declared_, name) != nullptr ? name
                                                                      : meant_flag(name, declared_, serving_);
    const FlagInfo* flag = find_flag(declared_, meant);
    if (flag == nullptr || flag->values.empty() || (!gpu && !is_accepted(*flag, number))) return false;
    out_.renamed.push_back(fmt::format("{} is {} {}", typed, meant, gpu ? typed.substr(2) : number));
    push(*flag, gpu ? typed.substr(2) : number);
    return true;
  }

  // For an unknown flag with an existing file, as in --traffic rps.csv: the command's flag that takes a file.
  std::string file_flag(const std::string& value) const {
    std::error_code ignored;
    const bool folder = value.find('/') != std::string::npos && std::filesystem::is_directory(value, ignored);
    if (!folder && (value.find('.') == std::string::npos || !std::filesystem::is_regular_file(value, ignored)))
      return {};
    for (const char* flag : {"--from", "--trace", "--usage"}) {
      if (find_flag(declared_, flag) != nullptr) return flag;
    }
    return {};
  }

  // An unknown flag with a name of the catalogue: --card-model "RTX 4090", --billing spot, --where us-east-1.
  std::string flag_of_name(const std::string& typed, const std::string& said) const {
    const auto has = [&](const char* flag) { return find_flag(declared_, flag) != nullptr; };
    if (said.empty() || is_digits(said) || is_flag_word(said)) return {};
    if (is_negative(typed)) return {};
    if (has("--gpu") && kind_of_word(said) == WordKind::kGpu) return "--gpu";
    if (has("--instance") && machine_named(said) != nullptr) return "--instance";
    if (has("--region") && lists_word(listed("places"), regions_of(said))) return "--region";
    const std::string offer = offer_named(said, declared_);
    return offer.substr(0, offer.find('='));
  }

  bool is_argument(std::string_view name) const {
    return std::any_of(declared_.begin(), declared_.end(), [&](const FlagInfo& flag) {
      return !flag.name.starts_with('-') && "--" + to_lower(flag.name) == name;
    });
  }

  bool takes_files() const {
    return std::ranges::any_of(declared_, [](const FlagInfo& flag) {
      return !flag.name.starts_with('-') && flag.setting != nullptr &&
             (flag.setting->kind == settings::Kind::kFile || flag.setting->meaning.find("file") != std::string::npos);
    });
  }

  // A flag by its words: --monthly-budget is --budget, --vllm is the value of one flag. Empty if several flags match.
  std::string by_words(const std::string& typed, const std::string& said) const {
    if (typed.ends_with("-price") && typed.find("max") != std::string::npos) return {};  // a limit is not a price
    if (read_work_flag(typed) || read_limit_name(typed.substr(2)) || lists_word(listed("longest request"), typed))
      return {};
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

  // A switch that is a value here: --spot is --purchase spot. Some take True and False, and --fsdp names a strategy.
  void put_switch(const FlagInfo& flag, const std::string& name, std::string meant,
                  const std::optional<std::string>& value) {
    const std::string said = value.value_or(next());
    const std::string spelled = meant_value(flag.name, said.substr(0, said.find(' ')));
    const bool given = is_yes(said) || is_no(said) || spelled != said;
    const bool count = flag.values.empty() && is_digits(said);  // -n 1
    const bool allowed = flag.name == "--purchase" && lists_word("ok allowed fine optional too", to_lower(said));
    if ((given || count || allowed) && !value) ++at_;
    if (is_no(said)) return;
    if (given && !is_yes(said)) meant = spelled;
    if (allowed && meant != "on-demand") meant = "on-demand," + meant;
    const bool is_switch = flag.values.empty();
    // --use_fsdp next to --fsdp_sharding_strategy: the value that was typed counts.
    if (flag.name == "--zero" && !value_of(out_.words, flag.name).empty()) return;
    out_.renamed.push_back(fmt::format("{} is {}{}", name, flag.name, is_switch ? "" : " " + meant));
    is_switch ? out_.words.push_back(flag.name) : push(flag, meant);
    if (!is_switch && !given) by_switch_.push_back(out_.words.back());
  }

  // The flag and its value. `pattern` has the unit of a bare number: "*h", "ttft=*ms".
  void put(const FlagInfo& flag, const std::string& typed, const std::optional<std::string>& value,
           std::string_view pattern) {
    const bool follows = !next().empty() && !next().starts_with("--") && find_flag(declared_, next()) == nullptr;
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
    // "80GB+", ">= 80GB", "~24GB": the flag says what is compared, unless the sign says the opposite.
    const bool opposite = (text.starts_with('<') && flag.name.starts_with("--min")) ||
                          (text.starts_with('>') && flag.name.starts_with("--max"));
    if (const std::size_t number = text.find_first_not_of("<>=~ ");
        !opposite && settings::is_number(flag.setting->kind) && number != text.npos &&
        is_digits(text.substr(number, 1))) {
      text.erase(0, number);
      while (text.ends_with('+')) text.pop_back();
    }
    const bool money = flag.setting->kind == settings::Kind::kUsd || flag.setting->kind == settings::Kind::kUsdPerHour;
    if (money && is_rest_of_amount(text)) out_.refusal = lost_amount(text);
    // --filter moe, --filter vram: a switch of the command, a column in other words.
    if (flag.name == "--filter" && text.find_first_of("<>=!") == text.npos) {
      const FlagInfo* own = find_flag(declared_, "--" + to_lower(text));
      if (own != nullptr && own->values.empty()) return out_.words.push_back(own->name);
      if (const std::string column = column_called(text, flag.columns); !column.empty()) text = column;
    }
    // --from sacct: a command whose output is meant.
    if (std::error_code ignored; flag.setting->kind == settings::Kind::kFile && !std::filesystem::exists(text, ignored))
      if (const std::string instead = suggested_command(text); !instead.empty())
        out_.refusal = bad_input(fmt::format("'{}' is a command, not a file", text)).with_hint(instead);
    if (flag.name == "--region" && regions_of(text) != text) {
      out_.notes.push_back(fmt::format("zone {}: all zones of {} are shown", text, regions_of(text)));
      text = regions_of(text);
    }
    // --price a100:1.80
    if (const std::size_t colon = text.find(':'); flag.name == "--price" && text.find('=') == text.npos &&
                                                  colon != text.npos && parse_number(text.substr(colon + 1)))
      text[colon] = '=';
    if (flag.name == "--max-watts" && (text.ends_with('W') || text.ends_with('w'))) text.pop_back();
    if (flag.name == "--gpu" && find_flag(declared_, "--instance") != nullptr && machine_named(text) != nullptr)
      return push(*find_flag(declared_, "--instance"), text);
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
    const bool names = std::ranges::all_of(split_list(text, ','), [](std::string_view one) {
      return kind_of_word(one) == WordKind::kGpu && !is_digits(one);
    });
    if (flag.name == "--gpus" && names && (in_.front() == "prices" || text.find(',') != text.npos))
      return push(*find_flag(declared_, "--gpu"), text);
    if (is_any(text) && holds(std::array{"--gpu", "--provider", "--region"}, flag.name)) return;
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
    if (const std::string sized = flag.name == "--gpu" ? gpu_with_memory(text) : std::string(); !sized.empty()) {
      out_.notes.push_back(fmt::format("assumed: a GPU of {} is {} (--gpu names another)", text, sized));
      text = sized;
    }
    if (const Result<Seconds> term = parse_duration(text); flag.name == "--years" && term && !is_digits(text))
      text = fmt::format("{:.0f}", in_days(*term) / in_days(kYear));
    // estimate --concurrency 1,8,32, --dtypes float16 int4: several values of one setting.
    if (!flag.list && text.find(',') != std::string::npos && is_swept(flag) && meant_value(flag.name, text) == text &&
        !settings::read(*flag.setting, text)) {
      std::string values;
      for (const std::string_view part : split_list(text, ','))
        values += (values.empty() ? "" : ",") + meant_value(flag.name, std::string(part));
      text = values;
      out_.renamed.push_back(fmt::format("{} {} is --sweep {}={}", flag.name, text, flag.name.substr(2), text));
      if (flag.setting->jobs == settings::Jobs::kServe && value_of(in_, "--job").empty())
        out_.words.emplace_back("--job=serve");
      push(flag, text.substr(0, text.find(',')));
      return push(*find_flag(declared_, "--sweep"), fmt::format("{}={}", flag.name.substr(2), text));
    }
    // Data sheets give memory in GB.
    if (flag.setting->kind == settings::Kind::kBytes && is_digits(text) &&
        flag.name.find("memory") != std::string::npos)
      text += "GB";
    if (flag.name == "--min-bandwidth" && is_digits(text)) text += "GB/s";
    const std::string by_typed = meant_value(typed, text);
    text = by_typed != text ? by_typed : meant_value(flag.name, text);
    // A choice within a longer name: bitsandbytes-nf4.
    if (flag.setting->kind == settings::Kind::kChoice && !settings::read_list(*flag.setting, text)) {
      const std::string tidy = tidied(text);
      for (const std::string_view part : split_list(tidy, '-')) {
        const std::string choice = meant_value(flag.name, std::string(part));
        if (part.size() < 3 || !settings::read(*flag.setting, choice)) continue;
        out_.renamed.push_back(fmt::format("{} {} is {}", flag.name, text, choice));
        text = choice;
        break;
      }
    }
    if (!pattern.empty()) {
      const std::size_t star = pattern.find('*');
      text = std::string(pattern.substr(0, star)) + text +
             std::string(is_digits(text) ? pattern.substr(star + 1) : std::string_view{});
    }
    push(flag, text);
  }

  // A value of several words: --deadline 2 weeks, --docs 50 M, --gpu RTX 4090, --deadline by next friday.
  void take_more_words(const FlagInfo& flag, std::string& text) {
    const std::string first = text;
    const std::size_t start = at_;
    const bool number = text.front() >= '0' && text.front() <= '9';
    const bool gpu = flag.name == "--gpu" || flag.name == "--gpus";
    while (!next().empty() && !next().starts_with('-')) {
      const bool unit = number && settings::is_number(flag.setting->kind) &&
                        (continues_amount(next()) || (flag.setting->kind == settings::Kind::kCount &&
                                                      thing_of(next()) != Thing::kNone && job_of(next()).empty()));
      const bool day = flag.name == "--deadline" && holds(std::array{"by", "next", "in", "end", "this", "of", "before"},
                                                          to_lower(text.substr(text.rfind(' ') + 1)));
      using enum settings::Kind;  // --last 3 months, --since last week
      const settings::Kind kind = flag.setting->kind;
      const bool time = kind == kDate || kind == kMoment || kind == kDuration;
      const bool whole =
          time && !settings::read(*flag.setting, text) && settings::read(*flag.setting, text + " " + next());
      // --dtypes float16 int4, --tp 1 2 4
      const bool another = is_swept(flag) && kind_of_word(next()) == WordKind::kOther && !is_size(next()) &&
                           settings::read(*flag.setting, meant_value(flag.name, next())) &&
                           (kind == kChoice || is_digits(next()));
      const std::string joined = text + (another ? "," : unit || day || whole ? " " : "-") + next();
      if (!another && !unit && !day && !whole && !(gpu && kind_of_word(joined) == WordKind::kGpu)) break;
      text = joined;
      ++at_;
    }
    // `--concurrency 16 tokens per second` asks for a speed.
    const bool count = flag.setting->kind == settings::Kind::kCount && !gpu && !read_work_flag(flag.name);
    if (count && text != first && text.find(',') == std::string::npos && !settings::read(*flag.setting, text) &&
        settings::read(*flag.setting, first)) {
      text = first;
      at_ = start;
    }
  }

  // Whether several values of a flag make a table with a row for each.
  bool is_swept(const FlagInfo& flag) const {
    return find_flag(declared_, "--sweep") != nullptr && flag.setting != nullptr && flag.name != "--job" &&
           (flag.setting->kind == settings::Kind::kChoice || settings::is_number(flag.setting->kind));
  }

  // Joins the values of a list that is given twice: --provider aws --provider gcp.
  void push(const FlagInfo& flag, const std::string& value) {
    const bool list = flag.list || flag.name == "--slo";
    const auto given = std::find_if(out_.words.begin(), out_.words.end(),
                                    [&](const std::string& word) { return word.starts_with(flag.name + "="); });
    const auto assumed =
        std::ranges::find_if(by_switch_, [&](const std::string& word) { return word.starts_with(flag.name + "="); });
    if (list && !flag.repeatable && given != out_.words.end())
      *given += "," + value;
    else if (given != out_.words.end() && assumed != by_switch_.end())
      *given = flag.name + "=" + value;
    else if (flag.repeatable)
      out_.words.insert(out_.words.end(), {flag.name, value});  // further words may be values too: --from *.csv
    else
      out_.words.push_back(flag.name + "=" + value);
  }

  std::vector<std::string> in_;
  const std::deque<FlagInfo>& declared_;
  std::vector<std::string> by_switch_;  // values that a switch implies, until one is given
  bool serving_ = false, of_engine_ = false;
  std::size_t at_ = 0;
  Typed out_;
};

}  // namespace

Typed meant_flags(Typed typed, const std::deque<FlagInfo>& declared) {
  if (!typed.words.empty()) combine_flags(typed, declared);
  return Rewriter(std::move(typed), declared).run();
}

}  // namespace rightsize::app
