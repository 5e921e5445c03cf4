// Llama 4: one expert per token beside a shared one, in every layer (Scout) or every other (Maverick). Three of four
// layers attend within chunks and rotate; the fourth attends to everything and does not.
#include <vector>

#include "families/decoder.h"
#include "families/families.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

class ChunkedDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  // Queries and keys are scaled to length one where they are rotated: no weights.
  Value attention(Value given, const Layer& layer, std::int64_t window) override {
    if (window > 0 || shape_.sliding_window == 0) return Decoder::attention(std::move(given), layer, window);
    Value x = f_.gather_rows(std::move(given));
    Value q = f_.split_heads(f_.linear(layer.q, x));
    Value k = f_.split_heads(f_.linear(layer.k, x));
    Value v = f_.split_heads(f_.linear(layer.v, x));
    return f_.scatter_rows(f_.linear(layer.o, f_.attention(q, k, v, attention_of(shape_))));
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
  DecoderStyle style;
  style.vocabulary = 202'048;
  style.heads = 40;
  style.kv_heads = 8;
  style.head_dim = 128;
  style.context = 131'072;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.router_name = "feed_forward.router";
  style.shared_name = "feed_forward.shared_expert";
  style.adapted_experts = false;
  style.router_last = true;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.intermediate = config.size("intermediate_size_mlp", 16'384, kWidestMlp);
  shape.experts = read_experts(config, {"num_local_experts", "num_experts"}, 16, 1);
  shape.experts->intermediate = config.size("intermediate_size", 8'192, kWidestMlp);
  shape.experts->shared = 1;
  shape.experts->shared_intermediate = shape.experts->intermediate;
  // A chunk is a window of which a token sees half on average; the cache keeps all of it.
  shape.sliding_window = config.size("attention_chunk_size", 8'192, kLongestContext);
  shape.full_attention_every = config.count("no_rope_layer_interval", 4);
  ChunkedDecoder(config, style, shape).write(read_layers(config, shape));
}

VisionTower read_tower(const Config& config) {
  VisionTower tower;
  tower.layers = config.count("num_hidden_layers", 34);
  tower.hidden = config.size("hidden_size", 768);
  tower.intermediate = config.size("intermediate_size", 5'632, kWidestMlp);
  tower.heads = config.count("num_attention_heads", 16, 1, kMostHeads);
  tower.patch = config.count("patch_size", 14, 1, 1'024);
  tower.side = config.count("image_size", 448, 1, kLargestImage);
  tower.merge = static_cast<int>(1 / config.number("pixel_shuffle_ratio", 0.5, 0.01, 1));
  tower.tiles = 16;
  tower.inputs = std::int64_t{config.count("num_channels", 3, 1, 1'024)} * tower.patch * tower.patch;
  const std::int64_t across = tower.side / tower.patch;
  tower.positions = across * across + 1;
  tower.class_token = tower.first_norm = tower.last_norm = true;
  tower.patch_bias = false;
  tower.projector = VisionTower::Projector::kShuffle;
  tower.projector_width = config.size("projector_output_dim", 4'096);
  return tower;
}

void read_llama4(const Config& config, ModelShape& shape) {
  if (!config.json().has("text_config")) return read_llama4_text(config, shape);
  const Config text = config.section("text_config").with_sizes(48, 5'120);
  if (config.head(Head::kConditionalGeneration) != Head::kCausalLm) {
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
