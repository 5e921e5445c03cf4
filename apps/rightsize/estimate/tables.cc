// The tables of `rightsize estimate`: parts of a time, the sweep, the roofline.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/estimate/fields.h"

namespace rightsize::app {

using report::Fields;
using report::kTableOnly;
using report::positive;
using report::renamed;

const Fields<perf::TimePart> kPartFields = {
    {"name", "part", "the part", &perf::TimePart::name},
    {"seconds", "time", "its time", &perf::TimePart::time},
};

namespace {

struct SharedPart {
  perf::TimePart part;
  Ratio share;
};
const Fields<SharedPart> kSharedPartFields = {
    {kPartFields, &SharedPart::part},
    {"share", "share", "share of the whole", &SharedPart::share},
};

const Fields<perf::ServeEstimate> kServePoint = {
    {"ttft_seconds", "TTFT", "mean time to the first token", &perf::ServeEstimate::ttft},
    {"tpot_seconds", "TPOT", "mean time per output token", &perf::ServeEstimate::tpot},
    {"output_tokens_per_second_per_gpu", "output tok/s per GPU", "output tokens of each GPU",
     &perf::ServeEstimate::output_per_gpu},
    {"bound", "what limits the speed", &perf::ServeEstimate::bound, bound_choices()},
};
const Fields<perf::TrainEstimate> kTrainPoint = {
    {"step_seconds", "time", "time of one optimizer step", &perf::TrainEstimate::step},
    {"tokens_per_second_per_gpu?", "tok/s per GPU", "tokens trained by each GPU",
     [](const perf::TrainEstimate& e) { return report::when(e.mfu > 0, e.tokens_per_gpu); }},
    {"samples_per_second_per_gpu", "samples/s per GPU", "sequences or images of each GPU",
     &perf::TrainEstimate::samples_per_second_per_gpu},
    {"bound", "what limits the speed", &perf::TrainEstimate::bound, bound_choices()},
};
const Fields<perf::BatchEstimate> kBatchPoint = {
    {"batch_seconds", "time", "one forward pass of the batch", &perf::BatchEstimate::batch},
    {"samples_per_second_per_gpu", "samples/s per GPU", "samples of each GPU",
     &perf::BatchEstimate::samples_per_second},
    {"bound", "what limits the speed", &perf::BatchEstimate::bound, bound_choices()},
};
const Fields<SpeedEstimate> kPoint = {
    {kServePoint, &SpeedEstimate::serve},
    {kTrainPoint, &SpeedEstimate::train},
    {kBatchPoint, &SpeedEstimate::batch},
};

std::string_view bound_of(const SpeedEstimate& e) {
  return perf::name_of(e.serve ? e.serve->bound : e.train ? e.train->bound : e.batch->bound);
}

}  // namespace

const Fields<SweepRow> kSweepFields = {
    {"", "the value of the setting",
     [](const SweepRow& row) { return std::vector{std::pair(row.setting, row.value)}; }},
    {"value", "value", "the value of the setting", &SweepRow::value, kTableOnly},
    {"reason?", "why the job cannot run",
     [](const SweepRow& row) { return row.estimate ? std::string() : row.estimate.error().message; }},
    {kPoint, &SweepRow::estimate},
    {"bound_by", "bound by", "what limits the speed, or why the job cannot run",
     [](const SweepRow& row) {
       return std::string(row.estimate ? bound_of(*row.estimate) : row.estimate.error().message);
     },
     kTableOnly},
};

report::Table parts_table(const std::string& title, const perf::TimeParts& parts) {
  Seconds total;
  for (const perf::TimePart& part : parts) total += part.time;
  std::vector<SharedPart> shown;
  for (const perf::TimePart& part : parts) {
    constexpr double kLeastShown = 0.0005;
    const double share = total > Seconds{} ? part.time / total : 0;
    if (share >= kLeastShown) shown.push_back({part, Ratio::fraction(share)});
  }
  report::Table table = table_of(kSharedPartFields, shown, {renamed("name", "part"), "seconds", "share"});
  table.title = title;
  return table;
}

report::Table sweep_table(const std::vector<SweepRow>& rows) {
  SpeedEstimate last;
  for (const SweepRow& row : rows) {
    if (row.estimate) last = *row.estimate;
  }
  const char* setting = rows.front().setting.c_str();
  std::vector<report::ColumnOf> columns{renamed("value", setting, setting)};
  if (last.serve) {
    columns.insert(columns.end(), {"ttft_seconds", "tpot_seconds", "output_tokens_per_second_per_gpu"});
  } else {
    columns.push_back(renamed(last.train ? "step_seconds" : "batch_seconds", "seconds"));
    if (last.train && last.train->mfu > 0) columns.push_back("tokens_per_second_per_gpu");
    columns.push_back("samples_per_second_per_gpu");
  }
  columns.push_back(renamed("bound_by", "bound"));
  report::Table table = table_of(kSweepFields, rows, columns);
  table.title = fmt::format("Over {}", setting);
  table.columns.front().align = report::Align::kRight;
  return table;
}

namespace {

// The pass the picture shows: training and prefill over whole sequences, decoding one token of each.
bool shows_decoding(const SpeedInput& input) {
  return input.job.kind == model::JobKind::kServe && !perf::serves_batches(input.work);
}

FlopsPerByte intensity(const perf::RooflineOp& op) { return op.each.flops / op.each.traffic; }
FlopsPerSecond reached(const perf::RooflineOp& op) { return op.each.flops / op.each.time; }

using Op = perf::RooflineOp;
const Fields<Op> kOpFields = {
    {"name", "operation", "the operation", &Op::name},
    {"count", "times", "how often it runs", &Op::count},
    {"flops", "arithmetic of one run", [](const Op& op) { return op.each.flops; }},
    {"bytes", "memory traffic of one run", [](const Op& op) { return op.each.traffic; }},
    {"seconds", "time of one run", [](const Op& op) { return op.each.time; }},
    {"flop_per_byte", "FLOP per byte", "arithmetic intensity", intensity, kTableOnly},
    {"flop_per_second", "TFLOP/s", "rate", reached,
     [](FlopsPerSecond rate) { return format_number(in_tflop_per_s(rate)); }, kTableOnly},
    {"total_seconds", "time", "of all runs", [](const Op& op) { return op.each.time * op.count; }, kTableOnly},
    {"bound", "bound by", "what limits it",
     [](const Op& op) { return op.each.compute > op.each.memory ? "compute" : "memory"; },
     report::one_of({"compute", "memory"})},
};

report::LineChart::Series roof(const SpeedInput& input, const Roofline& roofline, double from, double to) {
  const double peak = in_tflop_per_s(roofline.peak), bandwidth = in_gb_per_s(roofline.bandwidth) / 1e3;
  const double ridge = peak / bandwidth;
  report::LineChart::Series series{fmt::format("roof of {}", input.gpu->name), {}};
  series.points.push_back({from, from * bandwidth});
  if (ridge > from && ridge < to) series.points.push_back({ridge, peak});
  series.points.push_back({to, std::min(peak, to * bandwidth)});
  return series;
}

}  // namespace

const Fields<Roofline> kRooflineFields = {
    {"peak_flops_per_second", "peak rate of the number format", &Roofline::peak},
    {"bandwidth_bytes_per_second", "memory bandwidth", &Roofline::bandwidth},
    {"ops", "the operations", kOpFields, &Roofline::ops},
};

Roofline roofline_of(const SpeedInput& input) {
  const model::Job& job = input.job;
  const bool decode = shows_decoding(input);
  const double sequence = static_cast<double>(decode ? job.serve.isl : job.sequence);
  const double batch = static_cast<double>(decode ? std::max(job.serve.concurrency, job.batch) : job.batch);
  const bool fp8 = job.precision == model::Precision::kFp8 && input.speed.has_fp8;
  return {fp8 ? input.speed.fp8 : input.speed.half, input.speed.bandwidth,
          perf::roofline_ops(input.work, job, input.speed, batch, decode ? 1 : sequence, sequence)};
}

void add_roofline(report::Report& report, const SpeedInput& input, const Roofline& roofline) {
  if (roofline.ops.empty()) {
    report.blocks.emplace_back(report::Paragraph{"The roofline is drawn for transformers only."});
    return;
  }
  report::LineChart chart;
  chart.title =
      fmt::format("Operations of a {} under the roofline", shows_decoding(input) ? "decode step" : "forward pass");
  chart.x_label = "FLOP per byte";
  chart.y_label = "TFLOP/s";
  chart.logarithmic = true;
  double least = 1e300, most = 0;
  for (const Op& op : roofline.ops) {
    const double x = in_flop_per_byte(intensity(op));
    least = std::min(least, x), most = std::max(most, x);
    chart.series.push_back({op.name, {{x, in_tflop_per_s(reached(op))}}});
  }
  chart.series.insert(chart.series.begin(), roof(input, roofline, least / 2, most * 2));
  report::Table table = table_of(kOpFields, roofline.ops,
                                 {renamed("name", "operation"), "count", "flop_per_byte", "flop_per_second",
                                  renamed("total_seconds", "seconds"), "bound"});
  table.title = "Operations";
  report.blocks.emplace_back(std::move(chart));
  report.blocks.emplace_back(std::move(table));
}

}  // namespace rightsize::app
