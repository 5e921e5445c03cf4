// Time of a recurrent layer's scan (model::ScanOp). Nothing of it was measured here: the shares below are those of
// small tiles in chunked kernels, and the products around a scan take most of such a layer's time.
#pragma once

#include "model/forward.h"
#include "perf/kernels/roofline.h"

namespace rightsize::perf {

// FLOPs of one token on all heads, chunk by chunk.
double scan_flops(const model::ScanOp& scan);

// `tokens` new tokens, heads divided over `tensor` GPUs.
OpTime scan_time(const GpuSpeed& gpu, const model::ScanOp& scan, double tensor, double tokens);

// One token for each of `batch` sequences: every state is read and written in 32 bits.
OpTime scan_step_time(const GpuSpeed& gpu, const model::ScanOp& scan, double tensor, double batch);

}  // namespace rightsize::perf
