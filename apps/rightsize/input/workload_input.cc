#include "rightsize/input/workload_input.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "rightsize/input/job_flags.h"

namespace rightsize::app {
namespace {

// Files list `providers` and `regions`; the flags are those of every other command.
std::string flag_of(const std::string& setting) {
  if (setting == "providers") return "--provider,--providers";
  if (setting == "regions") return "--region,--regions";
  return "--" + setting;
}

void take(WorkloadFlags& flags, const std::string& setting, const std::string& text) {
  const bool list = text.find(',') != std::string::npos;
  if (setting == "gpu" && !list) {
    take_gpu(text, flags.settings["gpu"], flags.settings);
  } else if (setting == "gpus") {
    std::string gpu;
    take_gpus(text, gpu, flags.settings);
    if (!gpu.empty()) flags.settings["gpu"] = gpu;
  } else {
    flags.settings[setting] = text;
  }
}

// `recommend llama-3.1-8b` names a model: no file, and not written like one.
bool is_model(const std::string& word) {
  std::error_code ignored;
  if (word.empty() || word == "-" || std::filesystem::exists(word, ignored)) return false;
  return !word.ends_with(".yaml") && !word.ends_with(".yml") && !word.ends_with(".json") && word.front() != '.' &&
         word.front() != '/';
}

}  // namespace

void add_setting_flags(FlagSet& command, WorkloadFlags& flags) {
  const auto add = [&](const model::SettingInfo& info) {
    command
        .add_option_function(
            flag_of(info.name), [&flags, name = info.name](const std::string& text) { take(flags, name, text); },
            info.meaning)
        ->type_name(info.values);
  };
  // On the command line a switch stands alone; a file says true or false.
  const auto add_switch = [&](const model::SettingInfo& info) {
    command.add_flag_function(
        "--" + info.name, [&flags, name = info.name] { flags.settings[name] = "true"; }, info.meaning);
  };
  for (const model::SettingInfo& info : plan::request_settings()) {
    if (info.name != "price") info.values == "true|false" ? add_switch(info) : add(info);
  }
  add_price_flag(command, flags.prices);
  for (const model::SettingInfo& info : plan::job_settings_of_requests()) add(info);
}

void add_workload_flags(FlagSet& command, WorkloadFlags& flags) {
  command.add_option_function(
      "workload", [&flags](const std::string& word) { (is_model(word) ? flags.settings["model"] : flags.file) = word; },
      "a workload file (see 'rightsize init'), - for standard input, or a model");
  add_setting_flags(command, flags);
}

Checked<std::vector<std::vector<model::Setting>>> read_workloads(const WorkloadFlags& flags) {
  std::vector<std::vector<model::Setting>> workloads(1);
  if (!flags.file.empty()) {
    RIGHTSIZE_TRY(std::string text, read_file(flags.file));
    RIGHTSIZE_TRY(workloads, plan::read_workload_file(flags.file == "-" ? "standard input" : flags.file, text));
  }
  std::map<std::string, std::string> given = flags.settings;
  if (!flags.prices.empty()) given["price"] = fmt::format("{}", fmt::join(flags.prices, ","));
  for (auto& settings : workloads) {
    for (const auto& [name, value] : given) {
      std::erase_if(settings, [&](const model::Setting& s) { return s.name == name; });
      settings.push_back({name, value, {}});
    }
  }
  return workloads;
}

}  // namespace rightsize::app
