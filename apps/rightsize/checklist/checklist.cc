// rightsize checklist: profile, bottleneck, size, cloud, commit; each answered, or with what to measure.
#include <memory>

#include <fmt/format.h>

#include "rightsize/checklist/report.h"
#include "rightsize/input/speed_input.h"
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
    return fail(bad_input(fmt::format("a checklist is for one workload, the file has {}", workloads.size()))
                    .with_hint("'rightsize recommend' takes them all"));
  RIGHTSIZE_TRY(plan::Request request, plan::read_request(workloads.front(), catalog));
  for (const market::OwnHardware& own : request.own) {
    if (Result<> added = market::add_own_hardware(catalog, own); !added) return fail(std::move(added).error());
  }
  prices.emplace(catalog, request.prices);
  plan::Recommendation found = plan::recommend(request, *prices, constants);
  return Advice{std::move(request), std::move(found)};
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(Facts facts, open_facts(flags.catalog));
  ChecklistFacts known{facts.catalog};
  // Here a profile answers its own steps beside the workload; alone it is no workload.
  WorkloadFlags workload = flags.workload;
  if (const auto profile = workload.settings.extract("profile"); !profile.empty()) {
    RIGHTSIZE_TRY(known.profile, read_profile(profile.mapped()));
  }
  if (!flags.fleet.empty()) {
    RIGHTSIZE_TRY(known.fleet, read_fleet(flags.fleet));
  }
  RIGHTSIZE_TRY(known.advice, advise(workload, facts.catalog, facts.constants, known.prices));
  Outcome outcome;
  const std::string title = known.advice ? "Checklist: " + describe_request(known.advice->request) : "Checklist";
  outcome.report = checklist_report(title, checklist_steps(known));
  if (known.advice && known.advice->found.plans.empty()) outcome.exit_code = kNoFeasibleAnswer;
  return outcome;
}

}  // namespace

Run add_checklist(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_workload_flags(command, flags->workload);
  command.add("fleet", flags->fleet);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
