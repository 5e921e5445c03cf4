// rightsize checklist: profile, bottleneck, size, cloud, commit; an answer for each, or what to measure.
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "report/fields.h"
#include "rightsize/checklist/steps.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

const report::Fields<ChecklistStep> kStepFields = {
    {"name", "the step", &ChecklistStep::name},
    {"done", "whether it is answered", &ChecklistStep::done},
    {"answer", "the answer, or what is missing", &ChecklistStep::answer},
    {"evidence", "what the answer is based on", &ChecklistStep::evidence},
    {"next", "what to do next", [](const ChecklistStep& s) { return report::when(!s.next.empty(), s.next); }},
};

const report::Fields<std::vector<ChecklistStep>> kChecklistFields = {
    {"steps", "profile, bottleneck, size, cloud and commit", kStepFields, std::identity()},
};
const report::Document<std::vector<ChecklistStep>> kChecklistDocument("checklist", "Five steps to a right-sized GPU",
                                                                      kChecklistFields);

struct ChecklistFlags {
  WorkloadFlags workload;
  std::string fleet, catalog;
};

// The document of a command, with its schema checked.
Checked<LocatedJson> read_document(const std::string& file, const std::string& command) {
  RIGHTSIZE_TRY(std::string text, read_file(file));
  RIGHTSIZE_TRY(LocatedJson document, LocatedJson::parse(file, std::move(text)));
  const std::string wanted = "rightsize/" + command + "/1";
  if (text_at(document.root(), "schema") == wanted) return document;
  return fail(
      bad_input(fmt::format("this is not the output of 'rightsize {}': its \"schema\" is not {}", command, wanted))
          .at(document.place(document.root()))
          .with_hint(fmt::format("rightsize {} ... --format json > FILE", command)));
}

// Empty if no workload is given.
Checked<std::optional<Recommended>> advise(const WorkloadFlags& workload, const Facts& facts) {
  if (workload.file.empty() && workload.settings.empty()) return std::nullopt;
  RIGHTSIZE_TRY(auto workloads, read_workloads(workload));
  if (workloads.size() > 1)
    return fail(bad_input(fmt::format("a checklist is for one workload, the file has {}", workloads.size()))
                    .with_hint("'rightsize recommend' takes them all"));
  return recommend_for(workloads.front(), facts);
}

Checked<Outcome> run_checklist(const ChecklistFlags& flags) {
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  ChecklistFacts known{facts.catalog};
  // A profile answers steps of the checklist, but it does not describe the workload.
  WorkloadFlags workload = flags.workload;
  if (const auto profile = workload.settings.extract("profile"); !profile.empty()) {
    RIGHTSIZE_TRY(known.profile, read_document(profile.mapped(), "profile"));
  }
  if (!flags.fleet.empty()) {
    RIGHTSIZE_TRY(known.fleet, read_document(flags.fleet, "fleet"));
  }
  RIGHTSIZE_TRY(known.advice, advise(workload, facts));
  const std::string title = known.advice ? "Checklist: " + describe_request(known.advice->request) : "Checklist";
  const bool nothing = known.advice && known.advice->found.plans.empty();
  return Outcome{checklist_report(title, checklist_steps(known)), nothing ? kNoFeasibleAnswer : kDone};
}

}  // namespace

report::Report checklist_report(const std::string& title, const std::vector<ChecklistStep>& steps) {
  report::Report report{.title = title, .document = kChecklistDocument.of(steps)};
  for (const ChecklistStep& step : steps) {
    std::string text =
        fmt::format("{} {}. {}\n    {}", step.done ? "[x]" : "[ ]", report.blocks.size() + 1, step.name, step.answer);
    for (const std::string& line : step.evidence) text += "\n    - " + line;
    if (!step.next.empty()) text += "\n    Next: " + step.next;
    report.say(std::move(text));
  }
  return report;
}

Run add_checklist(FlagSet& command) {
  auto flags = std::make_shared<ChecklistFlags>();
  add_workload_flags(command, flags->workload);
  command.add("fleet", flags->fleet);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_checklist(*flags); };
}

}  // namespace rightsize::app
