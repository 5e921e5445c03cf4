#include "rightsize/calibrate/report.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using calibration::CalibrationFit;
using calibration::CalibrationPoint;
using perf::CalibrationRow;
using report::Fields;
using report::kTableOnly;
using report::one_of;

std::string job_name(const CalibrationRow& row) { return row.job == model::JobKind::kServe ? "serving" : "training"; }

std::string signed_percent(double error) { return fmt::format("{:+.1f} %", error * 100); }

const Fields<CalibrationPoint> kPointFields = {
    {"line", "line", "line of the measurement in the file", &CalibrationPoint::line},
    {"model", "model", "the model", &CalibrationPoint::model},
    {"metric", "metric", "what was measured", &CalibrationPoint::metric},
    {"measured_seconds", "measured", "the measured time", &CalibrationPoint::measured},
    {"before_seconds", "the estimate before the fit", &CalibrationPoint::before},
    {"after_seconds", "the estimate after the fit", &CalibrationPoint::after},
    {"before", "before", "relative error before the fit",
     [](const CalibrationPoint& p) { return p.before / p.measured - 1; }, signed_percent, kTableOnly},
    {"after", "after", "relative error after the fit",
     [](const CalibrationPoint& p) { return p.after / p.measured - 1; }, signed_percent, kTableOnly},
};

const Fields<CalibrationFit> kFitFields = {
    {"stack", "the software the factors are for", [](const CalibrationFit& f) { return f.row.stack; }},
    {"job", "training or serving",
     [](const CalibrationFit& f) { return f.row.job == model::JobKind::kServe ? "serve" : "train"; },
     one_of({"train", "serve"})},
    {"gpu", "the GPU the factors are for", [](const CalibrationFit& f) { return f.row.gpu; }},
    {"device", "factor on the GPU's time", [](const CalibrationFit& f) { return f.row.factors.device; }},
    {"host", "factor on the host's time", [](const CalibrationFit& f) { return f.row.factors.host; }},
    {"prefill", "factor on the prefill time", [](const CalibrationFit& f) { return f.row.factors.prefill; }},
    {"width", "factor on the width of intervals", [](const CalibrationFit& f) { return f.row.factors.width; }},
    {"error_before", "mean relative error before the fit", &CalibrationFit::error_before},
    {"error_after", "mean relative error after the fit", &CalibrationFit::error_after},
    {"points", "every measurement and its estimates", kPointFields, &CalibrationFit::points},
};

struct CalibrationView {
  const std::vector<CalibrationFit>& fits;
  const std::string& written;
};
const Fields<CalibrationView> kDocumentFields = {
    {"fits", "the fitted factors, one entry per stack, job and GPU", kFitFields,
     [](const CalibrationView& v) { return std::cref(v.fits); }},
    {"written?", "the file the factors were written to", [](const CalibrationView& v) { return v.written; }},
};
const report::Document<CalibrationView> kCalibrateDocument("calibrate", "Calibration factors fitted to measurements",
                                                           kDocumentFields);

// One model says little about the others. Empty if the points are of several models.
std::string reach_of(const CalibrationFit& fit) {
  const CalibrationPoint& first = fit.points.front();
  const bool one_model = std::ranges::all_of(fit.points, [&](const auto& p) { return p.model == first.model; });
  const bool one_row = std::ranges::all_of(fit.points, [&](const auto& p) { return p.line == first.line; });
  if (!one_model) return {};
  return fmt::format(
      "The factors apply to every model {} by {} on {}, but come from {} of {}: for other models{}, they are an "
      "extrapolation. A run of another model or load would test them.",
      fit.row.job == model::JobKind::kServe ? "served" : "trained", model::name_of(fit.row.stack), fit.row.gpu,
      one_row ? "one run" : "runs", first.model, one_row ? " and loads" : "");
}

}  // namespace

std::string sentence_about(const CalibrationFit& fit) {
  const perf::Calibration& f = fit.row.factors;
  std::string factors = fmt::format("GPU time x {:.2f}, host time x {:.2f}", f.device, f.host);
  if (fit.row.job == model::JobKind::kServe) factors += fmt::format(", prefill x {:.2f}", f.prefill);
  const std::string what =
      fit.points.size() == 1 ? "error of the one value" : fmt::format("mean error over {} values", fit.points.size());
  const std::string of = fmt::format("{} {} on {}", model::name_of(fit.row.stack), job_name(fit.row), fit.row.gpu);
  const std::string before = format_percent(Ratio::fraction(fit.error_before));
  if (!(fit.error_after < fit.error_before))
    return fmt::format("{}: the {} stays at {}; no factors reduce it ({}).", of, what, before, factors);
  return fmt::format("{}: the {} falls from {} to {} ({}).", of, what, before,
                     format_percent(Ratio::fraction(fit.error_after)), factors);
}

report::Report calibration_report(const std::vector<CalibrationFit>& fits, const std::string& written) {
  report::Report report{.title = "Calibration", .document = kCalibrateDocument.of({fits, written})};
  std::string summary;
  for (const CalibrationFit& fit : fits) summary += (summary.empty() ? "" : "\n") + sentence_about(fit);
  report.say(std::move(summary));
  for (const CalibrationFit& fit : fits) {
    report.show(fmt::format("{} {} on {}", model::name_of(fit.row.stack), job_name(fit.row), fit.row.gpu),
                table_of(kPointFields, fit.points, {"line", "model", "metric", "measured_seconds", "before", "after"}));
    report.say(reach_of(fit));
  }
  report.say(written.empty()
                 ? "Nothing was written (--dry-run)."
                 : fmt::format("Written to {}; estimates for this stack and GPU now use it. To undo, remove "
                               "its row.",
                               written));
  return report;
}

std::vector<CalibrationRow> merged(std::vector<CalibrationRow> rows, const std::vector<CalibrationFit>& fits) {
  for (const CalibrationFit& fit : fits) {
    std::erase_if(rows, [&](const CalibrationRow& row) {
      return row.stack == fit.row.stack && row.job == fit.row.job && row.gpu == fit.row.gpu;
    });
    rows.push_back(fit.row);
  }
  return rows;
}

Result<std::string> write_calibrations(const std::string& folder, const std::vector<CalibrationRow>& rows) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return fail(unreadable(fmt::format("cannot make the folder '{}': {}", folder, problem.message())));
  std::string path = (std::filesystem::path(folder) / perf::kCalibrationFile).string();
  if (Result<> written = write_file(path, perf::calibration_csv(rows)); !written) return fail(written.error());
  return path;
}

}  // namespace rightsize::app
