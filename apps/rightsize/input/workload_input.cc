#include "rightsize/input/workload_input.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/job_flags.h"
#include "rightsize/typed/aliases.h"

namespace rightsize::app {
namespace {

Result<> take(WorkloadFlags& flags, const std::string& setting, const std::string& text) {
  const bool list = text.find(',') != std::string::npos;
  if (setting == "gpu" && !list) return take_gpu(text, flags.settings["gpu"], flags.settings);
  if (setting == "gpus") {
    std::string gpu;
    const Result<> taken = take_gpus(text, gpu, flags.settings);
    if (!gpu.empty()) flags.settings["gpu"] = gpu;
    return taken;
  }
  flags.settings[setting] = text;
  return {};
}

// Whether the argument names a model, as in `recommend llama-3.1-8b`: no such file exists, and it does not look like
// one.
bool is_model(const std::string& word) {
  std::error_code ignored;
  if (word.empty() || word == "-" || std::filesystem::exists(word, ignored)) return false;
  return !word.ends_with(".yaml") && !word.ends_with(".yml") && !word.ends_with(".json") && word.front() != '.' &&
         word.front() != '/';
}

// The settings of a job that a request leaves to the search.
constexpr std::string_view kSearched[] = {"gpus", "tp", "pp", "ep", "zero", "batch", "accumulate", "recompute"};

bool is_setting(const std::string& name) {
  const std::vector<std::string>& all = plan::request_settings();
  return std::find(all.begin(), all.end(), name) != all.end();
}

// Translates a key of a file from the name other tools use: provider, region, num_gpus, use_spot. Unknown keys stay.
void rename(model::Setting& setting) {
  std::string name = to_lower(setting.name);
  for (char& c : name) c = c == '_' ? '-' : c;
  const auto take_name = [&](const std::string& meant) {
    for (const std::string& one : {meant, meant + "s"}) {
      if (!is_setting(one)) continue;
      setting.name = one;
      return true;
    }
    return false;
  };
  if (is_setting(setting.name) || take_name(name)) return;
  for (const FlagAlias& alias : flag_aliases()) {
    const std::size_t equals = std::min(alias.meant.find('='), alias.meant.size());
    const std::vector<std::string_view> typed = split_list(alias.typed, ' ');
    const std::string_view value = equals == alias.meant.size() ? std::string_view{} : alias.meant.substr(equals + 1);
    const bool is_switch = !value.empty();
    if (value.find('*') != value.npos) continue;
    if (std::find(typed.begin(), typed.end(), "--" + name) == typed.end()) continue;
    if (is_switch && setting.value != "true" && setting.value != "yes") continue;
    if (!alias.meant.starts_with("--") || !take_name(std::string(alias.meant.substr(2, equals - 2)))) continue;
    if (is_switch) setting.value = value;
    return;
  }
}

// The settings of a file by our names. `gpus: H100:8` becomes a GPU and a number.
std::vector<model::Setting> by_our_names(std::vector<model::Setting> settings) {
  std::vector<model::Setting> renamed;
  for (model::Setting& setting : settings) {
    rename(setting);
    const catalog::CountedGpu counted = catalog::split_gpu_count(setting.value);
    const bool list = setting.value.find(',') != std::string::npos;
    if ((setting.name == "gpu" || setting.name == "gpus") && counted.count && !list) {
      renamed.push_back({"gpu", counted.name, setting.place});
      renamed.push_back({"gpus", std::to_string(*counted.count), setting.place});
    } else {
      renamed.push_back(std::move(setting));
    }
  }
  return renamed;
}

}  // namespace

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
    (is_model(word.text) ? flags.settings["model"] : flags.file) = word.text;
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
  for (auto& settings : workloads) settings = by_our_names(std::move(settings));
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
