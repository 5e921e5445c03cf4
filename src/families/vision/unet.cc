// The U-Nets of Stable Diffusion 1, 2 and XL: diffusers' UNet2DConditionModel.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "families/family_writer.h"
#include "families/image_config.h"

namespace rightsize::model {
namespace {

using Sizes = std::vector<std::int64_t>;

struct UnetSizes {
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

UnetSizes read_unet_sizes(const Config& config) {
  UnetSizes layout;
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

constexpr std::int64_t kGroups = 32;
constexpr std::int64_t kPromptTokens = 77;

// Residual blocks and transformers lead down to the coarsest grid and up again, where each block also reads the result
// of its counterpart on the way down. Weights are declared in the order of their use, so both are written at once.
class Unet : protected FamilyWriter {
 public:
  Unet(const Config& config, ModelShape& shape, const UnetSizes& layout)
      : FamilyWriter(config, shape), layout_(layout) {}

  void write() {
    const std::int64_t first = layout_.channels.front();
    const Size pixels = kSamples.times(std::int64_t{shape_.channels} * shape_.image_size * latent_height(shape_));
    f_.input(pixels, Width::kSingle);  // the noise to find
    prompt_ = f_.input(kSamples.times(kPromptTokens * layout_.text_width), Width::kStored);
    Value latents = f_.input(pixels, Width::kSingle);

    inventory_.grid(1);
    const WeightRef conv_in = conv("conv_in", first, shape_.channels, 3);
    const auto [time1, time2] = declare_time("time_embedding", first);
    if (config_.json().get_string("addition_embed_type").value_or("") == "text_time")
      declare_time("add_embedding", config_.size("projection_class_embeddings_input_dim", 2'816));
    Value t = f_.make(kSamples.times(first), Width::kStored);
    t = f_.activate(f_.linear(time1, std::move(t), false), Activation::kSilu);
    time_ = f_.linear(time2, std::move(t), false);
    Value x = f_.convolution(conv_in, f_.cast(latents, Width::kStored));
    skips_.push_back(x);
    x = down(std::move(x));
    x = middle(std::move(x));
    x = up(std::move(x));
    inventory_.grid(1);
    const WeightRef norm_out = inventory_.norm("conv_norm_out", first, true);
    const WeightRef conv_out = conv("conv_out", config_.size("out_channels", 4), first, 3);
    f_.end();
    x = f_.activate(group_norm(norm_out, std::move(x)), Activation::kSilu);
    x = f_.squared_loss(f_.convolution(conv_out, std::move(x)));
    time_.reset();
    skips_.clear();
    f_.forward().exact = false;
    shape_.layers = transformer_blocks_;
    finish(std::move(x));
  }

 private:
  WeightRef conv(const std::string& name, std::int64_t outputs, std::int64_t inputs, int kernel, int stride = 1) {
    return inventory_.conv(name, outputs, inputs, kernel, {.stride = stride, .bias = true});
  }

  std::pair<WeightRef, WeightRef> declare_time(const std::string& name, std::int64_t inputs) {
    inventory_.grid(0);
    const WeightRef a = inventory_.linear(name + ".linear_1", WeightRole::kOther, layout_.time_width, inputs, true);
    const WeightRef b =
        inventory_.linear(name + ".linear_2", WeightRole::kOther, layout_.time_width, layout_.time_width, true);
    return {a, b};
  }

  Size grid() const {
    auto along = [&](int side) { return (std::int64_t{side} + scale_ - 1) / scale_; };
    return kSamples.times(along(shape_.image_size) * along(latent_height(shape_)));
  }

  Value group_norm(WeightRef weight, Value x) {
    return f_.norm(NormKind::kGroup, weight, std::move(x), kSamples.times(kGroups));
  }

  // ---- blocks

  Value residual(const std::string& name, std::int64_t outputs, std::int64_t inputs, Value given) {
    Value x = std::move(given);
    inventory_.grid(scale_);
    const WeightRef norm1 = inventory_.norm(name + ".norm1", inputs, true);
    const WeightRef conv1 = conv(name + ".conv1", outputs, inputs, 3);
    inventory_.grid(0);
    const WeightRef time =
        inventory_.linear(name + ".time_emb_proj", WeightRole::kOther, outputs, layout_.time_width, true);
    inventory_.grid(scale_);
    const WeightRef norm2 = inventory_.norm(name + ".norm2", outputs, true);
    const WeightRef conv2 = conv(name + ".conv2", outputs, outputs, 3);
    WeightRef shortcut;
    if (inputs != outputs) shortcut = conv(name + ".conv_shortcut", outputs, inputs, 1);
    const std::int32_t program = f_.program({x.size(), time_.size()}, [&](std::span<Value> in) {
      Value z = in[0];
      Value y = f_.activate(group_norm(norm1, z), Activation::kSilu);
      y = f_.convolution(conv1, std::move(y));
      Value shift = f_.linear(time, f_.activate(in[1], Activation::kSilu), false);
      y = f_.add(std::move(y), std::move(shift));
      y = f_.activate(group_norm(norm2, std::move(y)), Activation::kSilu);
      y = f_.convolution(conv2, std::move(y));
      if (shortcut) z = f_.convolution(shortcut, std::move(z));
      Value sum = f_.add(z, std::move(y));
      return f_.scale(std::move(sum));  // output_scale_factor
    });
    return f_.segment(program, 0, x, time_);
  }

  struct Block {
    WeightRef norm1, norm2, norm3, wide, narrow;
    LayerWeights self, cross;
  };

  LayerWeights declare_attention(const std::string& name, std::int64_t width, std::int64_t context, bool cross) {
    LayerWeights w;
    w.q = inventory_.linear(name + ".to_q", WeightRole::kAttention, width, width, false);
    if (cross) inventory_.grid(0);  // keys and values belong to the prompt's tokens, not to the grid
    w.k = inventory_.linear(name + ".to_k", WeightRole::kAttention, width, context, false);
    w.v = inventory_.linear(name + ".to_v", WeightRole::kAttention, width, context, false);
    inventory_.grid(scale_);
    w.o = inventory_.output(name + ".to_out.0", WeightRole::kAttention, width, width, true);
    return w;
  }

  Value transformer(const std::string& name, std::int64_t width, std::int64_t depth, Value given) {
    Value x = std::move(given);
    transformer_blocks_ += static_cast<int>(depth);
    inventory_.grid(scale_);
    const WeightRef norm = inventory_.norm(name + ".norm", width, true);
    const WeightRef proj_in = inventory_.linear(name + ".proj_in", WeightRole::kAttention, width, width, true);
    Block w;
    inventory_.begin_block(depth);
    w.norm1 = inventory_.norm(name + ".norm1", width, true);
    w.self = declare_attention(name + ".attn1", width, width, false);
    w.norm2 = inventory_.norm(name + ".norm2", width, true);
    w.cross = declare_attention(name + ".attn2", width, layout_.text_width, true);
    w.norm3 = inventory_.norm(name + ".norm3", width, true);
    w.wide = inventory_.linear(name + ".ff.net.0.proj", WeightRole::kMlp, 8 * width, width, true);  // gate and up
    w.narrow = inventory_.output(name + ".ff.net.2", WeightRole::kMlp, width, 4 * width, true);
    inventory_.end_block();
    const WeightRef proj_out = inventory_.linear(name + ".proj_out", WeightRole::kAttention, width, width, true);
    const std::int32_t program = f_.program({x.size(), time_.size()}, [&](std::span<Value> in) {
      Value z = in[0];
      Value outer = z;
      z = f_.copy(group_norm(norm, std::move(z)));
      z = f_.linear(proj_in, std::move(z));
      for (std::int64_t r = 0; r < depth; ++r) z = transformer_block(w, static_cast<int>(r), width, std::move(z));
      z = f_.linear(proj_out, std::move(z));
      return f_.add(f_.copy(std::move(z)), outer);
    });
    return f_.segment(program, 0, x, time_);
  }

  Value transformer_block(Block w, int repeat, std::int64_t width, Value given) {
    for (WeightRef* ref : {&w.norm1, &w.norm2, &w.norm3, &w.wide, &w.narrow, &w.self.q, &w.self.k, &w.self.v, &w.self.o,
                           &w.cross.q, &w.cross.k, &w.cross.v, &w.cross.o}) {
      ref->repeat = repeat;
    }
    Value x = std::move(given);
    const Size rows = grid();
    auto attend_to = [&](WeightRef norm_weight, const LayerWeights& a, bool cross) {
      Value normed = layer_norm(norm_weight, x, rows);
      Value source = cross ? prompt_ : normed;
      HeadValues heads = split_qkv(a, normed, source);
      AttentionOp how = encoder_attention();
      how.heads = how.kv_heads = std::max<std::int64_t>(1, width / std::max(1, shape_.head_dim));
      how.query_tokens = rows.per;
      how.key_tokens = cross ? kPromptTokens : rows.per;
      Value out = f_.linear(a.o, f_.attention(heads.q, heads.k, heads.v, how));
      x = f_.add(std::move(out), x);
    };
    attend_to(w.norm1, w.self, false);
    attend_to(w.norm2, w.cross, true);
    Value normed = layer_norm(w.norm3, x, rows);
    auto [value, gate] = f_.halves(f_.linear(w.wide, std::move(normed)));
    Value product = f_.multiply(value, f_.activate(gate, Activation::kGelu));
    Value fed = f_.linear(w.narrow, std::move(product));
    return f_.add(std::move(fed), x);
  }

  // ---- the way down, the coarsest grid, the way up

  Value down(Value given) {
    Value x = std::move(given);
    std::int64_t inputs = layout_.channels.front();
    for (std::size_t i = 0; i < layout_.channels.size(); ++i) {
      const std::string prefix = fmt::format("down_blocks.{}", i);
      const std::int64_t outputs = layout_.channels[i];
      for (std::int64_t r = 0; r < layout_.resnets; ++r) {
        x = residual(prefix + ".resnets", outputs, r == 0 ? inputs : outputs, std::move(x));
        if (layout_.attends_down[i]) x = transformer(prefix + ".attentions", outputs, layout_.depths[i], std::move(x));
        skips_.push_back(x);
      }
      if (i + 1 < layout_.channels.size()) {
        scale_ *= 2;
        inventory_.grid(scale_);
        x = f_.convolution(conv(prefix + ".downsamplers.conv", outputs, outputs, 3, 2), std::move(x));
        skips_.push_back(x);
      }
      inputs = outputs;
    }
    return x;
  }

  Value middle(Value x) {
    const std::int64_t width = layout_.channels.back();
    x = residual("mid_block.resnets", width, width, std::move(x));
    x = transformer("mid_block.attentions", width, layout_.depths.back(), std::move(x));
    return residual("mid_block.resnets", width, width, std::move(x));
  }

  // Each residual block also reads a result of the same resolution on the way down.
  Value up(Value given) {
    Value x = std::move(given);
    const Sizes reversed(layout_.channels.rbegin(), layout_.channels.rend());
    const Sizes depths(layout_.depths.rbegin(), layout_.depths.rend());
    std::int64_t previous = reversed.front();
    for (std::size_t i = 0; i < reversed.size(); ++i) {
      const std::string prefix = fmt::format("up_blocks.{}", i);
      const std::int64_t outputs = reversed[i];
      const std::int64_t last_skip = reversed[std::min(i + 1, reversed.size() - 1)];
      for (std::int64_t r = 0; r <= layout_.resnets; ++r) {
        const std::int64_t skip = r == layout_.resnets ? last_skip : outputs;
        if (!skips_.empty()) {
          Value left = std::move(skips_.back());
          skips_.pop_back();
          x = f_.cat(std::move(x), std::move(left));
        }
        x = residual(prefix + ".resnets", outputs, (r == 0 ? previous : outputs) + skip, std::move(x));
        if (layout_.attends_up[i]) x = transformer(prefix + ".attentions", outputs, depths[i], std::move(x));
      }
      if (i + 1 < reversed.size()) {
        scale_ /= 2;
        inventory_.grid(scale_);
        const WeightRef weight = conv(prefix + ".upsamplers.conv", outputs, outputs, 3);
        const Size doubled = x.size().times(4);
        x = f_.expand(std::move(x), doubled, ExpandKind::kAlways);  // interpolation
        x = f_.convolution(weight, std::move(x));
      }
      previous = outputs;
    }
    return x;
  }

  const UnetSizes& layout_;
  Value prompt_, time_;
  std::vector<Value> skips_;
  int scale_ = 1;  // latent side / side of the grid being worked on
  int transformer_blocks_ = 0;
};

void fill_shape(const Config& config, const UnetSizes& layout, ModelShape& shape) {
  shape.kind = ModelKind::kDiffusionUNet;
  shape.hidden = layout.channels.back();
  // diffusers calls the number of heads attention_head_dim in old files.
  Sizes heads = read_per_block(config, {"num_attention_heads", "attention_head_dim"}, 8, layout.channels.size());
  shape.heads = shape.kv_heads = static_cast<int>(heads.back());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    shape.head_dim = config.divide(layout.channels[i], "block_out_channels", heads[i], "attention_head_dim");
    shape.stages.push_back({static_cast<int>(layout.resnets), layout.channels[i], 4 * layout.channels[i], 1 << i});
  }
  shape.intermediate = 4 * shape.hidden;
  read_latent_size(config, shape, 64, 8);
  shape.channels = config.count("in_channels", 4, 1, kWidest);
  shape.gated_mlp = true;
  shape.activation = Activation::kSilu;
  shape.positions = Positions::kNone;
}

// Stable Diffusion 1 has one text encoder, 2 another, XL two. The width of the prompt's embedding tells 1 from 2.
std::vector<std::string> text_encoders(const UnetSizes& layout, bool text_time) {
  if (text_time) return {"clip-l-text", "openclip-bigg-text"};
  return {layout.text_width == 1'024 ? "openclip-h-text" : "clip-l-text"};
}

void read_unet(const Config& config, ModelShape& shape) {
  const UnetSizes layout = read_unet_sizes(config);
  fill_shape(config, layout, shape);
  const bool text_time = config.json().get_string("addition_embed_type").value_or("") == "text_time";
  shape.pipeline = ImagePipeline{.encoders = text_encoders(layout, text_time), .decoder = "sd-vae"};
  Unet(config, shape, layout).write();
}

}  // namespace

Families unet() {
  return {{"unet2d_condition",
           "Stable Diffusion 1, 2 and XL U-Nets (diffusers UNet2DConditionModel)",
           read_unet,
           {},
           "UNet2DConditionModel"}};
}

}  // namespace rightsize::model
