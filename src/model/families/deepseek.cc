// DeepSeek V2 and V3: latent attention, fine-grained experts beside shared ones, a few dense layers first.
#include <algorithm>

#include <fmt/format.h>

#include "model/families/decoder.h"
#include "model/families/families.h"

namespace rightsize::model {
namespace {

struct DeepseekDefaults {
  std::int64_t vocabulary, intermediate, expert_intermediate, context;
  int heads, experts, per_token, shared, dense_layers;
  std::int64_t q_rank;
};

LatentAttention read_latent(const Config& config, const DeepseekDefaults& defaults) {
  LatentAttention latent;
  // null, as in V2-Lite, says that q is not factored; absent means the class's default.
  const JsonMember* q_rank = config.json().value().find("q_lora_rank");
  latent.q_rank = q_rank && q_rank->value.type == JsonType::kNull ? 0 : config.size("q_lora_rank", defaults.q_rank);
  latent.kv_rank = config.size("kv_lora_rank", 512);
  latent.nope_dim = config.count("qk_nope_head_dim", 128, 1, kWidestHead);
  latent.rope_dim = config.count("qk_rope_head_dim", 64, 1, kWidestHead);
  latent.value_dim = config.count("v_head_dim", 128, 1, kWidestHead);
  return latent;
}

Experts read_deepseek_experts(const Config& config, const DeepseekDefaults& defaults, int layers) {
  Experts experts;
  experts.count = config.count({"n_routed_experts", "num_local_experts"}, defaults.experts, 1, kMostExperts);
  experts.per_token = config.count("num_experts_per_tok", defaults.per_token, 1, kMostExperts);
  if (experts.per_token > experts.count && !config.json().is_wrong("n_routed_experts")) {
    config.json().fail_at("num_experts_per_tok", fmt::format("'num_experts_per_tok' ({}) must not exceed "
                                                             "'n_routed_experts' ({})",
                                                             experts.per_token, experts.count));
    experts.per_token = experts.count;
  }
  experts.intermediate = config.size("moe_intermediate_size", defaults.expert_intermediate, kWidestMlp);
  experts.shared = config.count("n_shared_experts", defaults.shared, 0, kMostExperts);
  experts.shared_intermediate = experts.shared * experts.intermediate;
  experts.dense_layers = std::min(layers, config.count("first_k_dense_replace", defaults.dense_layers, 0));
  return experts;
}

void add_latent_attention(Inventory& inventory, const ModelShape& shape, bool bias) {
  const LatentAttention& latent = *shape.latent;
  const WeightRole role = WeightRole::kAttention;
  const std::int64_t heads = shape.heads;
  const std::int64_t q = heads * (latent.nope_dim + latent.rope_dim);
  if (latent.q_rank == 0) {
    inventory.linear("self_attn.q_proj", role, q, shape.hidden, false);
  } else {
    inventory.linear("self_attn.q_a_proj", role, latent.q_rank, shape.hidden, bias);
    inventory.norm("self_attn.q_a_layernorm", latent.q_rank, false);
    inventory.linear("self_attn.q_b_proj", role, q, latent.q_rank, false);
  }
  inventory.linear("self_attn.kv_a_proj_with_mqa", role, latent.kv_rank + latent.rope_dim, shape.hidden, bias);
  inventory.norm("self_attn.kv_a_layernorm", latent.kv_rank, false);
  inventory.linear("self_attn.kv_b_proj", role, heads * (latent.nope_dim + latent.value_dim), latent.kv_rank, false);
  inventory.linear("self_attn.o_proj", role, shape.hidden, heads * latent.value_dim, bias);
}

void add_deepseek_experts(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style) {
  const Experts& experts = *shape.experts;
  inventory.experts("mlp.experts.gate_up_proj", experts.count, 2 * experts.intermediate, shape.hidden, false);
  inventory.experts("mlp.experts.down_proj", experts.count, shape.hidden, experts.intermediate, false);
  // V3's score correction is a buffer, which the framework does not count.
  inventory.linear("mlp.gate", WeightRole::kRouter, experts.count, shape.hidden, false).linear = false;
  if (experts.shared > 0) add_mlp(inventory, shape, style, "mlp.shared_experts", experts.shared_intermediate);
}

void add_deepseek_layers(Inventory& inventory, ModelShape& shape, const DecoderStyle& style, bool bias) {
  inventory.begin_block(shape.experts->dense_layers);
  add_latent_attention(inventory, shape, bias);
  add_mlp(inventory, shape, style, "mlp", shape.intermediate);
  add_layer_norms(inventory, shape, style);
  inventory.end_block();

  inventory.begin_block(shape.layers - shape.experts->dense_layers);
  add_latent_attention(inventory, shape, bias);
  add_deepseek_experts(inventory, shape, style);
  add_layer_norms(inventory, shape, style);
  inventory.end_block();
}

void read_deepseek(const Config& config, const DeepseekDefaults& defaults, ModelShape& shape) {
  shape.latent = read_latent(config, defaults);
  DecoderStyle style;
  style.vocabulary = defaults.vocabulary;
  style.intermediate = defaults.intermediate;
  style.heads = defaults.heads;
  style.context = defaults.context;
  style.head_dim = shape.latent->nope_dim + shape.latent->rope_dim;
  read_decoder_sizes(config, style, shape);
  // A head_dim field, where one is given, is the rotated part only.
  shape.head_dim = style.head_dim;
  shape.rotary_dim = shape.latent->rope_dim;
  shape.experts = read_deepseek_experts(config, defaults, shape.layers);
  const bool bias = config.flag("attention_bias", false);
  add_decoder(config, style, shape, [&](Inventory& inventory) { add_deepseek_layers(inventory, shape, style, bias); });
}

}  // namespace

void read_deepseek_v2(const Config& config, ModelShape& shape) {
  DeepseekDefaults defaults{.vocabulary = 32'000,
                            .intermediate = 11'008,
                            .expert_intermediate = 1'407,
                            .context = 2'048,
                            .heads = 32,
                            .experts = 64,
                            .per_token = 6,
                            .shared = 2,
                            .dense_layers = 0,
                            .q_rank = 1'536};
  read_deepseek(config, defaults, shape);
}

void read_deepseek_v3(const Config& config, ModelShape& shape) {
  DeepseekDefaults defaults{.vocabulary = 129'280,
                            .intermediate = 18'432,
                            .expert_intermediate = 2'048,
                            .context = 4'096,
                            .heads = 128,
                            .experts = 256,
                            .per_token = 8,
                            .shared = 1,
                            .dense_layers = 3,
                            .q_rank = 1'536};
  read_deepseek(config, defaults, shape);
}

}  // namespace rightsize::model
