// Convolutional networks as torchvision runs them: ResNet, ConvNeXt, EfficientNet.
#include <algorithm>
#include <array>
#include <cmath>

#include "families/family_writer.h"
#include "families/image_config.h"

namespace rightsize::model {
namespace {

struct Stages {
  std::vector<std::int64_t> widths, depths;
};

// hidden_sizes and depths, of the same length.
bool read_stages(const Config& config, const Stages& fallback, Stages& stages) {
  stages.widths = config.json().get_ints("hidden_sizes", 1, kWidest).value_or(fallback.widths);
  stages.depths = config.json().get_ints("depths", 1, kMostLayers).value_or(fallback.depths);
  if (!stages.widths.empty() && stages.widths.size() <= 8 && stages.widths.size() == stages.depths.size()) return true;
  config.json().fail_at("depths", "'hidden_sizes' and 'depths' must have one number for each stage, 1 to 8 of them");
  return false;
}

void read_image(const Config& config, ModelShape& shape, int image_size = 224) {
  shape.kind = ModelKind::kConvNet;
  shape.image_size = config.count("image_size", image_size, 1, kLargestImage);
  if (const std::optional<ImageSize>& asked = config.resolution()) {
    if (asked->width != asked->height) config.json().fail_at("image_size", "images must be square: give one side");
    shape.image_size = static_cast<int>(asked->width);
  }
  shape.channels = config.count("num_channels", 3, 1, kWidest);
  shape.positions = Positions::kNone;
}

// Shared by the three. The classes of transformers and torchvision have the same tensors; the order here is
// torchvision's.
class ConvNet : protected FamilyWriter {
 public:
  using FamilyWriter::FamilyWriter;

 protected:
  struct ConvNorm {
    WeightRef conv, norm;
    explicit operator bool() const { return static_cast<bool>(conv); }
  };

  ConvNorm declare(const std::string& name, std::int64_t outputs, std::int64_t inputs, int kernel, int stride = 1,
                   std::int64_t groups = 1) {
    ConvNorm pair;
    pair.conv = inventory_.conv(name, outputs, inputs, kernel, {.stride = stride, .groups = groups});
    pair.norm = inventory_.norm(name + ".normalization", outputs, true);
    return pair;
  }

  // Convolution and batch norm.
  Value conv_norm(const ConvNorm& pair, Value x) {
    Value y = f_.convolution(pair.conv, std::move(x));
    const std::int64_t channels = shape_.weights[static_cast<std::size_t>(pair.conv.index)].rows;
    return f_.norm(NormKind::kBatch, pair.norm, std::move(y), kOnce.times(channels));
  }

  // A block declared as two: the first occurrence, which may change size, and the others.
  template <class Block>
  struct Blocks {
    Block first, rest;
    std::int64_t depth = 1;
  };
  template <class DeclareFirst, class DeclareRest>
  auto declare_blocks(std::int64_t depth, const DeclareFirst& declare_first, const DeclareRest& declare_rest) {
    Blocks<decltype(declare_first())> blocks;
    blocks.depth = depth;
    inventory_.begin_block(1);
    blocks.first = declare_first();
    inventory_.end_block();
    inventory_.begin_block(depth - 1);
    blocks.rest = declare_rest();
    inventory_.end_block();
    return blocks;
  }
  // `program` writes one block.
  template <class Block, class Program>
  void run_blocks(Value& x, const Blocks<Block>& blocks, const Program& program) {
    x = f_.segment(program(blocks.first, x.size()), 0, x);
    if (blocks.depth > 1) x = run_block(x, blocks.depth - 1, program(blocks.rest, x.size()));
  }
  Value run_block(Value x, std::int64_t depth, std::int32_t program) {
    for (std::int64_t r = 0; r < depth; ++r) x = f_.segment(program, static_cast<int>(r), x);
    return x;
  }

  void add_stage(std::int64_t depth, std::int64_t channels, std::int64_t inner, int scale) {
    shape_.layers += static_cast<int>(depth);
    shape_.stages.push_back({static_cast<int>(depth), channels, inner, scale});
  }

  void finish(Value x, WeightRef classifier, WeightRef norm = {}) {
    FamilyWriter::finish(image_class_loss(f_, shape_, std::move(x), classifier, norm));
  }
};

// ---------------------------------------------------------------- ResNet

struct ResidualStage {
  bool bottleneck, stride_in_first;
  std::int64_t inputs, outputs;
  int stride;
  int scale;  // of the stage's output
};

class ResNet : public ConvNet {
 public:
  using ConvNet::ConvNet;

  void write(const Stages& stages, bool bottleneck) {
    const std::int64_t stem_width = config_.size("embedding_size", 64);
    const bool downsample_first = config_.flag("downsample_in_first_stage", false);
    inventory_.grid(2);
    const ConvNorm stem = declare("embedder", stem_width, shape_.channels, 7, 2);
    ResidualStage stage{};
    stage.bottleneck = bottleneck;
    stage.stride_in_first = config_.flag("downsample_in_bottleneck", false);
    stage.inputs = stem_width;
    stage.scale = 4;  // after the pooling that follows the stem
    std::vector<Blocks<Block>> blocks;
    for (std::size_t i = 0; i < stages.depths.size(); ++i) {
      stage.stride = i > 0 || downsample_first ? 2 : 1;
      stage.scale *= stage.stride;
      stage.outputs = stages.widths[i];
      ResidualStage next = stage;
      next.inputs = stage.outputs;
      next.stride = 1;
      blocks.push_back(declare_blocks(
          stages.depths[i], [&] { return declare_block(stage); }, [&] { return declare_block(next); }));
      add_stage(stages.depths[i], stage.outputs,
                bottleneck ? std::max<std::int64_t>(1, stage.outputs / 4) : stage.outputs, stage.scale);
      stage.inputs = stage.outputs;
    }
    shape_.hidden = stage.outputs;
    const WeightRef classifier = declare_image_classifier(config_, inventory_, shape_, shape_.hidden);

    Value x = conv_norm(stem, images_of(f_, shape_));
    x = f_.activate_in_place(std::move(x), Activation::kRelu);
    x = f_.max_pool(std::move(x), image_grid(shape_, 4).times(stem_width));
    for (const Blocks<Block>& stage_blocks : blocks)
      run_blocks(x, stage_blocks, [&](const Block& w, const Size& size) { return program(w, size); });
    finish(std::move(x), classifier);
  }

 private:
  struct Block {
    ConvNorm conv1, conv2, conv3, shortcut;
  };

  // The shortcut is the input itself if stride and widths allow it.
  Block declare_block(const ResidualStage& stage) {
    Block w;
    if (stage.bottleneck) {
      const std::int64_t inner = std::max<std::int64_t>(1, stage.outputs / 4);
      const int first = stage.stride_in_first ? stage.stride : 1;
      inventory_.grid(stage.scale / stage.stride * first);
      w.conv1 = declare("conv1", inner, stage.inputs, 1, first);
      inventory_.grid(stage.scale);
      w.conv2 = declare("conv2", inner, inner, 3, stage.stride / first);
      w.conv3 = declare("conv3", stage.outputs, inner, 1);
    } else {
      inventory_.grid(stage.scale);
      w.conv1 = declare("conv1", stage.outputs, stage.inputs, 3, stage.stride);
      w.conv2 = declare("conv2", stage.outputs, stage.outputs, 3);
    }
    if (stage.inputs != stage.outputs || stage.stride != 1)
      w.shortcut = declare("downsample", stage.outputs, stage.inputs, 1, stage.stride);
    return w;
  }

  std::int32_t program(const Block& w, const Size& size) {
    return f_.program({size}, [&](std::span<Value> in) {
      Value x = in[0];
      Value y = f_.activate_in_place(conv_norm(w.conv1, x), Activation::kRelu);
      y = conv_norm(w.conv2, std::move(y));
      if (w.conv3) y = conv_norm(w.conv3, f_.activate_in_place(std::move(y), Activation::kRelu));
      Value shortcut = w.shortcut ? conv_norm(w.shortcut, x) : x;
      y = f_.add_in_place(std::move(y), std::move(shortcut));
      return f_.activate_in_place(std::move(y), Activation::kRelu);
    });
  }
};

void read_resnet(const Config& config, ModelShape& shape) {
  Stages stages;
  read_image(config, shape);
  if (!read_stages(config, {{256, 512, 1'024, 2'048}, {3, 4, 6, 3}}, stages)) return;
  std::string type = config.json().get_string("layer_type").value_or("bottleneck");
  if (type != "bottleneck" && type != "basic") {
    config.json().fail_at("layer_type", "'layer_type' must be \"basic\" or \"bottleneck\"");
    return;
  }
  shape.activation = config.activation("hidden_act", "relu");
  ResNet(config, shape).write(stages, type == "bottleneck");
}

// ---------------------------------------------------------------- ConvNeXt

class ConvNext : public ConvNet {
 public:
  using ConvNet::ConvNet;

  void write(const Stages& stages, bool layer_scale) {
    int scale = shape_.patch_size;
    inventory_.grid(scale);
    const WeightRef stem = inventory_.conv("embeddings.patch_embeddings", stages.widths[0], shape_.channels, scale,
                                           {.stride = scale, .bias = true});
    const WeightRef stem_norm = inventory_.norm("embeddings.layernorm", stages.widths[0], true);
    std::vector<NextStage> declared;
    for (std::size_t i = 0; i < stages.depths.size(); ++i) {
      const std::int64_t width = stages.widths[i];
      NextStage stage;
      if (i > 0) declare_downsampling(stage, stages.widths[i - 1], width, scale);
      stage.scale = scale;
      declare_block(stage, width, stages.depths[i], layer_scale);
      declared.push_back(stage);
      add_stage(stages.depths[i], width, 4 * width, scale);
    }
    shape_.hidden = stages.widths.back();
    shape_.intermediate = 4 * shape_.hidden;
    inventory_.grid(0);
    const WeightRef last_norm = inventory_.norm("layernorm", shape_.hidden, true);
    const WeightRef classifier = declare_image_classifier(config_, inventory_, shape_, shape_.hidden);

    Value x = f_.convolution(stem, images_of(f_, shape_));
    x = layer_norm(stem_norm, std::move(x), image_grid(shape_, shape_.patch_size));
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (i > 0) {
        x = layer_norm(declared[i].down_norm, std::move(x), image_grid(shape_, declared[i - 1].scale));
        x = f_.convolution(declared[i].down, std::move(x));
      }
      x = run_block(x, stages.depths[i], program(declared[i], x.size()));
    }
    finish(std::move(x), classifier, last_norm);
  }

 private:
  struct NextStage {
    WeightRef down_norm, down, layer_scale, depthwise, norm, wide, narrow;
    int scale = 1;
  };

  void declare_downsampling(NextStage& stage, std::int64_t from, std::int64_t to, int& scale) {
    stage.down_norm = inventory_.norm("downsampling_layer.norm", from, true);
    scale *= 2;
    inventory_.grid(scale);
    stage.down = inventory_.conv("downsampling_layer.conv", to, from, 2, {.stride = 2, .bias = true});
  }

  void declare_block(NextStage& stage, std::int64_t width, std::int64_t depth, bool layer_scale) {
    inventory_.begin_block(depth);
    if (layer_scale) stage.layer_scale = inventory_.vector("layer_scale_parameter", WeightRole::kOther, width);
    stage.depthwise = inventory_.conv("dwconv", width, width, 7, {.groups = width, .bias = true});
    stage.norm = inventory_.norm("layernorm", width, true);
    stage.wide = inventory_.linear("pwconv1", WeightRole::kMlp, 4 * width, width, true);
    stage.narrow = inventory_.output("pwconv2", WeightRole::kMlp, width, 4 * width, true);
    inventory_.end_block();
  }

  std::int32_t program(const NextStage& w, const Size& size) {
    return f_.program({size}, [&](std::span<Value> in) {
      Value x = in[0];
      Value y = f_.convolution(w.depthwise, x);
      y = layer_norm(w.norm, std::move(y), image_grid(shape_, w.scale));
      y = f_.linear(w.wide, std::move(y));
      y = f_.activate(std::move(y), Activation::kGelu);
      y = f_.linear(w.narrow, std::move(y));
      if (w.layer_scale) y = f_.multiply(f_.parameter(w.layer_scale), std::move(y));
      y = f_.scale(std::move(y));  // stochastic depth
      return f_.add(std::move(y), x);
    });
  }
};

void read_convnext(const Config& config, ModelShape& shape) {
  Stages stages;
  read_image(config, shape);
  if (!read_stages(config, {{96, 192, 384, 768}, {3, 3, 9, 3}}, stages)) return;
  shape.activation = config.activation("hidden_act", "gelu");
  shape.patch_size = config.count("patch_size", 4, 1, 1'024);
  const bool layer_scale = config.number("layer_scale_init_value", 1e-6, 0.0, 1e6) > 0.0;
  ConvNext(config, shape).write(stages, layer_scale);
}

// ---------------------------------------------------------------- EfficientNet

// Channels are scaled by the width and rounded to a multiple of the divisor, but never down by more than a tenth.
std::int64_t round_channels(double channels, std::int64_t divisor) {
  std::int64_t rounded = static_cast<std::int64_t>(channels + static_cast<double>(divisor) / 2.0) / divisor * divisor;
  rounded = std::max(rounded, divisor);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + divisor : rounded;
}

struct MobileStage {
  int expand, kernel, stride;
  int inputs, outputs, repeats;
};

// EfficientNet-B0, which every other size scales (Tan and Le 2019, table 1).
constexpr std::array kB0 = {
    MobileStage{1, 3, 1, 32, 16, 1},   MobileStage{6, 3, 2, 16, 24, 2},  MobileStage{6, 5, 2, 24, 40, 2},
    MobileStage{6, 3, 2, 40, 80, 3},   MobileStage{6, 5, 1, 80, 112, 3}, MobileStage{6, 5, 2, 112, 192, 4},
    MobileStage{6, 3, 1, 192, 320, 1},
};

class EfficientNet : public ConvNet {
 public:
  using ConvNet::ConvNet;

  void write() {
    const double width = config_.number("width_coefficient", 2.0, 0.01, 100.0);
    const double depth = config_.number("depth_coefficient", 3.1, 0.01, 100.0);
    const std::int64_t divisor = config_.size("depth_divisor", 8, 1'024);
    auto channels = [&](int base) { return round_channels(base * width, divisor); };
    int scale = 2;
    inventory_.grid(scale);
    const ConvNorm stem = declare("embeddings.convolution", channels(32), shape_.channels, 3, 2);
    std::vector<Blocks<Block>> declared;
    for (const MobileStage& stage : kB0) {
      const std::int64_t inputs = channels(stage.inputs), outputs = channels(stage.outputs);
      const int repeats = static_cast<int>(std::ceil(depth * stage.repeats));
      scale *= stage.stride;
      declared.push_back(declare_blocks(
          repeats, [&] { return declare_block(stage, inputs, outputs, stage.stride, scale); },
          [&] { return declare_block(stage, outputs, outputs, 1, scale); }));
      add_stage(repeats, outputs, inputs * stage.expand, scale);
    }
    shape_.hidden = channels(1'280);
    const ConvNorm top = declare("encoder.top_conv", shape_.hidden, channels(320), 1);
    const WeightRef classifier = declare_image_classifier(config_, inventory_, shape_, shape_.hidden);

    Value x = f_.activate_in_place(conv_norm(stem, images_of(f_, shape_)), Activation::kSilu);
    for (const Blocks<Block>& blocks : declared)
      run_blocks(x, blocks, [&](const Block& w, const Size& size) { return program(w, size); });
    f_.head();
    x = f_.activate_in_place(conv_norm(top, std::move(x)), Activation::kSilu);
    finish(std::move(x), classifier);
  }

 private:
  struct Block {
    ConvNorm expansion, depthwise, projection;
    WeightRef reduce, expand;
    std::int64_t inner = 0;
    bool residual = false;
  };

  // Expands, filters each channel, weighs channels by a squeezed summary, and projects back.
  Block declare_block(const MobileStage& stage, std::int64_t inputs, std::int64_t outputs, int stride, int scale_out) {
    Block w;
    w.inner = inputs * stage.expand;
    w.residual = stride == 1 && inputs == outputs;
    inventory_.grid(scale_out / stride);
    if (stage.expand != 1) w.expansion = declare("expansion", w.inner, inputs, 1);
    inventory_.grid(scale_out);
    w.depthwise = declare("depthwise", w.inner, w.inner, stage.kernel, stride, w.inner);
    const ConvOptions pooled = {.bias = true};
    inventory_.grid(0);
    const std::int64_t squeezed = std::max<std::int64_t>(1, inputs / 4);
    w.reduce = inventory_.conv("squeeze_excite.reduce", squeezed, w.inner, 1, pooled);
    w.expand = inventory_.conv("squeeze_excite.expand", w.inner, squeezed, 1, pooled);
    inventory_.grid(scale_out);
    w.projection = declare("projection", outputs, w.inner, 1);
    return w;
  }

  std::int32_t program(const Block& w, const Size& size) {
    return f_.program({size}, [&](std::span<Value> in) {
      Value x = in[0];
      Value y = x;
      if (w.expansion) y = f_.activate_in_place(conv_norm(w.expansion, std::move(y)), Activation::kSilu);
      y = f_.activate_in_place(conv_norm(w.depthwise, std::move(y)), Activation::kSilu);
      y = weigh_channels(w, std::move(y));
      y = conv_norm(w.projection, std::move(y));
      if (!w.residual) return y;
      y = f_.scale(std::move(y));  // stochastic depth
      return f_.add_in_place(std::move(y), x);
    });
  }

  Value weigh_channels(const Block& w, Value given) {
    Value x = std::move(given);
    Value pooled = f_.average_pool(x, kSamples.times(w.inner));
    pooled = f_.convolution(w.reduce, std::move(pooled));
    pooled = f_.activate_in_place(std::move(pooled), Activation::kSilu);
    pooled = f_.convolution(w.expand, std::move(pooled));
    pooled = f_.activate(std::move(pooled), Activation::kSigmoid);
    return f_.multiply(std::move(pooled), std::move(x));
  }
};

void read_efficientnet(const Config& config, ModelShape& shape) {
  read_image(config, shape, 600);
  shape.activation = config.activation("hidden_act", "swish");
  EfficientNet(config, shape).write();
}

}  // namespace

Families convnet() {
  return {
      {"resnet", "ResNet 18 to 152", read_resnet},
      {"convnext", "ConvNeXt tiny to large", read_convnext},
      {"efficientnet", "EfficientNet B0 to B7", read_efficientnet},
  };
}

}  // namespace rightsize::model
