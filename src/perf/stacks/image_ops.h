// An image model as a short list of operations with repeats, from its stages and weights.
#pragma once

#include <vector>

#include "model/model_shape.h"

namespace rightsize::perf {

enum class ImageOpKind {
  kConv,             // a = inputs, b = outputs, kernel, groups, side out, side in
  kDepthwise,        // a = channels, kernel, side out, side in
  kBatchNorm,        // a = channels, side out
  kActivation,       // a = elements
  kAdd,              // a = elements
  kPool,             // a = elements in, b = elements out
  kCopy,             // a = elements: permutes, reshapes, concatenations
  kScale,            // a = elements, times a learned vector or a gate
  kDropout,          // a = elements
  kLayerNorm,        // a = elements
  kLinear,           // a = tokens, b = inputs, c = outputs
  kAttention,        // a = sequences, b = tokens of each, c = heads, d = head width
  kWindowAttention,  // the same, scores computed in pieces
  kSmall,            // a = kernels too small to count bytes
};

// Sizes of one image; `repeats` equal operations.
struct ImageOp {
  ImageOpKind kind = ImageOpKind::kCopy;
  double a = 0, b = 0, c = 0, d = 0;
  double kernel = 1, groups = 1, side_out = 0, side_in = 0;
  double repeats = 1;
};

using ImageOps = std::vector<ImageOp>;

// Vision transformers, Swin, ResNet, ConvNeXt, EfficientNet and Stable Diffusion U-Nets; empty for others.
ImageOps image_ops(const model::ModelShape& shape);

}  // namespace rightsize::perf
