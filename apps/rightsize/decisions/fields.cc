#include "rightsize/decisions/fields.h"

#include <fmt/format.h>

#include "base/copy_json.h"
#include "base/format.h"
#include "base/list_of.h"

namespace rightsize::app {

using decisions::Decision;
using decisions::DecisionSummary;
using decisions::format_time;
using decisions::JudgedMetric;
using decisions::Judgement;
using decisions::PredictedMetric;
using decisions::PredictedRange;
using decisions::UsdRange;
using report::Fields;
using report::kTableOnly;
using report::positive;
using report::when;

namespace {

std::optional<std::string> known(const std::string& text) { return when(!text.empty(), text); }

std::optional<std::string> time_of(const std::optional<TimePoint>& time) {
  return time ? std::optional(format_time(*time)) : std::nullopt;
}

const Fields<UsdRange> kUsdRangeFields = {
    {"low", "lower end of the interval, USD", &UsdRange::low},
    {"likely", "most likely value, USD", &UsdRange::likely},
    {"high", "upper end of the interval, USD", &UsdRange::high},
};

// A prediction as shown to people. The cost is shown as one more prediction.
struct ShownPrediction {
  std::string metric, title;
  PredictedRange value;
  std::optional<double> limit;
  std::string (*show_value)(double);

  std::string show(const std::optional<double>& number) const { return number ? show_value(*number) : "-"; }
};

const Fields<ShownPrediction> kPredictionFields = {
    {"metric", "what", "what is predicted; the name ends in its unit", &ShownPrediction::metric,
     [](const ShownPrediction& p) { return p.title; }},
    {"low", "low", "lower end of the interval", [](const ShownPrediction& p) { return p.value.low; },
     [](const ShownPrediction& p) { return p.show(p.value.low); }},
    {"likely", "likely", "most likely value", [](const ShownPrediction& p) { return p.value.likely; },
     [](const ShownPrediction& p) { return p.show(p.value.likely); }},
    {"high", "high", "upper end of the interval", [](const ShownPrediction& p) { return p.value.high; },
     [](const ShownPrediction& p) { return p.show(p.value.high); }},
    {"limit", "limit", "SLO, deadline or capacity", &ShownPrediction::limit,
     [](const ShownPrediction& p) { return p.show(p.limit); }},
};

std::vector<ShownPrediction> shown_predictions(const Decision& decision) {
  return list_of(decision.predictions, [](const PredictedMetric& p) {
    return ShownPrediction{p.metric, std::string(p.info().title), p.value, p.limit, p.info().show};
  });
}

std::string show(const JudgedMetric& m, double value) { return m.prediction.info().show(value); }

std::string show_interval(const JudgedMetric& m) {
  if (m.measured.count == 0 || m.prediction.metric == decisions::kRate) return "-";
  if (!std::isfinite(m.measured.high)) return "any";
  if (m.measured.low == m.measured.high) return show(m, m.measured.high);
  return fmt::format("{} to {}", show(m, m.measured.low), show(m, m.measured.high));
}

std::string show_verdict(const JudgedMetric& m) {
  if (m.measured.count == 0) return "not measured";
  if (m.better && m.outcome == Judgement::kKept) return "kept, better than predicted";
  if (m.outcome == Judgement::kInconclusive && m.more) return fmt::format("inconclusive, {} more", *m.more);
  return std::string(name_of(m.outcome));
}

// A value that exists only after a measurement.
template <class Value>
std::optional<Value> if_measured(const JudgedMetric& m, Value value) {
  return when(m.measured.count > 0, value);
}

}  // namespace

std::string show_predicted(const JudgedMetric& m) {
  const decisions::PredictedRange& r = m.prediction.value;
  if (!r.high) return show(m, r.likely);
  return r.low ? fmt::format("{} to {}", show(m, *r.low), show(m, *r.high))
               : fmt::format("{}, at most {}", show(m, r.likely), show(m, *r.high));
}

const Fields<JudgedMetric> kJudgedFields = {
    {"metric", "what", "the metric; its name ends in its unit",
     [](const JudgedMetric& m) { return m.prediction.metric; },
     [](const JudgedMetric& m) { return std::string(m.prediction.info().title); }},
    {"predicted", "the prediction", kRangeFields, [](const JudgedMetric& m) { return m.prediction.value; }},
    {"predicted_text", "predicted", "the prediction", show_predicted, kTableOnly},
    {"limit", "SLO, deadline or capacity", [](const JudgedMetric& m) { return m.prediction.limit; }},
    {"samples", "samples", "number of samples", [](const JudgedMetric& m) { return m.measured.count; }},
    {"measured", "measured", "geometric mean of the samples; of memory the highest",
     [](const JudgedMetric& m) { return if_measured(m, m.measured.typical); },
     [](const JudgedMetric& m) { return m.measured.count == 0 ? "-" : show(m, m.measured.typical); }},
    {"low", "lower end of the confidence interval",
     [](const JudgedMetric& m) { return when(m.measured.count > 0 && m.measured.low > 0, m.measured.low); }},
    {"high", "upper end of the confidence interval",
     [](const JudgedMetric& m) { return if_measured(m, m.measured.high); }},
    {"interval", "95 % at any time", "the confidence interval", show_interval, kTableOnly},
    {"verdict", "verdict", "kept, broken or inconclusive",
     [](const JudgedMetric& m) { return if_measured(m, m.outcome); }, show_verdict},
    {"better", "better than the good end of the interval", &JudgedMetric::better},
    {"samples_needed", "samples still needed", &JudgedMetric::more},
    {"reason", "why it is inconclusive", [](const JudgedMetric& m) { return when(!m.reason.empty(), m.reason); }},
};

const Fields<DecisionSummary> kSummaryFields = {
    {"id", "#", "number of the decision", [](const DecisionSummary& s) { return decisions::label(s.id); }},
    {"workload", "workload", "name of the workload", &DecisionSummary::workload},
    {"team", "team", "who pays for it", [](const DecisionSummary& s) { return known(s.team); }},
    {"by", "who decided", [](const DecisionSummary& s) { return known(s.author); }},
    {"decided_at", "decided", "when it was decided", [](const DecisionSummary& s) { return format_time(s.decided_at); },
     day_of},
    {"status", "status", "decided, rolling-out, in-force, rolled-back or superseded", &DecisionSummary::status},
    {"ended_at", "when it was rolled back or superseded", [](const DecisionSummary& s) { return time_of(s.ended_at); }},
    {"choice", "choice", "what was chosen", [](const DecisionSummary& s) { return s.choice.words; }},
    {"gpu", "GPU type", [](const DecisionSummary& s) { return known(s.choice.gpu); }},
    {"gpus", "number of GPUs", [](const DecisionSummary& s) { return positive(s.choice.gpus); }},
    {"provider", "cloud provider", [](const DecisionSummary& s) { return known(s.choice.provider); }},
    {"instance", "machine type", [](const DecisionSummary& s) { return known(s.choice.instance); }},
    {"instances", "number of machines", [](const DecisionSummary& s) { return positive(s.choice.instances); }},
    {"region", "region", [](const DecisionSummary& s) { return known(s.choice.region); }},
    {"purchase", "purchase terms", [](const DecisionSummary& s) { return known(s.choice.purchase); }},
    {"per", "per", "costs are per month (services) or per run (jobs)", &DecisionSummary::per},
    {"cost_usd", "cost", "predicted cost", &DecisionSummary::cost},
    {"before_usd", "cost before the decision", &DecisionSummary::before},
    {"saving_usd", "saves", "predicted saving", &DecisionSummary::saving},
};

const Fields<PredictedRange> kRangeFields = {
    {"low", "lower end of the interval", &PredictedRange::low},
    {"likely", "most likely value", &PredictedRange::likely},
    {"high", "upper end of the interval", &PredictedRange::high},
};

const Fields<Decision> kDecisionFields = {
    {kSummaryFields, &Decision::summary},
    {"why", "the reason", [](const Decision& d) { return known(d.why); }},
    {"what", "what the plan is for", &Decision::what},
    {"command", "the command that made the plan", &Decision::command},
    {"catalogue", "version of the catalogue", [](const Decision& d) { return known(d.catalogue); }},
    {"program", "version of rightsize", &Decision::program},
    {"rollback", "how to undo it", [](const Decision& d) { return known(d.rollback); }},
    {"superseded_by", "the decision that replaced it",
     [](const Decision& d) { return when(d.superseded_by != 0, decisions::label(d.superseded_by)); }},
    {"cost_interval_usd", "interval of the cost", kUsdRangeFields, &Decision::cost},
    {"saving_interval_usd", "interval of the saving", kUsdRangeFields, &Decision::saving},
    {"predictions", "what was predicted", kPredictionFields, shown_predictions},
    {"request", "settings of the plan, to plan again", &Decision::request},
    // `decide` and `decisions show` add the plan, a document of another command.
    {"", "the plan", [](const Decision&) { return std::map<std::string, std::string>{}; }},
};

report::Json plan_json(const Decision& decision) {
  const Checked<LocatedJson> plan = LocatedJson::parse("plan", decision.plan);
  return plan ? copy_of(plan->root()) : report::Json(nullptr);
}

PlanFields::PlanFields(const Decision& decision) {
  if (Checked<LocatedJson> parsed = LocatedJson::parse("plan", decision.plan)) document_ = *std::move(parsed);
}

const JsonValue* PlanFields::find(std::string_view name) const {
  const JsonMember* plan = document_ ? document_->root().find("plan") : nullptr;
  const JsonMember* field = plan == nullptr ? nullptr : plan->value.find(name);
  return field == nullptr ? nullptr : &field->value;
}

std::string PlanFields::text(std::string_view name) const {
  const JsonValue* value = find(name);
  if (value == nullptr || value->type != JsonType::kNumber) return value == nullptr ? "" : value->text;
  return value->integer ? std::to_string(*value->integer) : fmt::format("{}", value->number);
}

std::optional<double> PlanFields::number(std::string_view name) const {
  const JsonValue* value = find(name);
  return value != nullptr && value->type == JsonType::kNumber ? std::optional(value->number) : std::nullopt;
}

report::Table predictions_table(const Decision& decision) {
  std::vector<ShownPrediction> rows = shown_predictions(decision);
  if (const auto& cost = decision.cost) {
    const auto usd_of = [](const std::optional<Usd>& value) {
      return value ? std::optional(in_usd(*value)) : std::nullopt;
    };
    const std::string_view per = name_of(decision.summary.per);
    rows.push_back({fmt::format("usd_per_{}", per),
                    fmt::format("cost per {}", per),
                    {usd_of(cost->low), in_usd(cost->likely), usd_of(cost->high)},
                    std::nullopt,
                    [](double value) { return format_usd(usd(value)); }});
  }
  return table_of(kPredictionFields, rows, {"metric", "low", "likely", "high", "limit"});
}

std::string full_name(const DecisionSummary& summary) {
  return fmt::format("{} ({})", decisions::label(summary.id), summary.workload);
}

std::string show_cost(Usd cost, decisions::Per per) { return fmt::format("{}/{}", format_usd(cost), name_of(per)); }

std::string show_saving(const DecisionSummary& summary) {
  if (!summary.saving) return {};
  const bool less = *summary.saving >= Usd{};
  return fmt::format("{} {} than today", show_cost(less ? *summary.saving : -*summary.saving, summary.per),
                     less ? "less" : "more");
}

std::string day_of(const std::string& time) { return time.substr(0, 10); }

std::string count_of(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", format_count(static_cast<double>(number)), noun, number == 1 ? "" : "s");
}

void add_record(const Decision& d, std::vector<report::Block>& blocks) {
  const DecisionSummary& s = d.summary;
  const auto add = [&](std::string text) { blocks.emplace_back(report::Paragraph{std::move(text)}); };
  blocks.emplace_back(report::Heading{fmt::format("{}: {}", decisions::label(s.id), s.workload)});
  std::string about = fmt::format("Status: {}. Decided {}", name_of(s.status), format_time(s.decided_at));
  if (!s.author.empty()) about += " by " + s.author;
  if (!s.team.empty()) about += fmt::format(" for team {}", s.team);
  if (s.ended_at) about += fmt::format(". Ended {}", format_time(*s.ended_at));
  if (d.superseded_by != 0) about += fmt::format(", superseded by {}", decisions::label(d.superseded_by));
  add(about + ".");
  std::string chosen = fmt::format("Decision: {}", s.choice.words);
  if (s.cost) chosen += fmt::format(", {}", show_cost(*s.cost, s.per));
  if (s.saving) chosen += fmt::format(" ({})", show_saving(s));
  add(chosen + ".");
  if (!d.what.empty()) add(fmt::format("Purpose: {}.", d.what));
  add(fmt::format("Reason: {}", d.why.empty() ? "not recorded." : d.why));
  // A title would become a second heading in Markdown.
  if (report::Table table = predictions_table(d); !table.rows.empty()) {
    add("Predicted:");
    blocks.emplace_back(std::move(table));
  }
  add(fmt::format("Rollback: {}", d.rollback.empty() ? "not recorded." : d.rollback));
  std::string inputs;
  for (const auto& [name, value] : d.request)
    inputs += fmt::format("{}--{} {}", inputs.empty() ? "" : " ", name, value);
  add(fmt::format("Inputs: {}", inputs.empty() ? "not in the plan." : inputs));
  add(fmt::format("Made by 'rightsize {}' {} with catalogue {}.", d.command, d.program,
                  d.catalogue.empty() ? "unknown" : d.catalogue));
}

}  // namespace rightsize::app
