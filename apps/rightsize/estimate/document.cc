// The field tables of an estimate: its JSON document, and the tables of parts, sweep and roofline.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/estimate/report.h"

namespace rightsize::app {
namespace {

using perf::BatchEstimate;
using perf::ServeEstimate;
using perf::TrainEstimate;
using report::Fields;
using report::kTableOnly;
using report::one_of;
using report::positive;
using report::renamed;
using report::when;

report::FieldChoices bound_choices() { return one_of({"compute", "memory", "communication", "host"}); }
report::FieldChoices basis_choices() { return one_of({"measured", "calibrated", "transferred", "specification"}); }

const Fields<perf::TimePart> kPartFields = {
    {"name", "part", "the part", &perf::TimePart::name},
    {"seconds", "time", "its time", &perf::TimePart::time},
};

struct SharedPart {
  perf::TimePart part;
  Ratio share;
};
const Fields<SharedPart> kSharedPartFields = {
    {kPartFields, &SharedPart::part},
    {"share", "share", "share of the whole", &SharedPart::share},
};

// Fields of both a sweep row and the whole estimate.
const Fields<ServeEstimate> kServePoint = {
    {"ttft_seconds", "TTFT", "mean time to the first token", &ServeEstimate::ttft},
    {"tpot_seconds", "TPOT", "mean time per output token", &ServeEstimate::tpot},
    {"output_tokens_per_second_per_gpu", "output tok/s per GPU", "output tokens of each GPU",
     &ServeEstimate::output_per_gpu},
    {"bound", "what limits the speed", &ServeEstimate::bound, bound_choices()},
};
const Fields<TrainEstimate> kTrainPoint = {
    {"step_seconds", "time", "time of one optimizer step", &TrainEstimate::step},
    {"tokens_per_second_per_gpu?", "tok/s per GPU", "tokens trained by each GPU",
     [](const TrainEstimate& e) { return when(e.mfu > 0, e.tokens_per_gpu); }},
    {"samples_per_second_per_gpu", "samples/s per GPU", "sequences or images of each GPU",
     &TrainEstimate::samples_per_second_per_gpu},
    {"bound", "what limits the speed", &TrainEstimate::bound, bound_choices()},
};
const Fields<BatchEstimate> kBatchPoint = {
    {"batch_seconds", "time", "one forward pass of the batch", &BatchEstimate::batch},
    {"samples_per_second_per_gpu", "samples/s per GPU", "samples of each GPU", &BatchEstimate::samples_per_second},
    {"bound", "what limits the speed", &BatchEstimate::bound, bound_choices()},
};
const Fields<SpeedEstimate> kPoint = {
    {kServePoint, &SpeedEstimate::serve},
    {kTrainPoint, &SpeedEstimate::train},
    {kBatchPoint, &SpeedEstimate::batch},
};

std::string_view bound_of(const SpeedEstimate& e) {
  return perf::name_of(e.serve ? e.serve->bound : e.train ? e.train->bound : e.batch->bound);
}

const Fields<SweepRow> kSweepFields = {
    {"", "the value of the setting",
     [](const SweepRow& row) { return std::vector{std::pair(row.setting, row.value)}; }},
    {"value", "value", "the value of the setting", &SweepRow::value, kTableOnly},
    {"reason?", "why the job cannot run",
     [](const SweepRow& row) { return row.estimate ? std::string() : row.estimate.error().message; }},
    {kPoint, &SweepRow::estimate},
    {"gpus?", "GPUs", "number of GPUs", &SweepRow::gpus},
    {"recompute?", "recompute", "full: the backward pass recomputes activations, to save memory",
     [](const SweepRow& row) { return when(row.recomputes, std::string("full")); }},
    {"memory?", "memory", "whether the GPUs hold the job", &SweepRow::memory, one_of({"fits", "tight", "no"})},
    {"usd_per_million_units?", "$ per 1M", "cost of a million tokens (output tokens when serving), samples or images",
     &SweepRow::usd_per_million, [](double dollars) { return format_usd(usd(dollars)); }},
    {"bound_by", "bound by", "what limits the speed, or why the job cannot run",
     [](const SweepRow& row) {
       return std::string(row.estimate ? bound_of(*row.estimate) : row.estimate.error().message);
     },
     kTableOnly},
};

// Whether the roofline shows decoding (one token per sequence) rather than training or prefill (whole sequences).
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
    {"bound", "bound by", "what limits it", [](const Op& op) { return op.each.is_arithmetic() ? "compute" : "memory"; },
     one_of({"compute", "memory"})},
};

const Fields<TokenRun> kRunFields = {
    {"tokens", "tokens of the run", &TokenRun::tokens},
    {"seconds", "its time", &TokenRun::time},
    {"low_seconds", "lower end of the 80 % interval", &TokenRun::low},
    {"high_seconds", "upper end of the interval", &TokenRun::high},
    {"gpu_hours", "GPU-hours of the run", [](const TokenRun& r) { return in_gpu_hours(r.gpu_time); }},
    {"usd?", "its cost at the price of the GPU",
     [](const TokenRun& r) { return r.price ? std::optional(r.price->rate * r.gpu_time) : std::nullopt; }},
    {"usd_per_gpu_hour?", "the price",
     [](const TokenRun& r) { return r.price ? std::optional(in_usd_per_gpu_hour(r.price->rate)) : std::nullopt; }},
    {"price_source?", "the offer of this price",
     [](const TokenRun& r) { return r.price ? r.price->source() : std::string(); }},
};

const Fields<JobRoofline> kRooflineFields = {
    {"peak_flops_per_second", "peak rate of the number format", &JobRoofline::peak},
    {"bandwidth_bytes_per_second", "memory bandwidth", &JobRoofline::bandwidth},
    {"ops", "the operations", kOpFields, &JobRoofline::ops},
};

// The notes of the estimate, and a warning if the job does not fit.
std::vector<std::string> warnings(const SpeedAnswer& answer, const perf::Notes& notes) {
  std::vector<std::string> texts = texts_of(notes);
  if (!answer.memory_warning.empty()) texts.insert(texts.begin(), answer.memory_warning);
  return texts;
}

std::optional<std::string> relative_of(std::string_view name) {
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

struct TimeBounds {
  Seconds low, high;
};
TimeBounds bounds(Seconds time, const perf::Interval& interval) { return {time * interval.low, time * interval.high}; }
const Fields<TimeBounds> kBoundsFields = {
    {"low", "lower end in seconds", &TimeBounds::low},
    {"high", "upper end in seconds", &TimeBounds::high},
};

struct TrainView {
  const SpeedAnswer& answer;
  const TrainEstimate& e;
  operator const TrainEstimate&() const { return e; }

  double per_gpu() const {
    return answer.input.work.image ? e.samples_per_second_per_gpu : in_tokens_per_s(e.tokens_per_gpu);
  }
};
const Fields<TrainView> kTrainFields = {
    {"tokens_per_second_per_gpu?", "tokens trained by each GPU; absent for images",
     [](const TrainView& v) { return when(!v.answer.input.work.image, v.e.tokens_per_gpu); }},
    {"samples_per_second_per_gpu", "sequences or images of each GPU", &TrainEstimate::samples_per_second_per_gpu},
    {"step_seconds", "time of one optimizer step", &TrainEstimate::step},
    {"mfu?", "model FLOPs, causal attention counted once, over the GPU's peak",
     [](const TrainView& v) { return positive(v.e.mfu); }},
    {"bound", "what limits the speed", &TrainEstimate::bound, bound_choices()},
    {"parts", "parts of the time of a step", kPartFields, &TrainEstimate::parts},
    {"device_seconds", "GPU work of a step", &TrainEstimate::device},
    {"host_seconds?", "CPU work of a step", [](const TrainView& v) { return positive(v.e.host); }},
    {"low", "lower end of the 80 % interval of the rate",
     [](const TrainView& v) { return v.per_gpu() * v.e.interval.low; }},
    {"high", "upper end of the interval", [](const TrainView& v) { return v.per_gpu() * v.e.interval.high; }},
    {"step_interval", "80 % interval of the step", kBoundsFields,
     [](const TrainView& v) { return bounds(v.e.step, v.e.interval); }},
    {"basis", "what the estimate is based on", &TrainEstimate::basis, basis_choices()},
    {"relative?", "the measured GPU that this one is extrapolated from; absent if it was measured itself",
     [](const TrainView& v) { return relative_of(v.e.relative); }},
    {"warnings", "warnings about the estimate", [](const TrainView& v) { return warnings(v.answer, v.e.notes); }},
};

struct ServeView {
  const SpeedAnswer& answer;
  const ServeEstimate& e;
  operator const ServeEstimate&() const { return e; }

  double audio() const { return answer.input.work.audio_seconds; }
  bool open_loop() const { return answer.input.rate > RequestsPerSecond{}; }
  std::optional<Seconds> percentile(Seconds value) const { return when(open_loop() && e.stable, value); }
};
const Fields<ServeView> kServeFields = {
    {"prefill_seconds", "one prompt, alone", &ServeEstimate::prefill},
    {"decode_step_seconds", "one step of all running requests", &ServeEstimate::decode_step},
    {"transfer_seconds?", "a prompt's KV cache to its decode worker",
     [](const ServeView& v) { return when(v.answer.input.job.serve.disaggregated.has_value(), v.e.transfer); }},
    {kServePoint, [](const ServeView& v) { return std::cref(v.e); }},
    {"latency_seconds?", "mean time of a whole request", [](const ServeView& v) { return positive(v.e.latency); }},
    {"ttft_p50_seconds?", "median TTFT, for requests of equal lengths that arrive at random",
     [](const ServeView& v) { return v.percentile(v.e.ttft_percentiles.p50); }},
    {"ttft_p95_seconds?", "95th percentile of TTFT",
     [](const ServeView& v) { return v.percentile(v.e.ttft_percentiles.p95); }},
    {"ttft_p99_seconds?", "99th percentile of TTFT",
     [](const ServeView& v) { return v.percentile(v.e.ttft_percentiles.p99); }},
    {"tpot_p50_seconds?", "median TPOT", [](const ServeView& v) { return v.percentile(v.e.tpot_percentiles.p50); }},
    {"tpot_p95_seconds?", "95th percentile of TPOT",
     [](const ServeView& v) { return v.percentile(v.e.tpot_percentiles.p95); }},
    {"tpot_p99_seconds?", "99th percentile of TPOT",
     [](const ServeView& v) { return v.percentile(v.e.tpot_percentiles.p99); }},
    {"latency_p50_seconds?", "median time of a whole request",
     [](const ServeView& v) { return v.percentile(v.e.latency_percentiles.p50); }},
    {"latency_p95_seconds?", "95th percentile of the time of a whole request",
     [](const ServeView& v) { return v.percentile(v.e.latency_percentiles.p95); }},
    {"latency_p99_seconds?", "99th percentile of the time of a whole request",
     [](const ServeView& v) { return v.percentile(v.e.latency_percentiles.p99); }},
    {"accepted_tokens_per_step?", "tokens kept per step of speculative decoding, the model's own included",
     [](const ServeView& v) { return when(v.answer.input.job.serve.speculation.tokens > 0, v.e.kept); }},
    {"requests_per_second", "requests served per second by all GPUs together", &ServeEstimate::requests_per_second},
    {"audio_seconds_per_request?", "length of the audio of a request",
     [](const ServeView& v) { return positive(v.audio()); }},
    {"audio_hours_per_gpu_hour?", "hours of audio that a GPU transcribes in an hour",
     [](const ServeView& v) {
       return positive(v.e.requests_per_second / v.answer.input.job.parallel.gpus * v.audio());
     }},
    {"image_tokens?", "tokens of the images of a prompt",
     [](const ServeView& v) { return positive(v.answer.input.job.image.tokens); }},
    {"max_concurrency", "requests the KV cache holds",
     [](const ServeView& v) {
       return when(std::isfinite(v.e.max_concurrency), static_cast<std::int64_t>(v.e.max_concurrency));
     }},
    {"running", "requests decoded together on one replica", &ServeEstimate::running},
    {"prefix_hit?", "share of prompt tokens found in the prefix cache: given, or from --sessions",
     [](const ServeView& v) { return positive(v.answer.input.job.serve.prefix_hit); }},
    {"rate_requests_per_second?", "arrival rate", [](const ServeView& v) { return positive(v.answer.input.rate); }},
    {"utilization?", "share of capacity in use: the arrival rate over the highest rate that the engine can serve",
     [](const ServeView& v) { return when(v.open_loop(), v.e.utilization); }},
    {"stable?", "false: requests arrive faster than they are served",
     [](const ServeView& v) { return when(v.open_loop(), v.e.stable); }},
    {"parts", "parts of the time of an output token", kPartFields, &ServeEstimate::parts},
    {"prefill_parts", "parts of the time of a prompt", kPartFields, &ServeEstimate::prefill_parts},
    {"low", "lower end of the 80 % interval of TPOT",
     [](const ServeView& v) { return v.e.tpot * v.e.tpot_interval.low; }},
    {"high", "upper end of the interval", [](const ServeView& v) { return v.e.tpot * v.e.tpot_interval.high; }},
    {"ttft_interval", "80 % interval of TTFT", kBoundsFields,
     [](const ServeView& v) { return bounds(v.e.ttft, v.e.ttft_interval); }},
    {"tpot_interval", "80 % interval of TPOT", kBoundsFields,
     [](const ServeView& v) { return bounds(v.e.tpot, v.e.tpot_interval); }},
    {"basis", "what the estimate is based on", &ServeEstimate::basis, basis_choices()},
    {"relative?", "the measured GPU that this one is extrapolated from; absent if it was measured itself",
     [](const ServeView& v) { return relative_of(v.e.relative); }},
    {"not_measured", "what was not among the measured runs", &ServeEstimate::unmeasured},
    {"warnings", "warnings about the estimate", [](const ServeView& v) { return warnings(v.answer, v.e.notes); }},
};

struct BatchView {
  const SpeedAnswer& answer;
  const BatchEstimate& e;
  operator const BatchEstimate&() const { return e; }
};

struct ImageView {
  const model::ModelShape& model;
  const model::Job& job;
  const model::ImagePipeline& pipeline;
};
const Fields<ImageView> kImageFields = {
    {"steps", "denoising steps", [](const ImageView& v) { return v.job.image.steps.value_or(v.pipeline.steps); }},
    {"guidance", "classifier-free guidance",
     [](const ImageView& v) { return v.job.image.guidance.value_or(v.pipeline.guidance); }},
    {"width", "width in pixels", [](const ImageView& v) { return v.model.image_size * v.pipeline.pixels; }},
    {"height", "height in pixels",
     [](const ImageView& v) {
       return (v.model.image_height > 0 ? v.model.image_height : v.model.image_size) * v.pipeline.pixels;
     }},
    {"text_encoders", "models that read the prompt", [](const ImageView& v) { return std::cref(v.pipeline.encoders); }},
    {"decoder", "the model that turns latents into pixels", [](const ImageView& v) { return v.pipeline.decoder; }},
};

std::optional<ImageView> image_of(const BatchView& v) {
  const SpeedInput& input = v.answer.input;
  if (!input.model.pipeline) return std::nullopt;
  return ImageView{input.model, input.job, *input.model.pipeline};
}

const Fields<BatchView> kBatchFields = {
    {"image?", "how an image is made", kImageFields, image_of},
    {kBatchPoint, [](const BatchView& v) { return std::cref(v.e); }},
    {"device_seconds", "GPU work of a pass", &BatchEstimate::device},
    {"host_seconds", "CPU work of a pass", &BatchEstimate::host},
    {"parts", "parts of the time of a pass", kPartFields, &BatchEstimate::parts},
    {"low", "lower end of the 80 % interval of the pass",
     [](const BatchView& v) { return v.e.batch * v.e.interval.low; }},
    {"high", "upper end of the interval", [](const BatchView& v) { return v.e.batch * v.e.interval.high; }},
    {"basis", "what the estimate is based on", &BatchEstimate::basis, basis_choices()},
    {"relative?", "the measured GPU that this one is extrapolated from; absent if it was measured itself",
     [](const BatchView& v) { return relative_of(v.e.relative); }},
    {"warnings", "warnings about the estimate", [](const BatchView& v) { return warnings(v.answer, v.e.notes); }},
};

const Fields<Error> kReasonFields = {
    {"reason", "why the job cannot run", &Error::message},
    {"hints", "how to change that", &Error::hints},
};

// The view of one kind of estimate; empty if the job is of another kind.
template <class View, auto kMember>
std::optional<View> view_of(const SpeedAnswer& answer) {
  if (!answer.estimate || !((*answer.estimate).*kMember)) return std::nullopt;
  return View{answer, *((*answer.estimate).*kMember)};
}

std::optional<JobEnergy> energy_view(const SpeedAnswer& a) {
  std::optional<JobEnergy> energy = a.estimate ? energy_of(a.input, *a.estimate) : std::nullopt;
  if (energy) energy->electricity = a.electricity;
  return energy;
}

const Fields<SpeedAnswer> kAnswerFields = {
    {"model", "the model", [](const SpeedAnswer& a) { return std::cref(a.input.model.name); }},
    {"job", "training or serving",
     [](const SpeedAnswer& a) { return a.input.job.kind == model::JobKind::kServe ? "serve" : "train"; },
     one_of({"train", "serve"})},
    {"stack", "the software that is modelled", [](const SpeedAnswer& a) { return a.input.job.stack; }},
    {"precision", "number format", [](const SpeedAnswer& a) { return a.input.job.precision; }},
    {"gpu", "the GPU", [](const SpeedAnswer& a) { return std::cref(a.input.gpu->name); }},
    {"gpus", "number of GPUs", [](const SpeedAnswer& a) { return a.input.job.parallel.gpus; }},
    {"feasible", "false: the job cannot run", [](const SpeedAnswer& a) { return a.estimate.has_value(); }},
    {kTrainFields, view_of<TrainView, &SpeedEstimate::train>},
    {kServeFields, view_of<ServeView, &SpeedEstimate::serve>},
    {kBatchFields, view_of<BatchView, &SpeedEstimate::batch>},
    {job_energy_fields(), energy_view},
    {kReasonFields, [](const SpeedAnswer& a) { return a.estimate ? nullptr : &a.estimate.error(); }},
    {"measured?", "which of the job's properties were measured",
     [](const SpeedAnswer& a) {
       return a.estimate ? a.estimate->measured.named() : decltype(a.estimate->measured.named()){};
     }},
    {"run?", "time and cost of --tokens", kRunFields, [](const SpeedAnswer& a) { return a.run ? &*a.run : nullptr; }},
    {"sweep?", "an estimate per value of the swept setting", kSweepFields, &SpeedAnswer::sweep},
    {"roofline?", "operations under the GPU's roofline", kRooflineFields,
     [](const SpeedAnswer& a) { return a.roofline && !a.roofline->ops.empty() ? &*a.roofline : nullptr; }},
};
const report::Document<SpeedAnswer> kEstimateDocument("estimate", "How fast a job runs on a GPU", kAnswerFields);

report::LineChart::Series roof(const SpeedInput& input, const JobRoofline& roofline, double from, double to) {
  const double peak = in_tflop_per_s(roofline.peak), bandwidth = in_gb_per_s(roofline.bandwidth) / 1e3;
  const double ridge = peak / bandwidth;
  report::LineChart::Series series{fmt::format("roof of {}", input.gpu->name), {}};
  series.points.push_back({from, from * bandwidth});
  if (ridge > from && ridge < to) series.points.push_back({ridge, peak});
  series.points.push_back({to, std::min(peak, to * bandwidth)});
  return series;
}

}  // namespace

Json document_of(const SpeedAnswer& answer) { return kEstimateDocument.of(answer); }

void read_numbers(const SpeedAnswer& answer, report::FieldReader& reader) {
  kEstimateDocument.read_scalars(answer, reader);
}

report::Table parts_table(const perf::TimeParts& parts) {
  Seconds total;
  for (const perf::TimePart& part : parts) total += part.time;
  std::vector<SharedPart> shown;
  for (const perf::TimePart& part : parts) {
    constexpr double kLeastShown = 0.0005;
    const double share = total > Seconds{} ? part.time / total : 0;
    if (share >= kLeastShown) shown.push_back({part, Ratio::fraction(share)});
  }
  return table_of(kSharedPartFields, shown, {renamed("name", "part"), "seconds", "share"});
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
  const auto any = [&](auto has) { return std::ranges::any_of(rows, has); };
  if (any([](const SweepRow& row) { return row.gpus.value_or(1) > 1; })) columns.insert(columns.begin() + 1, "gpus");
  if (any([](const SweepRow& row) { return row.memory.has_value(); })) columns.push_back("memory");
  if (any([](const SweepRow& row) { return row.usd_per_million.has_value(); }))
    columns.push_back("usd_per_million_units");
  columns.push_back(renamed("bound_by", "bound"));
  report::Table table = table_of(kSweepFields, rows, columns);
  table.columns.front().align = report::Align::kRight;
  return table;
}

JobRoofline roofline_of(const SpeedInput& input) {
  const model::Job& job = input.job;
  const bool decode = shows_decoding(input);
  const double sequence = static_cast<double>(decode ? job.serve.isl : job.sequence);
  const double batch = static_cast<double>(decode ? std::max(job.serve.concurrency, job.batch) : job.batch);
  const bool fp8 = job.precision == model::Precision::kFp8 && input.speed.has_fp8;
  return {fp8 ? input.speed.fp8 : input.speed.half, input.speed.bandwidth,
          perf::roofline_ops(input.work, job, input.speed, batch, decode ? 1 : sequence, sequence)};
}

void add_roofline(report::Report& report, const SpeedInput& input, const JobRoofline& roofline) {
  if (roofline.ops.empty()) return report.say("The roofline is drawn for transformers only.");
  report::LineChart chart{.title = fmt::format("Operations of a {} under the roofline",
                                               shows_decoding(input) ? "decode step" : "forward pass"),
                          .x_label = "FLOP per byte",
                          .y_label = "TFLOP/s",
                          .logarithmic = true};
  double least = 1e300, most = 0;
  for (const Op& op : roofline.ops) {
    const double x = in_flop_per_byte(intensity(op));
    least = std::min(least, x), most = std::max(most, x);
    chart.series.push_back({op.name, {{x, in_tflop_per_s(reached(op))}}});
  }
  chart.series.insert(chart.series.begin(), roof(input, roofline, least / 2, most * 2));
  report.blocks.emplace_back(std::move(chart));
  report.show("Operations", table_of(kOpFields, roofline.ops,
                                     {renamed("name", "operation"), "count", "flop_per_byte", "flop_per_second",
                                      renamed("total_seconds", "seconds"), "bound"}));
}

}  // namespace rightsize::app
