// Decoders like Llama: grouped-query attention with q, k, v and o, a gated MLP or experts, norms, and no learned
// positions. A family describes itself by a DecoderStyle; a Decoder then declares the weights and writes the forward
// pass. A family with another kind of attention overrides that part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "families/config.h"
#include "families/family_writer.h"
#include "families/recurrent.h"

namespace rightsize::model {

enum class QkNorm {
  kNone,
  kPerHead,       // one vector of head_dim for all heads (qwen3)
  kPerHeadAfter,  // the same, applied after heads are moved first (gemma3)
  kFullWidth,     // one vector over all heads together (olmo2)
  kEachHead,      // one row per head (cohere, stablelm)
};

enum class BlockOrder {
  kPreNorm,   // norm, attention, add, norm, MLP, add; with four norms also one after each part
  kPostNorm,  // attention, norm, add, MLP, norm, add
  kParallel,  // one norm, then attention and MLP side by side
};

enum class RotaryParts {
  kWhole,
  kJoinEach,  // the rotated part is joined with the rest at once, even if there is no rest (phi3)
  kJoinLate,  // after both q and k are rotated
};

// The fields that describe experts, with the defaults of the configuration class.
struct ExpertFields {
  int count = 0, per_token = 0;  // no count: a dense MLP
  FieldNames names = {"num_local_experts", "num_experts"};
  std::int64_t intermediate = 0;         // of moe_intermediate_size; 0: experts have the model's intermediate_size
  std::int64_t shared_intermediate = 0;  // of shared_expert_intermediate_size; 0: no shared expert
};

// Defaults of the configuration class, the parts of the family's layer, and how it is computed.
struct DecoderStyle {
  std::int64_t vocabulary = 32'000;
  std::int64_t intermediate = 11'008;
  int heads = 32;
  int kv_heads = 0;  // 0: the same as heads
  int head_dim = 0;  // 0: hidden / heads
  std::int64_t context = 2'048;
  std::string activation = "silu";
  FieldNames activation_names = {"hidden_act"};
  bool tied = false;
  double rotary_fraction = 1.0;
  FieldNames dropout = {};                  // of hidden states; no name: none
  std::optional<std::int64_t> window = {};  // of sliding_window; unset: the class has no such field
  std::optional<bool> attention_bias = {};  // of attention_bias, for q, k, v and o; unset: no such field
  ExpertFields experts = {};

  bool qkv_bias = false, output_bias = false, mlp_bias = false, head_bias = false;
  bool fused_qkv = false, fused_gate_up = false, gated = true;
  QkNorm qk_norm = QkNorm::kNone;
  bool attention_sinks = false;  // one learned logit per head (gpt_oss)
  NormKind norm = NormKind::kRms;
  bool norm_weight = true, norm_bias = false;

  // The framework's names of weights that families call differently.
  std::string q_norm_name = "self_attn.q_norm", k_norm_name = "self_attn.k_norm";
  std::string output_name = "self_attn.o_proj", up_name = "up_proj", down_name = "down_proj", final_norm = "norm";
  std::string router_name = "mlp.gate", shared_name = "mlp.shared_expert";
  // In the order of the framework's modules, and then in the order in which the forward pass uses them.
  std::vector<std::string> layer_norms = {"input_layernorm", "post_attention_layernorm"};
  std::vector<std::size_t> norm_order = {0, 1, 2, 3};

  BlockOrder order = BlockOrder::kPreNorm;
  bool residual_first = false;  // parallel: attention is added to the residual before the MLP (cohere)
  RotaryParts rotary_parts = RotaryParts::kWhole;
  bool scaled_embedding = false;
  bool wide_rotation = false;  // q and k are rotated in 32 bits
  bool scaled_logits = false;
  bool router_bias = false, expert_bias = false;
  bool adapted_experts = true;         // peft adapts them (model/adapters.h)
  bool shared_switch = false;          // a gate weighs the shared expert
  bool narrow_routing_weights = true;  // routing weights are cast back to the hidden state's width
  bool router_last = false;            // experts are declared before their router
  bool exact = true;                   // checked against recorded allocations
};

// Reads the sizes, which have the same names in all these families.
void read_decoder_sizes(const Config& config, const DecoderStyle& style, ModelShape& shape);
// Reads the sizes, declares the weights and writes the forward pass of a model with only one kind of layer.
void read_decoder(const Config& config, ModelShape& shape, const DecoderStyle& style);

// Fills shape.experts. Notes a mistake if a token uses more experts than there are.
void read_experts(const Config& config, const ExpertFields& fields, ModelShape& shape);
// The same for DeepSeek and GLM, which have n_shared_experts of the same size and start with dense layers.
void read_routed_experts(const Config& config, ExpertFields fields, int shared, int dense_layers, ModelShape& shape);

// Heads must divide evenly into groups that share keys and values; notes a mistake otherwise.
void check_groups(const Config& config, ModelShape& shape, const FieldNames& heads, const FieldNames& kv_heads);

class Decoder : protected FamilyWriter {
 public:
  Decoder(const Config& config, DecoderStyle style, ModelShape& shape);
  virtual ~Decoder() = default;

  // Neighbouring layers of one kind.
  struct Run {
    std::int64_t layers = 0;
    bool experts = false;
    int mixer = 0;  // which of the family's kinds of attention
  };
  // Declares every weight and writes the forward pass.
  void write(const std::vector<Run>& runs);
  // Dense layers first, then those with experts.
  void write();

  // Joins neighbours of the same kind.
  static std::vector<Run> runs_of(const std::vector<Run>& each_layer);

 protected:
  struct Mlp {
    WeightRef gate, up, gate_up, down;
  };
  struct Layer : LayerWeights {
    int mixer = 0;
    WeightRef q_down, q_up, q_down_norm, kv_down, kv_up, kv_norm;  // latent attention
    RecurrentWeights recurrent;
    Mlp mlp, shared;  // `shared`: the shared expert
    WeightRef router, experts_in, experts_out, shared_switch;
    std::vector<WeightRef> norms;  // in the order in which the forward pass uses them
  };

  virtual void declare_attention(Layer& layer);
  virtual Value attention(Value x, const Layer& layer, std::int64_t window);

  Mlp declare_mlp(const std::string& prefix, std::int64_t intermediate);
  Value norm(WeightRef weight, Value x, const Size& rows);
  void rotate_both(Value& q, Value& k);

  DecoderStyle style_;
  RotaryTables rotary_;

 private:
  Layer declare_layer(const Run& run);
  void declare_experts(Layer& layer);
  Value turn(Value x);
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
