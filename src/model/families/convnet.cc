// Convolutional networks: ResNet, ConvNeXt, EfficientNet. The classes of transformers and torchvision have the same
// tensors; the order here is torchvision's.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "model/families/families.h"
#include "model/inventory.h"

namespace rightsize::model {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Stages {
  Sizes widths, depths;
};

// hidden_sizes and depths, of the same length.
bool read_stages(const Config& config, const Stages& fallback, Stages& stages) {
  stages.widths = config.json().get_ints("hidden_sizes", 1, kWidest).value_or(fallback.widths);
  stages.depths = config.json().get_ints("depths", 1, kMostLayers).value_or(fallback.depths);
  if (!stages.widths.empty() && stages.widths.size() <= 8 && stages.widths.size() == stages.depths.size()) return true;
  config.json().fail_at("depths", "'hidden_sizes' and 'depths' must have one number for each stage, 1 to 8 of them");
  return false;
}

void read_image(const Config& config, ModelShape& shape, Norm norm, int image_size = 224) {
  shape.kind = ModelKind::kConvNet;
  shape.image_size = config.count("image_size", image_size, 1, kLargestImage);
  shape.channels = config.count("num_channels", 3, 1, kWidest);
  shape.norm = norm;
  shape.positions = Positions::kNone;
}

void add_classifier(const Config& config, Inventory& inventory, ModelShape& shape) {
  inventory.grid(0);
  if (config.head(Head::kImageClassification) == Head::kBase) return;
  shape.labels = config.labels();
  inventory.linear("classifier", WeightRole::kHead, shape.labels, shape.hidden, true);
}

void add_conv_norm(Inventory& inventory, const std::string& name, std::int64_t outputs, std::int64_t inputs, int kernel,
                   int stride = 1, std::int64_t groups = 1) {
  ConvOptions options;
  options.stride = stride;
  options.groups = groups;
  inventory.conv(name, outputs, inputs, kernel, options);
  inventory.norm(name + ".normalization", outputs, true);
}

struct ResidualStage {
  bool bottleneck, stride_in_first;
  std::int64_t inputs, outputs;
  int stride;
  int scale;  // of the stage's output
};

// One residual block. Where stride and widths allow, the shortcut is the input itself.
void add_residual_block(Inventory& inventory, const ResidualStage& stage) {
  const int scale_in = stage.scale / stage.stride;
  if (stage.bottleneck) {
    const std::int64_t inner = std::max<std::int64_t>(1, stage.outputs / 4);
    const int first = stage.stride_in_first ? stage.stride : 1;
    inventory.grid(scale_in * first);
    add_conv_norm(inventory, "conv1", inner, stage.inputs, 1, first);
    inventory.grid(stage.scale);
    add_conv_norm(inventory, "conv2", inner, inner, 3, stage.stride / first);
    add_conv_norm(inventory, "conv3", stage.outputs, inner, 1);
  } else {
    inventory.grid(stage.scale);
    add_conv_norm(inventory, "conv1", stage.outputs, stage.inputs, 3, stage.stride);
    add_conv_norm(inventory, "conv2", stage.outputs, stage.outputs, 3);
  }
  if (stage.inputs != stage.outputs || stage.stride != 1) {
    add_conv_norm(inventory, "downsample", stage.outputs, stage.inputs, 1, stage.stride);
  }
}

void add_residual_stage(Inventory& inventory, ResidualStage stage, std::int64_t depth) {
  inventory.begin_block(1);
  add_residual_block(inventory, stage);
  inventory.end_block();
  stage.inputs = stage.outputs;
  stage.stride = 1;
  inventory.begin_block(depth - 1);
  add_residual_block(inventory, stage);
  inventory.end_block();
}

}  // namespace

void read_resnet(const Config& config, ModelShape& shape) {
  Stages stages;
  read_image(config, shape, Norm::kBatch);
  if (!read_stages(config, {{256, 512, 1'024, 2'048}, {3, 4, 6, 3}}, stages)) return;
  std::string type = config.json().get_string("layer_type").value_or("bottleneck");
  if (type != "bottleneck" && type != "basic") {
    config.json().fail_at("layer_type", "'layer_type' must be \"basic\" or \"bottleneck\"");
    return;
  }
  shape.activation = config.activation("hidden_act", "relu");
  const std::int64_t stem = config.size("embedding_size", 64);
  const bool downsample_first = config.flag("downsample_in_first_stage", false);

  Inventory inventory(shape.weights);
  inventory.grid(2);
  add_conv_norm(inventory, "embedder", stem, shape.channels, 7, 2);
  ResidualStage stage{};
  stage.bottleneck = type == "bottleneck";
  stage.stride_in_first = config.flag("downsample_in_bottleneck", false);
  stage.inputs = stem;
  stage.scale = 4;  // after the pooling that follows the stem
  for (std::size_t i = 0; i < stages.depths.size(); ++i) {
    stage.stride = i > 0 || downsample_first ? 2 : 1;
    stage.scale *= stage.stride;
    stage.outputs = stages.widths[i];
    add_residual_stage(inventory, stage, stages.depths[i]);
    shape.layers += static_cast<int>(stages.depths[i]);
    shape.stages.push_back({static_cast<int>(stages.depths[i]), stage.outputs,
                            stage.bottleneck ? std::max<std::int64_t>(1, stage.outputs / 4) : stage.outputs,
                            stage.scale});
    stage.inputs = stage.outputs;
  }
  shape.hidden = stage.outputs;
  add_classifier(config, inventory, shape);
}

void read_convnext(const Config& config, ModelShape& shape) {
  Stages stages;
  read_image(config, shape, Norm::kLayer);
  if (!read_stages(config, {{96, 192, 384, 768}, {3, 3, 9, 3}}, stages)) return;
  shape.activation = config.activation("hidden_act", "gelu");
  shape.patch_size = config.count("patch_size", 4, 1, 1'024);
  const bool layer_scale = config.number("layer_scale_init_value", 1e-6, 0.0, 1e6) > 0.0;

  Inventory inventory(shape.weights);
  int scale = shape.patch_size;
  ConvOptions patches;
  patches.stride = shape.patch_size;
  patches.bias = true;
  inventory.grid(scale);
  inventory.conv("embeddings.patch_embeddings", stages.widths[0], shape.channels, shape.patch_size, patches);
  inventory.norm("embeddings.layernorm", stages.widths[0], true);
  for (std::size_t i = 0; i < stages.depths.size(); ++i) {
    const std::int64_t width = stages.widths[i];
    if (i > 0) {
      inventory.norm("downsampling_layer.norm", stages.widths[i - 1], true);
      scale *= 2;
      inventory.grid(scale);
      ConvOptions halve;
      halve.stride = 2;
      halve.bias = true;
      inventory.conv("downsampling_layer.conv", width, stages.widths[i - 1], 2, halve);
    }
    inventory.begin_block(stages.depths[i]);
    if (layer_scale) inventory.vector("layer_scale_parameter", WeightRole::kOther, width);
    ConvOptions depthwise;
    depthwise.groups = width;
    depthwise.bias = true;
    inventory.conv("dwconv", width, width, 7, depthwise);
    inventory.norm("layernorm", width, true);
    inventory.linear("pwconv1", WeightRole::kMlp, 4 * width, width, true);
    inventory.linear("pwconv2", WeightRole::kMlp, width, 4 * width, true);
    inventory.end_block();
    shape.layers += static_cast<int>(stages.depths[i]);
    shape.stages.push_back({static_cast<int>(stages.depths[i]), width, 4 * width, scale});
  }
  shape.hidden = stages.widths.back();
  shape.intermediate = 4 * shape.hidden;
  inventory.grid(0);
  inventory.norm("layernorm", shape.hidden, true);
  add_classifier(config, inventory, shape);
}

namespace {

// Channels are scaled by the width and rounded to a multiple of eight, but not by more than a tenth down.
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

// Expand, filter each channel, weigh channels by a squeezed summary, project back.
void add_mobile_block(Inventory& inventory, const MobileStage& stage, std::int64_t inputs, std::int64_t outputs,
                      int stride, int scale_out) {
  const std::int64_t inner = inputs * stage.expand;
  const std::int64_t squeezed = std::max<std::int64_t>(1, inputs / 4);
  inventory.grid(scale_out / stride);
  if (stage.expand != 1) add_conv_norm(inventory, "expansion", inner, inputs, 1);
  inventory.grid(scale_out);
  add_conv_norm(inventory, "depthwise", inner, inner, stage.kernel, stride, inner);
  ConvOptions pooled;
  pooled.bias = true;
  inventory.grid(0);
  inventory.conv("squeeze_excite.reduce", squeezed, inner, 1, pooled);
  inventory.conv("squeeze_excite.expand", inner, squeezed, 1, pooled);
  inventory.grid(scale_out);
  add_conv_norm(inventory, "projection", outputs, inner, 1);
}

}  // namespace

void read_efficientnet(const Config& config, ModelShape& shape) {
  read_image(config, shape, Norm::kBatch, 600);
  shape.activation = config.activation("hidden_act", "swish");
  const double width = config.number("width_coefficient", 2.0, 0.01, 100.0);
  const double depth = config.number("depth_coefficient", 3.1, 0.01, 100.0);
  const std::int64_t divisor = config.size("depth_divisor", 8, 1'024);
  auto channels = [&](int base) { return round_channels(base * width, divisor); };

  Inventory inventory(shape.weights);
  int scale = 2;
  inventory.grid(scale);
  add_conv_norm(inventory, "embeddings.convolution", channels(32), shape.channels, 3, 2);
  for (const MobileStage& stage : kB0) {
    const std::int64_t inputs = channels(stage.inputs);
    const std::int64_t outputs = channels(stage.outputs);
    const int repeats = static_cast<int>(std::ceil(depth * stage.repeats));
    scale *= stage.stride;
    inventory.begin_block(1);
    add_mobile_block(inventory, stage, inputs, outputs, stage.stride, scale);
    inventory.end_block();
    inventory.begin_block(repeats - 1);
    add_mobile_block(inventory, stage, outputs, outputs, 1, scale);
    inventory.end_block();
    shape.layers += repeats;
    shape.stages.push_back({repeats, outputs, inputs * stage.expand, scale});
  }
  shape.hidden = channels(1'280);
  add_conv_norm(inventory, "encoder.top_conv", shape.hidden, channels(320), 1);
  add_classifier(config, inventory, shape);
}

}  // namespace rightsize::model
