#include "rightsize/batch/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/batch/report_parts.h"

namespace rightsize::app {
namespace {

using capacity::Assessment;
using capacity::Configuration;
using report::Align;
using report::Json;
using sim::StatisticValues;

report::Table latency_table(const std::vector<std::pair<std::string, const StatisticValues*>>& rows,
                            const StatisticValues& half_width) {
  report::Table table;
  table.columns = {{"time", "what", Align::kLeft}};
  for (const char* name : kStatisticNames) {
    table.columns.push_back({name, std::string(name) + "_seconds", Align::kRight});
  }
  for (const auto& [name, values] : rows) {
    std::vector<report::Cell> cells{report::text_cell(name)};
    for (double v : *values) cells.push_back(report::number_cell(shown(v), v * 1e-9));
    table.rows.push_back(std::move(cells));
  }
  std::vector<report::Cell> errors{report::text_cell("± of the first (95 %)")};
  for (double v : half_width)
    errors.push_back(std::isfinite(v) ? report::number_cell(shown(v), v * 1e-9) : report::unknown_cell());
  table.rows.push_back(std::move(errors));
  return table;
}

std::string load_sentence(const BatchInput& input, const Assessment& a) {
  std::string text = fmt::format("{} arrive, {} of the {} requests/s it can do at most.", rate_shown(input),
                                 percent(a.load), format_number(a.capacity));
  const double peak = in_requests_per_s(sim::peak_rate(input.service.arrivals).value_or(RequestsPerSecond{}));
  if (peak >= a.capacity) {
    text += fmt::format(" At its peak {} requests/s arrive, more than that: the queue grows until the peak is over.",
                        format_number(peak));
  }
  return text + cut_sentence(input);
}

std::string batches_sentence(const Assessment& a) {
  const Configuration& c = a.configuration;
  std::string text = fmt::format(
      " Batches up to {}, waiting at most {} for others: {} requests a batch on average, GPUs busy {} of the time.",
      c.batching.max_batch, shown(static_cast<double>(c.batching.max_delay)), format_number(a.profile.mean_batch),
      percent(a.busy));
  if (a.profile.rejected > 0) {
    text += fmt::format(" {} of {} requests were rejected.", format_count(static_cast<double>(a.profile.rejected)),
                        format_count(static_cast<double>(a.profile.requests)));
  }
  return text;
}

// How far lengths lie apart.
std::string spread_shown(const sim::RequestShape& lengths) {
  if (lengths.exponential) return " on average, spread exponentially";
  if (!lengths.varies()) return "";
  return fmt::format(" on average, one in twenty over {} and {}",
                     format_count(std::round(lengths.size_at(sim::Statistic::kP95))),
                     format_count(std::round(lengths.output_at(sim::Statistic::kP95))));
}

std::string tokens_sentence(const BatchInput& input, const Assessment& a) {
  const Configuration& c = a.configuration;
  std::string text;
  if (!std::holds_alternative<std::shared_ptr<const sim::Trace>>(input.service.arrivals)) {
    const sim::RequestShape& lengths = input.service.lengths;
    text = fmt::format(" Requests have {} tokens in and {} out{}.", format_count(std::round(lengths.size)),
                       format_count(std::round(lengths.output)), spread_shown(lengths));
  }
  text +=
      fmt::format(" At most {} sequences and {} tokens a step: {} sequences a step on average, {}, {} preemptions.",
                  c.engine.max_sequences, format_count(static_cast<double>(c.engine.token_budget)),
                  format_number(a.profile.mean_batch), format_tokens_per_s(tokens_per_s(a.output_tokens_per_second)),
                  format_count(static_cast<double>(a.preemptions)));
  if (a.profile.rejected > 0) {
    text += fmt::format(" {} requests can never fit the cache or the budget and were rejected.",
                        format_count(static_cast<double>(a.profile.rejected)));
  }
  return text;
}

void add_load_curve(Outcome& outcome, const std::vector<LoadPoint>& curve) {
  if (curve.size() < 2) return;
  report::LineChart chart;
  chart.title = "Latency against load";
  chart.x_label = "requests/s";
  chart.y_label = "ms";
  Json points = Json::array();
  for (std::size_t k : {std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
    chart.series.push_back({kStatisticNames[k], {}});
    for (const LoadPoint& point : curve) chart.series.back().points.push_back({point.rate, in_ms(point.latency[k])});
  }
  for (const LoadPoint& point : curve) {
    Json row = json_of(point.latency);
    row["requests_per_second"] = point.rate;
    points.push_back(std::move(row));
  }
  outcome.report.document["load_curve"] = std::move(points);
  outcome.report.blocks.emplace_back(std::move(chart));
}

}  // namespace

Outcome assessed_outcome(const BatchInput& input, const Assessment& a, const std::vector<LoadPoint>& curve,
                         double wall) {
  Outcome outcome;
  outcome.report.title = input.continuous ? "Continuous batching" : "Batching";
  outcome.report.document["schema"] = "rightsize/batch/1";
  put_profile(outcome.report.document, input, a, wall);
  outcome.report.blocks.emplace_back(report::Paragraph{
      load_sentence(input, a) + (input.continuous ? tokens_sentence(input, a) : batches_sentence(a))});
  std::vector<std::pair<std::string, const StatisticValues*>> rows{{"latency", &a.profile.latency}};
  if (input.continuous) {
    rows = {
        {"whole request", &a.profile.latency}, {"first token (TTFT)", &a.ttft}, {"each further token (TPOT)", &a.tpot}};
  }
  outcome.report.blocks.emplace_back(latency_table(rows, a.profile.interval.half_widths()));
  add_fit(outcome, input);
  add_load_curve(outcome, curve);
  add_hand_over(outcome, input, a.configuration);
  return outcome;
}

Outcome unstable_outcome(const BatchInput& input, const Configuration& c, double capacity) {
  Outcome outcome;
  outcome.exit_code = kNoFeasibleAnswer;
  outcome.report.title = "Batching";
  outcome.report.document = {{"schema", "rightsize/batch/1"},
                             {"stable", false},
                             {"arrivals_per_second", report::json_number(input.rate())},
                             {"capacity_per_second", report::json_number(capacity)},
                             {"latency_ms", nullptr}};
  const std::string at_best = input.continuous ? "the batch as full as its limits and the cache allow"
                                               : fmt::format("batches of {}", c.batching.max_batch);
  outcome.report.blocks.emplace_back(report::Paragraph{fmt::format(
      "Unstable: {} arrive and the most this server can do, {}, is {} requests/s. The queue would grow without end, so "
      "nothing was simulated. It takes {} times as many GPUs, larger batches, or a limit that rejects (--max-queue, "
      "--timeout).",
      rate_shown(input), at_best, format_number(capacity),
      format_number(std::ceil(input.rate() / capacity * 10 + 0.5) / 10, 2))});
  return outcome;
}

}  // namespace rightsize::app
