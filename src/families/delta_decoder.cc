#include "families/delta_decoder.h"

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

}  // namespace

void read_delta_decoder(const Config& config, ModelShape& shape, const DeltaDefaults& defaults) {
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

}  // namespace rightsize::model
