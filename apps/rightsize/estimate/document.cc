// The JSON document of an estimate.
#include <cmath>

#include "rightsize/estimate/fields.h"
#include "rightsize/estimate/report.h"

namespace rightsize::app {
namespace {

using perf::BatchEstimate;
using perf::ServeEstimate;
using perf::TrainEstimate;
using report::Fields;
using report::one_of;
using report::positive;
using report::when;

// The warnings of an estimate, and that the job would not fit.
std::vector<std::string> warnings(const SpeedAnswer& answer, const perf::Notes& notes) {
  std::vector<std::string> texts = texts_of(notes);
  if (!answer.memory_warning.empty()) texts.push_back(answer.memory_warning);
  return texts;
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
    {"mfu?", "model FLOPs over the GPU's peak", [](const TrainView& v) { return positive(v.e.mfu); }},
    {"bound", "what limits the speed", &TrainEstimate::bound, bound_choices()},
    {"parts", "what the step takes its time for", kPartFields, &TrainEstimate::parts},
    {"device_seconds", "GPU work of a step", &TrainEstimate::device},
    {"host_seconds?", "CPU work of a step", [](const TrainView& v) { return positive(v.e.host); }},
    {"low", "lower end of the 80 % interval of the rate",
     [](const TrainView& v) { return v.per_gpu() * v.e.interval.low; }},
    {"high", "upper end of the same", [](const TrainView& v) { return v.per_gpu() * v.e.interval.high; }},
    {"step_interval", "80 % interval of the step", kBoundsFields,
     [](const TrainView& v) { return bounds(v.e.step, v.e.interval); }},
    {"basis", "what the estimate rests on", &TrainEstimate::basis, basis_choices()},
    {"warnings", "what to know about it", [](const TrainView& v) { return warnings(v.answer, v.e.notes); }},
};

struct ServeView {
  const SpeedAnswer& answer;
  const ServeEstimate& e;
  operator const ServeEstimate&() const { return e; }

  double audio() const { return answer.input.work.audio_seconds; }
  bool open_loop() const { return answer.input.rate > RequestsPerSecond{}; }
};
const Fields<ServeView> kServeFields = {
    {"prefill_seconds", "one prompt, alone", &ServeEstimate::prefill},
    {"decode_step_seconds", "one step of all running requests", &ServeEstimate::decode_step},
    {"transfer_seconds?", "a prompt's KV cache to its decode worker",
     [](const ServeView& v) { return when(v.answer.input.job.serve.disaggregated.has_value(), v.e.transfer); }},
    {"ttft_seconds", "mean time to the first token", &ServeEstimate::ttft},
    {"tpot_seconds", "mean time per output token", &ServeEstimate::tpot},
    {"output_tokens_per_second_per_gpu", "output tokens of each GPU", &ServeEstimate::output_per_gpu},
    {"requests_per_second", "of all GPUs together", &ServeEstimate::requests_per_second},
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
    {"rate_requests_per_second?", "arrival rate", [](const ServeView& v) { return positive(v.answer.input.rate); }},
    {"utilization?", "load over what the engine can serve",
     [](const ServeView& v) { return when(v.open_loop(), v.e.utilization); }},
    {"stable?", "false: requests arrive faster than they are served",
     [](const ServeView& v) { return when(v.open_loop(), v.e.stable); }},
    {"bound", "what limits the speed", &ServeEstimate::bound, bound_choices()},
    {"parts", "what an output token takes its time for", kPartFields, &ServeEstimate::parts},
    {"prefill_parts", "what a prompt takes its time for", kPartFields, &ServeEstimate::prefill_parts},
    {"low", "lower end of the 80 % interval of TPOT",
     [](const ServeView& v) { return v.e.tpot * v.e.tpot_interval.low; }},
    {"high", "upper end of the same", [](const ServeView& v) { return v.e.tpot * v.e.tpot_interval.high; }},
    {"ttft_interval", "80 % interval of TTFT", kBoundsFields,
     [](const ServeView& v) { return bounds(v.e.ttft, v.e.ttft_interval); }},
    {"tpot_interval", "80 % interval of TPOT", kBoundsFields,
     [](const ServeView& v) { return bounds(v.e.tpot, v.e.tpot_interval); }},
    {"basis", "what the estimate rests on", &ServeEstimate::basis, basis_choices()},
    {"not_measured", "what was not among the measured runs", &ServeEstimate::unmeasured},
    {"warnings", "what to know about it", [](const ServeView& v) { return warnings(v.answer, v.e.notes); }},
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
    {"decoder", "the model that makes pixels of latents", [](const ImageView& v) { return v.pipeline.decoder; }},
};

std::optional<ImageView> image_of(const BatchView& v) {
  const SpeedInput& input = v.answer.input;
  if (!input.model.pipeline) return std::nullopt;
  return ImageView{input.model, input.job, *input.model.pipeline};
}

const Fields<BatchView> kBatchFields = {
    {"image?", "how an image is made", kImageFields, image_of},
    {"batch_seconds", "one forward pass of the batch", &BatchEstimate::batch},
    {"samples_per_second_per_gpu", "samples of each GPU", &BatchEstimate::samples_per_second},
    {"device_seconds", "GPU work of a pass", &BatchEstimate::device},
    {"host_seconds", "CPU work of a pass", &BatchEstimate::host},
    {"bound", "what limits the speed", &BatchEstimate::bound, bound_choices()},
    {"parts", "what the pass takes its time for", kPartFields, &BatchEstimate::parts},
    {"low", "lower end of the 80 % interval of the pass",
     [](const BatchView& v) { return v.e.batch * v.e.interval.low; }},
    {"high", "upper end of the same", [](const BatchView& v) { return v.e.batch * v.e.interval.high; }},
    {"basis", "what the estimate rests on", &BatchEstimate::basis, basis_choices()},
    {"warnings", "what to know about it", [](const BatchView& v) { return warnings(v.answer, v.e.notes); }},
};

const Fields<Error> kReasonFields = {
    {"reason", "why the job cannot run", &Error::message},
    {"hints", "what helps", &Error::hints},
};

// The view of one kind of estimate, where that is what was estimated.
template <class View, auto kMember>
std::optional<View> view_of(const SpeedAnswer& answer) {
  if (!answer.estimate || !((*answer.estimate).*kMember)) return std::nullopt;
  return View{answer, *((*answer.estimate).*kMember)};
}

const Fields<SpeedAnswer> kAnswerFields = {
    {"model", "the model", [](const SpeedAnswer& a) { return std::cref(a.input.model.name); }},
    {"job", "training or serving",
     [](const SpeedAnswer& a) { return a.input.job.kind == model::JobKind::kServe ? "serve" : "train"; },
     one_of({"train", "serve"})},
    {"stack", "the software that is modelled", [](const SpeedAnswer& a) { return a.input.job.stack; }},
    {"precision", "number format", [](const SpeedAnswer& a) { return a.input.job.precision; }},
    {"gpu", "the GPU", [](const SpeedAnswer& a) { return std::cref(a.input.gpu->name); }},
    {"gpus", "how many GPUs", [](const SpeedAnswer& a) { return a.input.job.parallel.gpus; }},
    {"feasible", "false: the job cannot run", [](const SpeedAnswer& a) { return a.estimate.has_value(); }},
    {kTrainFields, view_of<TrainView, &SpeedEstimate::train>},
    {kServeFields, view_of<ServeView, &SpeedEstimate::serve>},
    {kBatchFields, view_of<BatchView, &SpeedEstimate::batch>},
    {kReasonFields, [](const SpeedAnswer& a) { return a.estimate ? nullptr : &a.estimate.error(); }},
    {"measured?", "which of the job's properties were measured",
     [](const SpeedAnswer& a) {
       return a.estimate ? a.estimate->measured.named() : decltype(a.estimate->measured.named()){};
     }},
    {"sweep?", "an estimate per value of the swept setting", kSweepFields, &SpeedAnswer::sweep},
    {"roofline?", "operations under the GPU's roofline", kRooflineFields,
     [](const SpeedAnswer& a) { return a.roofline && !a.roofline->ops.empty() ? &*a.roofline : nullptr; }},
};
const report::Document<SpeedAnswer> kEstimateDocument("estimate", "How fast a job runs on a GPU", kAnswerFields);

}  // namespace

Json document_of(const SpeedAnswer& answer) { return kEstimateDocument.of(answer); }

void read_numbers(const SpeedAnswer& answer, report::FieldReader& reader) {
  kEstimateDocument.read_scalars(answer, reader);
}

}  // namespace rightsize::app
