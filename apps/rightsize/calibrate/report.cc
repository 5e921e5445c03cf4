#include "rightsize/calibrate/report.h"

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using perf::CalibrationFit;
using perf::CalibrationPoint;
using perf::CalibrationRow;
using report::Align;
using report::Json;

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

}  // namespace

std::string sentence_about(const CalibrationFit& fit) {
  const perf::Calibration& f = fit.row.factors;
  std::string factors = fmt::format("GPU time x {:.2f}, host time x {:.2f}", f.device, f.host);
  if (fit.row.job == model::JobKind::kServe) factors += fmt::format(", prefill x {:.2f}", f.prefill);
  return fmt::format("{} {} on {}: the mean error over {} values falls from {} to {} ({}).",
                     model::name_of(fit.row.stack), job_name(fit.row), fit.row.gpu, fit.points.size(),
                     format_percent(Ratio::fraction(fit.error_before)),
                     format_percent(Ratio::fraction(fit.error_after)), factors);
}

report::Report calibration_report(const std::vector<CalibrationFit>& fits) {
  report::Report report;
  report.title = "Calibration";
  report.document = {{"schema", "rightsize/calibrate/1"}, {"fits", Json::array()}};
  std::string summary;
  for (const CalibrationFit& fit : fits) {
    summary += (summary.empty() ? "" : "\n") + sentence_about(fit);
    report.document["fits"].push_back(json_of(fit));
  }
  report.blocks.emplace_back(report::Paragraph{std::move(summary)});
  for (const CalibrationFit& fit : fits) report.blocks.emplace_back(points_table(fit));
  return report;
}

}  // namespace rightsize::app
