#include "perf/stacks/image_ops.h"

#include <algorithm>

namespace rightsize::perf {
namespace {

using model::ConvStage;
using model::ModelKind;
using model::ModelShape;
using model::Weight;
using model::WeightRole;

// Appends operations; `times` says how often what follows occurs.
class Builder {
 public:
  void times(double n) { repeats_ = n; }

  void conv(double inputs, double outputs, double kernel, double out, double in, double groups = 1) {
    ImageOp& op = add(ImageOpKind::kConv, inputs, outputs);
    op.kernel = kernel, op.groups = groups, op.side_out = out, op.side_in = in;
  }
  void depthwise(double channels, double kernel, double out, double in) {
    ImageOp& op = add(ImageOpKind::kDepthwise, channels);
    op.kernel = kernel, op.side_out = out, op.side_in = in;
  }
  void batch_norm(double channels, double side) { add(ImageOpKind::kBatchNorm, channels).side_out = side; }
  void conv_norm(double inputs, double outputs, double kernel, double out, double in, bool activate,
                 double groups = 1) {
    conv(inputs, outputs, kernel, out, in, groups);
    batch_norm(outputs, out);
    if (activate) add(ImageOpKind::kActivation, outputs * out * out);
  }
  void linear(double tokens, double inputs, double outputs) { add(ImageOpKind::kLinear, tokens, inputs, outputs); }
  void attention(ImageOpKind kind, double sequences, double tokens, double heads, double width) {
    add(kind, sequences, tokens, heads).d = width;
  }
  ImageOp& add(ImageOpKind kind, double a, double b = 0, double c = 0) {
    ImageOp op;
    op.kind = kind;
    op.a = a, op.b = b, op.c = c;
    op.repeats = repeats_;
    ops_.push_back(op);
    return ops_.back();
  }
  void several(std::initializer_list<ImageOpKind> kinds, double elements) {
    for (ImageOpKind kind : kinds) add(kind, elements);
  }

  ImageOps take() { return std::move(ops_); }

 private:
  ImageOps ops_;
  double repeats_ = 1;
};

double labels_of(const ModelShape& shape) { return std::max(shape.labels, 1); }

// torchvision's VisionTransformer: fused q/k/v, dropouts that do nothing but still run while training.
ImageOps vision_transformer(const ModelShape& shape) {
  const double h = static_cast<double>(shape.hidden), f = static_cast<double>(shape.intermediate);
  const int side = shape.image_size / shape.patch_size;  // whole patches
  const double tokens = static_cast<double>(shape.context);
  Builder build;
  build.conv(shape.channels, h, shape.patch_size, side, shape.image_size);
  build.times(shape.layers);
  build.add(ImageOpKind::kLayerNorm, tokens * h);
  build.linear(tokens, h, 3 * h);
  build.add(ImageOpKind::kCopy, 3 * tokens * h);
  build.attention(ImageOpKind::kAttention, 1, tokens, shape.heads, h / shape.heads);
  build.add(ImageOpKind::kCopy, tokens * h);
  build.linear(tokens, h, h);
  build.several({ImageOpKind::kDropout, ImageOpKind::kAdd, ImageOpKind::kLayerNorm}, tokens * h);
  build.linear(tokens, h, f);
  build.several({ImageOpKind::kActivation, ImageOpKind::kDropout}, tokens * f);
  build.linear(tokens, f, h);
  build.several({ImageOpKind::kDropout, ImageOpKind::kAdd}, tokens * h);
  build.times(1);
  build.add(ImageOpKind::kLayerNorm, tokens * h);
  build.linear(1, h, labels_of(shape));
  return build.take();
}

void residual_block(Builder& build, const ConvStage& stage, bool bottleneck, double inputs, double out, double in) {
  const double outputs = static_cast<double>(stage.channels), inner = static_cast<double>(stage.inner_channels);
  if (bottleneck) {
    build.conv_norm(inputs, inner, 1, in, in, true);
    build.conv_norm(inner, inner, 3, out, in, true);
    build.conv_norm(inner, outputs, 1, out, out, false);
  } else {
    build.conv_norm(inputs, outputs, 3, out, in, true);
    build.conv_norm(outputs, outputs, 3, out, out, false);
  }
  if (in != out || inputs != outputs) build.conv_norm(inputs, outputs, 1, out, in, false);
  build.several({ImageOpKind::kAdd, ImageOpKind::kActivation}, outputs * out * out);
}

ImageOps residual_network(const ModelShape& shape) {
  Builder build;
  const double image = shape.image_size;
  const double stem = shape.weights.empty() ? 64 : static_cast<double>(shape.weights.front().rows);
  build.conv_norm(shape.channels, stem, 7, image / 2, image, true);
  build.add(ImageOpKind::kPool, stem * image * image / 4, stem * image * image / 16);
  double inputs = stem, side = image / 4;
  for (const ConvStage& stage : shape.stages) {
    const bool bottleneck = stage.inner_channels != stage.channels;
    const double out = image / stage.scale;
    build.times(1);
    residual_block(build, stage, bottleneck, inputs, out, side);
    side = out;
    inputs = static_cast<double>(stage.channels);
    build.times(stage.blocks - 1);
    if (stage.blocks > 1) residual_block(build, stage, bottleneck, inputs, side, side);
  }
  build.times(1);
  build.linear(1, inputs, labels_of(shape));
  return build.take();
}

ImageOps convnext(const ModelShape& shape) {
  Builder build;
  const double image = shape.image_size;
  double side = image / shape.patch_size, inputs = 0;
  for (const ConvStage& stage : shape.stages) {
    const double c = static_cast<double>(stage.channels), out = image / stage.scale;
    build.times(1);
    if (inputs == 0) {
      build.conv(shape.channels, c, shape.patch_size, side, image);
      build.add(ImageOpKind::kCopy, 2 * c * side * side);
      build.add(ImageOpKind::kLayerNorm, c * side * side);
    } else {
      build.add(ImageOpKind::kCopy, 2 * inputs * side * side);
      build.add(ImageOpKind::kLayerNorm, inputs * side * side);
      build.conv(inputs, c, 2, out, side);
    }
    side = out, inputs = c;
    const double pixels = side * side;
    build.times(stage.blocks);
    build.depthwise(c, 7, side, side);
    build.several({ImageOpKind::kCopy, ImageOpKind::kLayerNorm}, pixels * c);
    build.linear(pixels, c, 4 * c);
    build.add(ImageOpKind::kActivation, pixels * 4 * c);
    build.linear(pixels, 4 * c, c);
    build.several({ImageOpKind::kCopy, ImageOpKind::kScale, ImageOpKind::kAdd, ImageOpKind::kDropout}, pixels * c);
  }
  build.times(1);
  build.linear(1, inputs, labels_of(shape));
  return build.take();
}

void swin_block(Builder& build, double pixels, double c, double heads, double window) {
  build.several({ImageOpKind::kLayerNorm, ImageOpKind::kCopy}, pixels * c);
  build.linear(pixels, c, 3 * c);
  build.add(ImageOpKind::kCopy, 3 * pixels * c);
  build.attention(ImageOpKind::kWindowAttention, pixels / (window * window), window * window, heads, c / heads);
  build.add(ImageOpKind::kCopy, pixels * c);
  build.linear(pixels, c, c);
  build.several(
      {ImageOpKind::kDropout, ImageOpKind::kCopy, ImageOpKind::kAdd, ImageOpKind::kDropout, ImageOpKind::kLayerNorm},
      pixels * c);
  build.linear(pixels, c, 4 * c);
  build.several({ImageOpKind::kActivation, ImageOpKind::kDropout}, 4 * pixels * c);
  build.linear(pixels, 4 * c, c);
  build.several({ImageOpKind::kDropout, ImageOpKind::kAdd}, pixels * c);
  build.add(ImageOpKind::kSmall, 14);
}

ImageOps swin(const ModelShape& shape) {
  constexpr double kWindow = 7;
  Builder build;
  const double image = shape.image_size;
  double inputs = 0, last_pixels = 0;
  for (const ConvStage& stage : shape.stages) {
    const double c = static_cast<double>(stage.channels), side = image / stage.scale, pixels = side * side;
    last_pixels = pixels;
    build.times(1);
    if (inputs == 0) {
      build.conv(shape.channels, c, shape.patch_size, side, image);
      build.add(ImageOpKind::kLayerNorm, c * pixels);
    } else {
      build.add(ImageOpKind::kCopy, 4 * inputs * pixels * 4);
      build.add(ImageOpKind::kLayerNorm, inputs * pixels * 4);
      build.linear(pixels, 4 * inputs, c);
    }
    inputs = c;
    build.times(stage.blocks);
    swin_block(build, pixels, c, c / std::max(shape.head_dim, 1), kWindow);
    const int shifted = stage.blocks / 2;  // every other block shifts its windows
    build.times(shifted);
    build.several({ImageOpKind::kCopy, ImageOpKind::kCopy}, pixels * c);
    build.add(ImageOpKind::kSmall, 12);
  }
  build.times(1);
  build.add(ImageOpKind::kLayerNorm, inputs * last_pixels);
  build.linear(1, inputs, labels_of(shape));
  return build.take();
}

// Convolutions, norms and products straight from the weights, each on its grid: EfficientNet and U-Nets.
void add_weight(Builder& build, const Weight& weight, double image, double& last_side) {
  const double side = weight.scale > 0 ? image / weight.scale : 0;
  if (side > 0) last_side = side;
  const double rows = static_cast<double>(weight.rows), pixels = side * side;
  build.times(static_cast<double>(weight.copies));
  if (weight.role == WeightRole::kConv && side == 0) {
    if (weight.cols < weight.rows) return;  // squeeze and excite: the second product belongs to the first
    const double elements = static_cast<double>(weight.cols) * last_side * last_side;
    build.add(ImageOpKind::kPool, elements, static_cast<double>(weight.cols));
    build.add(ImageOpKind::kSmall, 5);
    build.add(ImageOpKind::kScale, elements);
  } else if (weight.role == WeightRole::kConv && weight.groups > 1 && weight.groups == weight.rows) {
    build.depthwise(rows, weight.kernel, side, side * weight.stride);
  } else if (weight.role == WeightRole::kConv) {
    const double area = static_cast<double>(weight.kernel) * weight.kernel;
    build.conv(static_cast<double>(weight.cols) * weight.groups / area, rows, weight.kernel, side, side * weight.stride,
               weight.groups);
  } else if (weight.role == WeightRole::kNorm && side > 0) {
    build.batch_norm(rows, side);
    build.add(ImageOpKind::kActivation, rows * pixels);
  } else if (weight.linear) {
    build.linear(side > 0 ? pixels : 1, static_cast<double>(weight.cols), rows);
    if (weight.name.ends_with("attn1.to_q")) {
      constexpr double kHead = 64;
      build.attention(ImageOpKind::kAttention, 1, pixels, std::max(1.0, rows / kHead), kHead);
    }
  }
}

ImageOps from_weights(const ModelShape& shape) {
  Builder build;
  double last_side = shape.image_size;
  for (const Weight& weight : shape.weights) add_weight(build, weight, shape.image_size, last_side);
  return build.take();
}

}  // namespace

ImageOps image_ops(const ModelShape& shape) {
  if (shape.family == "resnet") return residual_network(shape);
  if (shape.family == "convnext") return convnext(shape);
  if (shape.family == "swin") return swin(shape);
  if (shape.kind == ModelKind::kVisionTransformer) return vision_transformer(shape);
  return from_weights(shape);
}

}  // namespace rightsize::perf
