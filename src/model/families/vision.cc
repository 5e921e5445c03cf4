// Vision transformers: ViT, DeiT, Swin.
#include <fmt/format.h>

#include "model/families/families.h"
#include "model/inventory.h"

namespace rightsize::model {
namespace {

// A side, or a list of height and width of which the shape keeps the first; they must then be equal.
int read_side(const Config& config, const char* name, int fallback, std::int64_t max) {
  const JsonMember* member = config.json().find(name);
  if (!member || member->value.type != JsonType::kArray) return config.count(name, fallback, 1, max);
  std::vector<std::int64_t> sides = config.json().get_ints(name, 1, max).value_or(std::vector<std::int64_t>{fallback});
  if (sides.empty() || sides.front() != sides.back()) {
    config.json().fail_at(name, fmt::format("'{}' must be square: one number, or the same number twice", name));
    return fallback;
  }
  return static_cast<int>(sides.front());
}

void read_image(const Config& config, ModelShape& shape, int patch) {
  shape.image_size = read_side(config, "image_size", 224, kLargestImage);
  shape.patch_size = read_side(config, "patch_size", patch, 1'024);
  shape.channels = config.count("num_channels", 3, 1, kWidest);
  if (shape.patch_size > shape.image_size) {
    config.json().fail_at("patch_size", fmt::format("'patch_size' ({}) must not exceed 'image_size' ({})",
                                                    shape.patch_size, shape.image_size));
  }
}

void add_patches(Inventory& inventory, const ModelShape& shape, std::int64_t width) {
  ConvOptions options;
  options.stride = shape.patch_size;
  options.bias = true;
  inventory.grid(shape.patch_size);
  inventory.conv("embeddings.patch_embeddings.projection", width, shape.channels, shape.patch_size, options);
  inventory.grid(0);
}

void add_vit_layers(Inventory& inventory, const ModelShape& shape, bool qkv_bias) {
  const std::int64_t width = shape.hidden;
  inventory.begin_block(shape.layers);
  if (shape.fused_qkv) {
    inventory.linear("attention.in_proj", WeightRole::kAttention, 3 * width, width, qkv_bias);
  } else {
    for (const char* name : {"attention.query", "attention.key", "attention.value"}) {
      inventory.linear(name, WeightRole::kAttention, width, width, qkv_bias);
    }
  }
  inventory.linear("attention.output.dense", WeightRole::kAttention, width, width, true);
  inventory.linear("intermediate.dense", WeightRole::kMlp, shape.intermediate, width, true);
  inventory.linear("output.dense", WeightRole::kMlp, width, shape.intermediate, true);
  inventory.norm("layernorm_before", width, true);
  inventory.norm("layernorm_after", width, true);
  inventory.end_block();
}

void add_image_classifier(const Config& config, Inventory& inventory, ModelShape& shape, std::int64_t width) {
  shape.labels = config.labels();
  inventory.linear("classifier", WeightRole::kHead, shape.labels, width, true);
}

}  // namespace

void read_vit(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kVisionTransformer;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.intermediate = config.size("intermediate_size", 3'072, kWidestMlp);
  shape.activation = config.activation("hidden_act", "gelu");
  shape.dropout = config.dropout("hidden_dropout_prob", 0.0);
  shape.attention_dropout = config.dropout("attention_probs_dropout_prob", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kLearned;
  read_image(config, shape, 16);
  // torchvision's ViT keeps q, k and v in one matrix; otherwise it is the same model.
  shape.fused_qkv = config.json().get_string("library").value_or("transformers") == "torchvision";
  const bool qkv_bias = config.flag("qkv_bias", true);

  const bool distilled = shape.family == "deit";  // a second token beside the class token
  const std::int64_t side = shape.image_size / shape.patch_size;
  shape.context = side * side + (distilled ? 2 : 1);
  Inventory inventory(shape.weights);
  inventory.vector("embeddings.cls_token", WeightRole::kPositionEmbedding, shape.hidden);
  if (distilled) inventory.vector("embeddings.distillation_token", WeightRole::kPositionEmbedding, shape.hidden);
  inventory.embedding("embeddings.position_embeddings", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  add_patches(inventory, shape, shape.hidden);
  add_vit_layers(inventory, shape, qkv_bias);
  inventory.norm("layernorm", shape.hidden, true);
  if (config.head(Head::kImageClassification) == Head::kBase) {
    inventory.linear("pooler.dense", WeightRole::kOther, config.size("pooler_output_size", shape.hidden), shape.hidden,
                     true);
  } else {
    add_image_classifier(config, inventory, shape, shape.hidden);
  }
}

namespace {

struct SwinLayout {
  std::vector<std::int64_t> depths, heads;
  std::int64_t window;
  double mlp_ratio;
  bool qkv_bias;
};

void add_swin_blocks(Inventory& inventory, const SwinLayout& layout, std::size_t stage, std::int64_t width) {
  const std::int64_t intermediate = static_cast<std::int64_t>(layout.mlp_ratio * static_cast<double>(width));
  const std::int64_t offsets = (2 * layout.window - 1) * (2 * layout.window - 1);
  inventory.begin_block(layout.depths[stage]);
  inventory.norm("layernorm_before", width, true);
  inventory.embedding("attention.relative_position_bias_table", WeightRole::kPositionEmbedding, offsets,
                      layout.heads[stage]);
  for (const char* name : {"attention.query", "attention.key", "attention.value"}) {
    inventory.linear(name, WeightRole::kAttention, width, width, layout.qkv_bias);
  }
  inventory.linear("attention.output.dense", WeightRole::kAttention, width, width, true);
  inventory.norm("layernorm_after", width, true);
  inventory.linear("intermediate.dense", WeightRole::kMlp, intermediate, width, true);
  inventory.linear("output.dense", WeightRole::kMlp, width, intermediate, true);
  inventory.end_block();
}

bool read_swin_layout(const Config& config, SwinLayout& layout) {
  layout.depths = config.json().get_ints("depths", 1, kMostLayers).value_or(std::vector<std::int64_t>{2, 2, 6, 2});
  layout.heads = config.json().get_ints("num_heads", 1, kMostHeads).value_or(std::vector<std::int64_t>{3, 6, 12, 24});
  layout.window = config.size("window_size", 7, 1'024);
  layout.mlp_ratio = config.number("mlp_ratio", 4.0, 0.01, 100.0);
  layout.qkv_bias = config.flag("qkv_bias", true);
  if (!layout.depths.empty() && layout.depths.size() <= 8 && layout.depths.size() == layout.heads.size()) return true;
  config.json().fail_at("num_heads", "'depths' and 'num_heads' must have one number for each stage, 1 to 8 of them");
  return false;
}

}  // namespace

void read_swin(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kVisionTransformer;
  const std::int64_t embedding = config.hidden("embed_dim");
  SwinLayout layout;
  if (!read_swin_layout(config, layout)) return;
  read_image(config, shape, 4);
  shape.activation = config.activation("hidden_act", "gelu");
  shape.dropout = config.dropout("hidden_dropout_prob", 0.0);
  shape.attention_dropout = config.dropout("attention_probs_dropout_prob", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kRelative;

  Inventory inventory(shape.weights);
  add_patches(inventory, shape, embedding);
  inventory.grid(shape.patch_size);
  inventory.norm("embeddings.norm", embedding, true);
  std::int64_t width = embedding;
  int scale = shape.patch_size;
  for (std::size_t stage = 0; stage < layout.depths.size(); ++stage) {
    shape.head_dim = config.divide(width, "embed_dim", layout.heads[stage], "num_heads");
    add_swin_blocks(inventory, layout, stage, width);
    shape.layers += static_cast<int>(layout.depths[stage]);
    shape.stages.push_back({static_cast<int>(layout.depths[stage]), width,
                            static_cast<std::int64_t>(layout.mlp_ratio * static_cast<double>(width)), scale});
    if (stage + 1 == layout.depths.size()) break;
    // Four neighbours become one token of twice the width.
    scale *= 2;
    inventory.grid(scale);
    inventory.linear("downsample.reduction", WeightRole::kOther, 2 * width, 4 * width, false);
    inventory.norm("downsample.norm", 4 * width, true);
    width *= 2;
  }
  shape.hidden = width;
  shape.heads = shape.kv_heads = static_cast<int>(layout.heads.back());
  shape.intermediate = shape.stages.back().inner_channels;
  inventory.norm("layernorm", width, true);
  inventory.grid(0);
  if (config.head(Head::kImageClassification) != Head::kBase) add_image_classifier(config, inventory, shape, width);
}

}  // namespace rightsize::model
