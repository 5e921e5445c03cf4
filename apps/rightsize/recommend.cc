// rightsize recommend: which GPU, how many, from whom, on which terms, with which settings.
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "command.h"
#include "plan/read_request.h"
#include "recommend_report.h"

namespace rightsize::app {
namespace {

struct Flags {
  std::string file, catalog;
  std::map<std::string, std::string> settings;
  bool stats = false;
};

// The workloads of the file, or one of flags alone; flags win over the file.
Checked<std::vector<std::vector<workload::Setting>>> read_workloads(const Flags& flags) {
  std::vector<std::vector<workload::Setting>> workloads(1);
  if (!flags.file.empty()) {
    Result<std::string> text = read_file(flags.file);
    if (!text) return fail(one(std::move(text).error()));
    RIGHTSIZE_TRY(workloads, plan::read_workload_file(flags.file == "-" ? "standard input" : flags.file, *text));
  }
  for (auto& settings : workloads) {
    for (const auto& [name, value] : flags.settings) {
      std::erase_if(settings, [&](const workload::Setting& s) { return s.name == name; });
      settings.push_back({name, value, {}});
    }
  }
  return workloads;
}

Checked<Outcome> run(const Flags& flags) {
  Result<std::string> overlay = catalog::overlay_directory(flags.catalog);
  if (!overlay) return fail(one(std::move(overlay).error()));
  RIGHTSIZE_TRY(catalog::Catalog catalog, catalog::load_catalog(*overlay));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(*overlay));
  RIGHTSIZE_TRY(auto workloads, read_workloads(flags));
  Outcome outcome;
  for (const auto& settings : workloads) {
    RIGHTSIZE_TRY(plan::Request request, plan::read_request(settings, catalog));
    for (const market::OwnHardware& own : request.own) {
      if (Result<> added = market::add_own_hardware(catalog, own); !added) return fail(one(std::move(added).error()));
    }
    const plan::Recommendation found = plan::recommend(request, catalog, constants);
    outcome.report = report_of(request, found, catalog, flags.stats);
    if (found.plans.empty()) outcome.exit_code = kNoFeasibleAnswer;
  }
  return outcome;
}

}  // namespace

Run add_recommend(CLI::App& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("workload", flags->file, "a workload file (see 'rightsize init'), or - for standard input");
  const auto add = [&](const workload::SettingInfo& info) {
    command
        .add_option_function<std::string>(
            "--" + info.name, [flags, name = info.name](const std::string& text) { flags->settings[name] = text; },
            info.meaning)
        ->type_name(info.values);
  };
  for (const workload::SettingInfo& info : plan::request_settings()) add(info);
  for (const workload::SettingInfo& info : workload::job_settings()) add(info);
  command.add_flag("--stats", flags->stats, "how much was looked at, and how long each stage took");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
