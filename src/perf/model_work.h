// What speed needs of a model: its forward pass in numbers, compiled once a model and read by every estimate.
//
// Two views of the same list of operations. Eager frameworks run it as it is written: `ops`, one after the other. Tuned
// stacks (serving engines, Megatron, llm-foundry) run a rewrite: products that read the same rows become one, what is
// elementwise disappears into their ends; that is `products`, `attentions`, `experts` and a few widths.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::perf {

// each x batch^b x tokens^t.
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

// Bytes of an element, as far as they are the model's doing.
enum class Wideness : std::uint8_t {
  kNarrow,    // 16 bits, whatever products put out
  kResidual,  // 32 bits under autocast: embeddings, norms and what is added to them
  kWide,      // 32 bits always
};

// One operation of the eager framework.
struct WorkOp {
  model::OpKind kind = model::OpKind::kCopy;
  model::NormKind norm = model::NormKind::kLayer;
  model::Activation activation = model::Activation::kSilu;
  model::CopyKind copy = model::CopyKind::kForward;
  Wideness in = Wideness::kNarrow, other = Wideness::kNarrow, out = Wideness::kNarrow;
  bool flag = false;          // as in model::Op
  bool of_attention = false;  // a linear layer that LoRA's "attention" adapts
  bool bias = false;
  int aux = -1;                    // of ModelWork::attentions, ::mixtures, ::scans
  int written = -1;                // of ModelWork::written, where attention is written out
  double inputs = 0, outputs = 0;  // of a linear layer; channels of a convolution
  double kernel = 1, groups = 1;   // of a convolution
  Extent rows;                     // of a product or norm
  Extent elements;                 // of the result
  Extent whole;                    // of the first operand
  double joins = 0;                // sums of gradients because the result is read more than once

  bool operator==(const WorkOp&) const = default;
};

// A matrix product of a tuned stack.
struct Product {
  enum class Part : std::uint8_t { kQkv, kLatent, kAttentionOutput, kUp, kDown, kOther };
  Part part = Part::kOther;
  model::Split split = model::Split::kWhole;
  double inputs = 0;
  double outputs = 0;                                      // beside keys and values
  double key_matrices = 0, key_outputs = 0, key_unit = 0;  // matrices of keys and values, whose heads stay whole

  double inputs_on(double tensor) const { return split == model::Split::kRows ? inputs / tensor : inputs; }
  double outputs_on(double tensor) const {
    if (split != model::Split::kColumns) return outputs + key_matrices * key_outputs;
    const double keys = key_outputs / tensor > key_unit ? key_outputs / tensor : key_unit;
    return outputs / tensor + key_matrices * keys;
  }
  bool operator==(const Product&) const = default;
};

// Layers that are alike, `count` of them.
struct LayerWork {
  double count = 0;
  bool encoder = false;
  std::vector<WorkOp> ops;
  double input_joins = 0;

  std::vector<Product> products;
  std::vector<int> attentions, scans;
  int experts = -1;
  double tensors = 0;        // of weights
  bool splits_norm = false;  // tensor parallelism cuts what a norm goes over: all heads of q and k
};

struct ModelWork;

// Models that make images: what runs beside the passes that remove noise.
struct ImageWork {
  double steps = 1;
  bool guidance = false;
  std::vector<std::shared_ptr<const ModelWork>> encoders;
  std::vector<double> encoder_tokens;
  std::shared_ptr<const ModelWork> decoder;
};

enum class OutputHead { kNone, kLanguageModel, kMaskedModel, kClassifier };

struct ModelWork {
  std::string family;   // as in ModelShape
  bool decoder = true;  // attends to the past only and keeps a cache
  bool encoder_decoder = false;
  bool image = false;          // samples are images
  double layers = 0;           // of all stacks
  double reductions = 0;       // sums over a tensor-parallel group: after attention and after the MLP of every layer
  double norm_reductions = 0;  // layers that sum the squares of a norm over such a group
  double hidden = 0, vocabulary = 0, labels = 0;
  double tensors = 0;  // of weights and biases, as an optimizer sees them
  double parameters = 0, active_parameters = 0, head_parameters = 0;
  double lora_width_attention = 0, lora_width_other = 0;    // adapters have rank times this many elements
  double lora_passed_attention = 0, lora_passed_other = 0;  // the same of those a token passes through
  double lora_width_spared = 0, lora_passed_spared = 0;     // more where peft does not choose: model/adapters.h
  bool adapts_experts = false;                              // peft merges adapters into the experts
  bool tied = false, logit_softcap = false;
  OutputHead head = OutputHead::kLanguageModel;
  double attention_width = 0;  // heads x (head width + value width) / 2, summed over all layers
  double key_width = 0;        // elements of keys and values a token, of one layer
  double window = 0;           // the narrowest; 0: none

  // Of the layers with experts; zero where there are none.
  double experts = 0, experts_per_token = 0, expert_layers = 0;
  bool narrow_cache = true;                               // as in ModelShape
  model::Precision checkpoint = model::Precision::kBf16;  // format the weights are published in

  std::shared_ptr<const ModelWork> tower;  // of the images in a prompt
  double tower_images = 0;
  std::optional<ImageWork> pipeline;
  double audio_seconds = 0;  // that one request transcribes; 0: not a speech model

  std::vector<LayerWork> kinds;
  std::vector<WorkOp> ends;  // before, between and behind the layers
  std::vector<model::AttentionOp> attentions;
  std::vector<model::ExpertsOp> mixtures;
  std::vector<model::ScanOp> scans;
  std::vector<std::vector<WorkOp>> written;  // how attention is written out
};

// A shape without a forward pass (work that was measured, and names no model) has no operations and no sizes.
ModelWork work_of(const model::ModelShape& shape);

// Training FLOPs of one pass over `tokens` of sequences of `sequence`, as model FLOPs utilisation counts them: 6 a
// parameter and token, less 2 where the weights are frozen, and attention scores (Chowdhery et al. 2022, appendix B).
double model_flops(const ModelWork& work, double tokens, double sequence, bool frozen);

}  // namespace rightsize::perf
