#include "rightsize/input/workload_input.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/job_flags.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/foreign_keys.h"
#include "rightsize/typed/work.h"

namespace rightsize::app {
namespace {

Result<> take(WorkloadFlags& flags, const std::string& setting, const std::string& text) {
  const bool list = text.find(',') != std::string::npos;
  if (setting == "gpu" && !list) return take_gpu(text, flags.settings["gpu"], flags.settings);
  if (setting == "gpus") {
    std::string gpu;
    Result<> taken = take_gpus(text, gpu, flags.settings);
    if (!gpu.empty()) flags.settings["gpu"] = gpu;
    return taken;
  }
  flags.settings[setting] = text;
  return {};
}

// Whether the argument names a model, as in `recommend llama-3.1-8b`: it is not an existing file and does not look like
// a path.
bool is_model(const std::string& word) {
  std::error_code ignored;
  if (word.empty() || word == "-" || std::filesystem::exists(word, ignored)) return false;
  return !word.ends_with(".yaml") && !word.ends_with(".yml") && !word.ends_with(".json") && word.front() != '.' &&
         word.front() != '/';
}

// Job settings that the search decides.
constexpr std::string_view kSearched[] = {"gpus", "tp", "pp", "ep", "zero", "batch", "accumulate", "recompute"};

bool is_setting(const std::string& name) {
  const std::vector<std::string>& all = plan::request_settings();
  return std::find(all.begin(), all.end(), name) != all.end();
}

// Translates the keys of a file to our names, like the same words on a command line: `num_gpus: 8`, `gpus: H100:8`,
// `slo: p95-ttft=1s`, `users: 2000`. Misspelt keys stay and are refused later, with their line; a note names unknown
// ones.
std::vector<model::Setting> by_our_names(const std::vector<model::Setting>& settings) {
  // Reinforcement learning has its own settings (rl/rl.h), in which prompts are not an amount of work.
  const bool is_rl = std::ranges::any_of(
      settings, [](const model::Setting& setting) { return setting.name == "job" && job_of(setting.value) == "rl"; });
  if (is_rl) return settings;
  WorkloadFlags unused;
  FlagSet command;
  add_workload_flags(command, unused);
  const std::deque<FlagInfo> declared = command.declared();
  Typed typed{{"recommend"}};
  std::map<std::string, const model::Setting*> typed_as;
  Place foreign;
  for (const model::Setting& setting : settings) {
    const std::string flag =
        is_setting(setting.name) ? "--" + setting.name : flag_of_key(setting.name, setting.value, declared);
    typed_as[flag] = &setting;
    if (!is_setting(flag.substr(2))) foreign = setting.place;
    typed.words.push_back(flag + "=" + setting.value);
  }
  const Typed meant = meant_work(meant_flags(std::move(typed), declared), declared);
  for (const std::string& text : meant.notes) note(text);
  std::vector<model::Setting> ours;
  std::vector<std::string> unused_keys;
  for (std::size_t i = 1; i < meant.words.size(); ++i) {
    const std::string& word = meant.words[i];
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string flag = word.substr(0, equals);
    std::string value = word.substr(std::min(equals + 1, word.size()));
    const bool follows = equals == word.size() && i + 1 < meant.words.size() && !meant.words[i + 1].starts_with("--");
    if (follows) value = meant.words[++i];
    const auto known = typed_as.find(flag);
    // A setting under another name keeps its value, as a rule.
    const auto same = std::ranges::find(settings, value, &model::Setting::value);
    const Place place = known != typed_as.end() ? known->second->place : same != settings.end() ? same->place : foreign;
    WorkloadFlags one;
    FlagSet flags;
    add_workload_flags(flags, one);
    const auto unknown = flags.parse(follows ? std::vector{word, value} : std::vector{word});
    if (!unknown || !unknown->empty() || !one.prices.empty()) {
      const FlagInfo* own = find_flag(declared, flag);
      const std::string key = known == typed_as.end() ? flag.substr(2) : known->second->name;
      if (own == nullptr && suggest(flag.substr(2), plan::request_settings()).empty()) {
        unused_keys.push_back(fmt::format("{} (line {})", key, place.line));
        continue;
      }
      one.settings = {{own == nullptr ? key : std::string(own->setting->name), value}};
    }
    for (const auto& [setting, text] : one.settings) ours.push_back({setting, text, place});
  }
  if (!unused_keys.empty()) note(fmt::format("not used, as it has no meaning here: {}", fmt::join(unused_keys, ", ")));
  return ours;
}

}  // namespace

std::string our_key(const std::string& key) {
  WorkloadFlags unused;
  FlagSet command;
  add_workload_flags(command, unused);
  std::string name = "--" + to_lower(key);
  std::replace(name.begin(), name.end(), '_', '-');
  const std::deque<FlagInfo> declared = command.declared();
  const FlagInfo* own = find_flag(declared, name);
  if (own == nullptr) own = find_flag(declared, meant_flag(name, declared, true));
  return own == nullptr || own->setting == nullptr ? std::string() : std::string(own->setting->name);
}

void add_setting_flags(FlagSet& command, WorkloadFlags& flags) {
  for (const std::string& name : plan::request_settings()) {
    if (name == "price") {
      add_price_flag(command, flags.prices);
      continue;
    }
    const settings::Setting& row = settings::get(name);
    const auto take_text = [&flags, name](const std::string& text) { return take(flags, name, text); };
    Flag* flag = name == "gpus" ? command.add_unchecked("gpus", take_text)  // also takes H100:8: a GPU and a count
                                : command.add(name, [take_text, &row](const settings::Value& value) {
                                    const bool is_switch = row.kind == settings::Kind::kSwitch;
                                    return take_text(!is_switch ? value.text : value.number != 0 ? "true" : "false");
                                  });
    if (row.kind == settings::Kind::kLength) flag->values("N[,fixed|,p95=N]")->meaning(plan::meaning_of(name));
    if (std::find(std::begin(kSearched), std::end(kSearched), name) != std::end(kSearched))
      flag->or_words("chosen by the search");
  }
}

void add_workload_flags(FlagSet& command, WorkloadFlags& flags) {
  command.add("WORKLOAD", [&flags](const settings::Value& word) -> Result<> {
    std::string& to = is_model(word.text) ? flags.settings["model"] : flags.file;
    if (!to.empty() && to != word.text)
      return fail(bad_input(fmt::format("the model is both '{}' and '{}'", to, word.text)));
    to = word.text;
    return {};
  });
  add_setting_flags(command, flags);
}

Checked<std::vector<std::vector<model::Setting>>> read_workloads(const WorkloadFlags& flags) {
  std::vector<std::vector<model::Setting>> workloads(1);
  if (!flags.file.empty()) {
    Result<std::string> text = read_file(flags.file);
    if (!text) {
      return fail(
          Errors{std::move(text).error().with_hint("'rightsize init --model llama-3.1-8b --tokens 1B > workload.yaml' "
                                                   "writes one; examples/recommend has some")});
    }
    RIGHTSIZE_TRY(workloads, plan::read_workload_file(flags.file == "-" ? "standard input" : flags.file, *text));
  }
  for (auto& settings : workloads) settings = by_our_names(settings);
  std::map<std::string, std::string> given = flags.settings;
  if (!flags.prices.bills.empty()) {
    const auto folder = flags.settings.find("catalog");
    RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(folder == flags.settings.end() ? "" : folder->second));
    RIGHTSIZE_TRY(const std::vector<std::string> prices, price_texts(catalog, flags.prices));
    given["price"] = fmt::format("{}", fmt::join(prices, ","));
  } else if (!flags.prices.empty()) {
    given["price"] = fmt::format("{}", fmt::join(flags.prices, ","));
  }
  for (auto& settings : workloads) {
    for (const auto& [name, value] : given) {
      std::erase_if(settings, [&name = name](const model::Setting& s) { return s.name == name; });
      settings.push_back({name, value, {}});
    }
  }
  return workloads;
}

}  // namespace rightsize::app
