// rightsize recommend: which GPU, how many, from which provider, on which terms, with which settings.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "catalog/version.h"
#include "launch/hand_over.h"
#include "rightsize/input/emitted.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/recommend/answer.h"
#include "rightsize/recommend/own.h"
#include "rightsize/recommend/report.h"
#include "rightsize/rl/plan_report.h"

namespace rightsize::app {
namespace {

struct RecommendFlags {
  WorkloadFlags workload;
  RlFlags rl;
  std::string catalog;
  std::vector<std::string> emit;
  std::optional<int> plan;  // empty: the one that the answer names first
  bool plans_only = false;
  Shown shown;
};

// Only the files for the tools that will run the plan; the output can be redirected to a file.
Checked<report::Report> hand_over_report(const RecommendFlags& flags, const RecommendAnswer& answer) {
  const plan::Recommendation& found = answer.found;
  if (static_cast<std::size_t>(flags.plan.value_or(1)) > found.plans.size()) {
    return fail(bad_input(fmt::format("plan {} does not exist: {} found", *flags.plan, found.plans.size()))
                    .with_hint("--top shows more"));
  }
  report::Report report;
  std::map<std::string, std::string> files;
  const std::size_t index = flags.plan ? static_cast<std::size_t>(*flags.plan) - 1 : named_first(found);
  for (const std::string& name : flags.emit) {
    RIGHTSIZE_TRY(launch::Target target, launch::parse_target(name));
    RIGHTSIZE_TRY(std::string text, launch::hand_over(target, answer.request, found.plans[index]));
    files[std::string(launch::name_of(target))] = std::move(text);
  }
  show_only(files, report);
  report.document = document_of(answer, std::move(files));
  return report;
}

// The answers to several workloads, one after the other.
report::Report together(std::vector<report::Report> reports) {
  if (reports.size() == 1) return std::move(reports.front());
  report::Report all;
  all.title = fmt::format("{} workloads", reports.size());
  all.document = {{"schema", "rightsize/recommend/1"}, {"workloads", report::Json::array()}};
  for (report::Report& each : reports) {
    for (auto* list : {&all.blocks, &all.pictures, &all.record}) list->emplace_back(report::Heading{each.title});
    std::move(each.blocks.begin(), each.blocks.end(), std::back_inserter(all.blocks));
    std::move(each.pictures.begin(), each.pictures.end(), std::back_inserter(all.pictures));
    std::move(each.record.begin(), each.record.end(), std::back_inserter(all.record));
    all.document["workloads"].push_back(std::move(each.document));
  }
  return all;
}

Checked<Outcome> run_recommend(const RecommendFlags& flags) {
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(auto workloads, read_workloads(flags.workload));
  Outcome outcome;
  std::vector<report::Report> reports;
  for (const auto& settings : workloads) {
    if (const RlWorkload rl = rl_workload(settings, flags.rl); rl.is_rl()) {
      RIGHTSIZE_TRY(Outcome planned,
                    plan_rl(rl, facts, {flags.emit, flags.plan.value_or(1), flags.plans_only, flags.shown.explain}));
      outcome.exit_code = std::max(outcome.exit_code, planned.exit_code);
      reports.push_back(std::move(planned.report));
      continue;
    }
    // A file must belong to the plan on the screen, and a reduced search may not find that plan.
    const bool plans_only = flags.plans_only && flags.emit.empty();
    RIGHTSIZE_TRY(const Recommended recommended, recommend_for(settings, facts, plans_only));
    const plan::Recommendation& found = recommended.found;
    if (found.plans.empty()) outcome.exit_code = kNoFeasibleAnswer;
    const RecommendAnswer answer{
        recommended.request, found, *recommended.catalog, settings, catalog::version_of(facts.catalog), flags.shown};
    if (!flags.emit.empty() && !found.plans.empty()) {
      RIGHTSIZE_TRY(report::Report only, hand_over_report(flags, answer));
      reports.push_back(std::move(only));
      continue;
    }
    report::Report report = report_of(answer);
    if (!flags.plans_only) {
      add_pictures(report, answer, facts.constants);
      add_record(report, answer);
    }
    reports.push_back(std::move(report));
  }
  outcome.report = together(std::move(reports));
  return outcome;
}

}  // namespace

Run add_recommend(FlagSet& command) {
  auto flags = std::make_shared<RecommendFlags>();
  add_workload_flags(command, flags->workload);
  add_rl_flags(command, flags->rl, true);
  command.add("emit", flags->emit)
      ->meaning(
          "write files for the tools that will run the plan: skypilot, kubernetes, karpenter, slurm, terraform, "
          "triton; for reinforcement learning also verl");
  command.add("plan", flags->plan)->meaning("the plan that --emit writes, by its number");
  command.add("api-price", [flags](const settings::Value& value) -> Result<> {
    RIGHTSIZE_TRY(flags->shown.api, parse_api_price(value.text));
    return {};
  });
  command.add("explain", flags->shown.explain);
  command.add("plans-only", flags->plans_only);
  command.add("stats", flags->shown.stats);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_recommend(*flags); };
}

}  // namespace rightsize::app
