// rightsize rollout: a decision put into practice stage by stage, each checked before the next.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/suggest.h"
#include "decisions/clock.h"
#include "rightsize/decisions/ledger_input.h"
#include "rightsize/decisions/measure_input.h"
#include "rightsize/decisions/words.h"

namespace rightsize::app {
namespace {

using decisions::Check;
using decisions::CheckState;
using decisions::Decision;
using decisions::Ledger;
using decisions::Sample;
using decisions::Stage;
using decisions::StageRecord;
using decisions::StageState;
using report::Align;
using report::Json;

struct Flags {
  std::vector<std::string> words;  // a verb and a decision
  std::string by, note, stage;
  bool by_hand = false;
  MeasureFlags measure;
  LedgerFlags ledger;
};

std::string author_of(const Flags& flags) {
  if (!flags.by.empty()) return flags.by;
  const char* user = std::getenv("USER");
  return user == nullptr ? "" : user;
}

const StageRecord* running(const std::vector<StageRecord>& stages) {
  return !stages.empty() && stages.back().state == StageState::kRunning ? &stages.back() : nullptr;
}

// What was measured since the running stage began.
std::vector<Sample> since(const std::vector<Sample>& samples, const StageRecord& stage) {
  std::vector<Sample> later;
  for (const Sample& sample : samples) {
    if (sample.taken_at >= stage.started_at) later.push_back(sample);
  }
  return later;
}

// The day, for people; the moment stands in CSV and JSON.
report::Cell day_cell(TimePoint moment) {
  report::Cell cell = report::text_cell(decisions::format_time(moment).substr(0, 10));
  cell.exact = decisions::format_time(moment);
  return cell;
}

report::Table stages_table(const std::vector<StageRecord>& stages) {
  report::Table table;
  table.title = "Stages";
  table.columns = {
      {"stage", "stage", Align::kLeft},        {"state", "state", Align::kLeft}, {"began", "started_at", Align::kLeft},
      {"ended", "ended_at", Align::kLeft},     {"by", "by", Align::kLeft},       {"confirmed", "how", Align::kLeft, 40},
      {"note", "note", Align::kLeft, 40, true}};
  for (const Stage stage : decisions::kStages) {
    const auto found =
        std::find_if(stages.rbegin(), stages.rend(), [&](const StageRecord& r) { return r.stage == stage; });
    if (found == stages.rend()) {
      table.rows.push_back({report::text_cell(words_of(stage)), report::text_cell("not begun"), report::unknown_cell(),
                            report::unknown_cell(), report::text_cell(""), report::text_cell(""),
                            report::text_cell("")});
      continue;
    }
    table.rows.push_back({report::text_cell(words_of(stage)), report::text_cell(name_of(found->state)),
                          day_cell(found->started_at),
                          found->ended_at ? day_cell(*found->ended_at) : report::unknown_cell(),
                          report::text_cell(found->by), report::text_cell(found->how), report::text_cell(found->note)});
  }
  return table;
}

report::Table checks_table(const std::vector<Check>& checks) {
  report::Table table;
  table.title = "Checks of the running stage";
  table.columns = {{"check", "check", Align::kLeft},
                   {"state", "state", Align::kLeft},
                   {"what was seen", "words", Align::kLeft},
                   {"more samples", "samples_needed", Align::kRight}};
  static const std::map<std::string, std::string> kWords = {{"speed", "speed within its interval"},
                                                            {"memory", "no out-of-memory"},
                                                            {"slo", "SLO or deadline held"},
                                                            {"cost", "cost as predicted"}};
  for (const Check& check : checks) {
    report::Cell name = report::text_cell(kWords.at(check.name));
    name.exact = check.name;
    table.rows.push_back({std::move(name), report::text_cell(name_of(check.state)), report::text_cell(check.words),
                          check.more
                              ? report::number_cell(std::to_string(*check.more), static_cast<double>(*check.more))
                              : report::unknown_cell()});
  }
  return table;
}

Json stages_json(const std::vector<StageRecord>& stages) {
  Json list = Json::array();
  for (const StageRecord& r : stages) {
    list.push_back({{"stage", name_of(r.stage)},
                    {"state", name_of(r.state)},
                    {"started_at", decisions::format_time(r.started_at)},
                    {"ended_at", r.ended_at ? Json(decisions::format_time(*r.ended_at)) : Json(nullptr)},
                    {"by", r.by},
                    {"how", r.how},
                    {"note", r.note}});
  }
  return list;
}

Json checks_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& c : checks) {
    list.push_back({{"check", c.name},
                    {"state", name_of(c.state)},
                    {"words", c.words},
                    {"samples_needed", c.more ? Json(*c.more) : Json(nullptr)}});
  }
  return list;
}

std::string way_back(const Decision& decision) {
  return fmt::format("Rollback: {}",
                     decision.way_back.empty() ? "not recorded ('decide --rollback' keeps one)." : decision.way_back);
}

// The state as it is in the ledger, under a first sentence.
Checked<Outcome> state_report(Ledger& ledger, const Decision& decision, std::string first, int exit_code = kDone) {
  const std::int64_t id = decision.summary.id;
  RIGHTSIZE_TRY(const Decision now, ledger.find(decisions::label(id)));
  RIGHTSIZE_TRY(const std::vector<StageRecord> stages, ledger.stages(id));
  RIGHTSIZE_TRY(const std::vector<Sample> samples, ledger.samples(id));
  Outcome outcome;
  outcome.exit_code = exit_code;
  report::Report& report = outcome.report;
  report.title = fmt::format("Rollout of {}", decisions::label(id));
  report.blocks.emplace_back(report::Paragraph{std::move(first)});
  report.blocks.emplace_back(stages_table(stages));
  report.document = {
      {"schema", "rightsize/rollout/1"},  {"id", decisions::label(id)},
      {"workload", now.summary.workload}, {"status", name_of(now.summary.status)},
      {"stages", stages_json(stages)},    {"rollback", now.way_back.empty() ? Json(nullptr) : Json(now.way_back)}};
  if (const StageRecord* current = running(stages)) {
    const std::vector<Check> checks = check_stage(now, since(samples, *current));
    report.blocks.emplace_back(checks_table(checks));
    report.document["checks"] = checks_json(checks);
  }
  report.blocks.emplace_back(report::Paragraph{way_back(now)});
  report_backup(ledger.backup(), report);
  return outcome;
}

std::string status_sentence(const Decision& decision, const std::vector<StageRecord>& stages) {
  const std::string name = fmt::format("{} ({})", decisions::label(decision.summary.id), decision.summary.workload);
  if (const StageRecord* current = running(stages))
    return fmt::format("{}: rolled out to {}.", name, words_of(current->stage));
  return fmt::format("{} is {}.", name, name_of(decision.summary.status));
}

Checked<Outcome> start(const Flags& flags, Ledger& ledger, const Decision& decision) {
  Stage stage = Stage::kOneJob;
  if (!flags.stage.empty()) {
    const std::optional<Stage> named = decisions::parse_stage(flags.stage);
    if (!named)
      return fail(bad_input(fmt::format("--stage '{}' is none", flags.stage)).with_hint("one-job, 10%, 50% or all"));
    stage = *named;
  }
  if (Result<> begun = ledger.start_stage(decision.summary.id, stage, decisions::now(), author_of(flags)); !begun) {
    return fail(begun.error());
  }
  return state_report(ledger, decision,
                      fmt::format("{} begins: put {} on {}, then 'rightsize rollout confirm {}'.",
                                  decisions::label(decision.summary.id), words_of(stage), decision.summary.choice.words,
                                  decisions::label(decision.summary.id)));
}

// Passed: every check did, or a person says so. Failed: one did, and no person overrules it.
Checked<Outcome> confirm(const Flags& flags, Ledger& ledger, const Decision& decision) {
  const std::int64_t id = decision.summary.id;
  const std::string name = decisions::label(id);
  RIGHTSIZE_TRY(const std::vector<StageRecord> stages, ledger.stages(id));
  const StageRecord* current = running(stages);
  if (current == nullptr) {
    return fail(
        bad_input(fmt::format("{}: no stage runs", name)).with_hint(fmt::format("'rightsize rollout start {}'", name)));
  }
  RIGHTSIZE_TRY(const Measured measured, measure(flags.measure, decision));
  RIGHTSIZE_TRY(std::vector<Sample> samples, ledger.samples(id));
  const std::vector<Sample> fresh = only_new(measured.samples, samples);
  if (Result<> added = ledger.add_samples(id, fresh); !added) return fail(added.error());
  samples.insert(samples.end(), fresh.begin(), fresh.end());
  const std::vector<Check> checks = check_stage(decision, since(samples, *current));
  const auto count = [&](CheckState state) {
    return std::count_if(checks.begin(), checks.end(), [&](const Check& c) { return c.state == state; });
  };
  if (count(CheckState::kFailed) > 0 && !flags.by_hand) {
    return state_report(
        ledger, decision,
        fmt::format("{} stays where it is: {} of {} checks failed. 'rightsize rollout back {}' ends it.", name,
                    count(CheckState::kFailed), checks.size(), name),
        kCheckFailed);
  }
  if (count(CheckState::kUnknown) > 0 && !flags.by_hand) {
    return state_report(
        ledger, decision,
        fmt::format("{} stays where it is: {} of {} checks are not decided yet (--by-hand passes the stage on "
                    "your word).",
                    name, count(CheckState::kUnknown), checks.size()),
        kNoFeasibleAnswer);
  }
  StageRecord how;
  how.by = author_of(flags);
  how.how = flags.by_hand ? "by hand"
            : measured.how.empty()
                ? "checks, measured earlier"
                : fmt::format("checks, measured {}{}", measured.how == "by hand" ? "" : "by ", measured.how);
  how.note = flags.note;
  const Stage stage = current->stage;
  if (Result<> passed = ledger.pass_stage(id, stage, decisions::now(), how); !passed) return fail(passed.error());
  std::string next = stage == Stage::kAll ? fmt::format("{} is in force.", name)
                                          : fmt::format("{}: {} passed. Next: {}.", name, words_of(stage),
                                                        words_of(static_cast<Stage>(static_cast<int>(stage) + 1)));
  return state_report(ledger, decision, std::move(next));
}

Checked<Outcome> back(const Flags& flags, Ledger& ledger, const Decision& decision) {
  StageRecord how;
  how.by = author_of(flags);
  how.how = "rolled back";
  how.note = flags.note;
  if (Result<> ended = ledger.roll_back(decision.summary.id, decisions::now(), how); !ended) return fail(ended.error());
  return state_report(ledger, decision,
                      fmt::format("{} is rolled back. {}", decisions::label(decision.summary.id), way_back(decision)));
}

// A flag that means nothing to the verb is refused, not ignored.
Result<> check_flags(const Flags& flags, std::string_view verb) {
  struct Use {
    const char* flag;
    bool given;
    std::vector<std::string_view> verbs;
  };
  const MeasureFlags& m = flags.measure;
  const Use uses[] = {{"--stage", !flags.stage.empty(), {"start"}},
                      {"--by-hand", flags.by_hand, {"confirm"}},
                      {"--measured", !m.measured.empty(), {"confirm"}},
                      {"--oom", m.oom >= 0, {"confirm"}},
                      {"--profile", !m.profile.empty(), {"confirm"}},
                      {"--query", !m.queries.empty(), {"confirm"}},
                      {"--prometheus", !m.server.prometheus.empty(), {"confirm"}},
                      {"--note", !flags.note.empty(), {"confirm", "back"}},
                      {"--by", !flags.by.empty(), {"start", "confirm", "back"}}};
  for (const Use& use : uses) {
    if (!use.given || std::find(use.verbs.begin(), use.verbs.end(), verb) != use.verbs.end()) continue;
    return fail(bad_input(fmt::format("'rollout {}' takes no {}", verb, use.flag))
                    .with_hint(fmt::format("'rollout {}' does", use.verbs.front())));
  }
  return {};
}

Checked<Outcome> run(const Flags& flags) {
  static const std::vector<std::string> kVerbs = {"status", "start", "confirm", "back"};
  const std::string verb = flags.words.empty() ? "" : flags.words.front();
  const bool known = std::find(kVerbs.begin(), kVerbs.end(), verb) != kVerbs.end();
  // `rollout chat` is `rollout status chat`.
  const std::size_t names = flags.words.size() - (known ? 1 : 0);
  if (flags.words.empty() || names != 1) {
    return fail(bad_input("'rollout' takes status, start, confirm or back, and one decision")
                    .with_hint(known || verb.empty() ? "" : did_you_mean(verb, kVerbs))
                    .with_hint("for example 'rightsize rollout start D12'"));
  }
  if (Result<> fits = check_flags(flags, known ? verb : "status"); !fits) return fail(fits.error());
  const bool changes = known && verb != "status";
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, changes ? store::Access::kWrite : store::Access::kRead));
  RIGHTSIZE_TRY(const Decision decision, ledger.find(flags.words.back()));
  if (verb == "start") return start(flags, ledger, decision);
  if (verb == "confirm") return confirm(flags, ledger, decision);
  if (verb == "back") return back(flags, ledger, decision);
  RIGHTSIZE_TRY(const std::vector<StageRecord> stages, ledger.stages(decision.summary.id));
  return state_report(ledger, decision, status_sentence(decision, stages));
}

}  // namespace

Run add_rollout(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("WHAT", flags->words, "status, start, confirm or back; then a decision: D12, 12 or its workload");
  command.add_option("--stage", flags->stage, "start: at this stage instead of one job: one-job, 10%, 50%, all");
  command.add_flag("--by-hand", flags->by_hand, "confirm: the stage passes on your word, whatever the checks say");
  command.add_option("--by", flags->by, "who does it (default: $USER)");
  command.add_option("--note", flags->note, "a word for the record");
  add_ledger_flags(command, flags->ledger);
  add_measure_flags(command, flags->measure);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
