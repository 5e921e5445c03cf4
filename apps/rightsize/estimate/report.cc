#include "rightsize/estimate/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using perf::BatchEstimate;
using perf::ServeEstimate;
using perf::TrainEstimate;
using report::Align;
using report::Json;

Json parts_json(const perf::TimeParts& parts) {
  Json list = Json::array();
  for (const perf::TimePart& part : parts) list.push_back({{"name", part.name}, {"seconds", in_seconds(part.time)}});
  return list;
}

template <class Notes>
std::vector<std::string> texts_of(const Notes& notes) {
  std::vector<std::string> texts;
  for (const perf::Note& note : notes) texts.push_back(perf::describe(note));
  return texts;
}

void add_head(Members& d, const SpeedInput& input, bool feasible) {
  d.add("schema", "rightsize/estimate/1");
  d.add("model", input.model.name);
  d.add("job", input.job.kind == model::JobKind::kServe ? "serve" : "train");
  d.add("stack", model::name_of(input.job.stack));
  d.add("precision", model::name_of(input.job.precision));
  d.add("gpu", input.gpu->name);
  d.add("gpus", input.job.parallel.gpus);
  d.add("feasible", feasible);
}

// As report::json_number(): a whole number without a point.
Members::Value number(double value) {
  return report::json_number(value).visit([](const auto& held) -> Members::Value {
    if constexpr (std::is_constructible_v<Members::Value, decltype(held)>)
      return held;
    else
      return nullptr;
  });
}

// All of a document.
class JsonMembers final : public Members {
 public:
  void add(std::string_view name, Value value) override {
    document_[name] = std::visit([](const auto& held) { return Json(held); }, value);
  }
  Json* whole() override { return &document_; }
  Json take() { return std::move(document_); }

 private:
  Json document_;
};

Json bounds(double value, const perf::Interval& interval) {
  return {{"low", value * interval.low}, {"high", value * interval.high}};
}

report::Table parts_table(const std::string& title, const perf::TimeParts& parts) {
  Seconds total;
  for (const perf::TimePart& part : parts) total += part.time;
  report::Table table;
  table.title = title;
  table.columns = {
      {"part", "part", Align::kLeft}, {"time", "seconds", Align::kRight}, {"share", "share", Align::kRight}};
  for (const perf::TimePart& part : parts) {
    constexpr double kLeastShown = 0.0005;
    const double share = total > Seconds{} ? part.time / total : 0;
    if (share < kLeastShown) continue;
    table.rows.push_back({report::text_cell(part.name),
                          report::number_cell(format_duration(part.time), in_seconds(part.time)),
                          report::number_cell(format_percent(Ratio::fraction(share)), share)});
  }
  return table;
}

std::string basis_sentence(perf::Basis basis, const SpeedInput& input) {
  const std::string_view stack = model::name_of(input.job.stack);
  switch (basis) {
    case perf::Basis::kMeasured:
      return fmt::format("Basis: measured; {} on {} is among the runs the model was fitted on.", stack,
                         input.gpu->name);
    case perf::Basis::kCalibrated:
      return fmt::format("Basis: calibrated with your own measurements of {} on {}.", stack, input.gpu->name);
    case perf::Basis::kTransferred:
      return fmt::format("Basis: transferred; carried over to {} on {} from what was measured on its relatives.", stack,
                         input.gpu->name);
    case perf::Basis::kSpecification:
      return fmt::format("Basis: specification; {} is known by its data sheet only.", input.gpu->name);
  }
  return {};
}

void add_notes(report::Report& report, const std::vector<std::string>& notes, std::string text) {
  for (const std::string& note : notes) text += "\nnote: " + note;
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
}

// "Training ... on h100-sxm", "Training ... on 8 GPUs, ZeRO 3 (h100-sxm)".
std::string subject(const SpeedInput& input, const model::Job& job) {
  return describe_job(input.model, job) +
         fmt::format(fmt::runtime(job.parallel.gpus > 1 ? " ({})" : " on {}"), input.gpu->name);
}

// "1,234", or three digits below a hundred.
std::string rate(double value) { return value >= 100 ? format_count(std::round(value)) : format_number(value); }

void train_document(Members& d, const SpeedInput& input, const TrainEstimate& e) {
  Json* whole = d.whole();
  const bool samples = input.work.image;
  const double per_gpu = samples ? e.samples_per_second_per_gpu : in_tokens_per_s(e.tokens_per_gpu);
  if (!samples) d.add("tokens_per_second_per_gpu", in_tokens_per_s(e.tokens_per_gpu));
  d.add("samples_per_second_per_gpu", e.samples_per_second_per_gpu);
  d.add("step_seconds", in_seconds(e.step));
  if (e.mfu > 0) d.add("mfu", e.mfu);
  d.add("bound", perf::name_of(e.bound));
  if (whole != nullptr) (*whole)["parts"] = parts_json(e.parts);
  d.add("device_seconds", in_seconds(e.device));
  if (e.host > Seconds{}) d.add("host_seconds", in_seconds(e.host));
  d.add("low", per_gpu * e.interval.low);
  d.add("high", per_gpu * e.interval.high);
  if (whole != nullptr) (*whole)["step_interval"] = bounds(in_seconds(e.step), e.interval);
  d.add("basis", perf::name_of(e.basis));
  if (whole != nullptr) (*whole)["warnings"] = texts_of(e.notes);
}

void report_train(report::Report& report, const SpeedInput& input, const TrainEstimate& e) {
  const bool samples = input.work.image;
  const double per_gpu = samples ? e.samples_per_second_per_gpu : in_tokens_per_s(e.tokens_per_gpu);
  std::string text =
      fmt::format("{} runs at {} {}/s per GPU (80 % interval {} to {}), bound by {}. A step takes {}",
                  subject(input, input.job), rate(per_gpu), samples ? "samples" : "tok", rate(per_gpu * e.interval.low),
                  rate(per_gpu * e.interval.high), perf::name_of(e.bound), format_duration(e.step));
  text += e.mfu > 0 ? fmt::format(" at {} MFU.", format_percent(Ratio::fraction(e.mfu))) : ".";
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
  report.blocks.emplace_back(parts_table("", e.parts));
  add_notes(report, texts_of(e.notes), basis_sentence(e.basis, input));
}

std::string latency_range(Seconds value, const perf::Interval& interval) {
  return fmt::format("{} ({} to {})", format_duration(value), format_duration(value * interval.low),
                     format_duration(value * interval.high));
}

std::string open_loop_sentence(const SpeedInput& input, const ServeEstimate& e) {
  if (!e.stable) {
    return fmt::format(
        " {} requests/s are more than it can serve (load {}): the queue grows without end; at most {} "
        "requests/s are possible.",
        format_number(in_requests_per_s(input.rate)), format_percent(Ratio::fraction(e.utilization)),
        format_number(in_requests_per_s(input.rate) / e.utilization));
  }
  return fmt::format(
      " At {} requests/s about {} run together, {} of what it can serve (queueing formula, Poisson "
      "arrivals).",
      format_number(in_requests_per_s(input.rate)), format_number(e.running),
      format_percent(Ratio::fraction(e.utilization)));
}

void serve_document(Members& d, const SpeedInput& input, const ServeEstimate& e) {
  Json* whole = d.whole();
  d.add("prefill_seconds", in_seconds(e.prefill));
  d.add("decode_step_seconds", in_seconds(e.decode_step));
  if (input.job.serve.disaggregated) d.add("transfer_seconds", in_seconds(e.transfer));
  d.add("ttft_seconds", in_seconds(e.ttft));
  d.add("tpot_seconds", in_seconds(e.tpot));
  d.add("output_tokens_per_second_per_gpu", in_tokens_per_s(e.output_per_gpu));
  d.add("requests_per_second", e.requests_per_second);
  if (input.work.audio_seconds > 0) {
    d.add("audio_seconds_per_request", input.work.audio_seconds);
    d.add("audio_hours_per_gpu_hour", e.requests_per_second / input.job.parallel.gpus * input.work.audio_seconds);
  }
  if (input.job.image.tokens > 0) d.add("image_tokens", input.job.image.tokens);
  d.add("max_concurrency", number(std::floor(e.max_concurrency)));
  d.add("running", number(e.running));
  if (input.rate > RequestsPerSecond{}) {
    d.add("rate_requests_per_second", in_requests_per_s(input.rate));
    d.add("utilization", e.utilization);
    d.add("stable", e.stable);
  }
  d.add("bound", perf::name_of(e.bound));
  if (whole != nullptr) (*whole)["parts"] = parts_json(e.parts);
  if (whole != nullptr) (*whole)["prefill_parts"] = parts_json(e.prefill_parts);
  d.add("low", in_seconds(e.tpot) * e.tpot_interval.low);
  d.add("high", in_seconds(e.tpot) * e.tpot_interval.high);
  if (whole != nullptr) (*whole)["ttft_interval"] = bounds(in_seconds(e.ttft), e.ttft_interval);
  if (whole != nullptr) (*whole)["tpot_interval"] = bounds(in_seconds(e.tpot), e.tpot_interval);
  d.add("basis", perf::name_of(e.basis));
  if (whole == nullptr) return;
  Json unmeasured = Json::array();
  for (const perf::Unmeasured what : e.unmeasured) unmeasured.push_back(perf::name_of(what));
  (*whole)["not_measured"] = std::move(unmeasured);
  (*whole)["warnings"] = texts_of(e.notes);
}

// "Basis: transferred; vllm was measured, but not on l40s and not with models of the family qwen3_moe."
std::string serving_basis(const SpeedInput& input, const ServeEstimate& e) {
  if (e.unmeasured.empty()) return basis_sentence(e.basis, input);
  std::string missing;
  auto add = [&](const std::string& what) { missing += (missing.empty() ? "" : " and ") + ("not " + what); };
  for (const perf::Unmeasured what : e.unmeasured) {
    if (what == perf::Unmeasured::kGpu) add("on " + input.gpu->name);
    if (what == perf::Unmeasured::kFamily) add("with models of the family " + input.model.family);
    if (what == perf::Unmeasured::kFormat) add("in " + std::string(model::name_of(input.job.precision)));
    if (what == perf::Unmeasured::kSpread) add("enough with attention data parallelism or separate workers");
    if (what == perf::Unmeasured::kLoad) add("under such a load");
  }
  return fmt::format("Basis: {}; {} was measured, but {}.", perf::name_of(e.basis), model::name_of(input.job.stack),
                     missing);
}

void report_serve(report::Report& report, const SpeedInput& input, const ServeEstimate& e) {
  model::Job job = input.job;
  const double replicas = static_cast<double>(job.parallel.gpus) / (job.parallel.tensor * job.parallel.pipeline);
  if (input.rate > RequestsPerSecond{}) job.serve.concurrency = std::lround(e.running * replicas);
  if (job.stack == model::Stack::kHf) job.serve.concurrency = std::max(job.serve.concurrency, job.batch);
  std::string text =
      fmt::format("{}: TTFT {}, TPOT {} (80 % intervals), {} output tok/s per GPU, bound by {}.", subject(input, job),
                  latency_range(e.ttft, e.ttft_interval), latency_range(e.tpot, e.tpot_interval),
                  rate(in_tokens_per_s(e.output_per_gpu)), perf::name_of(e.bound));
  if (input.rate > RequestsPerSecond{}) text += open_loop_sentence(input, e);
  if (job.serve.disaggregated)
    text += fmt::format(" A prompt's KV cache takes {} to its decode worker.", format_duration(e.transfer));
  if (input.work.audio_seconds > 0) {
    text += fmt::format(" That is {} hours of audio per GPU-hour.",
                        rate(e.requests_per_second / job.parallel.gpus * input.work.audio_seconds));
  }
  text += fmt::format(" {} {} such requests.", input.work.encoder_decoder ? "There is room for" : "The KV cache holds",
                      format_count(std::floor(e.max_concurrency)));
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
  report.blocks.emplace_back(parts_table("One output token", e.parts));
  report.blocks.emplace_back(parts_table("Prefill of one prompt", e.prefill_parts));
  add_notes(report, texts_of(e.notes), serving_basis(input, e));
}

// "One pass of bert-base in bf16 over a batch of 32 x 128 tokens", "A batch of 4 images of sdxl-unet ...".
std::string batch_subject(const SpeedInput& input) {
  if (input.model.pipeline) return describe_job(input.model, input.job) + ",";
  return fmt::format(
      "One pass of {} in {} over a batch of {}{}", input.model.name, model::name_of(input.job.precision),
      input.job.batch,
      input.work.image ? "" : fmt::format(" x {} tokens", format_count(static_cast<double>(input.job.sequence))));
}

// What makes an image of a model that makes some.
Json image_document(const SpeedInput& input) {
  const model::ImagePipeline& pipeline = *input.model.pipeline;
  const int height = input.model.image_height > 0 ? input.model.image_height : input.model.image_size;
  return {{"steps", input.job.image.steps.value_or(pipeline.steps)},
          {"guidance", input.job.image.guidance.value_or(pipeline.guidance)},
          {"width", input.model.image_size * pipeline.pixels},
          {"height", height * pipeline.pixels},
          {"text_encoders", pipeline.encoders},
          {"decoder", pipeline.decoder}};
}

void batch_document(Members& d, const SpeedInput& input, const BatchEstimate& e) {
  Json* whole = d.whole();
  if (input.model.pipeline && whole != nullptr) (*whole)["image"] = image_document(input);
  d.add("batch_seconds", in_seconds(e.batch));
  d.add("samples_per_second_per_gpu", e.samples_per_second);
  d.add("device_seconds", in_seconds(e.device));
  d.add("host_seconds", in_seconds(e.host));
  d.add("bound", perf::name_of(e.bound));
  if (whole != nullptr) (*whole)["parts"] = parts_json(e.parts);
  d.add("low", in_seconds(e.batch) * e.interval.low);
  d.add("high", in_seconds(e.batch) * e.interval.high);
  d.add("basis", perf::name_of(e.basis));
  if (whole != nullptr) (*whole)["warnings"] = texts_of(e.notes);
}

void report_batch(report::Report& report, const SpeedInput& input, const BatchEstimate& e) {
  report.blocks.emplace_back(report::Paragraph{
      fmt::format("{} takes {} on {} (80 % interval {} to {}): {} {}/s, bound by {}.", batch_subject(input),
                  format_duration(e.batch), input.gpu->name, format_duration(e.batch * e.interval.low),
                  format_duration(e.batch * e.interval.high), rate(e.samples_per_second),
                  input.model.pipeline ? "images" : "samples", perf::name_of(e.bound))});
  report.blocks.emplace_back(parts_table("", e.parts));
  add_notes(report, texts_of(e.notes), basis_sentence(e.basis, input));
}

}  // namespace

void write_members(const SpeedInput& input, const SpeedEstimate& estimate, Members& members) {
  add_head(members, input, true);
  if (estimate.train) train_document(members, input, *estimate.train);
  if (estimate.serve) serve_document(members, input, *estimate.serve);
  if (estimate.batch) batch_document(members, input, *estimate.batch);
}

Json document_of(const SpeedInput& input, const SpeedEstimate& estimate) {
  JsonMembers members;
  write_members(input, estimate, members);
  return members.take();
}

Json infeasible_document(const SpeedInput& input, const Error& reason) {
  JsonMembers members;
  add_head(members, input, false);
  Json document = members.take();
  document["reason"] = reason.message;
  document["hints"] = reason.hints;
  return document;
}

report::Report report_of(const SpeedInput& input, const SpeedEstimate& estimate) {
  report::Report report;
  report.title = "Speed";
  report.document = document_of(input, estimate);
  if (estimate.train) report_train(report, input, *estimate.train);
  if (estimate.serve) report_serve(report, input, *estimate.serve);
  if (estimate.batch) report_batch(report, input, *estimate.batch);
  Json& measured = report.document["measured"];
  for (const auto& [what, is] : estimate.measured.named()) measured[std::string(what)] = is;
  return report;
}

report::Report infeasible_report(const SpeedInput& input, const Error& reason) {
  report::Report report;
  report.title = "Speed";
  report.document = infeasible_document(input, reason);
  std::string text = fmt::format("{} cannot run: {}.", subject(input, input.job), reason.message);
  for (const std::string& hint : reason.hints) text += "\nhint: " + hint;
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
  return report;
}

}  // namespace rightsize::app
