// The U-Nets of Stable Diffusion 1, 2 and XL: diffusers' UNet2DConditionModel.
#include <algorithm>

#include <fmt/format.h>

#include "model/families/families.h"
#include "model/inventory.h"

namespace rightsize::model {
namespace {

using Sizes = std::vector<std::int64_t>;

struct UnetLayout {
  Sizes channels;  // of each resolution
  Sizes depths;    // transformer blocks of each resolution
  std::vector<bool> attends_down, attends_up;
  std::int64_t resnets = 2;  // a block on the way down; one more on the way up
  std::int64_t time_width = 0;
  std::int64_t text_width = 0;  // of the prompt's embedding
};

// A number for all resolutions, or a list with one each.
Sizes read_per_block(const Config& config, const FieldNames& names, std::int64_t fallback, std::size_t blocks) {
  const JsonMember* member = config.json().find(names);
  if (!member || member->value.type != JsonType::kArray)
    return Sizes(blocks, config.size(names, fallback, kMostLayers));
  Sizes sizes = config.json().get_ints(names, 1, kMostLayers).value_or(Sizes(blocks, 1));
  if (sizes.size() == blocks) return sizes;
  config.json().fail_at(names,
                        fmt::format("'{}' must be one number, or one for each of the {} blocks", member->name, blocks));
  return Sizes(blocks, 1);
}

std::vector<bool> read_block_types(const Config& config, const char* name, const char* plain, const char* attends,
                                   std::vector<bool> fallback) {
  std::optional<std::vector<std::string>> types = config.json().get_strings(name);
  if (!types) return fallback;
  std::vector<bool> result;
  for (const std::string& type : *types) {
    if (type != plain && type != attends) {
      config.json().fail_at(
          name, fmt::format("'{}' may hold {} and {} only, not '{}'", name, plain, attends, type.substr(0, 64)));
      return fallback;
    }
    result.push_back(type == attends);
  }
  if (result.size() == fallback.size()) return result;
  config.json().fail_at(
      name, fmt::format("'{}' must name {} blocks, one for each of 'block_out_channels'", name, fallback.size()));
  return fallback;
}

UnetLayout read_layout(const Config& config) {
  UnetLayout layout;
  layout.channels = config.json().get_ints("block_out_channels", 1, kWidest).value_or(Sizes{320, 640, 1'280, 1'280});
  if (layout.channels.empty() || layout.channels.size() > 8) {
    config.json().fail_at("block_out_channels", "'block_out_channels' must hold 1 to 8 numbers");
    layout.channels = {1};
  }
  const std::size_t blocks = layout.channels.size();
  std::vector<bool> down(blocks, true), up(blocks, true);  // all attend but the coarsest
  down.back() = false;
  up.front() = false;
  layout.attends_down = read_block_types(config, "down_block_types", "DownBlock2D", "CrossAttnDownBlock2D", down);
  layout.attends_up = read_block_types(config, "up_block_types", "UpBlock2D", "CrossAttnUpBlock2D", up);
  layout.depths = read_per_block(config, "transformer_layers_per_block", 1, blocks);
  layout.resnets = config.size("layers_per_block", 2, 100);
  layout.time_width = config.size("time_embedding_dim", 4 * layout.channels.front());
  layout.text_width = config.size("cross_attention_dim", 1'280);
  return layout;
}

class UnetBuilder {
 public:
  UnetBuilder(Inventory& inventory, const UnetLayout& layout) : inventory_(inventory), layout_(layout) {}

  void conv(const std::string& name, std::int64_t outputs, std::int64_t inputs, int kernel, int stride = 1) {
    ConvOptions options;
    options.stride = stride;
    options.bias = true;
    inventory_.conv(name, outputs, inputs, kernel, options);
  }

  // Halves the grid by its stride, or follows a doubling by interpolation; set `scale` first.
  void resample(const std::string& name, std::int64_t width, int stride) {
    inventory_.grid(scale);
    conv(name, width, width, 3, stride);
  }

  void time_embedding(const std::string& name, std::int64_t inputs) {
    inventory_.grid(0);
    inventory_.linear(name + ".linear_1", WeightRole::kOther, layout_.time_width, inputs, true);
    inventory_.linear(name + ".linear_2", WeightRole::kOther, layout_.time_width, layout_.time_width, true);
  }

  void resnet(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    inventory_.grid(scale);
    inventory_.norm(name + ".norm1", inputs, true);
    conv(name + ".conv1", outputs, inputs, 3);
    inventory_.grid(0);
    inventory_.linear(name + ".time_emb_proj", WeightRole::kOther, outputs, layout_.time_width, true);
    inventory_.grid(scale);
    inventory_.norm(name + ".norm2", outputs, true);
    conv(name + ".conv2", outputs, outputs, 3);
    if (inputs != outputs) conv(name + ".conv_shortcut", outputs, inputs, 1);
  }

  void transformer(const std::string& name, std::int64_t width, std::int64_t depth) {
    transformer_blocks += static_cast<int>(depth);
    inventory_.grid(scale);
    inventory_.norm(name + ".norm", width, true);
    inventory_.linear(name + ".proj_in", WeightRole::kAttention, width, width, true);
    inventory_.begin_block(depth);
    inventory_.norm(name + ".norm1", width, true);
    attention(name + ".attn1", width, width);
    inventory_.norm(name + ".norm2", width, true);
    attention(name + ".attn2", width, layout_.text_width);
    inventory_.norm(name + ".norm3", width, true);
    inventory_.linear(name + ".ff.net.0.proj", WeightRole::kMlp, 8 * width, width, true);  // GEGLU: gate and up
    inventory_.linear(name + ".ff.net.2", WeightRole::kMlp, width, 4 * width, true);
    inventory_.end_block();
    inventory_.linear(name + ".proj_out", WeightRole::kAttention, width, width, true);
  }

  int scale = 1;  // latent side / side of the grid being worked on
  int transformer_blocks = 0;

 private:
  void attention(const std::string& name, std::int64_t width, std::int64_t context) {
    inventory_.linear(name + ".to_q", WeightRole::kAttention, width, width, false);
    // Keys and values of cross-attention lie on the prompt's tokens, not on the grid.
    if (name.ends_with("attn2")) inventory_.grid(0);
    inventory_.linear(name + ".to_k", WeightRole::kAttention, width, context, false);
    inventory_.linear(name + ".to_v", WeightRole::kAttention, width, context, false);
    inventory_.grid(scale);
    inventory_.linear(name + ".to_out.0", WeightRole::kAttention, width, width, true);
  }

  Inventory& inventory_;
  const UnetLayout& layout_;
};

void add_down(UnetBuilder& builder, const UnetLayout& layout) {
  std::int64_t inputs = layout.channels.front();
  for (std::size_t i = 0; i < layout.channels.size(); ++i) {
    const std::string prefix = fmt::format("down_blocks.{}", i);
    const std::int64_t outputs = layout.channels[i];
    for (std::int64_t r = 0; r < layout.resnets; ++r) {
      builder.resnet(prefix + ".resnets", outputs, r == 0 ? inputs : outputs);
      if (layout.attends_down[i]) builder.transformer(prefix + ".attentions", outputs, layout.depths[i]);
    }
    if (i + 1 < layout.channels.size()) {
      builder.scale *= 2;
      builder.resample(prefix + ".downsamplers.conv", outputs, 2);
    }
    inputs = outputs;
  }
}

void add_middle(UnetBuilder& builder, const UnetLayout& layout) {
  const std::int64_t width = layout.channels.back();
  builder.resnet("mid_block.resnets", width, width);
  builder.transformer("mid_block.attentions", width, layout.depths.back());
  builder.resnet("mid_block.resnets", width, width);
}

// On the way up each ResNet also reads what the same resolution left on the way down.
void add_up(UnetBuilder& builder, const UnetLayout& layout) {
  const Sizes reversed(layout.channels.rbegin(), layout.channels.rend());
  const Sizes depths(layout.depths.rbegin(), layout.depths.rend());
  std::int64_t previous = reversed.front();
  for (std::size_t i = 0; i < reversed.size(); ++i) {
    const std::string prefix = fmt::format("up_blocks.{}", i);
    const std::int64_t outputs = reversed[i];
    const std::int64_t last_skip = reversed[std::min(i + 1, reversed.size() - 1)];
    for (std::int64_t r = 0; r <= layout.resnets; ++r) {
      const std::int64_t skip = r == layout.resnets ? last_skip : outputs;
      builder.resnet(prefix + ".resnets", outputs, (r == 0 ? previous : outputs) + skip);
      if (layout.attends_up[i]) builder.transformer(prefix + ".attentions", outputs, depths[i]);
    }
    if (i + 1 < reversed.size()) {
      builder.scale /= 2;
      builder.resample(prefix + ".upsamplers.conv", outputs, 1);
    }
    previous = outputs;
  }
}

void fill_shape(const Config& config, const UnetLayout& layout, ModelShape& shape) {
  shape.kind = ModelKind::kDiffusionUNet;
  shape.hidden = layout.channels.back();
  // diffusers calls the number of heads attention_head_dim; kept so for old files.
  Sizes heads = read_per_block(config, {"num_attention_heads", "attention_head_dim"}, 8, layout.channels.size());
  shape.heads = shape.kv_heads = static_cast<int>(heads.back());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    shape.head_dim = config.divide(layout.channels[i], "block_out_channels", heads[i], "attention_head_dim");
    shape.stages.push_back({static_cast<int>(layout.resnets), layout.channels[i], 4 * layout.channels[i], 1 << i});
  }
  shape.intermediate = 4 * shape.hidden;
  shape.image_size = config.count("sample_size", 64, 1, kLargestImage);
  shape.channels = config.count("in_channels", 4, 1, kWidest);
  shape.gated_mlp = shape.fused_gate_up = true;
  shape.norm = Norm::kGroup;
  shape.activation = Activation::kSilu;
  shape.positions = Positions::kNone;
}

}  // namespace

void read_unet(const Config& config, ModelShape& shape) {
  const UnetLayout layout = read_layout(config);
  fill_shape(config, layout, shape);
  const std::int64_t first = layout.channels.front();
  Inventory inventory(shape.weights);
  UnetBuilder builder(inventory, layout);
  inventory.grid(1);
  builder.conv("conv_in", first, shape.channels, 3);
  builder.time_embedding("time_embedding", first);
  if (config.json().get_string("addition_embed_type").value_or("") == "text_time") {
    builder.time_embedding("add_embedding", config.size("projection_class_embeddings_input_dim", 2'816));
  }
  add_down(builder, layout);
  add_middle(builder, layout);
  add_up(builder, layout);
  inventory.grid(1);
  inventory.norm("conv_norm_out", first, true);
  builder.conv("conv_out", config.size("out_channels", 4), first, 3);
  shape.layers = builder.transformer_blocks;
}

}  // namespace rightsize::model
