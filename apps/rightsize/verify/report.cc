#include "rightsize/verify/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/decisions/words.h"

namespace rightsize::app {
namespace {

using decisions::Finding;
using decisions::MetricVerdict;
using decisions::Verification;
using report::Align;
using report::Json;
using report::json_number;

std::string predicted_words(const MetricVerdict& v) {
  const decisions::Range& r = v.prediction.value;
  const std::string_view metric = v.prediction.metric;
  if (r.low && r.high) return fmt::format("{} to {}", show_metric(metric, *r.low), show_metric(metric, *r.high));
  return show_metric(metric, r.likely);
}

std::string interval_words(const MetricVerdict& v) {
  if (v.measured.count == 0) return "-";
  if (v.prediction.metric == decisions::kRate) return "-";
  if (!std::isfinite(v.measured.high)) return "any";
  const std::string_view metric = v.prediction.metric;
  if (v.measured.low == v.measured.high) return show_metric(metric, v.measured.high);
  return fmt::format("{} to {}", show_metric(metric, v.measured.low), show_metric(metric, v.measured.high));
}

std::string verdict_words(const MetricVerdict& v) {
  if (v.measured.count == 0) return "not measured";
  if (v.better && v.outcome == Finding::kKept) return "kept, better than predicted";
  if (v.outcome != Finding::kInconclusive) return std::string(name_of(v.outcome));
  if (v.more) return fmt::format("inconclusive, {} more", *v.more);
  return "inconclusive";
}

std::string more_words(const Verification& found) {
  std::int64_t more = 0;
  for (const MetricVerdict& v : found.metrics) more = std::max(more, v.more.value_or(0));
  if (more > 0)
    return fmt::format(" About {} more {} would decide, if they go on as they do.", more,
                       more == 1 ? "sample" : "samples");
  return " No speed or latency was measured.";
}

}  // namespace

std::string verdict_sentence(const decisions::Decision& decision, const Verification& found) {
  const std::string name = fmt::format("{} ({})", decisions::label(decision.summary.id), decision.summary.workload);
  std::string broken;
  for (const MetricVerdict& v : found.metrics) {
    if (v.outcome != Finding::kBroken) continue;
    broken += fmt::format("{}{} is {}, predicted {}", broken.empty() ? "" : "; ", metric_words(v.prediction.metric),
                          show_metric(v.prediction.metric, v.measured.typical), predicted_words(v));
  }
  switch (found.outcome) {
    case Finding::kKept:
      return name + " is kept: everything that was measured is within what was predicted.";
    case Finding::kBroken:
      return fmt::format("{} is broken: {}.", name, broken.empty() ? "out of memory was seen" : broken);
    case Finding::kInconclusive:
      break;
  }
  std::string reasons;
  const bool any_more =
      std::any_of(found.metrics.begin(), found.metrics.end(), [](const auto& v) { return v.more.has_value(); });
  for (const MetricVerdict& v : found.metrics) {
    if (v.measured.count > 0 && !v.reason.empty())
      reasons += fmt::format(" {}: {}.", metric_words(v.prediction.metric), v.reason);
  }
  return fmt::format("{} is inconclusive so far.{}{}", name, any_more || reasons.empty() ? more_words(found) : "",
                     reasons);
}

report::Table verdict_table(const Verification& found) {
  report::Table table;
  table.columns = {{"what", "metric", Align::kLeft},        {"predicted", "predicted", Align::kRight},
                   {"measured", "measured", Align::kRight}, {"95 % at any time", "interval", Align::kRight},
                   {"samples", "samples", Align::kRight},   {"verdict", "verdict", Align::kLeft}};
  for (const MetricVerdict& v : found.metrics) {
    const std::string_view metric = v.prediction.metric;
    const auto samples = static_cast<double>(v.measured.count);
    report::Cell name = report::text_cell(metric_words(metric));
    name.exact = metric;
    table.rows.push_back({std::move(name), report::text_cell(predicted_words(v)),
                          v.measured.count == 0
                              ? report::unknown_cell()
                              : report::number_cell(show_metric(metric, v.measured.typical), v.measured.typical),
                          report::text_cell(interval_words(v)), report::number_cell(format_count(samples), samples),
                          report::text_cell(verdict_words(v))});
  }
  return table;
}

Json verification_json(const decisions::Decision& decision, const Verification& found) {
  Json j = {{"id", decisions::label(decision.summary.id)},
            {"workload", decision.summary.workload},
            {"verdict", name_of(found.outcome)},
            {"alpha", decisions::kAlpha},
            {"test", "confidence sequence of the t-test e-process (effect size N(0,1), right Haar prior), logarithms"}};
  j["metrics"] = Json::array();
  for (const MetricVerdict& v : found.metrics) {
    Json row = {{"metric", v.prediction.metric}};
    row["predicted"] = range_json(v.prediction.value);
    row["limit"] = json_number(v.prediction.limit);
    row["samples"] = v.measured.count;
    row["measured"] = v.measured.count == 0 ? Json(nullptr) : json_number(v.measured.typical);
    row["low"] = v.measured.count == 0 || v.measured.low <= 0 ? Json(nullptr) : json_number(v.measured.low);
    row["high"] = v.measured.count == 0 ? Json(nullptr) : json_number(v.measured.high);
    row["verdict"] = v.measured.count == 0 ? Json(nullptr) : Json(name_of(v.outcome));
    row["better"] = v.better;
    row["samples_needed"] = v.more ? Json(*v.more) : Json(nullptr);
    row["reason"] = v.reason.empty() ? Json(nullptr) : Json(v.reason);
    j["metrics"].push_back(std::move(row));
  }
  j["per"] = name_of(decision.summary.per);
  j["measured_usd"] = found.cost ? json_number(in_usd(found.cost->cost)) : Json(nullptr);
  j["cost_method"] = found.cost ? Json(found.cost->method) : Json(nullptr);
  j["before_usd"] = json_number(decision.summary.before, in_usd);
  j["saved_usd"] = json_number(found.saved, in_usd);
  j["predicted_saving_usd"] = json_number(decision.summary.saving, in_usd);
  return j;
}

}  // namespace rightsize::app
