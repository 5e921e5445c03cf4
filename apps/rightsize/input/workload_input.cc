#include "rightsize/input/workload_input.h"

#include <fmt/format.h>

#include "base/file.h"

namespace rightsize::app {

void add_setting_flags(FlagSet& command, WorkloadFlags& flags) {
  const auto add = [&](const model::SettingInfo& info) {
    auto* option = command.add_option_function(
        "--" + info.name, [&flags, name = info.name](const std::string& text) { flags.settings[name] = text; },
        info.meaning);
    option->type_name(info.values);
    // A switch may stand alone.
    if (info.values == "true|false") option->expected(0, 1)->default_str("true");
  };
  for (const model::SettingInfo& info : plan::request_settings()) {
    if (info.name != "price") add(info);
  }
  add_price_flag(command, flags.prices);
  for (const model::SettingInfo& info : model::job_settings()) add(info);
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
