// Qwen3-Next and Qwen3.5: three of four layers carry a state by the gated delta rule, the fourth attends under a gate;
// many small experts beside a shared one (Qwen3.5 also as a dense model, both with an image tower).
#include "families/decoder.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

constexpr int kAttends = 0, kRecurs = 1;

ScanOp read_delta(const Config& config) {
  ScanOp scan;
  scan.delta = true;
  scan.chunk = 64;
  scan.heads = config.count("linear_num_value_heads", 32, 1, kMostHeads);
  scan.groups = config.count("linear_num_key_heads", 16, 1, kMostHeads);
  scan.head_dim = config.count("linear_value_head_dim", 128, 1, kWidestHead);
  scan.state = config.count("linear_key_head_dim", 128, 1, kWidestHead);
  scan.conv_kernel = config.count("linear_conv_kernel_dim", 4, 1, 1'024);
  scan.conv_width = 2 * scan.groups * scan.state + scan.heads * scan.head_dim;
  return scan;
}

class DeltaDecoder : public Decoder {
 public:
  DeltaDecoder(const Config& config, const DecoderStyle& style, ModelShape& shape)
      : Decoder(config, style, shape), scan_(read_delta(config)) {}

 private:
  // The projection of q holds a gate for every one of its elements.
  void declare_attention(Layer& layer) override {
    if (layer.mixer == kRecurs) {
      layer.recurrent = declare_gated_delta(inventory_, scan_, shape_.hidden);
      layer.first = layer.recurrent.first;
      return;
    }
    const WeightRole role = WeightRole::kAttention;
    const std::int64_t q = std::int64_t{shape_.heads} * shape_.head_dim;
    const std::int64_t kv = std::int64_t{shape_.kv_heads} * shape_.head_dim;
    layer.q = layer.first = inventory_.linear("self_attn.q_proj", role, 2 * q, shape_.hidden, style_.qkv_bias);
    layer.k = inventory_.keys("self_attn.k_proj", kv, shape_.hidden, style_.qkv_bias, shape_.head_dim);
    layer.v = inventory_.keys("self_attn.v_proj", kv, shape_.hidden, style_.qkv_bias, shape_.head_dim);
    layer.o = inventory_.output("self_attn.o_proj", role, shape_.hidden, q, style_.output_bias);
    layer.q_norm = inventory_.norm("self_attn.q_norm", shape_.head_dim, false);
    layer.k_norm = inventory_.norm("self_attn.k_norm", shape_.head_dim, false);
  }

  Value attention(Value given, const Layer& layer, std::int64_t window) override {
    if (layer.mixer == kRecurs) return gated_delta(f_, std::move(given), layer.recurrent, scan_);
    Value x = f_.gather_rows(std::move(given));
    auto [q, gate] = f_.halves(f_.linear(layer.q, x));
    q = f_.split_heads(norm(layer.q_norm, std::move(q), kTokens.split_into(shape_.heads, 1)));
    Value k = norm(layer.k_norm, f_.linear(layer.k, x), kTokens.split_into(shape_.kv_heads, 1));
    k = f_.split_heads(std::move(k));
    Value v = f_.split_heads(f_.linear(layer.v, x));
    rotate_both(q, k);
    AttentionOp how = attention_op();
    how.window = window;
    Value out = f_.attention(q, k, v, how);
    out = f_.multiply(std::move(out), f_.activate(std::move(gate), Activation::kSigmoid));
    return f_.scatter_rows(f_.linear(layer.o, std::move(out)));
  }

  ScanOp scan_;
};

// From the list of layer types, or every n-th layer attends.
std::vector<Decoder::Run> read_layers(const Config& config, const ModelShape& shape) {
  const int every = config.count("full_attention_interval", 4);
  const auto types = config.json().get_strings("layer_types").value_or(std::vector<std::string>{});
  std::vector<Decoder::Run> layers;
  for (int i = 0; i < shape.layers; ++i) {
    const bool listed = static_cast<std::size_t>(i) < types.size();
    const bool attends = listed ? types[static_cast<std::size_t>(i)] == "full_attention" : (i + 1) % every == 0;
    layers.push_back({1, shape.experts.has_value(), attends ? kAttends : kRecurs});
  }
  return Decoder::runs_of(layers);
}

struct TextDefaults {
  std::int64_t vocabulary;
  int kv_heads, experts, per_token;  // no experts: a dense MLP
};

void read_text(const Config& config, const TextDefaults& defaults, ModelShape& shape) {
  const DecoderStyle style = {
      .vocabulary = defaults.vocabulary,
      .intermediate = 5'632,
      .heads = 16,
      .kv_heads = defaults.kv_heads,
      .head_dim = 256,
      .context = 32'768,
      .rotary_fraction = 0.25,
      .attention_bias = false,
      .experts = {defaults.experts, defaults.per_token, {"num_experts", "num_local_experts"}, 512, 512},
      .norm = NormKind::kRmsPlusOne,
      .shared_switch = true,
      .exact = false,
  };
  read_decoder_sizes(config, style, shape);
  DeltaDecoder(config, style, shape).write(read_layers(config, shape));
}

void read_qwen3_next(const Config& config, ModelShape& shape) { read_text(config, {151'936, 2, 512, 10}, shape); }

// The classes that generate from images and text have both configurations; text alone has its fields at the top.
void read_with_images(const Config& config, const TextDefaults& defaults, ModelShape& shape) {
  if (is_text_only(config)) return read_text(config, defaults, shape);
  const Config text = config.section("text_config"), vision = config.section("vision_config");
  if (has_tower(config)) add_vision_tower(shape, read_qwen3_vision(vision));
  read_text(text, defaults, shape);
  text.json().refuse_misspelt();
}

void read_qwen3_5_moe(const Config& config, ModelShape& shape) {
  read_with_images(config, {248'320, 2, 256, 8}, shape);
}
void read_qwen3_5(const Config& config, ModelShape& shape) { read_with_images(config, {248'320, 4, 0, 0}, shape); }

}  // namespace

Families qwen3_next() {
  return {
      {"qwen3_next", "Qwen3-Next: gated delta rule in 3 of 4 layers, 512 small experts", read_qwen3_next},
      {"qwen3_5_moe", "Qwen3.5 mixtures: Qwen3-Next with an image tower", read_qwen3_5_moe, {"qwen3_5_moe_text"}},
      {"qwen3_5", "Qwen3.5 dense, with an image tower", read_qwen3_5, {"qwen3_5_text"}},
  };
}

}  // namespace rightsize::model
