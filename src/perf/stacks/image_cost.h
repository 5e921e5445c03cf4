// GPU cost of one pass of an image model: a roofline over its operations, with channels-last convolutions. Internal to
// this module.
#pragma once

#include "perf/kernels/roofline.h"
#include "perf/model_work.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// Time and kernels, per direction.
struct ImageCost {
  Seconds products, products_backward;  // convolutions, linears, attention
  Seconds traffic, traffic_backward;    // everything else
  double kernels = 0, kernels_backward = 0;
  Flops flops;  // of the products, forward
};

// How a pass runs.
struct ImageMode {
  bool train = false;
  bool autocast = false;   // fp32 weights and residual stream, 16-bit products
  bool denoising = false;  // a generator of images or videos
  bool wide = false;       // everything fp32: PyTorch then uses TF32 for convolutions and plain fp32 for products
};

ImageCost image_cost(const VisionConstants& constants, const GpuSpeed& gpu, const ModelWork& work, double batch,
                     const ImageMode& mode);

}  // namespace rightsize::perf
