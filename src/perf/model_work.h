// A model's forward pass in numbers: compiled once per model, read by every speed estimate.
//
// There are two views of the same operations. Eager frameworks run `ops` one after the other. Tuned stacks (serving
// engines, Megatron, llm-foundry) run a rewritten form: products that read the same rows are fused, and elementwise
// operations are fused into them. That form is `products`, `attentions`, `experts` and a few widths.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/kv_cache.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::perf {

// A size of the form each x batch^b x tokens^t.
struct Extent {
  double each = 0;
  int batch = 0, tokens = 0;

  double at(double b, double t) const {
    double n = each;
    for (int i = 0; i < batch; ++i) n *= b;
    for (int i = 0; i < tokens; ++i) n *= t;
    return n;
  }
  bool operator==(const Extent&) const = default;
};

// Element width as far as the model decides it.
enum class Wideness : std::uint8_t {
  kNarrow,    // 16 bits: outputs of products
  kResidual,  // 32 bits under autocast: embeddings, norms and the residual stream
  kWide,      // 32 bits always
};

// One operation in an eager framework.
struct WorkOp {
  model::OpKind kind = model::OpKind::kCopy;
  model::NormKind norm = model::NormKind::kLayer;
  model::Activation activation = model::Activation::kSilu;
  model::CopyKind copy = model::CopyKind::kForward;
  Wideness in = Wideness::kNarrow, other = Wideness::kNarrow, out = Wideness::kNarrow;
  bool flag = false;          // as in model::Op
  bool of_attention = false;  // a linear layer that LoRA's "attention" adapts
  bool bias = false;
  int aux = -1;                    // index into ModelWork::attentions, mixtures or scans
  int written = -1;                // index into ModelWork::written if attention has no fused kernel
  double inputs = 0, outputs = 0;  // widths of a linear layer, channels of a convolution
  double kernel = 1, groups = 1;   // convolution only
  Extent rows;                     // rows of a product or norm
  Extent elements;                 // elements of the result
  Extent whole;                    // elements of the first operand
  double joins = 0;                // gradient sums needed because the result has several readers

  bool operator==(const WorkOp&) const = default;
};

// A matrix product in a tuned stack.
struct Product {
  enum class Part : std::uint8_t { kQkv, kLatent, kAttentionOutput, kUp, kDown, kOther };
  Part part = Part::kOther;
  model::Split split = model::Split::kWhole;
  double inputs = 0;
  double outputs = 0;                                      // excluding keys and values
  double key_matrices = 0, key_outputs = 0, key_unit = 0;  // key and value matrices; their heads are never split

  double inputs_on(double tensor) const { return split == model::Split::kRows ? inputs / tensor : inputs; }
  double outputs_on(double tensor) const {
    if (split != model::Split::kColumns) return outputs + key_matrices * key_outputs;
    const double keys = key_outputs / tensor > key_unit ? key_outputs / tensor : key_unit;
    return outputs / tensor + key_matrices * keys;
  }
  bool operator==(const Product&) const = default;
};

// `count` identical layers.
struct LayerWork {
  double count = 0;
  bool encoder = false;
  std::vector<WorkOp> ops;
  double input_joins = 0;

  std::vector<Product> products;
  std::vector<int> attentions, scans;
  int experts = -1;
  double tensors = 0;        // weight tensors
  bool splits_norm = false;  // tensor parallelism splits a norm over all heads of q and k

  // The inner width of its MLP, without experts.
  double dense_width() const {
    double width = 0;
    for (const Product& product : products) width += product.part == Product::Part::kDown ? product.inputs : 0;
    return width;
  }
};

struct ModelWork;

// Image generators: the work besides the denoising passes.
struct ImageWork {
  double steps = 1;
  double frames = 1;  // frames to decode, for a video
  bool guidance = false;
  std::vector<std::shared_ptr<const ModelWork>> encoders;
  std::vector<double> encoder_tokens;
  std::shared_ptr<const ModelWork> decoder;
};

enum class OutputHead { kNone, kLanguageModel, kMaskedModel, kClassifier };

struct ModelWork {
  std::string family;   // as in ModelShape
  bool decoder = true;  // causal attention with a KV cache
  bool encoder_decoder = false;
  bool image = false;          // samples are images
  double layers = 0;           // over all stacks
  double reductions = 0;       // all-reduces of tensor parallelism: after attention and after the MLP of every layer
  double norm_reductions = 0;  // layers that also all-reduce the squares of a norm
  double hidden = 0, vocabulary = 0, labels = 0;
  double tensors = 0;  // weights and biases, as the optimizer counts them
  double parameters = 0, active_parameters = 0, head_parameters = 0;
  double lora_width_attention = 0, lora_width_other = 0;    // adapter elements per rank
  double lora_passed_attention = 0, lora_passed_other = 0;  // the same, with only the experts that a token uses
  double lora_width_spared = 0, lora_passed_spared = 0;     // layers that peft skips by default: model/adapters.h
  bool adapts_experts = false;                              // peft merges adapters into the experts
  bool tied = false, logit_softcap = false;
  OutputHead head = OutputHead::kLanguageModel;
  double attention_width = 0;  // heads x (head width + value width) / 2, summed over all layers
  double key_width = 0;        // key and value elements per token and layer
  double window = 0;           // narrowest attention window; 0: none

  // Mixture-of-experts layers; zero if there are none.
  double experts = 0, experts_per_token = 0, expert_layers = 0;
  memory::Checkpoint checkpoint;  // the published weights

  std::shared_ptr<const ModelWork> tower;  // encodes the images of a prompt
  double tower_images = 0;
  std::optional<ImageWork> pipeline;
  double audio_seconds = 0;  // audio per request; 0: not a speech model
  double speech_layers = 0;  // of its decoder

  std::vector<LayerWork> kinds;
  std::vector<WorkOp> ends;  // operations outside the layers
  std::vector<model::AttentionOp> attentions;
  std::vector<model::ExpertsOp> mixtures;
  std::vector<model::ScanOp> scans;
  std::vector<std::vector<WorkOp>> written;  // attention without a fused kernel
};

// A shape without a forward pass (measured work without a model) has no operations and no sizes.
ModelWork work_of(const model::ModelShape& shape);

// Training FLOPs of one pass over `tokens` of sequences of `sequence`, as model FLOPs utilization counts them: 6 per
// parameter and token (4 for frozen weights) plus attention scores (Chowdhery et al. 2022, appendix B).
double model_flops(const ModelWork& work, double tokens, double sequence, bool frozen);

}  // namespace rightsize::perf
