#include "rightsize/verify/learn.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/parse_units.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::JudgedMetric;

// Members of the plan's JSON as text; empty where there are none.
class PlanFields {
 public:
  explicit PlanFields(const Decision& decision) {
    if (Checked<LocatedJson> parsed = LocatedJson::parse("plan", decision.plan)) document_ = *std::move(parsed);
  }
  std::string get(std::string_view name) const {
    const JsonMember* plan = document_ ? document_->root().find("plan") : nullptr;
    const JsonMember* field = plan == nullptr ? nullptr : plan->value.find(name);
    if (field == nullptr) return {};
    if (field->value.type == JsonType::kNumber) {
      return field->value.integer ? std::to_string(*field->value.integer) : fmt::format("{}", field->value.number);
    }
    return field->value.text;
  }

 private:
  std::optional<LocatedJson> document_;
};

// The configuration as a row of the file 'calibrate' reads: the request's settings, then what the plan chose.
std::map<std::string, std::string> row_of(const Decision& decision, const PlanFields& plan, bool serving) {
  std::map<std::string, std::string> row;
  std::vector<std::string> settings;
  for (const model::SettingInfo& info : model::job_settings()) settings.push_back(info.name);
  for (const auto& [name, value] : decision.request) {
    const bool known = std::find(settings.begin(), settings.end(), name) != settings.end();
    if (name == "model" || (known && value.find(',') == std::string::npos && value != "auto")) row[name] = value;
  }
  const auto take = [&](const char* column, const char* field) {
    if (const std::string value = plan.get(field); !value.empty()) row[column] = value;
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
Checked<std::optional<perf::Measurement>> measurement_of(const Decision& decision, const decisions::Verification& found,
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
  RIGHTSIZE_TRY(std::vector<perf::Measurement> read,
                perf::read_measurements(decisions::label(decision.summary.id), csv_of(row), catalog));
  perf::Measurement& m = read.front();
  m.line = static_cast<int>(decision.summary.id);
  if (!serving) return std::move(m);
  perf::Constants as_planned = constants;
  if (plan.get("basis") != "calibrated") as_planned.calibrations.clear();
  const double ratio = speed->measured.typical / speed->prediction.value.likely;
  const perf::GpuSpeed gpu = perf::gpu_speed(as_planned, *m.gpu);
  Result<perf::Predictions> said = perf::predict(as_planned, m, gpu);
  if (!said) return fail(std::move(said).error());
  for (const perf::Prediction& each : *said) {
    if (std::string_view(each.metric) == "tpot") m.tpot = each.predicted * ratio;
  }
  return std::move(m);
}

}  // namespace

Checked<Learned> learn_from(const Decision& decision, decisions::Ledger& ledger, const catalog::Catalog& catalog,
                            const perf::Constants& constants) {
  Learned learned;
  std::vector<perf::Measurement> measurements;
  decisions::Filter same;
  same.gpu = decision.summary.choice.gpu;
  RIGHTSIZE_TRY(const std::vector<decisions::DecisionSummary> candidates, ledger.list(same));
  const std::string stack = PlanFields(decision).get("stack");
  for (const decisions::DecisionSummary& summary : candidates) {
    RIGHTSIZE_TRY(const Decision other, ledger.find(decisions::label(summary.id)));
    if (PlanFields(other).get("stack") != stack) continue;
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
  RIGHTSIZE_TRY(learned.fits, perf::fit_calibrations(constants, measurements));
  return learned;
}

}  // namespace rightsize::app
