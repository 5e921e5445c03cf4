// rightsize init: writes a starter workload file from flags or from answers to a few questions.
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/write_workload_file.h"
#include "rightsize/init/interview.h"
#include "rightsize/input/workload_input.h"

namespace rightsize::app {
namespace {

using model::Setting;
using Settings = std::vector<Setting>;

struct Flags {
  WorkloadFlags workload;
  std::string output, catalog;
  bool ask = false, force = false;
};

// Without settings and without a terminal to ask at: a small workload that shows the format.
Settings example() { return {{"model", "llama-3.1-8b", {}}, {"job", "train", {}}, {"tokens", "100M", {}}}; }

Result<Settings> settings_of(const Flags& flags, const catalog::Catalog& catalog) {
  Settings given;
  for (const auto& [name, value] : flags.workload.settings) given.push_back({name, value, {}});
  if (!flags.workload.prices.empty())
    given.push_back({"price", fmt::format("{}", fmt::join(flags.workload.prices, ",")), {}});
  if (flags.ask || (given.empty() && isatty(STDIN_FILENO) != 0)) {
    if (!given.empty())
      return fail(
          bad_input("--ask cannot be combined with other settings").with_hint("leave out --ask, or the other flags"));
    // Questions go to standard error, so that standard output holds only the file.
    return hold_interview(catalog, std::cin, std::cerr, isatty(STDIN_FILENO) == 0);
  }
  return given.empty() ? example() : given;
}

Result<> write(const Flags& flags, const std::string& text) {
  if (!flags.force && std::filesystem::exists(flags.output))
    return fail(bad_input(fmt::format("'{}' already exists", flags.output)).with_hint("--force overwrites it"));
  return write_file(flags.output, text);
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(Settings settings, settings_of(flags, catalog));
  if (auto request = plan::read_request(settings, catalog); !request) return fail(std::move(request).error());
  const std::string text = plan::write_workload_file(settings);
  Outcome outcome;
  outcome.report.document = {{"schema", "rightsize/init/1"}, {"file", nullptr}, {"text", text}};
  if (flags.output.empty()) {
    outcome.report.blocks = {report::Verbatim{"", text}};
    return outcome;
  }
  if (Result<> written = write(flags, text); !written) return fail(std::move(written).error());
  outcome.report.document["file"] = flags.output;
  outcome.report.blocks = {report::Paragraph{fmt::format("Wrote {0}\nNext: rightsize recommend {0}", flags.output)}};
  return outcome;
}

}  // namespace

Run add_init(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_setting_flags(command, flags->workload);
  command.add("output", flags->output);
  command.add("ask", flags->ask);
  command.add("force", flags->force);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
