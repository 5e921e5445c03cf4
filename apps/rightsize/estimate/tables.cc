// The sweep table and the roofline of `rightsize estimate`.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/estimate/report.h"

namespace rightsize::app {
namespace {

using report::Align;
using report::Json;

std::vector<report::Column> sweep_columns(const std::string& setting, const SpeedEstimate& first) {
  std::vector<report::Column> columns{{setting, setting, Align::kRight}};
  if (first.serve) {
    columns.push_back({"TTFT", "ttft_seconds", Align::kRight});
    columns.push_back({"TPOT", "tpot_seconds", Align::kRight});
    columns.push_back({"output tok/s per GPU", "output_tokens_per_second_per_gpu", Align::kRight});
  } else {
    columns.push_back({"time", "seconds", Align::kRight});
    if (first.train && first.train->mfu > 0)
      columns.push_back({"tok/s per GPU", "tokens_per_second_per_gpu", Align::kRight});
    columns.push_back({"samples/s per GPU", "samples_per_second_per_gpu", Align::kRight});
  }
  columns.push_back({"bound by", "bound", Align::kLeft});
  return columns;
}

report::Cell time_cell(Seconds time) { return report::number_cell(format_duration(time), in_seconds(time)); }
report::Cell rate_cell(double rate) {
  return report::number_cell(rate >= 100 ? format_count(std::round(rate)) : format_number(rate), rate);
}

std::vector<report::Cell> sweep_cells(const SweepRow& row, std::size_t columns) {
  std::vector<report::Cell> cells{report::text_cell(row.value)};
  if (!row.estimate) {
    while (cells.size() + 1 < columns) cells.push_back(report::unknown_cell());
    cells.push_back(report::text_cell(row.estimate.error().message));
    return cells;
  }
  if (const auto& e = row.estimate->serve) {
    cells.push_back(time_cell(e->ttft));
    cells.push_back(time_cell(e->tpot));
    cells.push_back(rate_cell(in_tokens_per_s(e->output_per_gpu)));
    cells.push_back(report::text_cell(perf::name_of(e->bound)));
  } else if (const auto& t = row.estimate->train) {
    cells.push_back(time_cell(t->step));
    if (t->mfu > 0) cells.push_back(rate_cell(in_tokens_per_s(t->tokens_per_gpu)));
    cells.push_back(rate_cell(t->samples_per_second_per_gpu));
    cells.push_back(report::text_cell(perf::name_of(t->bound)));
  } else if (const auto& b = row.estimate->batch) {
    cells.push_back(time_cell(b->batch));
    cells.push_back(rate_cell(b->samples_per_second));
    cells.push_back(report::text_cell(perf::name_of(b->bound)));
  }
  return cells;
}

Json sweep_json(const std::string& setting, const SweepRow& row) {
  Json entry = {{setting, row.value}};
  if (!row.estimate) {
    entry["reason"] = row.estimate.error().message;
  } else if (const auto& e = row.estimate->serve) {
    entry["ttft_seconds"] = in_seconds(e->ttft);
    entry["tpot_seconds"] = in_seconds(e->tpot);
    entry["output_tokens_per_second_per_gpu"] = in_tokens_per_s(e->output_per_gpu);
    entry["bound"] = perf::name_of(e->bound);
  } else if (const auto& t = row.estimate->train) {
    entry["step_seconds"] = in_seconds(t->step);
    if (t->mfu > 0) entry["tokens_per_second_per_gpu"] = in_tokens_per_s(t->tokens_per_gpu);
    entry["samples_per_second_per_gpu"] = t->samples_per_second_per_gpu;
    entry["bound"] = perf::name_of(t->bound);
  } else if (const auto& b = row.estimate->batch) {
    entry["batch_seconds"] = in_seconds(b->batch);
    entry["samples_per_second_per_gpu"] = b->samples_per_second;
    entry["bound"] = perf::name_of(b->bound);
  }
  return entry;
}

}  // namespace

void add_sweep(report::Report& report, const std::string& setting, const std::vector<SweepRow>& rows) {
  SpeedEstimate first;
  for (const SweepRow& row : rows) {
    if (row.estimate) first = *row.estimate;
  }
  report::Table table;
  table.title = fmt::format("Over {}", setting);
  table.columns = sweep_columns(setting, first);
  Json list = Json::array();
  for (const SweepRow& row : rows) {
    table.rows.push_back(sweep_cells(row, table.columns.size()));
    list.push_back(sweep_json(setting, row));
  }
  report.document["sweep"] = std::move(list);
  report.blocks.emplace_back(std::move(table));
}

namespace {

// The pass the picture shows: training and prefill over whole sequences, decoding one token of each.
std::vector<perf::RooflineOp> shown_ops(const SpeedInput& input) {
  const model::Job& job = input.job;
  const bool serve = job.kind == model::JobKind::kServe;
  const bool decode = serve && !perf::serves_batches(input.work);
  const double sequence = static_cast<double>(decode ? job.serve.isl : job.sequence);
  const double batch = static_cast<double>(decode ? std::max(job.serve.concurrency, job.batch) : job.batch);
  return perf::roofline_ops(input.work, job, input.speed, batch, decode ? 1 : sequence, sequence);
}

FlopsPerSecond shown_peak(const SpeedInput& input) {
  return input.job.precision == model::Precision::kFp8 && input.speed.has_fp8 ? input.speed.fp8 : input.speed.half;
}

report::LineChart::Series roof(const SpeedInput& input, double from, double to) {
  const double peak = in_tflop_per_s(shown_peak(input)), bandwidth = in_gb_per_s(input.speed.bandwidth) / 1e3;
  const double ridge = peak / bandwidth;
  report::LineChart::Series series{fmt::format("roof of {}", input.gpu->name), {}};
  series.points.push_back({from, from * bandwidth});
  if (ridge > from && ridge < to) series.points.push_back({ridge, peak});
  series.points.push_back({to, std::min(peak, to * bandwidth)});
  return series;
}

}  // namespace

void add_roofline(report::Report& report, const SpeedInput& input) {
  const std::vector<perf::RooflineOp> ops = shown_ops(input);
  if (ops.empty()) {
    report.blocks.emplace_back(report::Paragraph{"The roofline is drawn for transformers only."});
    return;
  }
  report::LineChart chart;
  chart.title = input.job.kind == model::JobKind::kServe && !perf::serves_batches(input.work)
                    ? "Operations of a decode step under the roofline"
                    : "Operations of a forward pass under the roofline";
  chart.x_label = "FLOP per byte";
  chart.y_label = "TFLOP/s";
  chart.logarithmic = true;
  report::Table table;
  table.title = "Operations";
  table.columns = {{"operation", "operation", Align::kLeft},
                   {"times", "count", Align::kRight},
                   {"FLOP per byte", "flop_per_byte", Align::kRight},
                   {"TFLOP/s", "flop_per_second", Align::kRight},
                   {"time", "seconds", Align::kRight},
                   {"bound by", "bound", Align::kLeft}};
  double least = 1e300, most = 0;
  Json list = Json::array();
  for (const perf::RooflineOp& op : ops) {
    const double intensity = in_flop_per_byte(op.each.flops / op.each.traffic);
    const FlopsPerSecond reached = op.each.flops / op.each.time;
    const char* bound = op.each.compute > op.each.memory ? "compute" : "memory";
    least = std::min(least, intensity), most = std::max(most, intensity);
    chart.series.push_back({op.name, {{intensity, in_tflop_per_s(reached)}}});
    const Seconds total = op.each.time * op.count;
    table.rows.push_back({report::text_cell(op.name), report::number_cell(format_number(op.count), op.count),
                          report::number_cell(format_number(intensity), intensity),
                          report::number_cell(format_number(in_tflop_per_s(reached)), in_flop_per_s(reached)),
                          time_cell(total), report::text_cell(bound)});
    list.push_back({{"name", op.name},
                    {"count", op.count},
                    {"flops", in_flop(op.each.flops)},
                    {"bytes", in_bytes(op.each.traffic)},
                    {"seconds", in_seconds(op.each.time)},
                    {"bound", bound}});
  }
  chart.series.insert(chart.series.begin(), roof(input, least / 2, most * 2));
  report.document["roofline"] = {{"peak_flops_per_second", in_flop_per_s(shown_peak(input))},
                                 {"bandwidth_bytes_per_second", in_bytes_per_s(input.speed.bandwidth)},
                                 {"ops", std::move(list)}};
  report.blocks.emplace_back(std::move(chart));
  report.blocks.emplace_back(std::move(table));
}

}  // namespace rightsize::app
