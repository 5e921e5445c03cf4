// rightsize verify: what was predicted against what was measured.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/format.h"
#include "perf/perf.h"
#include "rightsize/calibrate/calibration_file.h"
#include "rightsize/calibrate/report.h"
#include "rightsize/decisions/ledger_input.h"
#include "rightsize/decisions/measure_input.h"
#include "rightsize/decisions/words.h"
#include "rightsize/verify/learn.h"
#include "rightsize/verify/report.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::Ledger;
using decisions::Sample;

struct Flags {
  std::string decision, catalog;
  bool calibrate = false, dry_run = false;
  MeasureFlags measure;
  LedgerFlags ledger;
};

std::string cost_sentence(const Decision& decision, const decisions::Verification& found) {
  if (!found.cost) return {};
  const char* per = decision.summary.per == decisions::Per::kMonth ? "month" : "run";
  std::string text = fmt::format("A {} costs {} ({})", per, format_usd(found.cost->cost), found.cost->method);
  if (decision.cost) text += fmt::format(", predicted {}", format_usd(decision.cost->likely));
  if (!found.saved) return text + ". Saving unknown: the decision has no cost from before.";
  return text + fmt::format(
                    ". Actual saving: {}/{}{}.", format_usd(*found.saved), per,
                    decision.summary.saving ? fmt::format(", predicted {}", format_usd(*decision.summary.saving)) : "");
}

// What the measurements teach the speed model; written with --calibrate.
Checked<void> teach(const Flags& flags, const Decision& decision, Ledger& ledger, report::Report& report) {
  RIGHTSIZE_TRY(const std::string folder, catalog::overlay_target(flags.catalog));
  std::error_code ignored;
  const std::string overlay = std::filesystem::is_directory(folder, ignored) ? folder : std::string{};
  RIGHTSIZE_TRY(const catalog::Catalog catalog, catalog::load_catalog(overlay));
  RIGHTSIZE_TRY(const perf::Constants constants, perf::load_constants(overlay));
  RIGHTSIZE_TRY(const Learned learned, learn_from(decision, ledger, catalog, constants));
  if (learned.fits.empty()) {
    if (flags.calibrate) report.blocks.emplace_back(report::Paragraph{learned.why_not});
    return {};
  }
  report::Report fits = calibration_report(learned.fits);
  report.document["calibration"] = fits.document;
  report.document["calibration"]["decisions"] = learned.decisions;
  report.blocks.emplace_back(report::Heading{"What the speed model learns"});
  for (report::Block& block : fits.blocks) report.blocks.push_back(std::move(block));
  if (!flags.calibrate || flags.dry_run) {
    report.blocks.emplace_back(
        report::Paragraph{"Nothing was written; --calibrate writes it, and later estimates use it."});
    return {};
  }
  RIGHTSIZE_TRY(const std::string path, write_calibrations(folder, merged(constants.calibrations, learned.fits)));
  report.document["calibration"]["written"] = path;
  report.blocks.emplace_back(
      report::Paragraph{fmt::format("Written to {}; estimates now say 'calibrated' there.", path)});
  return {};
}

int exit_code_of(decisions::Finding outcome) {
  if (outcome == decisions::Finding::kBroken) return kCheckFailed;
  return outcome == decisions::Finding::kKept ? kDone : kNoFeasibleAnswer;
}

Checked<Outcome> run(const Flags& flags) {
  const auto& m = flags.measure;
  const bool adds =
      !m.measured.empty() || m.oom >= 0 || !m.profile.empty() || !m.server.prometheus.empty() || !m.queries.empty();
  Outcome outcome;
  report::Report& report = outcome.report;
  // Opened to be written only once there is something to write.
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  const std::string backup = ledger.backup();
  RIGHTSIZE_TRY(const Decision decision, ledger.find(flags.decision));
  RIGHTSIZE_TRY(const Measured measured, measure(m, decision));
  RIGHTSIZE_TRY(std::vector<Sample> samples, ledger.samples(decision.summary.id));
  const std::vector<Sample> fresh = only_new(measured.samples, samples);
  if (!flags.dry_run && !fresh.empty()) {
    RIGHTSIZE_TRY(ledger, open_ledger(flags.ledger, store::Access::kWrite));
    if (Result<> added = ledger.add_samples(decision.summary.id, fresh); !added) return fail(added.error());
  }
  samples.insert(samples.end(), fresh.begin(), fresh.end());
  const decisions::Verification found = decisions::verify(decision, samples);
  report.title = "Predicted and measured";
  report.document = {{"schema", "rightsize/verify/1"}};
  report.document["verification"] = verification_json(decision, found);
  report.document["samples_added"] = fresh.size();
  const auto say = [&](std::string text) {
    if (!text.empty()) report.blocks.emplace_back(report::Paragraph{std::move(text)});
  };
  say(verdict_sentence(decision, found));
  say(cost_sentence(decision, found));
  report.blocks.emplace_back(verdict_table(found));
  for (const std::string& note : measured.notes) say(note);
  if (adds)
    say(fmt::format("{} {} {}.", fresh.size(), fresh.size() == 1 ? "sample" : "samples",
                    flags.dry_run ? "read, none kept (--dry-run)" : "added to the ledger"));
  const bool off = std::any_of(found.metrics.begin(), found.metrics.end(), [](const decisions::MetricVerdict& v) {
    return decisions::is_speed(v.prediction.metric) && (v.better || v.outcome == decisions::Finding::kBroken);
  });
  if (off || flags.calibrate) {
    if (Checked<void> taught = teach(flags, decision, ledger, report); !taught) return fail(taught.error());
  }
  report_backup(backup, report);
  outcome.exit_code = exit_code_of(found.outcome);
  return outcome;
}

}  // namespace

Run add_verify(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("DECISION", flags->decision, "D12, 12 or the workload's name")->required();
  add_measure_flags(command, flags->measure);
  command.group("");
  command.add_flag("--calibrate", flags->calibrate,
                   "write what the measurements teach the speed model to calibration.csv, as 'calibrate' does");
  command.add_flag("--dry-run", flags->dry_run, "judge, keep nothing");
  add_ledger_flags(command, flags->ledger);
  command.add_option("--catalog", flags->catalog,
                     "folder of your own facts, where calibration.csv is (or $RIGHTSIZE_CATALOG)");
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
