// GLM-4.5 to 4.7: Llama's attention with biases and half of each head rotated; experts beside a shared one behind a few
// dense layers. Multi-token prediction comes as a layer of its own that the framework does not load.
#include <algorithm>

#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_glm4_moe(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'552;
  style.intermediate = 10'944;
  style.heads = 96;
  style.kv_heads = 8;
  style.head_dim = 128;
  style.context = 131'072;
  style.rotary_fraction = 0.5;
  style.qkv_bias = config.flag("attention_bias", false);
  if (config.flag("use_qk_norm", false)) style.qk_norm = QkNorm::kPerHead;
  style.shared_name = "mlp.shared_experts";
  style.router_last = true;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.experts = read_experts(config, {"n_routed_experts", "num_local_experts"}, 128, 8);
  Experts& experts = *shape.experts;
  experts.intermediate = config.size("moe_intermediate_size", 1'408, kWidestMlp);
  experts.shared = config.count("n_shared_experts", 1, 0, kMostExperts);
  experts.shared_intermediate = experts.shared * experts.intermediate;
  experts.dense_layers = std::min(shape.layers, config.count("first_k_dense_replace", 1, 0));
  const std::int64_t dense = experts.dense_layers;
  Decoder(config, style, shape).write({{dense, false}, {shape.layers - dense, true}});
}

}  // namespace

Families glm4_moe() {
  return {
      {"glm4_moe", "GLM-4.5, 4.6, 4.7: experts beside a shared one", read_glm4_moe},
  };
}

}  // namespace rightsize::model
