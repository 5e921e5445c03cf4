// The shape of a model: everything that memory and speed depend on.
//
// read_model() reads a shape from a Hugging Face config.json or a built-in preset, which is the same JSON. A shape has
// two views of a model: the numbers that formulas use (layers, hidden, heads ...), and the inventory of weight tensors,
// which determines parameter counts, LoRA adapters, quantized bytes and matrix products. The inventory is exact: its
// sum is the framework's parameter count, with tied weights counted once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/forward.h"
#include "model/image_size.h"

namespace rightsize::model {

enum class Precision;  // model/job.h

enum class ModelKind {
  kDecoder,         // causal language models
  kEncoder,         // BERT, ModernBERT
  kEncoderDecoder,  // T5, Whisper
  kVisionTransformer,
  kConvNet,  // ResNet, ConvNeXt, EfficientNet
  kDiffusionUNet,
  kDiffusionTransformer,
  kImageDecoder,  // latents to pixels
};

// The purpose of a tensor. It determines what LoRA adapts, what quantization shrinks and what a decode step reads.
enum class WeightRole {
  kTokenEmbedding,
  kPositionEmbedding,  // learned positions, token types
  kAttention,          // linear: q, k, v, o and their low-rank factors
  kMlp,                // linear: dense up, gate, down; shared experts too
  kExpert,             // linear, one per expert: only the top_k experts work on a token
  kRouter,
  kNorm,
  kHead,  // linear: logits or classes; absent if tied to the token embedding
  kConv,
  kOther,
};

// How tensor parallelism divides a weight among GPUs.
enum class Split {
  kWhole,    // every GPU has all of it
  kColumns,  // by outputs (rows of the matrix): the first of a pair
  kRows,     // by inputs: the second of a pair; the results are summed
};

// `copies` tensors of the same shape. A linear or convolution has rows = outputs, cols = inputs (times kernel area for
// convolutions, divided by groups); a vector has cols = 1. With has_bias, it also has a bias of `rows` elements.
//
// Weights are in the framework's order. Neighbours with the same non-zero `block` form a block (one layer), which the
// framework repeats copies / per_block times: tensor_elements() unrolls that.
struct Weight {
  std::string name;  // as in the framework, layer numbers left out: "self_attn.q_proj"
  WeightRole role = WeightRole::kOther;
  std::int64_t rows = 0;
  std::int64_t cols = 1;
  bool has_bias = false;
  std::int64_t copies = 1;
  bool linear = false;  // a matrix product that torch.nn.Linear (or Conv1D) computes: LoRA and quantization apply

  Split split = Split::kWhole;
  std::int64_t unit = 1;  // outputs that stay on one GPU: a key head
  int joined = 1;         // matrices side by side in one tensor: gate and up of experts

  int block = 0;               // 0: not part of a block
  std::int64_t per_block = 1;  // copies within one block: the experts of a layer
  bool stacked = false;        // those copies are one tensor (and one bias): experts since transformers 5
  bool spared = false;         // stacked, and not adapted by peft's "all-linear"
  bool images_only = false;    // the image tower of a multimodal model, which text does not use

  // Convolutions, and the norms between them.
  int kernel = 0;  // side, 0 if not a convolution; cols = inputs / groups * kernel^2 (kernel in audio, 1-D)
  int stride = 1;
  int groups = 1;
  int scale = 0;  // image side / side of the output grid; 0: pooled or not on a grid

  std::int64_t elements_per_copy() const { return rows * cols + (has_bias ? rows : 0); }
  std::int64_t elements() const { return elements_per_copy() * copies; }
};

enum class Positions { kRotary, kLearned, kAlibi, kRelative, kSinusoidal, kNone };

struct Experts {
  int count = 0;
  int per_token = 0;                     // top_k
  std::int64_t intermediate = 0;         // of one expert
  int shared = 0;                        // always-on experts
  std::int64_t shared_intermediate = 0;  // all shared experts together
  int dense_layers = 0;                  // layers with an ordinary MLP instead
};

// Multi-head latent attention (DeepSeek): the cache holds kv_rank + rope dimensions per token and layer.
struct LatentAttention {
  std::int64_t q_rank = 0;  // 0: q is not factored
  std::int64_t kv_rank = 0;
  int nope_dim = 0, rope_dim = 0, value_dim = 0;
  int index_dim = 0;  // also cached if an index chooses the tokens to attend to (DeepSeek sparse attention)
};

struct VisionTower;  // families/vision_tower.h

// One resolution of a convolutional model: `blocks` of the same kind at `channels` on a grid `scale` times coarser than
// the image.
struct ConvStage {
  int blocks = 0;
  std::int64_t channels = 0;
  std::int64_t inner_channels = 0;  // inside the bottleneck or expansion
  int scale = 1;
};

struct ModelShape;

// How an image is generated: the number of passes of the model that removes noise, and the built-in models that run
// before and after it. find_model() fills in their shapes.
struct ImagePipeline {
  int steps = 30;                          // the usual number
  bool guidance = true;                    // usually two passes per step, with and without the prompt
  int pixels = 8;                          // per side of one latent element
  int frames = 0;                          // of the video; 0: an image
  int networks = 1;                        // of this shape, which take turns over the steps; all are in memory
  std::vector<std::string> encoders = {};  // of the prompt
  std::string decoder = {};                // of the latents
  std::vector<std::shared_ptr<const ModelShape>> encoder_shapes = {};
  std::shared_ptr<const ModelShape> decoder_shape = {};
};

struct ModelShape {
  std::string name;          // preset name, or the file's
  std::string family;        // model_type: "llama", "gpt2", "resnet" ...
  std::string architecture;  // the class with its head: "LlamaForCausalLM", "BertForSequenceClassification"
  ModelKind kind = ModelKind::kDecoder;

  int layers = 0;          // of the decoder, or of a model with one stack
  int encoder_layers = 0;  // encoder-decoder models only
  std::int64_t hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  std::int64_t intermediate = 0;  // of the dense MLP
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;          // longest sequence the positions allow; 0: no limit, or not a sequence model
  std::int64_t encoder_context = 0;  // audio frames after the convolutions (Whisper); 0: as `context`
  int rotary_dim = 0;                // rotated part of head_dim; 0 unless positions are rotary
  int labels = 0;                    // outputs of a classifier head; 0: no classifier

  bool gated_mlp = false;       // SwiGLU, GeGLU
  bool fused_qkv = false;       // one matrix for q, k and v
  bool parallel_block = false;  // attention and MLP read the same norm (gpt_neox, falcon)
  bool tied_embeddings = false;
  Activation activation = Activation::kSilu;
  Positions positions = Positions::kRotary;
  double dropout = 0;  // hidden states
  double attention_dropout = 0;
  std::int64_t sliding_window = 0;  // 0: full attention everywhere
  int full_attention_every = 0;     // with a window, every n-th layer has full attention; 0: none has
  double logit_softcap = 0;
  int uncached_layers = 0;       // of a decoder: layers that cache no keys and values
  std::int64_t state_bytes = 0;  // of recurrent layers per sequence, for any length

  std::optional<Experts> experts;
  std::optional<LatentAttention> latent;
  bool cache_scales = false;            // the published weights include scales for an 8-bit KV cache
  std::optional<Precision> checkpoint;  // format of the published weights if quantization_config names one

  std::shared_ptr<const VisionTower> vision;  // of a model that reads images and text
  std::shared_ptr<const ModelShape> tower;    // the tower at the size of a job's images, if its requests have images
  int tower_images = 0;                       // per request

  // Images: vision transformers, convnets, U-Nets.
  int image_size = 0;    // its side, or its width
  int image_height = 0;  // 0: square
  int patch_size = 0;
  int channels = 0;
  std::vector<ConvStage> stages;

  std::optional<ImagePipeline> pipeline;  // of a model that generates images

  std::vector<Weight> weights;
  std::shared_ptr<const Forward> forward;  // the computation over these weights

  std::int64_t parameters() const;         // tied ones count once
  std::int64_t active_parameters() const;  // those used for one token: per_token of the experts
  // The shapes that are in memory together, one entry per copy: of a pipeline, all of its networks, the text encoders
  // and the image decoder.
  std::vector<const ModelShape*> loaded_shapes() const;
  std::int64_t loaded_parameters() const;  // of all of them
};

// The number of elements of every tensor that the framework allocates, in its order, with weights and biases separate.
// The sum is parameters().
std::vector<std::int64_t> tensor_elements(const ModelShape& shape);

}  // namespace rightsize::model
