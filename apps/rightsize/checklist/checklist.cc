// rightsize checklist: profile, bottleneck, size, cloud, commit; each answered, or with what to measure.
#include <memory>

#include <fmt/format.h>

#include "rightsize/checklist/steps.h"
#include "rightsize/command.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

struct Flags {
  WorkloadFlags workload;
  std::string fleet, catalog;
};

// The workload's recommendation, or nothing where no workload is given.
Checked<std::optional<Advice>> advise(const WorkloadFlags& workload, catalog::Catalog& catalog,
                                      const perf::Constants& constants, std::optional<market::PriceBook>& prices) {
  if (workload.file.empty() && workload.settings.empty()) return std::nullopt;
  RIGHTSIZE_TRY(auto workloads, read_workloads(workload));
  if (workloads.size() > 1)
    return fail(one(bad_input(fmt::format("a checklist is for one workload, the file has {}", workloads.size()))
                        .with_hint("'rightsize recommend' takes them all")));
  RIGHTSIZE_TRY(plan::Request request, plan::read_request(workloads.front(), catalog));
  for (const market::OwnHardware& own : request.own) {
    if (Result<> added = market::add_own_hardware(catalog, own); !added) return fail(one(std::move(added).error()));
  }
  prices.emplace(catalog, request.prices);
  plan::Recommendation found = plan::recommend(request, *prices, constants);
  return Advice{std::move(request), std::move(found)};
}

std::string paragraph(std::size_t number, const Step& step) {
  std::string text = fmt::format("{} {}. {}\n    {}", step.done ? "[x]" : "[ ]", number, step.name, step.answer);
  for (const std::string& line : step.evidence) text += "\n    - " + line;
  if (!step.next.empty()) text += "\n    Next: " + step.next;
  return text;
}

report::Report report_of_steps(const Known& known, const std::vector<Step>& steps) {
  report::Report report;
  report.title = known.advice ? "Checklist: " + describe_request(known.advice->request) : "Checklist";
  report.document = {{"schema", "rightsize/checklist/1"}, {"steps", report::Json::array()}};
  for (const Step& step : steps) {
    report.blocks.emplace_back(report::Paragraph{paragraph(report.blocks.size() + 1, step)});
    report.document["steps"].push_back({{"name", step.name},
                                        {"done", step.done},
                                        {"answer", step.answer},
                                        {"evidence", step.evidence},
                                        {"next", step.next.empty() ? report::Json(nullptr) : report::Json(step.next)}});
  }
  return report;
}

Checked<Outcome> run(const Flags& flags) {
  Result<std::string> overlay = catalog::overlay_directory(flags.catalog);
  if (!overlay) return fail(one(std::move(overlay).error()));
  RIGHTSIZE_TRY(catalog::Catalog catalog, catalog::load_catalog(*overlay));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(*overlay));
  Known known{catalog};
  // Here a profile answers its own steps beside the workload; alone it is no workload.
  WorkloadFlags workload = flags.workload;
  if (const auto profile = workload.settings.extract("profile"); !profile.empty()) {
    RIGHTSIZE_TRY(known.profile, read_profile(profile.mapped()));
  }
  if (!flags.fleet.empty()) {
    RIGHTSIZE_TRY(known.fleet, read_fleet(flags.fleet));
  }
  RIGHTSIZE_TRY(known.advice, advise(workload, catalog, constants, known.prices));
  Outcome outcome;
  outcome.report = report_of_steps(known, checklist_steps(known));
  if (known.advice && known.advice->found.plans.empty()) outcome.exit_code = kNoFeasibleAnswer;
  return outcome;
}

}  // namespace

Run add_checklist(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_workload_flags(command, flags->workload);
  command.add_option("--fleet", flags->fleet, "what 'rightsize fleet --format json' wrote")->type_name("FILE");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
