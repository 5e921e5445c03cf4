// Llama 4: one expert per token in addition to a shared one, in every layer (Scout) or every other (Maverick). Three of
// four layers attend within chunks and rotate; the fourth attends to everything and does not.
#include <vector>

#include "families/decoder.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

class ChunkedDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  // Rotated queries and keys are scaled to length one, which needs no weights.
  Value attention(Value given, const Layer& layer, std::int64_t window) override {
    if (window > 0 || shape_.sliding_window == 0) return Decoder::attention(std::move(given), layer, window);
    Value x = f_.gather_rows(std::move(given));
    HeadValues heads = split_qkv(layer, x);
    return f_.scatter_rows(f_.linear(layer.o, f_.attention(heads.q, heads.k, heads.v, attention_op())));
  }
};

std::vector<Decoder::Run> read_layers(const Config& config, ModelShape& shape) {
  const int step = config.count("interleave_moe_layer_step", 1);
  std::vector<Decoder::Run> layers;
  for (int i = 0; i < shape.layers; ++i) layers.push_back({1, (i + 1) % step == 0});
  if (const auto listed = config.json().get_ints("moe_layers", 0, kMostLayers); listed && !listed->empty()) {
    for (Decoder::Run& layer : layers) layer.experts = false;
    for (std::int64_t i : *listed) {
      if (i < shape.layers) layers[static_cast<std::size_t>(i)].experts = true;
    }
  }
  for (const Decoder::Run& layer : layers) shape.experts->dense_layers += layer.experts ? 0 : 1;
  return Decoder::runs_of(layers);
}

void read_llama4_text(const Config& config, ModelShape& shape) {
  const DecoderStyle style = {
      .vocabulary = 202'048,
      .heads = 40,
      .kv_heads = 8,
      .head_dim = 128,
      .context = 131'072,
      .attention_bias = false,
      .router_name = "feed_forward.router",
      .shared_name = "feed_forward.shared_expert",
      .adapted_experts = false,
      .router_last = true,
      .exact = false,
  };
  read_decoder_sizes(config, style, shape);
  shape.intermediate = config.size("intermediate_size_mlp", 16'384, kWidestMlp);
  read_experts(config, {.count = 16, .per_token = 1}, shape);
  shape.experts->intermediate = config.size("intermediate_size", 8'192, kWidestMlp);
  shape.experts->shared = 1;
  shape.experts->shared_intermediate = shape.experts->intermediate;
  // A chunk is a window: a token sees half of it on average, and the cache keeps all of it.
  shape.sliding_window = config.size("attention_chunk_size", 8'192, kLongestContext);
  shape.full_attention_every = config.count("no_rope_layer_interval", 4);
  ChunkedDecoder(config, style, shape).write(read_layers(config, shape));
}

VisionTower read_tower(const Config& config) {
  VisionTower tower = read_tower_sizes(config, {.layers = {"num_hidden_layers", 34},
                                                .intermediate = {"intermediate_size", 5'632},
                                                .heads = {"num_attention_heads", 16}});
  tower.side = config.count("image_size", 448, 1, kLargestImage);
  tower.merge = static_cast<int>(1 / config.number("pixel_shuffle_ratio", 0.5, 0.01, 1));
  tower.tiles = 16;
  const std::int64_t across = tower.side / tower.patch;
  tower.positions = across * across + 1;
  tower.class_token = tower.first_norm = tower.last_norm = true;
  tower.patch_bias = false;
  tower.projector = VisionTower::Projector::kShuffle;
  tower.projector_width = config.size("projector_output_dim", 4'096);
  return tower;
}

void read_llama4(const Config& config, ModelShape& shape) {
  if (is_text_only(config)) return read_llama4_text(config, shape);
  const Config text = config.section("text_config").with_sizes(48, 5'120);
  if (has_tower(config)) {
    VisionTower tower = read_tower(config.section("vision_config"));
    tower.text_width = text.size("hidden_size", 5'120);
    add_vision_tower(shape, tower);
  }
  read_llama4_text(text, shape);
  text.json().refuse_misspelt();
}

}  // namespace

Families llama4() {
  return {
      {"llama4", "Llama 4 Scout and Maverick with their image tower", read_llama4},
      {"llama4_text", "Llama 4, text alone", read_llama4_text},
  };
}

}  // namespace rightsize::model
