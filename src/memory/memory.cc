#include "memory/memory.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "memory/serve.h"
#include "memory/train.h"

namespace rightsize::memory {

std::string_view name_of(Part part) {
  static constexpr std::string_view kNames[kParts] = {"weights", "gradients", "optimizer", "activations",
                                                      "logits",  "kv_cache",  "buffers",   "runtime"};
  return kNames[static_cast<int>(part)];
}

std::string_view name_of(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"fits", "tight", "no"};
  return kNames[static_cast<int>(verdict)];
}

std::string_view name_of(RuntimeBasis basis) {
  static constexpr std::string_view kNames[] = {"measured", "vendor", "other vendor"};
  return kNames[static_cast<int>(basis)];
}

// docs/models.md#how-sure: 132 runs on an H200.
RuntimeBasis runtime_basis(const catalog::Gpu& gpu) {
  if (gpu.name == "h200-sxm") return RuntimeBasis::kThisGpu;
  return gpu.vendor == "NVIDIA" ? RuntimeBasis::kVendor : RuntimeBasis::kOtherVendor;
}

// The context of a smaller NVIDIA GPU takes less (it grows with the multiprocessors, and fewer kernels are loaded), and
// that of a newer driver somewhat more; ROCm's libraries were not measured. These bounds are our judgement, in bytes
// because the runtime does not grow with the job.
ByteInterval interval_on(const MemoryNeed& need, const catalog::Gpu& gpu) {
  if (need.of_gpu) return {need.low, need.high};
  static constexpr double kLess[] = {0, 0.9, 0.9}, kMore[] = {0, 0.35, 1.5};  // GiB
  const auto basis = static_cast<std::size_t>(runtime_basis(gpu));
  auto side = [](Bytes known, double more) { return gib(std::hypot(in_gib(known), more)); };
  return {need.device - side(need.device - need.low, kLess[basis]),
          need.device + side(need.high - need.device, kMore[basis])};
}

Bytes Parts::total() const {
  Bytes sum;
  for (Bytes part : bytes) sum += part;
  return sum;
}

namespace {

// Encoders process whole sequences; only generative models have input and output tokens.
std::int64_t tokens_of(const model::ModelShape& model, const model::Job& job) {
  const bool generates = job.kind == model::JobKind::kServe && model.kind != model::ModelKind::kEncoder;
  return generates ? job.serve.isl + job.serve.osl : job.sequence;
}

// The maximum length of a sequence; 0: no limit (relative positions, ALiBi, state space models).
std::int64_t context_of(const model::ModelShape& model) {
  const bool ends = model.positions == model::Positions::kLearned || model.positions == model::Positions::kRotary;
  return ends && model.image_size == 0 ? model.context : 0;
}

Error too_long(const model::ModelShape& model, const std::string& what, std::string hint) {
  return bad_input(fmt::format("{} is longer than the context of {}, {} tokens", what, model.name,
                               format_count(static_cast<double>(model.context))))
      .with_hint(std::move(hint))
      .with_hint("for a copy with a longer context, --model takes its config.json (max_position_embeddings)");
}

// An upper bound on the bytes of one pass, in floating point. The estimates count bytes in 64-bit integers, which
// overflow at 9e18.
double most_bytes(const model::ModelShape& model, const model::Job& job) {
  constexpr double kTensors = 64, kWidest = 8;  // tensors of a layer that are live together; bytes of an element
  const auto real = [](auto n) { return std::max(1.0, static_cast<double>(n)); };
  const double length = real(tokens_of(model, job)) + real(job.image.tokens) + real(model.encoder_context) +
                        real(model.image_size) * real(std::max(model.image_height, model.image_size));
  const double together = real(std::max(job.batch, job.serve.concurrency));
  const double width =
      real(std::max(model.hidden, model.intermediate)) * (model.experts ? model.experts->per_token : 1);
  const double layer = kTensors * length * width + real(model.heads) * length * length;  // with all attention scores
  return kWidest * together * (real(model.layers + model.encoder_layers) * layer + length * real(model.vocabulary));
}

// Whether GPUs can share one item: sequence parallelism splits attention over all latents by its heads.
bool splits_items(const model::ModelShape& model) {
  if (!model.pipeline || model.kind != model::ModelKind::kDiffusionTransformer || !model.forward) return false;
  return std::ranges::any_of(model.forward->attentions,
                             [](const model::AttentionOp& a) { return a.query_tokens == a.key_tokens; });
}

}  // namespace

MemoryNeed estimate_memory(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu) {
  const bool engine = model.kind == model::ModelKind::kDecoder;
  MemoryNeed need = job.kind == model::JobKind::kTrain ? estimate_training(model, job)
                    : engine                           ? estimate_serving(model, job, gpu)
                                                       : estimate_batches(model, job, gpu);
  if (job.kind == model::JobKind::kServe) need.of_gpu = true;  // an engine preallocates its share
  if (gpu != nullptr) {
    const ByteInterval interval = interval_on(need, *gpu);
    need.low = interval.low, need.high = interval.high, need.of_gpu = true;
  }
  return need;
}

Fit fits(const MemoryNeed& need, const catalog::Gpu& gpu) {
  Fit fit;
  fit.capacity = gpu.capacity();
  fit.headroom = fit.capacity - need.device;
  // The 80 % interval of a normal distribution is 1.2816 standard deviations on each side; use the side on which the
  // capacity lies.
  constexpr double kEightyPercent = 1.2816;
  const ByteInterval interval = interval_on(need, gpu);
  const Bytes side = fit.headroom >= Bytes{} ? interval.high - need.device : need.device - interval.low;
  const Bytes deviation = side / kEightyPercent;
  fit.oom_probability = deviation > Bytes{} ? 0.5 * std::erfc(fit.headroom / deviation / std::sqrt(2.0))
                                            : (fit.headroom >= Bytes{} ? 0 : 1);
  // A GPU that holds the job is not enough if its share has no room for one request: the engine would not start.
  fit.verdict = need.device > fit.capacity || need.max_concurrency == 0 ? Verdict::kNo
                : interval.high <= fit.capacity                         ? Verdict::kFits
                                                                        : Verdict::kTight;
  return fit;
}

std::int64_t default_sequence(const model::ModelShape& model) {
  constexpr std::int64_t kUsual = 2048;
  if (model.image_size > 0) return 1;
  return model.context > 0 ? std::min(model.context, kUsual) : kUsual;
}

std::optional<Error> check_length(const model::ModelShape& model, std::int64_t isl, std::int64_t osl,
                                  std::int64_t image_tokens) {
  // Encoder and decoder of a translation model have separate positions; a speech model's encoder takes no tokens.
  const bool apart = model.kind == model::ModelKind::kEncoderDecoder && model.encoder_context == 0;
  const std::int64_t context = context_of(model);
  if (context <= 0 || (apart ? std::max(isl, osl) : isl + osl) <= context) return std::nullopt;
  const std::int64_t answer = std::min(osl, apart ? context : std::max<std::int64_t>(1, context / 2));
  const std::int64_t prompt = std::max<std::int64_t>(1, (apart ? context : context - answer) - image_tokens);
  const auto count = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  return too_long(model, fmt::format("a request of {} tokens in and {} out", count(isl), count(osl)),
                  fmt::format("use at most --isl {}{}", std::min(prompt, isl),
                              answer < osl ? fmt::format(" and --osl {}", answer) : ""));
}

Errors check_job(const model::ModelShape& model, const model::Job& job) {
  Errors errors;
  const model::Parallelism& p = job.parallel;
  auto wrong = [&](std::string message, std::string hint) {
    errors.push_back(bad_input(std::move(message)).with_hint(std::move(hint)));
  };
  constexpr double kMostBytes = 1e18;
  if (!(most_bytes(model, job) < kMostBytes)) {
    wrong(fmt::format("{} x {} tokens in one pass are more than can be computed",
                      std::max(job.batch, job.serve.concurrency), tokens_of(model, job)),
          job.kind == model::JobKind::kServe ? "use a smaller --concurrency, --batch, --isl or --osl"
                                             : "use a smaller --batch or --seq");
  }
  const bool serves = job.kind == model::JobKind::kServe;
  const std::int64_t context = context_of(model);
  // A checkpoint's table of positions has an end. Rotary positions can be trained beyond it, trainers that build the
  // model from its sizes make the table as long as the sequence, and TensorRT-LLM builds engines of any length.
  const bool table = model.positions == model::Positions::kLearned;
  const bool ends = serves ? table || job.stack != model::Stack::kTrtLlm : table && job.stack == model::Stack::kHf;
  if (ends && serves && model.kind != model::ModelKind::kEncoder) {
    if (auto wrong_length = check_length(model, job.serve.isl, job.serve.osl, job.image.tokens))
      errors.push_back(*std::move(wrong_length));
  } else if (ends && context > 0 && job.sequence > context) {
    errors.push_back(
        too_long(model, fmt::format("a sequence of {} tokens", format_count(static_cast<double>(job.sequence))),
                 fmt::format("use at most --seq {0}{1}", context, serves ? fmt::format(" or --isl {}", context) : "")));
  }
  const bool batches = serves && model.kind != model::ModelKind::kDecoder;
  constexpr int kMostShared = 8;  // published runs
  if (batches && (p.pipeline > 1 || (p.tensor > 1 && !splits_items(model)))) {
    wrong(fmt::format("splitting one pass of {} over several GPUs is not modelled", model.name),
          "use --tp 1 --pp 1; --gpus adds replicas");
  } else if (batches && p.tensor > kMostShared) {
    wrong(fmt::format("one item on {} GPUs is not modelled: published runs use up to {}", p.tensor, kMostShared),
          fmt::format("use --tp {} or less; --gpus adds replicas", kMostShared));
  } else if (p.tensor > 1 && model.heads > 0 && model.heads % p.attention_tensor() != 0) {
    wrong(fmt::format("{} parallelism of {} does not divide the {} attention heads of {}",
                      batches ? "sequence" : "tensor", p.attention_tensor(), model.heads, model.name),
          "use a divisor of the heads");
  } else if (p.tensor > 1 && model.heads == 0) {
    wrong(fmt::format("{} has no attention heads to split", model.name), "use --tp 1");
  }
  // Embeddings and loss may take the place of a layer at each end of a pipeline (405B: 126 layers in 16 x 8 stages).
  constexpr int kEnds = 2;
  if (p.pipeline * p.pipeline_interleave > std::max(1, model.layers + model.encoder_layers) + kEnds)
    wrong(fmt::format("{} pipeline stages for {} layers", p.pipeline * p.pipeline_interleave, model.layers),
          "use fewer stages");
  if (job.train.compile && job.kind == model::JobKind::kTrain && model.image_size > 0)
    wrong("torch.compile of image models is not modelled", "drop --compile");
  if (p.expert > 1 && !model.experts) wrong(fmt::format("{} has no experts", model.name), "use --ep 1");
  // Engines fill uneven groups with copies of experts; trainers have none.
  const bool even = job.kind == model::JobKind::kTrain;
  if (p.expert > 1 && model.experts &&
      (even ? model.experts->count % p.expert != 0 : model.experts->count < p.expert)) {
    wrong(fmt::format("expert parallelism of {} does not {} {} experts", p.expert, even ? "divide" : "suit",
                      model.experts->count),
          even ? "use a divisor" : "use at most as many groups as experts");
  }
  if (p.attention_data > 1 && !model.experts)
    wrong(fmt::format("--attention-dp needs experts, and {} has none", model.name),
          "use more replicas: --gpus a multiple of --tp");
  if (job.kind == model::JobKind::kTrain && job.train.method == model::Method::kQlora && job.stack != model::Stack::kHf)
    wrong(fmt::format("{} does not train on 4-bit weights", name_of(job.stack)), "use --stack hf, or --method full");
  if (job.serve.disaggregated && model.kind != model::ModelKind::kDecoder)
    wrong(fmt::format("{} does not generate tokens", model.name), "drop --disaggregated");
  return errors;
}

}  // namespace rightsize::memory
