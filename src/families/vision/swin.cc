// Swin: attention within windows, written out, with a position bias per window.
#include "families/family_writer.h"
#include "families/image_config.h"

namespace rightsize::model {
namespace {

struct SwinSizes {
  std::vector<std::int64_t> depths, heads;
  std::int64_t window;
  double mlp_ratio;
  bool qkv_bias;
};

bool read_swin_sizes(const Config& config, SwinSizes& layout) {
  layout.depths = config.json().get_ints("depths", 1, kMostLayers).value_or(std::vector<std::int64_t>{2, 2, 6, 2});
  layout.heads = config.json().get_ints("num_heads", 1, kMostHeads).value_or(std::vector<std::int64_t>{3, 6, 12, 24});
  layout.window = config.size("window_size", 7, 1'024);
  layout.mlp_ratio = config.number("mlp_ratio", 4.0, 0.01, 100.0);
  layout.qkv_bias = config.flag("qkv_bias", true);
  if (!layout.depths.empty() && layout.depths.size() <= 8 && layout.depths.size() == layout.heads.size()) return true;
  config.json().fail_at("num_heads", "'depths' and 'num_heads' must have one number for each stage, 1 to 8 of them");
  return false;
}

// One resolution: its blocks, and how patches are merged before the next.
struct SwinStage : LayerWeights {
  WeightRef table, reduction, merge_norm;
  std::int64_t depth = 0, width = 0, heads = 0;
  int scale = 1;
};

class Swin : protected FamilyWriter {
 public:
  Swin(const Config& config, ModelShape& shape, const SwinSizes& layout)
      : FamilyWriter(config, shape), layout_(layout) {}

  void write(std::int64_t embedding) {
    const WeightRef patches = declare_patches(inventory_, shape_, embedding);
    inventory_.grid(shape_.patch_size);
    const WeightRef first_norm = inventory_.norm("embeddings.norm", embedding, true);
    std::vector<SwinStage> stages = declare_stages(embedding);
    const std::int64_t width = stages.back().width;
    shape_.hidden = width;
    shape_.heads = shape_.kv_heads = static_cast<int>(layout_.heads.back());
    shape_.intermediate = shape_.stages.back().inner_channels;
    const WeightRef last_norm = inventory_.norm("layernorm", width, true);
    const WeightRef classifier = declare_image_classifier(config_, inventory_, shape_, width);

    Value x = f_.convolution(patches, images_of(f_, shape_));
    x = layer_norm(first_norm, std::move(x), image_grid(shape_, shape_.patch_size));
    x = run(std::move(x), stages);
    x = layer_norm(last_norm, std::move(x), image_grid(shape_, stages.back().scale));
    finish(image_class_loss(f_, shape_, std::move(x), classifier));
  }

 private:
  std::vector<SwinStage> declare_stages(std::int64_t width) {
    std::vector<SwinStage> stages;
    int scale = shape_.patch_size;
    for (std::size_t i = 0; i < layout_.depths.size(); ++i) {
      SwinStage stage;
      stage.depth = layout_.depths[i];
      stage.heads = layout_.heads[i];
      stage.width = width;
      stage.scale = scale;
      shape_.head_dim = config_.divide(width, "embed_dim", stage.heads, "num_heads");
      declare_block(stage);
      shape_.layers += static_cast<int>(stage.depth);
      shape_.stages.push_back({static_cast<int>(stage.depth), width, inner(width), scale});
      if (i + 1 < layout_.depths.size()) {
        // Four neighbours become one token of twice the width.
        scale *= 2;
        inventory_.grid(scale);
        stage.reduction = inventory_.linear("downsample.reduction", WeightRole::kOther, 2 * width, 4 * width, false);
        stage.merge_norm = inventory_.norm("downsample.norm", 4 * width, true);
        width *= 2;
      }
      stages.push_back(stage);
    }
    return stages;
  }

  std::int64_t inner(std::int64_t width) const {
    return static_cast<std::int64_t>(layout_.mlp_ratio * static_cast<double>(width));
  }

  void declare_block(SwinStage& w) {
    const std::int64_t width = w.width, offsets = (2 * layout_.window - 1) * (2 * layout_.window - 1);
    const WeightRole role = WeightRole::kAttention;
    inventory_.begin_block(w.depth);
    w.norm1 = inventory_.norm("layernorm_before", width, true);
    w.table = inventory_.embedding("attention.relative_position_bias_table", WeightRole::kPositionEmbedding, offsets,
                                   w.heads);
    w.q = inventory_.linear("attention.query", role, width, width, layout_.qkv_bias);
    w.k = inventory_.linear("attention.key", role, width, width, layout_.qkv_bias);
    w.v = inventory_.linear("attention.value", role, width, width, layout_.qkv_bias);
    w.o = inventory_.output("attention.output.dense", role, width, width, true);
    w.norm2 = inventory_.norm("layernorm_after", width, true);
    w.up = inventory_.linear("intermediate.dense", WeightRole::kMlp, inner(width), width, true);
    w.down = inventory_.output("output.dense", WeightRole::kMlp, width, inner(width), true);
    inventory_.end_block();
  }

  // Every other block shifts its windows.
  Value run(Value given, const std::vector<SwinStage>& stages) {
    Value x = std::move(given);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const SwinStage& stage = stages[i];
      if (i > 0) x = merge(std::move(x), stages[i - 1], image_grid(shape_, stage.scale));
      const Size size = image_grid(shape_, stage.scale).times(stage.width);
      std::array<std::int32_t, 2> programs{};
      for (std::size_t shifted : {0U, 1U})
        programs[shifted] = f_.program({size}, [&](std::span<Value> in) { return block(in[0], stage, shifted == 1); });
      for (std::int64_t r = 0; r < stage.depth; ++r)
        x = f_.segment(programs[static_cast<std::size_t>(r % 2)], static_cast<int>(r), x);
    }
    f_.end();
    return x;
  }

  // Four neighbours joined (a copy), normed, and reduced to twice the width.
  Value merge(Value given, const SwinStage& from, const Size& rows) {
    Value x = f_.copy(std::move(given), CopyKind::kBothWays);
    x = layer_norm(from.merge_norm, std::move(x), rows);
    return f_.linear(from.reduction, std::move(x));
  }

  Value block(Value given, const SwinStage& w, bool shifted) {
    const Size rows = image_grid(shape_, w.scale);
    Value x = std::move(given);
    Value residual = x;
    x = layer_norm(w.norm1, std::move(x), rows);
    x = windows(std::move(x), w, shifted);
    x = f_.add(residual, std::move(x));
    residual = x;
    x = layer_norm(w.norm2, std::move(x), rows);
    x = f_.linear(w.up, std::move(x));
    x = f_.activate(std::move(x), Activation::kGelu);
    x = f_.linear(w.down, std::move(x));
    return f_.add(residual, std::move(x));
  }

  Value windows(Value given, const SwinStage& w, bool shifted) {
    const std::int64_t area = layout_.window * layout_.window;
    const Size rows = image_grid(shape_, w.scale), scores = rows.times(area * w.heads);
    const Size multiplies = rows.times(area * w.width);
    Value x = std::move(given);
    if (shifted) x = f_.copy(std::move(x), CopyKind::kBothWays);  // roll
    x = f_.copy(std::move(x), CopyKind::kBothWays);               // partition
    x = f_.cast_for_product(std::move(x));                        // once: torchvision has one matrix for q, k and v
    Value q = f_.copy(f_.linear(w.q, x), CopyKind::kBothWays);
    Value k = f_.copy(f_.linear(w.k, x), CopyKind::kBothWays);
    Value v = f_.copy(f_.linear(w.v, x), CopyKind::kBothWays);
    q = f_.scale(std::move(q));
    Value weights = f_.product(q, k, scores, multiplies);
    weights = f_.add(std::move(weights), f_.index(f_.parameter(w.table), kOnce.times(area * area * w.heads)));
    if (shifted) weights = f_.add_constant(std::move(weights));
    weights = f_.softmax(std::move(weights), Width::kAsIs);
    Value out = f_.product(weights, v, rows.times(w.width), multiplies);
    out = f_.copy(std::move(out), CopyKind::kBothWays);
    out = f_.linear(w.o, std::move(out));
    out = f_.copy(std::move(out), CopyKind::kBothWays);               // back from windows
    if (shifted) out = f_.copy(std::move(out), CopyKind::kBothWays);  // roll back
    return out;
  }

  const SwinSizes& layout_;
};

void read_swin(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kVisionTransformer;
  const std::int64_t embedding = config.hidden("embed_dim");
  SwinSizes layout;
  if (!read_swin_sizes(config, layout)) return;
  read_patches(config, shape, 4);
  shape.activation = config.activation("hidden_act", "gelu");
  shape.dropout = config.dropout("hidden_dropout_prob", 0.0);
  shape.attention_dropout = config.dropout("attention_probs_dropout_prob", 0.0);
  shape.positions = Positions::kRelative;
  Swin(config, shape, layout).write(embedding);
}

}  // namespace

Families swin() { return {{"swin", "Swin: windowed vision transformers", read_swin}}; }

}  // namespace rightsize::model
