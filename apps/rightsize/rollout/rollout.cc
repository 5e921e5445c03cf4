// rightsize rollout: rolls a decision out in stages, each checked before the next.
#include "decisions/rollout.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/suggest.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/decisions/input.h"
#include "rightsize/input/verbs.h"

namespace rightsize::app {
namespace {

using decisions::Check;
using decisions::CheckState;
using decisions::Decision;
using decisions::Ledger;
using decisions::MeasuredValue;
using decisions::RolloutStage;
using decisions::StageRecord;
using report::cut;
using report::Fields;

struct RolloutFlags {
  std::vector<std::string> words;  // a verb and a decision
  std::string by, note, stage;
  bool by_hand = false;
  MeasureFlags measure;
  LedgerFlags ledger;
};

// Measurements since the current stage began.
std::vector<MeasuredValue> since(const std::vector<MeasuredValue>& samples, const StageRecord& stage) {
  std::vector<MeasuredValue> later;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(later),
               [&](const MeasuredValue& sample) { return sample.taken_at >= stage.started_at; });
  return later;
}

// A row of the stages table.
struct StageRow {
  RolloutStage stage;
  const StageRecord* record;

  std::string text(std::string StageRecord::*member) const { return record == nullptr ? "" : record->*member; }
};

const Fields<StageRow> kStageFields = {
    {"stage", "stage", "one-job, 10%, 50% or all", &StageRow::stage,
     [](const StageRow& r) { return std::string(words_of(r.stage)); }},
    {"state", "state", "running, passed or failed",
     [](const StageRow& r) { return r.record == nullptr ? "not begun" : name_of(r.record->state); }},
    {"started_at", "began", "start of the stage",
     [](const StageRow& r) {
       return r.record == nullptr ? std::nullopt : std::optional(decisions::format_time(r.record->started_at));
     },
     day_of},
    {"ended_at", "ended", "end of the stage; null while it runs",
     [](const StageRow& r) {
       const bool ended = r.record != nullptr && r.record->ended_at;
       return ended ? std::optional(decisions::format_time(*r.record->ended_at)) : std::nullopt;
     },
     day_of},
    {"by", "by", "who started or ended it", [](const StageRow& r) { return r.text(&StageRecord::by); }},
    {"how", "confirmed", "how it was confirmed", [](const StageRow& r) { return r.text(&StageRecord::how); }},
    {"note", "note", "a note", [](const StageRow& r) { return r.text(&StageRecord::note); }},
};

std::string title_of(const Check& check) {
  return check.name == "speed"    ? "speed within its interval"
         : check.name == "memory" ? "no out-of-memory errors"
         : check.name == "slo"    ? "SLO or deadline met"
                                  : "cost as predicted";
}

const Fields<Check> kCheckFields = {
    {"check", "check", "speed, memory, slo or cost", &Check::name, title_of},
    {"state", "state", "passed, failed or unknown", &Check::state},
    {"words", "result", "the result in words", &Check::words},
    {"samples_needed", "more samples", "samples still needed", &Check::more},
};

struct RolloutState {
  Decision decision;
  std::vector<StageRecord> stages;
  std::vector<Check> checks;  // of the running stage
};

const Fields<RolloutState> kRolloutFields = {
    {"id", "number of the decision", [](const RolloutState& r) { return decisions::label(r.decision.summary.id); }},
    {"workload", "name of the workload", [](const RolloutState& r) { return r.decision.summary.workload; }},
    {"status", "status of the decision", [](const RolloutState& r) { return r.decision.summary.status; }},
    {"stages", "the stages begun so far", kStageFields,
     [](const RolloutState& r) {
       return list_of(r.stages, [](const StageRecord& record) { return StageRow{record.stage, &record}; });
     }},
    {"rollback", "how to undo it",
     [](const RolloutState& r) { return report::when(!r.decision.rollback.empty(), r.decision.rollback); }},
    {"checks?", "checks of the running stage", kCheckFields, &RolloutState::checks},
};
const report::Document<RolloutState> kRolloutDocument("rollout", "A decision's rollout", kRolloutFields);

std::string rollback_of(const Decision& decision) {
  return "Rollback: " + (decision.rollback.empty() ? "not recorded ('decide --rollback' does)." : decision.rollback);
}

// A first sentence, followed by the state in the ledger.
Checked<Outcome> state_report(Ledger& ledger, std::int64_t id, std::string first, int exit_code = kDone) {
  RolloutState state;
  RIGHTSIZE_TRY(state.decision, ledger.find(decisions::label(id)));
  RIGHTSIZE_TRY(state.stages, ledger.stages(id));
  RIGHTSIZE_TRY(const std::vector<MeasuredValue> samples, ledger.samples(id));
  const StageRecord* current = running_stage(state.stages);
  if (current != nullptr) state.checks = check_stage(state.decision, since(samples, *current));
  std::vector<StageRow> rows;
  for (const RolloutStage stage : decisions::kStages) {
    const auto last = std::find_if(state.stages.rbegin(), state.stages.rend(),
                                   [&](const StageRecord& r) { return r.stage == stage; });
    rows.push_back({stage, last == state.stages.rend() ? nullptr : &*last});
  }
  Outcome outcome;
  outcome.exit_code = exit_code;
  report::Report& report = outcome.report;
  report.title = fmt::format("Rollout of {}", decisions::label(id));
  report.document = kRolloutDocument.of(state);
  report.say(std::move(first));
  report.show("Stages", table_of(kStageFields, rows,
                                 {"stage", "state", "started_at", "ended_at", "by", cut("how", 40),
                                  report::spare(cut("note", 40))}));
  if (current != nullptr)
    report.show("Checks of the running stage",
                table_of(kCheckFields, state.checks, {"check", "state", "words", "samples_needed"}));
  report.say(rollback_of(state.decision));
  report_backup(ledger.backup(), report);
  return outcome;
}

std::string status_sentence(const Decision& decision, const std::vector<StageRecord>& stages) {
  if (const StageRecord* current = running_stage(stages))
    return fmt::format("{}: rolled out to {}.", full_name(decision.summary), words_of(current->stage));
  return fmt::format("{} is {}.", full_name(decision.summary), name_of(decision.summary.status));
}

Checked<Outcome> start(const RolloutFlags& flags, Ledger& ledger, const Decision& decision) {
  const RolloutStage stage = decisions::parse<RolloutStage>(flags.stage).value_or(RolloutStage::kOneJob);
  if (Result<> begun = ledger.start_stage(decision.summary.id, stage, decisions::now(), author(flags.by)); !begun)
    return fail(begun.error());
  return state_report(ledger, decision.summary.id,
                      fmt::format("{} started: run {} on {}, then 'rightsize rollout confirm {}'.",
                                  decisions::label(decision.summary.id), words_of(stage), decision.summary.choice.words,
                                  decisions::label(decision.summary.id)));
}

// A stage passes when every check does, or with --by-hand.
Checked<Outcome> confirm(const RolloutFlags& flags, Ledger& ledger, const Decision& decision) {
  const std::int64_t id = decision.summary.id;
  const std::string name = decisions::label(id);
  RIGHTSIZE_TRY(const std::vector<StageRecord> stages, ledger.stages(id));
  const StageRecord* current = running_stage(stages);
  if (current == nullptr)
    return fail(bad_input(fmt::format("{}: no stage is running", name))
                    .with_hint(fmt::format("'rightsize rollout start {}'", name)));
  RIGHTSIZE_TRY(std::vector<MeasuredValue> samples, ledger.samples(id));
  RIGHTSIZE_TRY(const NewSamples measured, measure(flags.measure, decision, samples));
  if (Result<> added = ledger.add_samples(id, measured.samples); !added) return fail(added.error());
  samples.insert(samples.end(), measured.samples.begin(), measured.samples.end());
  const std::vector<Check> checks = check_stage(decision, since(samples, *current));
  const auto count = [&](CheckState state) {
    return std::ranges::count_if(checks, [&](const Check& c) { return c.state == state; });
  };
  if (count(CheckState::kFailed) > 0 && !flags.by_hand) {
    return state_report(
        ledger, id,
        fmt::format("{} was not advanced: {} of {} checks failed. 'rightsize rollout back {}' rolls it back.", name,
                    count(CheckState::kFailed), checks.size(), name),
        kCheckFailed);
  }
  if (count(CheckState::kUnknown) > 0 && !flags.by_hand) {
    return state_report(ledger, id,
                        fmt::format("{} was not advanced: {} of {} checks are undecided (--by-hand overrides them).",
                                    name, count(CheckState::kUnknown), checks.size()),
                        kNoFeasibleAnswer);
  }
  const StageRecord how{
      .by = author(flags.by),
      .how = flags.by_hand ? "by hand"
             : measured.how.empty()
                 ? "checks, measured earlier"
                 : fmt::format("checks, measured {}{}", measured.how == "by hand" ? "" : "by ", measured.how),
      .note = flags.note};
  const RolloutStage stage = current->stage;
  if (Result<> passed = ledger.pass_stage(id, stage, decisions::now(), how); !passed) return fail(passed.error());
  std::string next = stage == RolloutStage::kAll
                         ? fmt::format("{} is in force.", name)
                         : fmt::format("{}: {} passed. Next: {}.", name, words_of(stage), words_of(next_stage(stage)));
  return state_report(ledger, decision.summary.id, std::move(next));
}

Checked<Outcome> back(const RolloutFlags& flags, Ledger& ledger, const Decision& decision) {
  const StageRecord how{.by = author(flags.by), .how = "rolled back", .note = flags.note};
  if (Result<> ended = ledger.roll_back(decision.summary.id, decisions::now(), how); !ended) return fail(ended.error());
  return state_report(
      ledger, decision.summary.id,
      fmt::format("{} is rolled back. {}", decisions::label(decision.summary.id), rollback_of(decision)));
}

Checked<Outcome> run_rollout(const RolloutFlags& flags, const FlagSet& command) {
  static const std::vector<Verb> kVerbs = {
      {"status", {}},
      {"start", {"--stage", "--by"}},
      {"confirm", {"--by", "--by-hand", "--measured", "--oom", "--profile", "--query", "--prometheus", "--note"}},
      {"back", {"--by", "--note"}}};
  const std::string word = flags.words.empty() ? "" : flags.words.front();
  const Verb* named = find_verb(kVerbs, word);
  // `rollout chat` is `rollout status chat`, and `rollout chat --stage 10%` starts it.
  const Verb& verb = named != nullptr ? *named : kVerbs[command.given("--stage").empty() ? 0 : 1];
  if (flags.words.size() != (named == nullptr ? 1u : 2u)) {
    return fail(bad_input("'rollout' takes status, start, confirm or back, and one decision")
                    .with_hint(named != nullptr || word.empty() ? "" : did_you_mean(word, list_of(kVerbs, &Verb::name)))
                    .with_hint("for example 'rightsize rollout start D12'"));
  }
  if (Result<> fits = check_flags(command, "rollout", kVerbs, verb); !fits) return fail(fits.error());
  const bool changes = &verb != &kVerbs.front();
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, changes ? store::Access::kWrite : store::Access::kRead));
  RIGHTSIZE_TRY(const Decision decision, ledger.find(flags.words.back()));
  if (verb.name == "start") return start(flags, ledger, decision);
  if (verb.name == "confirm") return confirm(flags, ledger, decision);
  if (verb.name == "back") return back(flags, ledger, decision);
  RIGHTSIZE_TRY(const std::vector<StageRecord> stages, ledger.stages(decision.summary.id));
  return state_report(ledger, decision.summary.id, status_sentence(decision, stages));
}

}  // namespace

Run add_rollout(FlagSet& command) {
  auto flags = std::make_shared<RolloutFlags>();
  command.add("WHAT", flags->words)
      ->meaning("status, start, confirm or back; then a decision: D12, 12 or its workload");
  command.add("stage", flags->stage)->or_words("one-job");
  command.add("by-hand", flags->by_hand);
  command.add("by", flags->by)->meaning("who does it")->or_words("$USER");
  command.add("note", flags->note);
  add_ledger_flags(command, flags->ledger);
  add_measure_flags(command, flags->measure);
  return [flags, &command] { return run_rollout(*flags, command); };
}

}  // namespace rightsize::app
