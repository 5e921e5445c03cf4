// diffusers' AutoencoderKL, which turns latents into pixels. Its encoder, which text-to-image generation does not use,
// is counted but not run.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "families/family_writer.h"

namespace rightsize::model {
namespace {

constexpr std::int64_t kGroups = 32;

class VaeDecoder : protected FamilyWriter {
 public:
  VaeDecoder(const Config& config, ModelShape& shape, std::vector<std::int64_t> channels)
      : FamilyWriter(config, shape),
        channels_(std::move(channels)),
        latents_(config.size("latent_channels", 4)),
        layers_(config.count("layers_per_block", 1)),
        quantized_(config.flag("use_quant_conv", true)),
        unquantized_(config.flag("use_post_quant_conv", true)) {}

  void write() {
    declare_encoder();
    const std::int64_t widest = channels_.back();
    scale_ = 1 << (channels_.size() - 1);
    Value x = f_.input(grid().times(latents_), Width::kStored);
    if (unquantized_) x = conv("post_quant_conv", latents_, latents_, 1, std::move(x));
    x = conv("decoder.conv_in", widest, latents_, 3, std::move(x));
    x = residual("decoder.mid", widest, widest, std::move(x));
    x = attention(widest, std::move(x));
    x = residual("decoder.mid", widest, widest, std::move(x));
    std::int64_t before = widest;
    for (std::size_t i = channels_.size(); i-- > 0;) {
      for (int r = 0; r <= layers_; ++r)
        x = residual(fmt::format("decoder.up.{}", i), channels_[i], r == 0 ? before : channels_[i], std::move(x));
      before = channels_[i];
      if (i == 0) break;
      scale_ /= 2;
      const Size doubled = x.size().times(4);
      x = f_.expand(std::move(x), doubled, ExpandKind::kAlways);  // interpolation
      x = conv(fmt::format("decoder.up.{}.upsample", i), before, before, 3, std::move(x));
    }
    x = f_.activate(norm("decoder.norm_out", before, std::move(x)), Activation::kSilu);
    x = conv("decoder.conv_out", 3, before, 3, std::move(x));
    f_.forward().exact = false;
    finish(std::move(x));
  }

 private:
  Size grid() const {
    auto along = [&](int side) { return std::max<std::int64_t>(1, side / scale_); };
    return kSamples.times(along(shape_.image_size) * along(shape_.image_height));
  }
  WeightRef declare_conv(const std::string& name, std::int64_t outputs, std::int64_t inputs, int kernel) {
    inventory_.grid(scale_);
    return inventory_.conv(name, outputs, inputs, kernel, {.bias = true});
  }
  Value conv(const std::string& name, std::int64_t outputs, std::int64_t inputs, int kernel, Value x) {
    return f_.convolution(declare_conv(name, outputs, inputs, kernel), std::move(x), grid());
  }
  Value norm(const std::string& name, std::int64_t width, Value x) {
    return f_.norm(NormKind::kGroup, inventory_.norm(name, width, true), std::move(x), kSamples.times(kGroups));
  }

  Value residual(const std::string& name, std::int64_t outputs, std::int64_t inputs, Value x) {
    Value y = f_.activate(norm(name + ".norm1", inputs, x), Activation::kSilu);
    y = conv(name + ".conv1", outputs, inputs, 3, std::move(y));
    y = f_.activate(norm(name + ".norm2", outputs, std::move(y)), Activation::kSilu);
    y = conv(name + ".conv2", outputs, outputs, 3, std::move(y));
    if (inputs != outputs) x = conv(name + ".conv_shortcut", outputs, inputs, 1, std::move(x));
    return f_.add(std::move(x), std::move(y));
  }

  // One head over the coarsest grid.
  Value attention(std::int64_t width, Value x) {
    Value y = norm("decoder.mid.group_norm", width, x);
    auto project = [&](const char* name) {
      return f_.linear(inventory_.linear(name, WeightRole::kAttention, width, width, true), y);
    };
    Value q = project("decoder.mid.to_q"), k = project("decoder.mid.to_k"), v = project("decoder.mid.to_v");
    AttentionOp how;
    how.causal = how.cached = false;
    how.head_dim = how.value_dim = width;
    how.query_tokens = how.key_tokens = grid().per;
    Value out = f_.attention(q, k, v, how);
    y = std::move(out);
    return f_.add(project("decoder.mid.to_out"), std::move(x));
  }

  // The mirror image with one residual block fewer per resolution: weights only.
  void declare_encoder() {
    const std::size_t begin = shape_.weights.size();
    auto block = [&](std::int64_t outputs, std::int64_t inputs) {
      inventory_.norm("encoder.norm1", inputs, true);
      declare_conv("encoder.conv1", outputs, inputs, 3);
      inventory_.norm("encoder.norm2", outputs, true);
      declare_conv("encoder.conv2", outputs, outputs, 3);
      if (inputs != outputs) declare_conv("encoder.conv_shortcut", outputs, inputs, 1);
    };
    const std::int64_t widest = channels_.back();
    declare_conv("encoder.conv_in", channels_.front(), 3, 3);
    std::int64_t before = channels_.front();
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      for (int r = 0; r < layers_; ++r) block(channels_[i], r == 0 ? before : channels_[i]);
      before = channels_[i];
      if (i + 1 < channels_.size()) declare_conv("encoder.downsample", before, before, 3);
    }
    block(widest, widest);
    inventory_.norm("encoder.mid.group_norm", widest, true);
    for (int i = 0; i < 4; ++i) inventory_.linear("encoder.mid.to_qkvo", WeightRole::kAttention, widest, widest, true);
    block(widest, widest);
    inventory_.norm("encoder.norm_out", widest, true);
    declare_conv("encoder.conv_out", 2 * latents_, widest, 3);
    if (quantized_) declare_conv("quant_conv", 2 * latents_, 2 * latents_, 1);
    for (std::size_t i = begin; i < shape_.weights.size(); ++i) shape_.weights[i].images_only = true;
  }

  std::vector<std::int64_t> channels_;
  std::int64_t latents_;
  int layers_;
  bool quantized_, unquantized_;
  int scale_ = 1;
};

void read_vae(const Config& config, ModelShape& shape) {
  using Sizes = std::vector<std::int64_t>;
  shape.kind = ModelKind::kImageDecoder;
  Sizes channels = config.json().get_ints("block_out_channels", 1, kWidest).value_or(Sizes{64});
  if (channels.empty() || channels.size() > 8) {
    config.json().fail_at("block_out_channels", "'block_out_channels' must hold 1 to 8 numbers");
    channels = {64};
  }
  shape.layers = static_cast<int>(channels.size());
  shape.hidden = channels.back();
  shape.heads = shape.kv_heads = 1;
  shape.head_dim = static_cast<int>(channels.back());
  const int side = config.count("sample_size", 512, 1, kLargestImage);
  const ImageSize size = config.resolution().value_or(ImageSize{side, side});
  shape.image_size = static_cast<int>(size.width);
  shape.image_height = static_cast<int>(size.height);
  shape.channels = 3;
  shape.positions = Positions::kNone;
  VaeDecoder(config, shape, std::move(channels)).write();
}

}  // namespace

Families vae() {
  return {{"autoencoder_kl", "Latents to pixels (diffusers AutoencoderKL)", read_vae, {}, "AutoencoderKL"}};
}

}  // namespace rightsize::model
