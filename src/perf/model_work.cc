#include "perf/model_work.h"

#include <algorithm>
#include <functional>
#include <map>

#include "model/adapters.h"
#include "model/serve_settings.h"

namespace rightsize::perf {
namespace {

using model::Forward;
using model::ModelKind;
using model::ModelShape;
using model::Op;
using model::Operand;
using model::OpKind;
using model::Program;
using model::Size;
using model::Weight;
using model::WeightRole;

Extent extent_of(const Size& size) { return {size.each(), size.batch, size.tokens + size.keys}; }

Extent divided(Extent extent, double by) {
  extent.each /= by;
  return extent;
}

// Compiles one program: the widths of values, their readers, and the operations that cost time.
class Compiler {
 public:
  Compiler(const ModelShape& shape, const Program& program, const std::vector<int>& written)
      : shape_(shape), forward_(*shape.forward), program_(program), written_(written) {
    widths_.assign(program.sizes.size(), Wideness::kResidual);
    readers_.assign(program.sizes.size(), 0);
    for (const Op& op : program.ops) count_readers(op);
  }

  void compile(std::vector<WorkOp>& ops) {
    for (const Op& op : program_.ops) {
      if (is_free(op.kind)) continue;
      WorkOp work = translate(op);
      if (op.out[0] >= 0 && op.out[0] < model::kFirstShared) {
        widths_[index(op.out[0])] = work.out;
        for (std::size_t i = 1; i < op.out.size(); ++i) {
          if (op.out[i] != model::kNoValue && op.out[i] < model::kFirstShared) widths_[index(op.out[i])] = work.out;
        }
        work.joins = std::max(0, readers_[index(op.out[0])] - 1);
      }
      ops.push_back(work);
    }
  }

  double input_joins() const {
    return program_.inputs.empty() ? 0 : std::max(0, readers_[index(program_.inputs[0])] - 1);
  }

 private:
  static std::size_t index(std::int32_t value) { return static_cast<std::size_t>(value); }

  // Markers of places in the model, and layers, which are compiled separately.
  static bool is_free(OpKind kind) {
    return kind < OpKind::kMake || kind == OpKind::kProbeMask || kind == OpKind::kRotaryTables;
  }

  // A view takes no time; its readers count as readers of the tensor it shows.
  void count_readers(const Op& op) {
    if (op.kind == OpKind::kFree || op.kind == OpKind::kMake || op.kind == OpKind::kWantGradient ||
        op.kind == OpKind::kEndStage || op.kind == OpKind::kLastStage) {
      return;
    }
    for (const Operand& operand : op.in) {
      if (operand && operand.value < model::kFirstShared) ++readers_[index(operand.value)];
    }
  }

  Wideness width_of(const Operand& operand) const {
    if (!operand) return Wideness::kNarrow;
    if (operand.value >= model::kFirstShared) return Wideness::kResidual;
    return widths_[index(operand.value)];
  }

  const Size& size_of(const Operand& operand) const {
    if (!operand || operand.value >= model::kFirstInput) return model::kOnce;
    return operand.value >= model::kFirstShared ? model::kOnce : program_.sizes[index(operand.value)];
  }

  Wideness result_width(const Op& op, const WorkOp& work) const {
    switch (op.kind) {
      case OpKind::kLinear:
      case OpKind::kConvolution:
      case OpKind::kProduct:
      case OpKind::kAttention:
      case OpKind::kScan:
      case OpKind::kCastForProduct:
        return Wideness::kNarrow;
      case OpKind::kEmbedding:
      case OpKind::kParameter:
        return Wideness::kResidual;
      case OpKind::kNorm:
        // Autocast runs torch's own norms in 32 bits; norms written out in Python keep the width of their input.
        return op.norm == model::NormKind::kLayer || op.norm == model::NormKind::kGroup ? Wideness::kResidual : work.in;
      case OpKind::kRotate:
        return Wideness::kResidual;  // the tables are as wide as the embeddings
      case OpKind::kCast:
      case OpKind::kSoftmax:
        if (op.width == model::Width::kSingle) return Wideness::kWide;
        if (op.width == model::Width::kProduct || op.width == model::Width::kHalf) return Wideness::kNarrow;
        if (op.width == model::Width::kStored) return Wideness::kResidual;
        return work.in;
      case OpKind::kAdd:
      case OpKind::kMultiply:
        return std::max(work.in, work.other);
      default:
        return work.in;
    }
  }

  WorkOp translate(const Op& op) const {
    WorkOp work;
    work.kind = op.kind;
    work.norm = op.norm;
    work.activation = op.activation;
    work.copy = op.copy;
    work.flag = op.flag;
    work.in = width_of(op.in[0]);
    work.other = width_of(op.in[1]);
    work.aux = op.aux;
    work.rows = extent_of(op.rows);
    work.whole = extent_of(size_of(op.in[0]));
    if (op.out[0] >= 0 && op.out[0] < model::kFirstShared) {
      work.elements = extent_of(program_.sizes[index(op.out[0])]);
    }
    if (op.weight) read_weight(op, shape_.weights[index(op.weight.index)], work);
    if (op.kind == OpKind::kAttention && forward_.attentions[index(op.aux)].written >= 0) {
      work.written = written_[index(forward_.attentions[index(op.aux)].written)];
    }
    work.out = result_width(op, work);
    return work;
  }

  void read_weight(const Op& op, const Weight& weight, WorkOp& work) const {
    work.of_attention = weight.role == WeightRole::kAttention;
    work.bias = weight.has_bias;
    work.inputs = static_cast<double>(weight.cols);
    work.outputs = static_cast<double>(weight.rows);
    if (op.kind == OpKind::kLinear) work.rows = divided(work.elements, work.outputs);
    if (op.kind != OpKind::kConvolution) return;
    work.kernel = weight.kernel;
    work.groups = weight.groups;
    work.inputs = static_cast<double>(weight.cols) * weight.groups /
                  (op.flag ? weight.kernel : static_cast<double>(weight.kernel) * weight.kernel);
    work.rows = divided(work.elements, work.outputs);
  }

  const ModelShape& shape_;
  const Forward& forward_;
  const Program& program_;
  const std::vector<int>& written_;
  std::vector<Wideness> widths_;
  std::vector<int> readers_;
};

Product::Part part_of(const Weight& weight) {
  const bool output = weight.split == model::Split::kRows;
  if (weight.role == WeightRole::kMlp) return output ? Product::Part::kDown : Product::Part::kUp;
  if (weight.role != WeightRole::kAttention) return Product::Part::kOther;
  if (weight.split == model::Split::kWhole) return Product::Part::kLatent;
  return output ? Product::Part::kAttentionOutput : Product::Part::kQkv;
}

// A norm over a width that tensor parallelism divides. Norms of single heads have as many rows as heads.
bool is_split_norm(const Program& program, const Op& op) {
  if (op.kind != OpKind::kNorm || op.out[0] < 0 || op.out[0] >= model::kFirstShared) return false;
  return program.sizes[static_cast<std::size_t>(op.out[0])].split && !op.rows.split;
}

// The rewrite of a tuned stack: products of the same part that read the same value become one.
void fuse(const ModelShape& shape, const Program& program, LayerWork& layer) {
  std::map<std::pair<std::int32_t, Product::Part>, std::size_t> by_input;
  for (const Op& op : program.ops) {
    if (op.kind == OpKind::kAttention) layer.attentions.push_back(op.aux);
    if (op.kind == OpKind::kScan) layer.scans.push_back(op.aux);
    if (op.kind == OpKind::kExperts) layer.experts = op.aux;
    layer.splits_norm |= is_split_norm(program, op);
    if (op.weight) layer.tensors += shape.weights[static_cast<std::size_t>(op.weight.index)].has_bias ? 2 : 1;
    if (op.kind != OpKind::kLinear) continue;
    const Weight& weight = shape.weights[static_cast<std::size_t>(op.weight.index)];
    const Product::Part part = part_of(weight);
    const auto [found, is_new] = by_input.try_emplace({op.in[0].value, part}, layer.products.size());
    if (is_new) {
      Product product;
      product.part = part;
      product.split = weight.split;
      product.inputs = static_cast<double>(weight.cols);
      layer.products.push_back(product);
    }
    Product& product = layer.products[found->second];
    if (weight.unit > 1) {
      product.key_matrices += 1;
      product.key_outputs = static_cast<double>(weight.rows);
      product.key_unit = static_cast<double>(weight.unit);
    } else {
      product.outputs += static_cast<double>(weight.rows);
    }
  }
}

// The sizes and per-token elements of a weight's adapters, per rank.
void add_adapters(const ModelShape& shape, const Weight& weight, ModelWork& work) {
  const double width = static_cast<double>((weight.rows + weight.cols) * weight.copies);
  const bool routed = weight.role == WeightRole::kExpert && shape.experts && shape.experts->count > 0;
  const double passed = routed ? static_cast<double>(shape.experts->per_token) / shape.experts->count : 1.0;
  if (weight.role == WeightRole::kAttention) {
    work.lora_width_attention += width;
    work.lora_passed_attention += width * passed;
    return;
  }
  using model::LoraTargets, model::Stack;
  const int peft = model::adapter_ranks(shape, weight, LoraTargets::kAllLinear, Stack::kHf);
  const int others = model::adapter_ranks(shape, weight, LoraTargets::kAllLinear, Stack::kMegatron);
  work.lora_width_other += width * peft;
  work.lora_passed_other += peft > 0 ? width * passed : 0;
  work.lora_width_spared += width * (others - peft);
  work.lora_passed_spared += others > 0 && peft == 0 ? width * passed : 0;
}

OutputHead head_of(const ModelShape& shape) {
  if (shape.labels > 0) return OutputHead::kClassifier;
  if (shape.kind == ModelKind::kDecoder || shape.kind == ModelKind::kEncoderDecoder) return OutputHead::kLanguageModel;
  for (const Op& op : shape.forward->programs.front().ops) {
    if (op.kind == OpKind::kLanguageLoss) return OutputHead::kMaskedModel;
  }
  return OutputHead::kNone;
}

void read_sizes(const ModelShape& shape, ModelWork& work) {
  work.family = shape.family;
  work.decoder = shape.kind == ModelKind::kDecoder;
  work.encoder_decoder = shape.kind == ModelKind::kEncoderDecoder;
  work.image = shape.kind == ModelKind::kVisionTransformer || shape.kind == ModelKind::kConvNet ||
               shape.kind == ModelKind::kDiffusionUNet || shape.kind == ModelKind::kDiffusionTransformer ||
               shape.kind == ModelKind::kImageDecoder;
  work.hidden = static_cast<double>(shape.hidden);
  work.vocabulary = static_cast<double>(shape.vocabulary);
  work.labels = shape.labels;
  work.parameters = static_cast<double>(shape.parameters());
  work.active_parameters = static_cast<double>(shape.active_parameters());
  work.head_parameters = work.vocabulary * work.hidden;
  work.tied = shape.tied_embeddings;
  work.checkpoint = memory::checkpoint_of(shape);
  work.logit_softcap = shape.forward->logit_softcap > 0;
  work.head = head_of(shape);
  for (const Weight& weight : shape.weights) {
    work.tensors += static_cast<double>(weight.stacked ? weight.copies / weight.per_block : weight.copies) *
                    (weight.has_bias ? 2 : 1);
    if (weight.linear && weight.role != WeightRole::kHead) add_adapters(shape, weight, work);
  }
  work.adapts_experts = model::adapts_experts(shape);
}

// Sums over layers that a few formulas need.
void add_sums(const LayerWork& layer, ModelWork& work) {
  work.layers += layer.count;
  bool mixes = false, feeds = layer.experts >= 0;
  for (const Product& product : layer.products) {
    mixes |= product.part == Product::Part::kAttentionOutput;
    feeds |= product.part == Product::Part::kDown;
  }
  work.reductions += layer.count * (mixes + feeds);
  if (layer.splits_norm) work.norm_reductions += layer.count;
  for (int number : layer.attentions) {
    const model::AttentionOp& a = work.attentions[static_cast<std::size_t>(number)];
    work.attention_width += layer.count * static_cast<double>(a.heads * (a.head_dim + a.value_dim)) / 2;
    work.key_width = static_cast<double>(a.latent_width > 0 ? a.latent_width : 2 * a.kv_heads * a.head_dim);
    if (a.window > 0 && (work.window == 0 || static_cast<double>(a.window) < work.window)) {
      work.window = static_cast<double>(a.window);
    }
  }
  if (layer.experts < 0) return;
  const model::ExpertsOp& experts = work.mixtures[static_cast<std::size_t>(layer.experts)];
  work.experts = static_cast<double>(experts.count);
  work.experts_per_token = static_cast<double>(experts.per_token);
  work.expert_layers += layer.count;
}

// The prompt of a diffusion model: CLIP's positions are all used, T5 reads this many tokens.
constexpr double kPromptTokens = 512;

ImageWork pipeline_of(const model::ImagePipeline& pipeline) {
  ImageWork work;
  work.steps = pipeline.steps;
  work.guidance = pipeline.guidance;
  work.frames = std::max(1, pipeline.frames);
  for (const auto& encoder : pipeline.encoder_shapes) {
    work.encoders.push_back(std::make_shared<const ModelWork>(work_of(*encoder)));
    const bool short_prompt = encoder->context > 0 && static_cast<double>(encoder->context) < kPromptTokens;
    work.encoder_tokens.push_back(short_prompt ? static_cast<double>(encoder->context) : kPromptTokens);
  }
  if (pipeline.decoder_shape) work.decoder = std::make_shared<const ModelWork>(work_of(*pipeline.decoder_shape));
  return work;
}

// Whether two kinds of layers have the same operations with different weights: hybrids alternate such layers.
bool same_operations(const LayerWork& a, const LayerWork& b) {
  return a.encoder == b.encoder && a.input_joins == b.input_joins && a.tensors == b.tensors && a.experts == b.experts &&
         a.attentions == b.attentions && a.scans == b.scans && a.products == b.products && a.ops == b.ops;
}

// Replaces equal entries by the first one, which makes layers comparable.
template <class T, class Same>
std::vector<int> representatives(const std::vector<T>& all, const Same& same) {
  std::vector<int> first(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t j = 0;
    while (!same(all[j], all[i])) ++j;
    first[i] = static_cast<int>(j);
  }
  return first;
}

// Compares everything except the weights.
bool same_experts(const model::ExpertsOp& a, const model::ExpertsOp& b) {
  return a.count == b.count && a.per_token == b.per_token && a.hidden == b.hidden && a.intermediate == b.intermediate &&
         a.activation == b.activation && a.gated == b.gated && a.narrow_weights == b.narrow_weights;
}

void unify(LayerWork& layer, const std::vector<int>& attentions, const std::vector<int>& experts,
           const std::vector<int>& scans) {
  auto of = [](const std::vector<int>& first, int& number) { number = first[static_cast<std::size_t>(number)]; };
  for (int& number : layer.attentions) of(attentions, number);
  for (int& number : layer.scans) of(scans, number);
  if (layer.experts >= 0) of(experts, layer.experts);
  for (WorkOp& op : layer.ops) {
    if (op.kind == OpKind::kAttention) of(attentions, op.aux);
    if (op.kind == OpKind::kExperts) of(experts, op.aux);
    if (op.kind == OpKind::kScan) of(scans, op.aux);
  }
}

void add_layer(LayerWork layer, ModelWork& work) {
  for (LayerWork& known : work.kinds) {
    if (!same_operations(known, layer)) continue;
    known.count += layer.count;
    return;
  }
  work.kinds.push_back(std::move(layer));
}

}  // namespace

ModelWork work_of(const ModelShape& shape) {
  ModelWork work;
  work.decoder = shape.kind == ModelKind::kDecoder;
  if (shape.forward == nullptr) return work;
  const Forward& forward = *shape.forward;
  read_sizes(shape, work);
  work.attentions = forward.attentions;
  work.mixtures = forward.experts;
  work.scans = forward.scans;

  std::vector<int> written(forward.programs.size(), -1);
  for (const model::AttentionOp& attention : forward.attentions) {
    if (attention.written < 0) continue;
    int& place = written[static_cast<std::size_t>(attention.written)];
    if (place >= 0) continue;
    place = static_cast<int>(work.written.size());
    work.written.emplace_back();
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] < 0) continue;
    Compiler(shape, forward.programs[i], written).compile(work.written[static_cast<std::size_t>(written[i])]);
  }

  const std::vector<int> attentions = representatives(forward.attentions, std::equal_to<>());
  const std::vector<int> scans = representatives(forward.scans, std::equal_to<>());
  const std::vector<int> experts = representatives(forward.experts, same_experts);
  std::map<std::int32_t, double> counts;
  std::map<std::int32_t, bool> encoder;
  for (const model::LayerStack& stack : forward.stacks) {
    for (const model::LayerRun& run : stack.runs) {
      for (std::int32_t program : run.programs) {
        counts[program] += 1;
        encoder[program] = !stack.second && forward.stacks.size() > 1;
      }
    }
  }
  for (const Op& op : forward.programs.front().ops) {
    if (op.kind == OpKind::kSegment) counts[op.aux] += 1;
  }
  for (const auto& [number, count] : counts) {
    const Program& program = forward.programs[static_cast<std::size_t>(number)];
    LayerWork layer;
    layer.count = count;
    layer.encoder = encoder[number];
    Compiler compiler(shape, program, written);
    compiler.compile(layer.ops);
    layer.input_joins = compiler.input_joins();
    fuse(shape, program, layer);
    unify(layer, attentions, experts, scans);
    add_sums(layer, work);
    add_layer(std::move(layer), work);
  }
  Compiler(shape, forward.programs.front(), written).compile(work.ends);
  if (shape.pipeline) work.pipeline = pipeline_of(*shape.pipeline);
  if (shape.tower) work.tower = std::make_shared<const ModelWork>(work_of(*shape.tower));
  work.tower_images = shape.tower_images;
  constexpr double kFramesPerSecond = 50;  // of Whisper, after its convolutions
  work.audio_seconds = static_cast<double>(shape.encoder_context) / kFramesPerSecond;
  if (work.audio_seconds > 0) work.speech_layers = shape.layers;
  return work;
}

double model_flops(const ModelWork& work, double tokens, double sequence, bool frozen) {
  const double passes = frozen ? 2.0 : 3.0;
  return passes * tokens * (2.0 * work.active_parameters + 4.0 * work.attention_width * sequence);
}

}  // namespace rightsize::perf
