// Requests with several passes and one answer: an image generated in steps, a window of speech.
#include "perf/stacks/estimate_parts.h"
#include "perf/stacks/image_cost.h"

namespace rightsize::perf {
namespace {

using model::Job;

// Encoder-decoder models have no end-to-end benchmark, so the width is that of unmeasured GPUs (docs/accuracy.md).
constexpr double kWidth = 0.3;

void make_unsure(BatchEstimate& estimate, double width = kWidth) {
  if (estimate.basis == Basis::kCalibrated) return;
  estimate.basis = std::max(estimate.basis, Basis::kTransferred);
  const Interval least = interval_of(width);
  estimate.interval.low = std::min(estimate.interval.low, least.low);
  estimate.interval.high = std::max(estimate.interval.high, least.high);
}

// A video's decoder convolves over neighbouring frames in overlapping tiles. What does not get faster with more GPUs in
// the runs of HunyuanVideo in data/measurements/images-parallel.csv takes 80 to 130 s for 119 million pixels on an
// H100, an H20 and an A800 alike.
Seconds least_decoding(const ModelWork& decoder, double frames) {
  constexpr Seconds kPerPixel = seconds(0.88e-6);
  double pixels = 0;  // of a frame: those of the last convolution, which has three outputs
  for (const WorkOp& op : decoder.ends)
    if (op.kind == model::OpKind::kConvolution && op.outputs == 3) pixels = op.rows.at(1, 1);
  return frames > 1 ? kPerPixel * (pixels * frames) : Seconds{};
}

}  // namespace

// The prompt once, two passes per step with guidance (one without the prompt), and the pixel decoder once (for a video,
// once per frame). GPUs that share an item split the
// steps; each of them runs the text encoders, and the decoder is not split.
BatchEstimate generate_images(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu) {
  const ImageWork& pipeline = *work.pipeline;
  const double steps = job.image.steps ? *job.image.steps : pipeline.steps;
  const bool guided = job.image.guidance.value_or(pipeline.guidance);
  Job pass = job;
  pass.batch *= guided ? 2 : 1;
  const BatchEstimate denoise = batch_images(constants, work, pass, gpu);
  Seconds prompt, host;
  Activity activity = denoise.power.activity * steps;
  for (std::size_t i = 0; i < pipeline.encoders.size(); ++i) {
    Job text = pass;
    text.sequence = static_cast<std::int64_t>(pipeline.encoder_tokens[i]);
    const BatchEstimate once = batch_eager(constants.eager, *pipeline.encoders[i], text, gpu);
    prompt += once.batch;
    host += once.host;
    activity += once.power.activity;
  }
  Seconds pixels;
  if (pipeline.decoder) {
    const BatchEstimate frame = batch_images(constants, *pipeline.decoder, job, gpu);
    const Seconds drawn = frame.batch * pipeline.frames;
    pixels = std::max(drawn, least_decoding(*pipeline.decoder, pipeline.frames) * static_cast<double>(job.batch));
    activity += frame.power.activity * pipeline.frames;
    activity.time += pixels - drawn, activity.host += pixels - drawn;
  }

  Seconds exchange;
  for (const TimePart& part : denoise.parts) exchange += part.name == kExchange ? part.time * steps : Seconds{};
  BatchEstimate estimate = denoise;
  estimate.batch = denoise.batch * steps + prompt + pixels;
  estimate.device = denoise.device * steps + prompt + pixels;
  estimate.host = denoise.host * steps + host;
  estimate.power.activity = activity;
  estimate.parts = {};
  estimate.notes = {};  // notes of a single pass do not apply
  if (prompt > Seconds{}) estimate.parts.push_back({"text encoders", prompt});
  estimate.parts.push_back({"denoising steps", denoise.batch * steps - exchange});
  if (exchange > Seconds{}) estimate.parts.push_back({kExchange, exchange});
  if (pixels > Seconds{}) estimate.parts.push_back({"decoding to pixels", pixels});
  make_unsure(estimate, constants.vision.denoising_width);
  return estimate;
}

// Encoder and prompt, then one step per output token.
Result<BatchEstimate> batch_answers(const Constants& constants, const ModelWork& work, const Job& job,
                                    const GpuSpeed& gpu) {
  Job together = job;
  together.serve.concurrency = job.batch;
  RIGHTSIZE_TRY(const ServeEstimate whole, serve_eager(constants, work, together, gpu, ServeLoad{}));
  const double answer = std::max<double>(1.0, static_cast<double>(job.serve.osl));
  BatchEstimate estimate;
  estimate.device = estimate.batch = whole.prefill + whole.tpot * answer;
  estimate.bound = whole.bound;
  estimate.power.activity = whole.power.activity;
  estimate.parts.push_back({"encoder and prompt", whole.prefill});
  estimate.parts.push_back({"output tokens", whole.tpot * answer});
  estimate.interval = whole.tpot_interval;
  estimate.basis = whole.basis;
  make_unsure(estimate);
  return estimate;
}

}  // namespace rightsize::perf
