// rightsize calibrate: a few measurements of one's own, turned into factors that every later estimate uses.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "perf/calibration/calibration.h"
#include "rightsize/command.h"

namespace rightsize::app {
namespace {

using perf::CalibrationFit;
using perf::CalibrationPoint;
using perf::CalibrationRow;
using report::Align;
using report::Json;

struct Flags {
  std::string file, catalog;
  bool dry_run = false;
};

std::string job_name(const CalibrationRow& row) { return row.job == model::JobKind::kServe ? "serving" : "training"; }

std::string signed_percent(double ratio) { return fmt::format("{:+.1f} %", (ratio - 1) * 100); }

report::Table points_table(const CalibrationFit& fit) {
  report::Table table;
  table.title = fmt::format("{} {} on {}", model::name_of(fit.row.stack), job_name(fit.row), fit.row.gpu);
  table.columns = {{"line", "line", Align::kRight},     {"model", "model", Align::kLeft},
                   {"what", "metric", Align::kLeft},    {"measured", "measured_seconds", Align::kRight},
                   {"before", "before", Align::kRight}, {"after", "after", Align::kRight}};
  for (const CalibrationPoint& p : fit.points) {
    const double before = p.before / p.measured, after = p.after / p.measured;
    table.rows.push_back({report::number_cell(std::to_string(p.line), p.line), report::text_cell(p.model),
                          report::text_cell(p.metric),
                          report::number_cell(format_duration(p.measured), in_seconds(p.measured)),
                          report::number_cell(signed_percent(before), before - 1),
                          report::number_cell(signed_percent(after), after - 1)});
  }
  return table;
}

Json json_of(const CalibrationFit& fit) {
  Json points = Json::array();
  for (const CalibrationPoint& p : fit.points) {
    points.push_back({{"line", p.line},
                      {"model", p.model},
                      {"metric", p.metric},
                      {"measured_seconds", in_seconds(p.measured)},
                      {"before_seconds", in_seconds(p.before)},
                      {"after_seconds", in_seconds(p.after)}});
  }
  const perf::Calibration& f = fit.row.factors;
  return {{"stack", model::name_of(fit.row.stack)},
          {"job", fit.row.job == model::JobKind::kServe ? "serve" : "train"},
          {"gpu", fit.row.gpu},
          {"device", f.device},
          {"host", f.host},
          {"prefill", f.prefill},
          {"width", f.width},
          {"error_before", fit.error_before},
          {"error_after", fit.error_after},
          {"points", std::move(points)}};
}

std::string sentence(const CalibrationFit& fit) {
  const perf::Calibration& f = fit.row.factors;
  std::string factors = fmt::format("GPU time x {:.2f}, host time x {:.2f}", f.device, f.host);
  if (fit.row.job == model::JobKind::kServe) factors += fmt::format(", prefill x {:.2f}", f.prefill);
  return fmt::format("{} {} on {}: the mean error over {} values falls from {} to {} ({}).",
                     model::name_of(fit.row.stack), job_name(fit.row), fit.row.gpu, fit.points.size(),
                     format_percent(Ratio::fraction(fit.error_before)),
                     format_percent(Ratio::fraction(fit.error_after)), factors);
}

// New rows take the place of those of the same stack, job and GPU.
std::vector<CalibrationRow> merged(std::vector<CalibrationRow> rows, const std::vector<CalibrationFit>& fits) {
  for (const CalibrationFit& fit : fits) {
    std::erase_if(rows, [&](const CalibrationRow& row) {
      return row.stack == fit.row.stack && row.job == fit.row.job && row.gpu == fit.row.gpu;
    });
    rows.push_back(fit.row);
  }
  return rows;
}

Result<std::string> write(const std::string& folder, const std::vector<CalibrationRow>& rows) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return fail(unreadable(fmt::format("cannot make the folder '{}': {}", folder, problem.message())));
  const std::string path = (std::filesystem::path(folder) / perf::kCalibrationFile).string();
  if (Result<> written = write_file(path, perf::calibration_csv(rows)); !written) return fail(written.error());
  return path;
}

Checked<Outcome> run(const Flags& flags) {
  Result<std::string> folder = catalog::overlay_target(flags.catalog);
  if (!folder) return fail(one(folder.error()));
  std::error_code ignored;
  const std::string overlay = std::filesystem::is_directory(*folder, ignored) ? *folder : std::string{};
  RIGHTSIZE_TRY(catalog::Catalog catalog, catalog::load_catalog(overlay));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(overlay));
  Result<std::string> text = read_file(flags.file, 16u << 20);
  if (!text) return fail(one(text.error()));
  RIGHTSIZE_TRY(std::vector<perf::Measurement> measurements,
                perf::read_measurements(flags.file, *std::move(text), catalog));
  RIGHTSIZE_TRY(std::vector<CalibrationFit> fits, perf::fit_calibrations(constants, measurements));

  Outcome outcome;
  outcome.report.title = "Calibration";
  Json list = Json::array();
  std::string summary;
  for (const CalibrationFit& fit : fits) {
    summary += (summary.empty() ? "" : "\n") + sentence(fit);
    list.push_back(json_of(fit));
  }
  outcome.report.document = {{"schema", "rightsize/calibrate/1"}, {"fits", std::move(list)}};
  outcome.report.blocks.emplace_back(report::Paragraph{std::move(summary)});
  for (const CalibrationFit& fit : fits) outcome.report.blocks.emplace_back(points_table(fit));
  if (flags.dry_run) {
    outcome.report.blocks.emplace_back(report::Paragraph{"Nothing was written (--dry-run)."});
    return outcome;
  }
  Result<std::string> path = write(*folder, merged(constants.calibrations, fits));
  if (!path) return fail(one(path.error()));
  outcome.report.document["written"] = *path;
  outcome.report.blocks.emplace_back(report::Paragraph{
      fmt::format("Written to {}; estimates now say 'calibrated' there. Removing a row undoes it.", *path)});
  return outcome;
}

}  // namespace

Run add_calibrate(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command
      .add_option(
          "file", flags->file,
          "CSV with your measurements: model, gpu, the job's settings as columns, and tokens_per_second_per_gpu, "
          "step_ms, ttft_ms, tpot_ms or batch_ms")
      ->required();
  command.add_flag("--dry-run", flags->dry_run, "fit and report, write nothing");
  command.add_option("--catalog", flags->catalog,
                     "folder to write calibration.csv to, made if missing (or $RIGHTSIZE_CATALOG, or rightsize/catalog "
                     "in your XDG configuration folder)");
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
