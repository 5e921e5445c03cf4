// The llama line of decoders: grouped-query attention with q, k, v and o, a gated MLP or experts, norms without learned
// positions. A family fills a DecoderStyle and lets a Decoder declare the weights and write the forward pass; one with
// an attention of its own overrides that part.
#pragma once

#include <string>
#include <vector>

#include "families/config.h"
#include "families/recurrent.h"
#include "model/inventory.h"
#include "model/model_shape.h"
#include "model/tracer.h"

namespace rightsize::model {

enum class QkNorm {
  kNone,
  kPerHead,       // one vector of head_dim for all heads (qwen3)
  kPerHeadAfter,  // the same, once heads stand first (gemma3)
  kFullWidth,     // a vector over all heads together (olmo2)
  kEachHead,      // one row per head (cohere, stablelm)
};

enum class BlockOrder {
  kPreNorm,   // norm, attention, add, norm, MLP, add; with four norms one behind each part too
  kPostNorm,  // attention, norm, add, MLP, norm, add
  kParallel,  // one norm, attention and MLP side by side
};

enum class RotaryParts {
  kWhole,
  kJoinEach,  // the turned part is joined with the rest at once, even when there is no rest (phi3)
  kJoinLate,  // after both q and k are turned
};

// Defaults of the configuration class, what the family's layer is made of, and how it is computed.
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

  bool qkv_bias = false, output_bias = false, mlp_bias = false, head_bias = false;
  bool fused_qkv = false, fused_gate_up = false, gated = true;
  QkNorm qk_norm = QkNorm::kNone;
  bool attention_sinks = false;  // one learned logit per head (gpt_oss)
  NormKind norm = NormKind::kRms;
  bool norm_weight = true, norm_bias = false;

  // What the framework calls the weights that families name differently.
  std::string q_norm_name = "self_attn.q_norm", k_norm_name = "self_attn.k_norm";
  std::string output_name = "self_attn.o_proj", up_name = "up_proj", down_name = "down_proj", final_norm = "norm";
  std::string router_name = "mlp.gate", shared_name = "mlp.shared_expert";
  // In the order of the framework's modules, and in the order the forward pass comes by them.
  std::vector<std::string> layer_norms = {"input_layernorm", "post_attention_layernorm"};
  std::vector<std::size_t> norm_order = {0, 1, 2, 3};

  BlockOrder order = BlockOrder::kPreNorm;
  bool residual_first = false;  // parallel: attention joins the residual before the MLP does (cohere)
  RotaryParts rotary_parts = RotaryParts::kWhole;
  bool scaled_embedding = false;
  bool wide_rotation = false;  // q and k go to 32 bits to be rotated
  bool scaled_logits = false;
  bool router_bias = false, expert_bias = false;
  bool adapted_experts = true;         // by peft: model/adapters.h
  bool shared_switch = false;          // the shared expert is weighed by a gate of its own
  bool narrow_routing_weights = true;  // routing weights go back to the hidden state's width
  bool router_last = false;            // experts are declared before their router
  bool exact = true;                   // checked against recorded allocations
};

// Reads the sizes all of them spell alike into `shape`.
void read_decoder_sizes(const Config& config, const DecoderStyle& style, ModelShape& shape);

// How many experts there are and how many work on a token; notes a mistake where those are more.
Experts read_experts(const Config& config, const FieldNames& names, int count, int per_token);

// Heads divide evenly into groups that share keys and values; notes a mistake otherwise.
void check_groups(const Config& config, ModelShape& shape, const FieldNames& heads, const FieldNames& kv_heads);

// The output layer the class name asks for, declared after everything else. `bias` is that of a language-model head.
struct DecoderHead {
  WeightRef weight, bias;
  bool language = true;
};
DecoderHead declare_decoder_head(const Config& config, Inventory& inventory, ModelShape& shape, std::int64_t width,
                                 bool bias = false);
// Its loss over what the last layer put out; `table` is the token embedding, for tied heads.
Value decoder_loss(Tracer& f, const ModelShape& shape, const DecoderHead& head, WeightRef table, Value x,
                   bool scaled_logits = false);

// The attention of this shape over the job's own tokens.
AttentionOp attention_of(const ModelShape& shape);
// The same with ALiBi scores, written out by `program`.
AttentionOp alibi_attention(const ModelShape& shape, std::int32_t program);

class Decoder {
 public:
  Decoder(const Config& config, DecoderStyle style, ModelShape& shape);
  virtual ~Decoder() = default;

  // Layers of one kind, in order.
  struct Run {
    std::int64_t layers = 0;
    bool experts = false;
    int mixer = 0;  // which of the family's kinds of attention
  };
  // Declares every weight and writes the forward pass.
  void write(const std::vector<Run>& runs);
  void write() { write({{shape_.layers, false}}); }

  // Layers in order, each stretch of like ones as one run.
  static std::vector<Run> runs_of(const std::vector<Run>& each_layer);

 protected:
  struct Mlp {
    WeightRef gate, up, gate_up, down;
  };
  struct Layer {
    int mixer = 0;
    WeightRef first;
    WeightRef q, k, v, qkv, o, q_norm, k_norm;
    WeightRef q_down, q_up, q_down_norm, kv_down, kv_up, kv_norm;  // latent attention
    RecurrentWeights recurrent;
    Mlp mlp, shared;
    WeightRef router, experts_in, experts_out, shared_switch;
    std::vector<WeightRef> norms;  // as the forward pass comes by them
  };

  virtual void declare_attention(Layer& layer);
  virtual Value attention(Value x, const Layer& layer, std::int64_t window);

  // Weights under `prefix`, of this inner width.
  Mlp declare_mlp(const std::string& prefix, std::int64_t intermediate);
  Value norm(WeightRef weight, Value x, const Size& rows);
  Value turn(Value x);
  void rotate_both(Value& q, Value& k);

  const Config& config_;
  DecoderStyle style_;
  ModelShape& shape_;
  Inventory inventory_;
  Tracer f_;
  RotaryTables rotary_;

 private:
  Layer declare_layer(const Run& run);
  void declare_experts(Layer& layer);
  Value block(Value x, const Layer& layer, std::int64_t window);
  Value pre_norm_block(Value x, const Layer& layer, std::int64_t window);
  Value post_norm_block(Value x, const Layer& layer, std::int64_t window);
  Value parallel_block(Value x, const Layer& layer, std::int64_t window);
  void project(const Value& x, const Layer& layer, Value& q, Value& k, Value& v);
  Value feed_forward(Value x, const Layer& layer);
  Value mlp(Value x, const Mlp& weights);
  Value mixture(Value x, const Layer& layer);
  Value body(WeightRef table, WeightRef final_norm, const std::vector<Run>& runs, const std::vector<Layer>& kinds);
  std::int32_t write_layers(const std::vector<Run>& runs, const std::vector<Layer>& kinds);
  std::int64_t window_of(std::int64_t layer) const;
};

}  // namespace rightsize::model
