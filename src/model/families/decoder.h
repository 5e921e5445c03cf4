// What the llama line of decoders shares: grouped-query attention with q, k, v and o, a gated MLP or experts, norms
// without learned positions. Families differ in the fields of DecoderStyle.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/inventory.h"
#include "model/model_shape.h"

namespace rightsize::model {

enum class QkNorm {
  kNone,
  kPerHead,    // one vector of head_dim for all heads (qwen3, gemma3)
  kFullWidth,  // a vector over all heads together (olmo2)
  kEachHead,   // one row a head (cohere)
};

// Defaults of the configuration class, and what the family's layer is made of.
struct DecoderStyle {
  std::int64_t vocabulary = 32'000;
  std::int64_t intermediate = 11'008;
  int heads = 32;
  int kv_heads = 0;  // 0: as many as heads
  int head_dim = 0;  // 0: hidden / heads
  std::int64_t context = 2'048;
  std::string activation = "silu";
  FieldNames activation_names = {"hidden_act"};
  bool tied = false;
  double rotary_fraction = 1.0;

  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  bool fused_qkv = false, fused_gate_up = false, gated = true;
  QkNorm qk_norm = QkNorm::kNone;
  bool attention_sinks = false;  // one learned logit a head (gpt_oss)
  Norm norm = Norm::kRms;
  bool norm_weight = true, norm_bias = false;
  std::vector<std::string> layer_norms = {"input_layernorm", "post_attention_layernorm"};
};

// Reads the sizes all of them spell alike into `shape`.
void read_decoder_sizes(const Config& config, const DecoderStyle& style, ModelShape& shape);

// The q, k, v, o of one layer, their norms and sinks.
void add_attention(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style);

// gate, up and down of width `intermediate`, under `prefix`.
void add_mlp(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style, const std::string& prefix,
             std::int64_t intermediate);

void add_layer_norms(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style);

// Embedding, the layers through `add_layers`, final norm, head.
void add_decoder(const Config& config, const DecoderStyle& style, ModelShape& shape,
                 const std::function<void(Inventory&)>& add_layers);

// The usual case: every layer is attention and a dense MLP.
void add_dense_decoder(const Config& config, const DecoderStyle& style, ModelShape& shape);

// The output layer the class name asks for, after everything else. `bias` is that of a language-model head.
void add_decoder_head(const Config& config, Inventory& inventory, ModelShape& shape, bool bias = false);

// Heads divide evenly into groups that share keys and values; notes a mistake otherwise.
void check_groups(const Config& config, ModelShape& shape, const FieldNames& heads, const FieldNames& kv_heads);

}  // namespace rightsize::model
