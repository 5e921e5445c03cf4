// Memory of models that process a batch in one pass, or transcribe it token by token in plain PyTorch: weights, live
// tensors of the layers, and the cache of an encoder-decoder.
#include <algorithm>
#include <vector>

#include "memory/serve.h"
#include "memory/weight_bytes.h"

namespace rightsize::memory {
namespace {

using model::Forward;
using model::Job;
using model::ModelKind;
using model::ModelShape;
using model::Op;
using model::OpKind;
using model::Program;

// Views share the memory of their base.
bool is_view(OpKind kind) {
  switch (kind) {
    case OpKind::kSplitHeads:
    case OpKind::kAsHeads:
    case OpKind::kSlice:
    case OpKind::kSelect:
    case OpKind::kSplit:
    case OpKind::kGatherRows:
    case OpKind::kScatterRows:
    case OpKind::kAddInPlace:
    case OpKind::kViewCopiedBack:
      return true;
    default:
      return false;
  }
}

// Peak of live 16-bit elements while a program runs without gradients. A value lives from the operation that produces
// it to its last reader.
class LiveElements {
 public:
  LiveElements(const Forward& forward, double batch, double tokens)
      : forward_(forward), batch_(batch), tokens_(tokens), peaks_(forward.programs.size(), -1) {}

  double peak(std::size_t number) {
    if (peaks_[number] >= 0) return peaks_[number];
    const Program& program = forward_.programs[number];
    std::vector<std::size_t> home(program.sizes.size());  // the value that owns this one's memory
    std::vector<int> names(program.sizes.size(), 0);      // names that refer to it
    double live = 0, most = 0;
    auto release = [&](std::int32_t value) {
      if (value < 0 || value >= model::kFirstShared) return;
      const std::size_t at = home[static_cast<std::size_t>(value)];
      if (names[at] > 0 && --names[at] == 0) live -= size(program.sizes[at]);
    };
    for (const Op& op : program.ops) {
      for (std::int32_t made : op.out) {
        if (made < 0 || made >= model::kFirstShared) continue;
        const std::size_t value = static_cast<std::size_t>(made);
        const bool shares = is_view(op.kind) && op.in[0] && op.in[0].value < model::kFirstShared;
        home[value] = shares ? home[static_cast<std::size_t>(op.in[0].value)] : value;
        if (!shares) live += size(program.sizes[value]);
        ++names[home[value]];
      }
      most = std::max(most, live + inside(op));
      for (const model::Operand& operand : op.in) {
        if (operand.last) release(operand.value);
      }
    }
    return peaks_[number] = most;
  }

 private:
  double size(const model::Size& size) const {
    double n = size.each();
    for (int i = 0; i < size.batch; ++i) n *= batch_;
    for (int i = 0; i < size.tokens + size.keys; ++i) n *= tokens_;
    return n;
  }

  // Peak of the programs that an operation runs.
  double inside(const Op& op) {
    double most = 0;
    if (op.kind == OpKind::kSegment) most = peak(static_cast<std::size_t>(op.aux));
    if (op.kind != OpKind::kLayers) return most;
    for (const model::LayerRun& run : forward_.stacks[static_cast<std::size_t>(op.aux)].runs) {
      for (std::int32_t program : run.programs) most = std::max(most, peak(static_cast<std::size_t>(program)));
    }
    return most;
  }

  const Forward& forward_;
  double batch_, tokens_;
  std::vector<double> peaks_;
};

double pass_elements(const ModelShape& model, double batch, double tokens) {
  return model.forward ? LiveElements(*model.forward, batch, tokens).peak(0) : 0;
}

// Cache of an encoder-decoder: the decoder's own tokens and, once, those of the encoder.
double cached_elements(const ModelShape& model, const Job& job) {
  if (model.kind != ModelKind::kEncoderDecoder) return 0;
  const double encoded = static_cast<double>(model.encoder_context > 0 ? model.encoder_context : job.serve.isl);
  const double own = static_cast<double>(model.encoder_context > 0 ? job.serve.isl + job.serve.osl : job.serve.osl);
  return 2.0 * model.layers * model.kv_heads * model.head_dim * (encoded + own);
}

// GPUs that share an item by sequence parallelism each hold all weights.
Bytes all_weights(const ModelShape& model, const Job& job) {
  Bytes sum;
  for (const ModelShape* shape : model.loaded_shapes())
    sum += model_weight_bytes(*shape, job.precision, {}, job.serve.quantize_embeddings);
  return sum;
}

}  // namespace

MemoryNeed estimate_batches(const ModelShape& model, const Job& job, const catalog::Gpu* gpu) {
  const bool generates = model.kind == ModelKind::kEncoderDecoder;
  const double batch = static_cast<double>(generates ? std::max(job.batch, job.serve.concurrency) : job.batch);
  const double tokens = static_cast<double>(generates ? job.serve.isl : std::max<std::int64_t>(1, job.sequence));
  // With guidance a step is two parallel passes. GPUs that share an item each hold a part of its tokens. Pixels are
  // decoded one image at a time, on one GPU.
  const bool guided = model.pipeline && job.image.guidance.value_or(model.pipeline->guidance);
  double live = pass_elements(model, batch * (guided ? 2 : 1) / job.parallel.tensor, tokens);
  if (model.pipeline && model.pipeline->decoder_shape)
    live = std::max(live, pass_elements(*model.pipeline->decoder_shape, 1, 1));
  const double width = job.precision == model::Precision::kFp32 ? 4 : 2;

  MemoryNeed need;
  const Bytes per_sample = bytes(width * cached_elements(model, job));
  need.parts[Part::kWeights] = all_weights(model, job);
  need.parts[Part::kActivations] = bytes(width * live);
  need.parts[Part::kKvCache] = per_sample * batch;
  need.parts[Part::kRuntime] = mib(600);  // context and libraries, as with engines
  need.peak_allocated = need.parts.total() - need.parts[Part::kRuntime];
  // Covers fragmentation in the caching allocator and the workspace of convolutions.
  need.reserved = need.peak_allocated + need.parts[Part::kActivations] * 0.15;
  need.parts[Part::kBuffers] = need.reserved - need.peak_allocated;
  need.device = need.parts.total();
  const Bytes unsure = need.device - need.parts[Part::kWeights];
  need.low = need.device - unsure * 0.35;
  need.high = need.device + unsure * 0.5;
  if (gpu == nullptr) return need;
  const Bytes each = (need.device - need.parts[Part::kWeights] - need.parts[Part::kRuntime]) / batch;
  const Bytes room = gpu->capacity() - need.parts[Part::kWeights] - need.parts[Part::kRuntime];
  if (each > Bytes{}) need.max_concurrency = std::max<std::int64_t>(0, static_cast<std::int64_t>(room / each));
  return need;
}

}  // namespace rightsize::memory
