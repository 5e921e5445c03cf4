// Time of a recurrent layer's scan (model::ScanOp). There is no benchmark: the shares below are typical of small tiles
// in chunked kernels. Most of the layer's time goes into the products around the scan.
#pragma once

#include "model/forward.h"
#include "perf/kernels/roofline.h"

namespace rightsize::perf {

// FLOPs per token over all heads in the chunked form.
double scan_flops(const model::ScanOp& scan);

// `tokens` new tokens, with the heads split over `tensor` GPUs.
OpTime scan_time(const GpuSpeed& gpu, const model::ScanOp& scan, double tensor, double tokens);

// One token per sequence: every state is read and written in 32 bits.
OpTime scan_step_time(const GpuSpeed& gpu, const model::ScanOp& scan, double tensor, double batch);

}  // namespace rightsize::perf
