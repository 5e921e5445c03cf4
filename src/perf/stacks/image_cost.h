// GPU cost of one pass of an image model: a roofline over its operations, with channels-last convolutions. Internal to
// this module.
#pragma once

#include "perf/kernels/roofline.h"
#include "perf/model_work.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// The part of a pass's time in which GPUs that share an item exchange tokens.
inline constexpr const char* kExchange = "exchange between GPUs";

// Time and kernels, per direction.
struct ImageCost {
  Seconds products, products_backward;  // convolutions, linears, attention
  Seconds traffic, traffic_backward;    // everything else
  Seconds exchange;                     // between the GPUs that share an item
  double kernels = 0, kernels_backward = 0;
  Flops flops;  // of the products, forward
};

// How a pass runs.
struct ImageMode {
  bool train = false;
  bool autocast = false;   // fp32 weights and residual stream, 16-bit products
  bool denoising = false;  // a generator of images or videos
  bool wide = false;       // everything fp32: PyTorch then uses TF32 for convolutions and plain fp32 for products
  int gpus = 1;            // of one machine that share an item by sequence parallelism
};

// Time of a generator's operations, except attention, against those of a classifier.
double denoising_loss(const VisionConstants& constants, const GpuSpeed& gpu);

// On one of the GPUs: its rows of every product, and its heads of every attention.
ImageCost image_cost(const VisionConstants& constants, const GpuSpeed& gpu, const ModelWork& work, double batch,
                     const ImageMode& mode);

}  // namespace rightsize::perf
