#include "families/latent_decoder.h"

#include <map>

namespace rightsize::model {
namespace {

LatentAttention read_latent(const Config& config, const LatentDefaults& defaults) {
  LatentAttention latent;
  // null, as in V2-Lite, means that q is not factored; an absent field means the class's default.
  const JsonMember* q_rank = config.json().value().find("q_lora_rank");
  latent.q_rank = q_rank && q_rank->value.type == JsonType::kNull ? 0 : config.size("q_lora_rank", defaults.q_rank);
  latent.kv_rank = config.size("kv_lora_rank", 512);
  latent.nope_dim = config.count("qk_nope_head_dim", defaults.nope_dim, 1, kWidestHead);
  latent.rope_dim = config.count("qk_rope_head_dim", 64, 1, kWidestHead);
  latent.value_dim = config.count("v_head_dim", defaults.value_dim, 1, kWidestHead);
  if (defaults.index_heads > 0) latent.index_dim = config.count("index_head_dim", 128, 1, kWidestHead);
  return latent;
}

// Latent attention: queries and keys through low-rank factors with a norm between; keys share one rotated part.
class LatentDecoder : public Decoder {
 public:
  LatentDecoder(const Config& config, const DecoderStyle& style, ModelShape& shape, const LatentDefaults& defaults)
      : Decoder(config, style, shape) {
    style_.rotary_parts = RotaryParts::kWhole;  // the rotated part is a separate projection
    if (defaults.index_heads == 0) return;
    index_heads_ = config.count("index_n_heads", defaults.index_heads, 1, kMostHeads);
    index_top_ = config.size("index_topk", 2'048, kLongestContext);
  }

 private:
  struct Index {
    WeightRef q, k, norm, shares;
  };

  void declare_attention(Layer& layer) override {
    const LatentAttention& latent = *shape_.latent;
    const WeightRole role = WeightRole::kAttention;
    const std::int64_t heads = shape_.heads, q = heads * (latent.nope_dim + latent.rope_dim);
    if (latent.q_rank == 0) {
      layer.q = layer.first = inventory_.linear("self_attn.q_proj", role, q, shape_.hidden, false);
    } else {
      layer.q_down = layer.first = down("self_attn.q_a_proj", latent.q_rank);
      layer.q_down_norm = inventory_.norm("self_attn.q_a_layernorm", latent.q_rank, false);
      layer.q_up = inventory_.linear("self_attn.q_b_proj", role, q, latent.q_rank, false);
    }
    layer.kv_down = down("self_attn.kv_a_proj_with_mqa", latent.kv_rank + latent.rope_dim);
    layer.kv_norm = inventory_.norm("self_attn.kv_a_layernorm", latent.kv_rank, false);
    layer.kv_up = inventory_.linear("self_attn.kv_b_proj", role, heads * (latent.nope_dim + latent.value_dim),
                                    latent.kv_rank, false);
    layer.o = inventory_.output("self_attn.o_proj", role, shape_.hidden, heads * latent.value_dim, style_.output_bias);
    if (index_heads_ == 0) return;
    Index& index = index_[layer.first.index];
    index.q = whole(inventory_.linear("self_attn.indexer.wq_b", role, std::int64_t{index_heads_} * latent.index_dim,
                                      latent.q_rank, false));
    index.k = whole(inventory_.linear("self_attn.indexer.wk", role, latent.index_dim, shape_.hidden, false));
    index.norm = inventory_.norm("self_attn.indexer.k_norm", latent.index_dim, true);
    index.shares = whole(inventory_.linear("self_attn.indexer.weights_proj", role, index_heads_, shape_.hidden, false));
  }

  // Every GPU of a tensor-parallel group holds all latents.
  WeightRef down(const char* name, std::int64_t outputs) {
    return whole(inventory_.linear(name, WeightRole::kAttention, outputs, shape_.hidden, style_.output_bias));
  }
  WeightRef whole(WeightRef ref) {
    if (ref) shape_.weights.back().split = Split::kWhole;
    return ref;
  }

  // A few narrow heads score all tokens, and the tokens with the highest sums are attended to. Modelled as attention
  // with values as narrow as the keys, which is a third more than the small amount of work for the scores alone.
  void choose_tokens(const Value& x, const Value& latent_q, const Index& index) {
    const int dim = shape_.latent->index_dim;
    Value q = f_.split_heads(f_.linear(index.q, latent_q));
    Value k = f_.split_heads(f_.norm(NormKind::kLayer, index.norm, f_.linear(index.k, x), kTokens));
    Value shares = f_.linear(index.shares, x);
    AttentionOp how;
    how.heads = index_heads_;
    how.head_dim = how.value_dim = how.latent_width = dim;
    Value scores = f_.attention(q, k, k, how);
  }

  Value attention(Value given, const Layer& w, std::int64_t) override {
    Value x = f_.gather_rows(std::move(given));
    const LatentAttention& latent = *shape_.latent;
    auto per_head = [&](std::int64_t width) { return kTokens.split_into(shape_.heads, width); };
    Value latent_q = w.q ? x : norm(w.q_down_norm, f_.linear(w.q_down, x), kTokens);
    if (index_heads_ > 0) choose_tokens(x, latent_q, index_.at(w.first.index));
    Value q = f_.linear(w.q ? w.q : w.q_up, std::move(latent_q));
    q = f_.split_heads(std::move(q));
    auto [q_pass, q_turning, q_none] = f_.split(q, per_head(latent.nope_dim), per_head(latent.rope_dim));
    Value compressed = f_.linear(w.kv_down, x);
    auto [latent_kv, k_turning, kv_none] =
        f_.split(compressed, kTokens.times(latent.kv_rank), kTokens.times(latent.rope_dim));
    Value kv = f_.linear(w.kv_up, norm(w.kv_norm, latent_kv, kTokens));
    kv = f_.split_heads(std::move(kv));
    auto [k_pass, v, v_none] = f_.split(kv, per_head(latent.nope_dim), per_head(latent.value_dim));
    Value q_turned = f_.rotate(q_turning, rotary_);
    Value k_turned = f_.rotate(k_turning, rotary_);
    k_turned = f_.expand(std::move(k_turned), per_head(latent.rope_dim), ExpandKind::kNever);
    q = f_.cat(q_pass, std::move(q_turned));
    Value k = f_.cat(k_pass, std::move(k_turned));
    AttentionOp how = attention_op();
    how.kv_heads = how.heads;
    how.head_dim = latent.nope_dim + latent.rope_dim;
    how.value_dim = latent.value_dim;
    how.latent_width = latent.kv_rank + latent.rope_dim;
    how.window = index_top_;
    Value out = f_.attention(q, k, v, how);
    return f_.scatter_rows(f_.linear(w.o, out));
  }

  int index_heads_ = 0;
  std::int64_t index_top_ = 0;
  std::map<std::int32_t, Index> index_;  // by the first weight of a kind of layer
};

}  // namespace

void read_latent_decoder(const Config& config, ModelShape& shape, const LatentDefaults& defaults) {
  shape.latent = read_latent(config, defaults);
  const DecoderStyle style = {
      .vocabulary = defaults.vocabulary,
      .intermediate = defaults.intermediate,
      .heads = defaults.heads,
      .head_dim = shape.latent->nope_dim + shape.latent->rope_dim,
      .context = defaults.context,
      .output_bias = config.flag("attention_bias", false),
      .shared_name = "mlp.shared_experts",
      .router_last = true,
      .exact = false,
  };
  read_decoder_sizes(config, style, shape);
  // A head_dim field describes only the rotated part.
  shape.head_dim = style.head_dim;
  shape.rotary_dim = shape.latent->rope_dim;
  read_routed_experts(
      config,
      {.count = defaults.experts, .per_token = defaults.per_token, .intermediate = defaults.expert_intermediate},
      defaults.shared, defaults.dense_layers, shape);
  LatentDecoder(config, style, shape, defaults).write();
}

}  // namespace rightsize::model
