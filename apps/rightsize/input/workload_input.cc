#include "rightsize/input/workload_input.h"

#include <fmt/format.h>

#include "base/file.h"

namespace rightsize::app {

void add_setting_flags(FlagSet& command, WorkloadFlags& flags) {
  const auto add = [&](const model::SettingInfo& info) {
    command
        .add_option_function(
            "--" + info.name, [&flags, name = info.name](const std::string& text) { flags.settings[name] = text; },
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
  command.add_option("workload", flags.file, "a workload file (see 'rightsize init'), or - for standard input");
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
