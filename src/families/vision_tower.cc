#include "families/vision_tower.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "families/family_writer.h"

namespace rightsize::model {
namespace {

std::int64_t steps(std::int64_t pixels, std::int64_t by) { return std::max<std::int64_t>(1, (pixels + by / 2) / by); }

// The number of squares an image is cut into, including the one that shows the whole image.
std::int64_t tiles_of(const VisionTower& tower, ImageSize image) {
  if (tower.side == 0 || tower.tiles <= 1) return 1;
  auto across = [&](std::int64_t pixels) { return (pixels + tower.side - 1) / tower.side; };
  const std::int64_t cut = std::min<std::int64_t>(tower.tiles, across(image.width) * across(image.height));
  return cut > 1 ? cut + 1 : 1;
}

class Tower : protected ForwardWriter {
 public:
  Tower(const VisionTower& tower, ModelShape& shape, ImageSize image)
      : ForwardWriter(shape),
        t_(tower),
        tokens_(image_tokens(tower, image)),
        each_(image_patches(tower, image)),
        rows_(kSamples.times(each_)) {}

  void write() {
    const WeightRef patches = inventory_.linear("patch_embed", WeightRole::kConv, t_.hidden, t_.inputs, t_.patch_bias);
    shape_.weights.back().linear = false;  // a convolution in the framework
    if (t_.class_token) inventory_.vector("class_embedding", WeightRole::kPositionEmbedding, t_.hidden);
    if (t_.positions > 0) positions("position_embedding", t_.positions);
    const WeightRef first = t_.first_norm ? norm_of("pre_layernorm", t_.hidden) : WeightRef{};
    using L = LayerWeights;
    const LayerWeights layer = declare_layers(t_.layers, {{&L::norm1, "norm1", !t_.rms},
                                                          {&L::qkv, t_.fused_qkv ? "attn.qkv" : ""},
                                                          {&L::q, t_.fused_qkv ? "" : "attn.q_proj"},
                                                          {&L::k, t_.fused_qkv ? "" : "attn.k_proj"},
                                                          {&L::v, t_.fused_qkv ? "" : "attn.v_proj"},
                                                          {&L::o, "attn.out_proj"},
                                                          {&L::norm2, "norm2", !t_.rms},
                                                          {&L::gate, t_.gated ? "mlp.gate_proj" : ""},
                                                          {&L::up, "mlp.fc1"},
                                                          {&L::down, "mlp.fc2"}});
    const WeightRef last = t_.last_norm ? norm_of("post_layernorm", t_.hidden) : WeightRef{};
    Value x = f_.linear(patches, f_.input(rows_.times(t_.inputs), Width::kStored));
    if (first) x = norm(first, std::move(x));
    const std::int32_t stack = f_.add_stack();
    auto program = [&](bool windowed) {
      return f_.program({rows_.times(t_.hidden)}, [&](std::span<Value> in) { return block(in[0], layer, windowed); });
    };
    const std::int32_t full = program(false), within = t_.window > 0 ? program(true) : full;
    std::vector<std::int32_t> programs;
    for (int i = 1; i <= t_.layers; ++i) programs.push_back(i % t_.full_every == 0 ? full : within);
    f_.add_layers(stack, layer.first, std::move(programs));
    x = f_.layers(stack, std::move(x));
    if (last) x = norm(last, std::move(x));
    x = project(std::move(x));
    f_.forward().exact = false;
    finish(std::move(x));
  }

 private:
  WeightRef norm_of(const char* name, std::int64_t width) { return inventory_.norm(name, width, !t_.rms); }
  Value norm(WeightRef weight, Value x) {
    return f_.norm(t_.rms ? NormKind::kRms : NormKind::kLayer, weight, std::move(x), rows_);
  }

  Value block(Value x, const LayerWeights& w, bool windowed) {
    Value attended = f_.linear(w.o, attention(norm(w.norm1, x), w, windowed));
    x = f_.add(std::move(attended), std::move(x));
    Value normed = norm(w.norm2, x);
    Value inner = f_.linear(w.up, normed);
    if (w.gate) {
      Value gate = f_.activate(f_.linear(w.gate, std::move(normed)), Activation::kSilu, true);
      inner = f_.gate(std::move(gate), std::move(inner));
    } else {
      inner = f_.activate(std::move(inner), Activation::kGelu);
    }
    return f_.add(f_.linear(w.down, std::move(inner)), std::move(x));
  }

  Value attention(Value x, const LayerWeights& w, bool windowed) {
    AttentionOp how = encoder_attention();
    how.query_tokens = each_;
    how.key_tokens = t_.side > 0 ? std::min(each_, square(t_.side / t_.patch) + t_.class_token) : each_;
    if (windowed) how.key_tokens = std::min<std::int64_t>(how.key_tokens, t_.window);
    Value q, k, v;
    if (w.qkv) {
      const Size each = rows_.times(t_.hidden);
      auto parts = f_.split(f_.linear(w.qkv, std::move(x)), each, each, each);
      q = std::move(parts[0]), k = std::move(parts[1]), v = std::move(parts[2]);
    } else {
      q = f_.linear(w.q, x), k = f_.linear(w.k, x), v = f_.linear(w.v, x);
    }
    return f_.attention(f_.split_heads(std::move(q)), f_.split_heads(std::move(k)), f_.split_heads(std::move(v)), how);
  }

  Value project(Value x) {
    using Projector = VisionTower::Projector;
    const WeightRole role = WeightRole::kOther;
    const std::int64_t merged = t_.hidden * square(t_.merge);
    const Size tokens = kSamples.times(tokens_);
    auto matrix = [&](const char* name, std::int64_t outputs, std::int64_t inputs, bool bias, Value given) {
      return f_.linear(inventory_.linear(name, role, outputs, inputs, bias), std::move(given));
    };
    switch (t_.projector) {
      case Projector::kMatrix:
        x = f_.average_pool(std::move(x), tokens.times(t_.hidden));
        x = f_.norm(NormKind::kRms, inventory_.norm("projector.norm", t_.hidden, false), std::move(x), tokens);
        x = matrix("projector", t_.text_width, t_.hidden, false, std::move(x));
        shape_.weights.back().linear = false;  // a bare parameter
        return x;
      case Projector::kTwo:
        x = f_.slice(std::move(x), tokens.times(t_.hidden));
        x = f_.activate(matrix("projector.linear_1", t_.text_width, t_.hidden, true, std::move(x)), Activation::kGelu);
        x = matrix("projector.linear_2", t_.text_width, t_.text_width, true, std::move(x));
        if (t_.newline) inventory_.vector("image_newline", role, t_.text_width);
        return x;
      case Projector::kMerger:
        x = norm(norm_of("merger.norm", t_.hidden), std::move(x));
        x = f_.slice(std::move(x), tokens.times(merged));
        x = f_.activate(matrix("merger.fc1", merged, merged, true, std::move(x)), Activation::kGelu);
        return matrix("merger.fc2", t_.text_width, merged, true, std::move(x));
      case Projector::kShuffle:
        x = f_.slice(std::move(x), tokens.times(merged));
        x = f_.activate(matrix("adapter.fc1", t_.projector_width, merged, false, std::move(x)), Activation::kGelu);
        x = f_.activate(matrix("adapter.fc2", t_.projector_width, t_.projector_width, false, std::move(x)),
                        Activation::kGelu);
        return matrix("projector", t_.text_width, t_.projector_width, false, std::move(x));
    }
    return x;
  }

  static std::int64_t square(std::int64_t n) { return n * n; }

  const VisionTower& t_;
  std::int64_t tokens_, each_;
  Size rows_;
};

}  // namespace

std::int64_t image_patches(const VisionTower& tower, ImageSize image) {
  if (tower.side == 0) {
    const std::int64_t unit = std::int64_t{tower.patch} * tower.merge;
    return steps(image.width, unit) * steps(image.height, unit) * tower.merge * tower.merge;
  }
  const std::int64_t across = tower.side / std::max(1, tower.patch);
  return tiles_of(tower, image) * (across * across + (tower.class_token ? 1 : 0));
}

std::int64_t image_tokens(const VisionTower& tower, ImageSize image) {
  const std::int64_t merged = std::int64_t{tower.merge} * tower.merge;
  if (tower.tokens > 0) return tiles_of(tower, image) * tower.tokens;
  if (tower.side == 0) return image_patches(tower, image) / merged;
  const std::int64_t across = tower.side / std::max(1, tower.patch);
  return tiles_of(tower, image) * (across * across / merged);
}

ModelShape trace_tower(const VisionTower& tower, ImageSize image) {
  ModelShape shape;
  shape.kind = ModelKind::kVisionTransformer;
  shape.layers = tower.layers;
  shape.hidden = tower.hidden;
  shape.heads = shape.kv_heads = tower.heads;
  shape.head_dim = static_cast<int>(tower.hidden / std::max(1, tower.heads));
  shape.intermediate = tower.intermediate;
  shape.positions = tower.positions > 0 ? Positions::kLearned : Positions::kRotary;
  shape.image_size = static_cast<int>(image.width);
  shape.patch_size = tower.patch;
  Tower(tower, shape, image).write();
  return shape;
}

void add_vision_tower(ModelShape& shape, VisionTower tower) {
  const ModelShape traced = trace_tower(tower, kUsualImage);
  for (Weight weight : traced.weights) {
    weight.name = "vision_tower." + weight.name;
    weight.images_only = true;
    shape.weights.push_back(std::move(weight));
  }
  shape.vision = std::make_shared<const VisionTower>(tower);
}

VisionTower read_tower_sizes(const Config& config, const TowerFields& fields) {
  VisionTower tower;
  tower.layers = config.count(fields.layers.names, fields.layers.value);
  tower.hidden = config.size(fields.hidden.names, fields.hidden.value);
  tower.intermediate = config.size(fields.intermediate.names, fields.intermediate.value, kWidestMlp);
  tower.heads = config.count(fields.heads.names, fields.heads.value, 1, kMostHeads);
  tower.patch = config.count(fields.patch.names, fields.patch.value, 1, 1'024);
  tower.inputs = std::int64_t{config.count(fields.channels, 3, 1, 1'024)} * tower.patch * tower.patch;
  return tower;
}

VisionTower read_qwen3_vision(const Config& config) {
  VisionTower tower = read_tower_sizes(config, {.layers = {"depth", 27},
                                                .hidden = {"hidden_size", 1'152},
                                                .intermediate = {"intermediate_size", 4'304},
                                                .heads = {"num_heads", 16},
                                                .patch = {"patch_size", 16},
                                                .channels = "in_channels"});
  tower.merge = config.count("spatial_merge_size", 2, 1, 64);
  tower.inputs *= config.count("temporal_patch_size", 2, 1, 64);
  tower.positions = config.size("num_position_embeddings", 2'304, kLongestContext);
  tower.text_width = config.size("out_hidden_size", 3'584);
  tower.fused_qkv = true;
  tower.projector = VisionTower::Projector::kMerger;
  return tower;
}

VisionTower read_clip_vision(const Config& config) {
  const bool siglip = config.json().get_string("model_type").value_or("clip_vision_model") == "siglip_vision_model";
  VisionTower tower = read_tower_sizes(config, {.patch = {"patch_size", siglip ? 16 : 32}});
  config.divide(tower.hidden, "hidden_size", tower.heads, "num_attention_heads");
  tower.side = config.count("image_size", 224, 1, kLargestImage);
  const std::int64_t across = std::max(1, tower.side / tower.patch);
  tower.class_token = tower.first_norm = !siglip;
  tower.patch_bias = siglip;
  tower.last_norm = true;
  tower.positions = across * across + (siglip ? 0 : 1);
  return tower;
}

}  // namespace rightsize::model
