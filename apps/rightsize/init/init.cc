// rightsize init: writes a starter workload file from flags or from answers to a few questions.
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "launch/write_workload_file.h"
#include "report/fields.h"
#include "rightsize/init/interview.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/rl/plan_report.h"

namespace rightsize::app {
namespace {

using model::Setting;
using Settings = std::vector<Setting>;

struct Written {
  std::optional<std::string> file;
  std::string text;
};
const report::Fields<Written> kWrittenFields = {
    {"file", "the file that was written; null: standard output", &Written::file},
    {"text", "its content", &Written::text},
};
const report::Document<Written> kInitDocument("init", "A workload file", kWrittenFields);

struct InitFlags {
  WorkloadFlags workload;
  RlFlags rl;
  std::string output, catalog;
  bool ask = false, force = false, portfolio = false;
};

// An organisation with each kind of pool and a service and a job, whose prices are examples.
constexpr std::string_view kPortfolio = R"(# Replace the examples, then: rightsize portfolio FILE
pools:
  - name: own-h100               # GPUs that are paid for, used or not
    gpu: h100-sxm
    reserved: 8
    reserved_usd_per_month: 12800
    usd_per_gpu_hour: 2.99       # of further GPUs, on demand
    quota: 16                    # the most of them
    gpus_per_machine: 8
  - name: rented-l40s
    gpu: l40s
    usd_per_gpu_hour: 1.05
workloads:
  - name: chat
    job: serve
    model: llama-3.1-8b
    rate: 10/s
    ttft-slo: 1s
  - name: weekly-fine-tuning
    job: train
    model: llama-3.1-8b
    method: lora
    tokens: 300M
    deadline: 2d
    every: 7d
)";

// A small workload that shows the format, for use without settings and without a terminal to ask questions.
Settings example() { return {{"model", "llama-3.1-8b", {}}, {"job", "train", {}}, {"tokens", "100M", {}}}; }

Result<Settings> settings_of(const InitFlags& flags, const catalog::Catalog& catalog) {
  Settings given;
  for (const auto* settings : {&flags.workload.settings, &flags.rl.settings}) {
    for (const auto& [name, value] : *settings) given.push_back({name, value, {}});
  }
  if (!flags.workload.prices.empty())
    given.push_back({"price", fmt::format("{}", fmt::join(flags.workload.prices, ",")), {}});
  if (flags.ask || (given.empty() && isatty(STDIN_FILENO) != 0)) {
    if (!given.empty())
      return fail(
          bad_input("--ask cannot be combined with other settings").with_hint("leave out --ask, or the other flags"));
    // Questions go to standard error; standard output holds only the file.
    return hold_interview(catalog, std::cin, std::cerr, isatty(STDIN_FILENO) == 0);
  }
  return given.empty() ? example() : given;
}

Result<> write(const InitFlags& flags, const std::string& text) {
  if (!flags.force && std::filesystem::exists(flags.output))
    return fail(bad_input(fmt::format("'{}' already exists", flags.output)).with_hint("--force overwrites it"));
  return write_file(flags.output, text);
}

// The text of the file, checked as 'recommend' would.
Checked<std::string> workload_text(const InitFlags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(Settings settings, settings_of(flags, catalog));
  if (const RlWorkload rl = rl_workload(settings, {}); rl.is_rl()) {
    if (Errors mistakes = mistakes_of_rl(rl, catalog); !mistakes.empty()) return fail(std::move(mistakes));
  } else if (auto request = plan::read_request(settings, catalog); !request) {
    return fail(std::move(request).error());
  }
  return launch::write_workload_file(settings);
}

Checked<Outcome> run_init(const InitFlags& flags) {
  if (flags.portfolio && (flags.ask || !flags.workload.settings.empty() || !flags.rl.settings.empty()))
    return fail(bad_input("--portfolio writes an example, which takes no other settings").with_hint("edit the file"));
  Written written{{}, std::string(kPortfolio)};
  if (!flags.portfolio) {
    RIGHTSIZE_TRY(written.text, workload_text(flags));
  }
  Outcome outcome;
  if (flags.output.empty()) {
    outcome.report.blocks = {report::Verbatim{"", written.text}};
  } else {
    if (Result<> done = write(flags, written.text); !done) return fail(std::move(done).error());
    written.file = flags.output;
    outcome.report.blocks = {report::Paragraph{
        fmt::format("Wrote {0}\nNext: rightsize {1} {0}", flags.output, flags.portfolio ? "portfolio" : "recommend")}};
  }
  outcome.report.document = kInitDocument.of(written);
  return outcome;
}

}  // namespace

Run add_init(FlagSet& command) {
  auto flags = std::make_shared<InitFlags>();
  add_setting_flags(command, flags->workload);
  add_rl_flags(command, flags->rl, true);
  command.add("output", flags->output);
  command.add("ask", flags->ask);
  command.add("force", flags->force);
  command.add("portfolio", flags->portfolio);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_init(*flags); };
}

}  // namespace rightsize::app
