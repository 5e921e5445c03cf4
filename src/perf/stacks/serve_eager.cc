// Inference in eager PyTorch: one forward pass of a batch, decode steps inside a CUDA graph, encoders.
#include <algorithm>
#include <cmath>

#include "memory/weight_bytes.h"
#include "perf/stacks/activity.h"
#include "perf/stacks/eager_layer.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;

constexpr double kOverlap = 6.0;

EagerMode inference_mode(const Job& job) {
  EagerMode mode;
  mode.full32 = job.precision == model::Precision::kFp32;
  mode.gradients = false;
  mode.weights = false;
  return mode;
}

struct Pass {
  Seconds device, host, arithmetic;
  Seconds matmul, attention, elementwise, launches;
};

// All layers over batch x sequence, including the cache writes.
Pass forward_layers(const EagerConstants& c, const ModelWork& work, const GpuSpeed& gpu, const EagerMode& mode,
                    const EagerBatch& batch, bool cache) {
  Pass pass;
  auto add = [&](const EagerCost& cost, double count) {
    pass.matmul += cost.forward.matmul * count;
    pass.attention += cost.forward.attention * count;
    pass.elementwise += traffic_time(gpu, cost.forward.traffic * mode.traffic_factor(), c.forward_bandwidth) * count;
    pass.launches += c.kernel_launch * (cost.forward.kernels * count);
    pass.host += (c.host_infer * (cost.forward.kernels + c.view_cost * cost.views) + c.host_infer_layer) * count;
  };
  for (const LayerWork& layer : work.kinds) {
    EagerCost cost = eager_layer(gpu, c, mode, work, layer, batch);
    if (cache && !layer.attentions.empty()) {
      cost.forward.traffic += bytes(4 * batch.tokens() * work.key_width);
      cost.forward.kernels += 2;
    }
    add(cost, layer.count);
  }
  add(eager_ends(gpu, c, mode, work, batch), 1);
  pass.host += milliseconds(0.5);
  return pass;
}

void finish(Pass& pass) {
  pass.arithmetic = pass.matmul + pass.attention;
  pass.device = pass.arithmetic + pass.elementwise + pass.launches;
}

// generate() computes only the last token's logits; a masked-language head computes all of them, after its transform.
Seconds output_time(const EagerConstants& c, const ModelWork& work, const GpuSpeed& gpu, const EagerMode& mode,
                    const EagerBatch& batch) {
  const double rate = mode.full32 ? c.fp32_rate : c.matmul_rate * gpu.rate_scale;
  const WeightFormat format = mode.full32 ? WeightFormat::kFp32 : WeightFormat::kHalf;
  const double h = work.hidden;
  auto product = [&](double rows, double n) { return matmul_time(gpu, {rows, n, h}, format, rate).time; };
  switch (work.head) {
    case OutputHead::kLanguageModel:
      return product(batch.batch, work.vocabulary);
    case OutputHead::kMaskedModel:
      return product(batch.tokens(), h) + product(batch.tokens(), work.vocabulary);
    case OutputHead::kClassifier:
      return product(batch.batch, std::max(8.0, work.labels));
    case OutputHead::kNone:
      return Seconds{};
  }
  return Seconds{};
}

// One token through a CUDA graph with a static cache: products with m = batch; the whole cache is repeated for grouped
// heads and read by attention; no host time besides launches.
struct Decode {
  Seconds matmul, attention, launches;
  Seconds total() const { return matmul + attention + launches; }
};

Decode graph_decode(const EagerConstants& c, const ModelWork& work, const GpuSpeed& gpu, const EagerMode& mode,
                    double batch, double context) {
  Decode decode;
  double kernels = 0;
  for (const LayerWork& layer : work.kinds) {
    if (layer.encoder) continue;
    // Keys and values of the encoder's output are computed once and cached.
    LayerWork step = layer;
    std::erase_if(step.ops,
                  [&](const WorkOp& op) { return op.kind == model::OpKind::kLinear && op.rows.at(batch, 1) > batch; });
    const EagerCost cost = eager_layer(gpu, c, mode, work, step, {batch, 1});
    decode.matmul += cost.forward.matmul * layer.count;
    kernels += cost.forward.kernels * layer.count;
    for (int number : layer.attentions) {
      const model::AttentionOp& a = work.attentions[static_cast<std::size_t>(number)];
      const double tokens = a.key_tokens > 0 ? static_cast<double>(a.key_tokens) : context;
      const double elements = 2 * batch * tokens * static_cast<double>(a.heads * a.head_dim) * mode.traffic_factor();
      Seconds time = traffic_time(gpu, bytes(2 * elements), c.decode_attention_bandwidth);
      if (a.kv_heads != a.heads) {
        const double share = static_cast<double>(a.kv_heads) / static_cast<double>(a.heads);
        time += traffic_time(gpu, bytes(2 * elements * (1 + share)), c.decode_repeat_bandwidth);
      }
      decode.attention += time * layer.count;
    }
    for (int number : layer.scans) {
      decode.attention +=
          scan_step_time(gpu, work.scans[static_cast<std::size_t>(number)], 1, batch).time * layer.count;
    }
  }
  decode.launches = c.decode_kernel * kernels;
  decode.matmul += mode.full32
                       ? matmul_time(gpu, {batch, work.vocabulary, work.hidden}, WeightFormat::kFp32, c.fp32_rate).time
                       : matmul_time(gpu, {batch, work.vocabulary, work.hidden}, WeightFormat::kHalf).time;
  return decode;
}

// A forward pass: a third of a training pass.
Activity forward_activity(const ModelWork& work, const GpuSpeed& gpu, const EagerBatch& batch, Seconds time,
                          Seconds device) {
  const Flops flops = flop(model_flops(work, batch.tokens(), batch.sequence, false) / 3);
  return pass_activity(gpu, time, device, flops / gpu.half);
}

// Products with one row per sequence read their weights at nearly full bandwidth.
Activity decode_activity(const EagerConstants& c, const Decode& step, Seconds time) {
  constexpr double kWeights = 0.8;
  Activity a;
  const double scale = time / step.total();
  a.time = time;
  a.busy = (step.matmul + step.attention) * scale;
  a.exchange = step.launches * scale;
  a.memory = (step.matmul * kWeights + step.attention * c.decode_repeat_bandwidth) * scale;
  return a;
}

// The overhead of transformers' generate() for a window of speech: features are computed on the host before the
// encoder, and every step of the decoder is launched from Python, without a CUDA graph.
void add_speech(const EagerConstants& c, const ModelWork& work, double batch, const Calibration& own,
                ServeEstimate& estimate) {
  const Seconds features = c.audio_features * (batch * own.host);
  const Seconds loop = (c.generate_step + c.generate_layer * work.speech_layers) * own.host;
  estimate.prefill += features;
  estimate.ttft = estimate.prefill;
  estimate.decode_step = std::max(estimate.decode_step, loop);
  estimate.tpot = std::max(estimate.tpot, loop);
  estimate.prefill_parts.push_back({"audio features on the host", features});
}

}  // namespace

Result<ServeEstimate> serve_eager(const Constants& constants, const ModelWork& work, const Job& job,
                                  const GpuSpeed& gpu, const ServeLoad& load) {
  const EagerConstants& c = constants.eager;
  const int slot = slot_of(model::Stack::kHf);
  const Calibration& own = calibration_of(gpu, slot, JobKind::kServe);
  const double batch = static_cast<double>(std::max(job.batch, job.serve.concurrency));
  const EagerBatch prompt{batch, static_cast<double>(job.serve.isl)};
  const EagerMode mode = inference_mode(job);
  Pass pass = forward_layers(c, work, gpu, mode, prompt, true);
  pass.matmul += output_time(c, work, gpu, mode, prompt);
  finish(pass);
  const Seconds device = pass.device * own.prefill, host = pass.host * own.host;

  ServeEstimate estimate;
  estimate.prefill = soft_max(device, host, kOverlap);
  const Decode decode = graph_decode(c, work, gpu, mode, batch, static_cast<double>(job.serve.isl));
  estimate.decode_step = decode.total() * own.device;
  estimate.ttft = estimate.prefill;
  const double answer = std::max<double>(1.0, static_cast<double>(job.serve.osl));
  const Decode middle = graph_decode(c, work, gpu, mode, batch, static_cast<double>(job.serve.isl) + answer / 2);
  estimate.tpot = middle.total() * own.device;
  if (work.audio_seconds > 0) add_speech(c, work, batch, own, estimate);
  estimate.running = batch;
  estimate.max_concurrency = load.kv_tokens / (static_cast<double>(job.serve.isl) + answer);
  const double seconds_a_batch = in_seconds(estimate.prefill + estimate.tpot * answer);
  estimate.requests_per_second = batch / seconds_a_batch * job.parallel.gpus;
  estimate.output_per_gpu = tokens_per_s(batch * answer / seconds_a_batch);
  estimate.power.activity = forward_activity(work, gpu, prompt, estimate.prefill, device);
  if (job.serve.osl > 1) {
    Activity step = decode_activity(c, middle, estimate.tpot);
    estimate.power.activity += step * answer;
  }
  estimate.parts.push_back({"matrix products", middle.matmul * own.device});
  estimate.parts.push_back({"attention over the cache", middle.attention * own.device});
  estimate.parts.push_back({"kernel launches", middle.launches * own.device});
  if (work.audio_seconds > 0)
    estimate.parts.push_back({"waiting for the host", estimate.tpot - middle.total() * own.device});
  estimate.prefill_parts.push_back({"matrix products", pass.matmul * own.prefill});
  estimate.prefill_parts.push_back({"attention", pass.attention * own.prefill});
  estimate.prefill_parts.push_back({"elementwise", pass.elementwise * own.prefill});
  estimate.prefill_parts.push_back({"kernel launches", pass.launches * own.prefill});
  estimate.prefill_parts.push_back({"waiting for the host", soft_max(device, host, kOverlap) - device});
  // That of the longer phase. A product with a row per sequence does `batch` operations for each byte of its weights.
  const bool reads = flop(batch) / gpu.half < bytes(1) / gpu.bandwidth;
  const Seconds decoding = middle.total() * own.device;
  estimate.bound = estimate.tpot * (answer - 1) < estimate.prefill
                       ? bound_of(pass.arithmetic * own.prefill, device, host, Seconds{})
                       : bound_of(reads ? Seconds{} : middle.matmul * own.device, decoding, estimate.tpot, Seconds{});
  const Confidence prefill =
      confidence_of(gpu, slot, JobKind::kServe, host > device ? c.prefill_host_width : c.prefill_gpu_width);
  const Confidence step = confidence_of(gpu, slot, JobKind::kServe, c.prefill_gpu_width);
  estimate.basis = prefill.basis;
  estimate.ttft_interval = interval_of(prefill.width);
  estimate.tpot_interval = interval_of(step.width);
  if (work.audio_seconds > 0 && estimate.basis != Basis::kCalibrated) {
    // Published runs reach between one third and all of the rate of full windows on an H200, whose times are within
    // 25 % of these (data/measurements/speech.csv).
    constexpr double kFullWindows = 0.25, kRecordings = 0.8;
    estimate.basis = std::max(estimate.basis, Basis::kTransferred);
    const double fast = std::max(kFullWindows, prefill.width);
    estimate.ttft_interval =
        estimate.tpot_interval = {interval_of(fast).low, interval_of(std::max(fast, kRecordings)).high};
  }
  estimate.notes.push_back({NoteKind::kEagerDecode, in_milliseconds(host)});
  if (host > device) estimate.notes.push_back({NoteKind::kHostDepends, 0});
  if (job.precision != model::Precision::kBf16 && job.precision != model::Precision::kFp16)
    estimate.notes.push_back({NoteKind::kUntestedStack, 0});
  return estimate;
}

BatchEstimate batch_eager(const EagerConstants& c, const ModelWork& work, const Job& job, const GpuSpeed& gpu) {
  const int slot = slot_of(model::Stack::kHf);
  const Calibration& own = calibration_of(gpu, slot, JobKind::kServe);
  const EagerBatch batch{static_cast<double>(job.batch), static_cast<double>(job.sequence)};
  EagerMode mode = inference_mode(job);
  auto passed = [&] {
    Pass pass = forward_layers(c, work, gpu, mode, batch, false);
    pass.matmul += output_time(c, work, gpu, mode, batch);
    finish(pass);
    return pass;
  };
  const Pass pass = passed();
  BatchEstimate estimate;
  estimate.device = pass.device * own.device;
  estimate.host = pass.host * own.host;
  // A CUDA graph removes the host time. During capture, transformers cannot detect an empty mask and passes it on, and
  // with a mask PyTorch does not use the fused attention kernel.
  const Seconds eager = soft_max(estimate.device, estimate.host, kOverlap);
  mode.captured = true;
  const Seconds graph = passed().device * own.device;
  estimate.batch = std::min(eager, graph);
  estimate.parts.push_back({"matrix products", pass.matmul * own.device});
  estimate.parts.push_back({"attention", pass.attention * own.device});
  estimate.parts.push_back({"elementwise", pass.elementwise * own.device});
  estimate.parts.push_back({"kernel launches", pass.launches * own.device});
  estimate.parts.push_back({eager < graph ? "waiting for the host" : "unfused attention in the CUDA graph",
                            estimate.batch - estimate.device});
  estimate.bound = bound_of(pass.arithmetic * own.device, estimate.device, estimate.host, Seconds{});
  estimate.power.activity = forward_activity(work, gpu, batch, estimate.batch, estimate.device);
  state(estimate, confidence_of(gpu, slot, JobKind::kServe, c.encoder_width));
  if (estimate.bound == Bound::kHost) estimate.notes.push_back({NoteKind::kHostDepends, 0});
  return estimate;
}

}  // namespace rightsize::perf
