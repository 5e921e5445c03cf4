// rightsize verify: compares predictions with measurements.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "calibration/calibration.h"
#include "decisions/evidence.h"
#include "perf/perf.h"
#include "rightsize/calibrate/report.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/decisions/input.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::JudgedMetric;
using decisions::Judgement;
using decisions::Ledger;
using decisions::MeasuredValue;
using decisions::Verification;
using report::Fields;

struct VerifyFlags {
  std::string decision, catalog;
  bool calibrate = false, dry_run = false;
  MeasureFlags measure;
  LedgerFlags ledger;
};

std::string show(const JudgedMetric& m, double value) { return m.prediction.info().show(value); }

struct VerifyAnswer {
  Decision decision;
  Verification found;
  std::size_t samples_added = 0;
};

const Fields<VerifyAnswer> kVerificationFields = {
    {"id", "number of the decision", [](const VerifyAnswer& a) { return decisions::label(a.decision.summary.id); }},
    {"workload", "name of the workload", [](const VerifyAnswer& a) { return a.decision.summary.workload; }},
    {"verdict", "kept, broken or inconclusive", [](const VerifyAnswer& a) { return a.found.outcome; }},
    {"alpha", "error probability of the test", [](const VerifyAnswer&) { return decisions::kAlpha; }},
    {"test", "the statistical test",
     [](const VerifyAnswer&) {
       return "confidence sequence of the t-test e-process (effect size N(0,1), right Haar prior), logarithms";
     }},
    {"metrics", "every prediction and its measurements", kJudgedFields,
     [](const VerifyAnswer& a) -> const std::vector<JudgedMetric>& { return a.found.metrics; }},
    {"per", "month (services) or run (jobs)", [](const VerifyAnswer& a) { return a.decision.summary.per; }},
    {"measured_usd", "actual cost",
     [](const VerifyAnswer& a) { return a.found.cost ? std::optional(a.found.cost->cost) : std::nullopt; }},
    {"cost_method", "how the actual cost is known",
     [](const VerifyAnswer& a) { return a.found.cost ? std::optional(a.found.cost->method) : std::nullopt; }},
    {"before_usd", "cost before the decision", [](const VerifyAnswer& a) { return a.decision.summary.before; }},
    {"saved_usd", "actual saving", [](const VerifyAnswer& a) { return a.found.saved; }},
    {"predicted_saving_usd", "predicted saving", [](const VerifyAnswer& a) { return a.decision.summary.saving; }},
};
const Fields<VerifyAnswer> kAnswerFields = {
    {"verification", "the predictions and measurements", kVerificationFields,
     [](const VerifyAnswer& a) -> const VerifyAnswer& { return a; }},
    {"samples_added", "samples added to the ledger", &VerifyAnswer::samples_added},
    // --learn adds the calibration in the format of `calibrate`.
    {"", "the calibration", [](const VerifyAnswer&) { return std::map<std::string, std::string>{}; }},
};
const report::Document<VerifyAnswer> kVerifyDocument("verify", "Predictions and measurements of a decision",
                                                     kAnswerFields);

std::string missing_samples(const Verification& found) {
  std::int64_t more = 0;
  for (const JudgedMetric& m : found.metrics) more = std::max(more, m.more.value_or(0));
  if (more == 0) return " No speed or latency was measured.";
  return fmt::format(" About {} more would decide.", count_of(static_cast<std::size_t>(more), "sample"));
}

std::string verdict_sentence(const Decision& decision, const Verification& found) {
  const std::string name = full_name(decision.summary);
  if (found.outcome == Judgement::kKept) return name + " is kept: every measurement is within its prediction.";
  std::string broken, reasons;
  bool any_more = false;
  for (const JudgedMetric& m : found.metrics) {
    const std::string_view title = m.prediction.info().title;
    if (m.outcome == Judgement::kBroken)
      broken += fmt::format("{}{} is {}, predicted {}", broken.empty() ? "" : "; ", title, show(m, m.measured.typical),
                            show_predicted(m));
    if (m.measured.count > 0 && !m.reason.empty()) reasons += fmt::format(" {}: {}.", title, m.reason);
    any_more = any_more || m.more;
  }
  if (found.outcome == Judgement::kBroken)
    return fmt::format("{} is broken: {}.", name, broken.empty() ? "out-of-memory errors were seen" : broken);
  return fmt::format("{} is inconclusive so far.{}{}", name, any_more || reasons.empty() ? missing_samples(found) : "",
                     reasons);
}

std::string cost_sentence(const Decision& decision, const Verification& found) {
  if (!found.cost) return {};
  const std::string_view per = name_of(decision.summary.per);
  std::string text = fmt::format("A {} costs {} ({})", per, format_usd(found.cost->cost), found.cost->method);
  if (decision.cost) text += fmt::format(", predicted {}", format_usd(decision.cost->likely));
  if (!found.saved) return text + ". Saving unknown: the decision has no cost from before.";
  return text + fmt::format(
                    ". Actual saving: {}/{}{}.", format_usd(*found.saved), per,
                    decision.summary.saving ? fmt::format(", predicted {}", format_usd(*decision.summary.saving)) : "");
}

// A calibration of the speed model with the measured speeds of decisions.
struct Learned {
  std::vector<calibration::CalibrationFit> fits;
  std::vector<std::string> decisions;  // decisions with the measurements that were used
  std::string why_not = {};            // why nothing could be learned
};

// The configuration as a row for 'calibrate': the request's settings, then those that the plan chose.
std::map<std::string, std::string> row_of(const Decision& decision, const PlanFields& plan, bool serving) {
  std::map<std::string, std::string> row;
  const std::vector<std::string>& settings = model::job_settings();
  for (const auto& [name, value] : decision.request) {
    const bool known = std::ranges::find(settings, name) != settings.end();
    if (name == "model" || (known && value.find(',') == std::string::npos && value != "auto")) row[name] = value;
  }
  const auto take = [&](const char* column, const char* field) {
    if (const std::string value = plan.text(field); !value.empty()) row[column] = value;
  };
  row["job"] = serving ? "serve" : "train";
  row["gpu"] = decision.summary.choice.gpu;
  for (const char* same : {"stack", "precision", "tp", "ep", "pp"}) take(same, same);
  if (serving) {
    take("gpus", "tp");
    take("concurrency", "requests_at_once");
    if (const auto at = row.find("concurrency"); at != row.end()) {
      const Result<double> together = parse_number(at->second);
      at->second = fmt::format("{:.0f}", std::max(1.0, std::round(together.value_or(1))));
    }
    row["tpot_ms"] = "1";
    return row;
  }
  take("gpus", "gpus");
  take("batch", "micro_batch");
  take("accumulate", "accumulation");
  for (const char* same : {"method", "recompute", "zero"}) take(same, same);
  return row;
}

std::string csv_of(const std::map<std::string, std::string>& row) {
  std::string header, cells;
  for (const auto& [name, value] : row) {
    header += (header.empty() ? "" : ",") + name;
    cells += (cells.empty() ? "" : ",") + ('"' + value + '"');
  }
  return header + "\n" + cells + "\n";
}

const JudgedMetric* measured_metric(const decisions::Verification& found, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const JudgedMetric& v : found.metrics) {
      if (v.prediction.metric == name && v.measured.count > 0) return &v;
    }
  }
  return nullptr;
}

// One measurement of a decision, or why there is none.
Checked<std::optional<calibration::Measurement>> measurement_of(const Decision& decision,
                                                                const decisions::Verification& found,
                                                                const catalog::Catalog& catalog,
                                                                const perf::Constants& constants) {
  const bool serving = decision.summary.per == decisions::Per::kMonth;
  const JudgedMetric* speed = serving ? measured_metric(found, {decisions::kTpot, decisions::kTtft})
                                      : measured_metric(found, {decisions::kTokens, decisions::kSamples});
  if (speed == nullptr || decision.command != "recommend") return std::nullopt;
  const PlanFields plan(decision);
  std::map<std::string, std::string> row = row_of(decision, plan, serving);
  if (!row.contains("model")) return std::nullopt;
  if (!serving) {
    const double gpus = std::max<double>(1, static_cast<double>(decision.summary.choice.gpus));
    if (speed->prediction.metric == decisions::kTokens)
      row["tokens_per_second"] = fmt::format("{}", speed->measured.typical);
    else
      row["samples_per_second_per_gpu"] = fmt::format("{}", speed->measured.typical / gpus);
  }
  RIGHTSIZE_TRY(std::vector<calibration::Measurement> read,
                calibration::read_measurements(decisions::label(decision.summary.id), csv_of(row), catalog));
  calibration::Measurement& m = read.front();
  m.line = static_cast<int>(decision.summary.id);
  if (!serving) return std::move(m);
  perf::Constants as_planned = constants;
  if (plan.text("basis") != "calibrated") as_planned.calibrations.clear();
  const double ratio = speed->measured.typical / speed->prediction.value.likely;
  const perf::GpuSpeed gpu = perf::gpu_speed(as_planned, *m.gpu);
  Result<calibration::Predictions> said = calibration::predict(as_planned, m, gpu);
  if (!said) return fail(std::move(said).error());
  for (const calibration::Prediction& each : *said) {
    if (std::string_view(each.metric) == "tpot") m.tpot = each.predicted * ratio;
  }
  return std::move(m);
}

// Fits this decision and all other measured decisions with the same stack and GPU. Training speeds are used as
// measured. A service's plan has percentiles under load, so the ratio of measured to predicted is applied to the
// model's estimate of the same configuration.
Checked<Learned> learn_from(const Decision& decision, decisions::Ledger& ledger, const catalog::Catalog& catalog,
                            const perf::Constants& constants) {
  Learned learned;
  std::vector<calibration::Measurement> measurements;
  decisions::Filter same;
  same.gpu = decision.summary.choice.gpu;
  RIGHTSIZE_TRY(const std::vector<decisions::DecisionSummary> candidates, ledger.list(same));
  const std::string stack = PlanFields(decision).text("stack");
  for (const decisions::DecisionSummary& summary : candidates) {
    RIGHTSIZE_TRY(const Decision other, ledger.find(decisions::label(summary.id)));
    if (PlanFields(other).text("stack") != stack) continue;
    RIGHTSIZE_TRY(const std::vector<decisions::MeasuredValue> samples, ledger.samples(summary.id));
    if (samples.empty()) continue;
    RIGHTSIZE_TRY(auto measured, measurement_of(other, decisions::verify(other, samples), catalog, constants));
    if (!measured) continue;
    measurements.push_back(*std::move(measured));
    learned.decisions.push_back(decisions::label(summary.id));
  }
  if (measurements.empty()) {
    learned.why_not = "Nothing to calibrate: no speed of a 'recommend' plan was measured.";
    return learned;
  }
  RIGHTSIZE_TRY(learned.fits, calibration::fit_calibrations(constants, measurements));
  return learned;
}

// Fits the speed model to the measurements; written with --calibrate.
Checked<void> teach(const VerifyFlags& flags, const Decision& decision, Ledger& ledger, report::Report& report) {
  RIGHTSIZE_TRY(const std::string folder, catalog::overlay_target(flags.catalog));
  std::error_code ignored;
  const std::string overlay = std::filesystem::is_directory(folder, ignored) ? folder : std::string{};
  RIGHTSIZE_TRY(const catalog::Catalog catalog, catalog::load_catalog(overlay));
  RIGHTSIZE_TRY(const perf::Constants constants, perf::load_constants(overlay));
  RIGHTSIZE_TRY(const Learned learned, learn_from(decision, ledger, catalog, constants));
  if (learned.fits.empty()) {
    if (flags.calibrate) report.say(learned.why_not);
    return {};
  }
  std::string path;
  const bool write = flags.calibrate && !flags.dry_run;
  if (write) {
    RIGHTSIZE_TRY(path, write_calibrations(folder, merged(constants.calibrations, learned.fits)));
  }
  report::Report fits = calibration_report(learned.fits, path);
  report.document["calibration"] = fits.document;
  report.document["calibration"]["decisions"] = learned.decisions;
  report.blocks.emplace_back(report::Heading{"Calibration of the speed model"});
  if (!write) fits.blocks.back() = report::Paragraph{"Nothing was written; with --calibrate, later estimates use it."};
  for (report::Block& block : fits.blocks) report.blocks.push_back(std::move(block));
  return {};
}

int exit_code_of(Judgement outcome) {
  if (outcome == Judgement::kBroken) return kCheckFailed;
  return outcome == Judgement::kKept ? kDone : kNoFeasibleAnswer;
}

Checked<Outcome> run_verify(const VerifyFlags& flags) {
  VerifyAnswer answer;
  // Opened for writing only when there is something to write.
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  const std::string backup = ledger.backup();
  RIGHTSIZE_TRY(answer.decision, ledger.find(flags.decision));
  const Decision& decision = answer.decision;
  RIGHTSIZE_TRY(std::vector<MeasuredValue> samples, ledger.samples(decision.summary.id));
  RIGHTSIZE_TRY(const NewSamples measured, measure(flags.measure, decision, samples));
  answer.samples_added = measured.samples.size();
  if (!flags.dry_run && !measured.samples.empty()) {
    RIGHTSIZE_TRY(ledger, open_ledger(flags.ledger, store::Access::kWrite));
    if (Result<> added = ledger.add_samples(decision.summary.id, measured.samples); !added) return fail(added.error());
  }
  samples.insert(samples.end(), measured.samples.begin(), measured.samples.end());
  answer.found = decisions::verify(decision, samples);
  Outcome outcome{{.title = "Predicted and measured", .document = kVerifyDocument.of(answer)}};
  report::Report& report = outcome.report;
  report.say(verdict_sentence(decision, answer.found));
  report.say(cost_sentence(decision, answer.found));
  report.blocks.emplace_back(table_of(
      kJudgedFields, answer.found.metrics,
      {"metric", report::renamed("predicted_text", "predicted"), "measured", "interval", "samples", "verdict"}));
  for (const std::string& note : measured.notes) report.say(note);
  if (flags.measure.any())
    report.say(fmt::format("{} {}.", count_of(answer.samples_added, "sample"),
                           flags.dry_run ? "read, none kept (--dry-run)" : "added to the ledger"));
  const bool off = std::ranges::any_of(answer.found.metrics, [](const JudgedMetric& m) {
    return m.prediction.info().speed && (m.better || m.outcome == Judgement::kBroken);
  });
  if (off || flags.calibrate) {
    if (Checked<void> taught = teach(flags, decision, ledger, report); !taught) return fail(taught.error());
  }
  report_backup(backup, report);
  outcome.exit_code = exit_code_of(answer.found.outcome);
  return outcome;
}

}  // namespace

Run add_verify(FlagSet& command) {
  auto flags = std::make_shared<VerifyFlags>();
  command.add("DECISION", flags->decision)->required();
  add_measure_flags(command, flags->measure);
  command.group("");
  command.add("calibrate", flags->calibrate);
  command.add("dry-run", flags->dry_run)->meaning("verify without keeping the measurements");
  add_ledger_flags(command, flags->ledger);
  command.add("catalog", flags->catalog);
  return [flags] { return run_verify(*flags); };
}

}  // namespace rightsize::app
