// Bytes of weights in each number format, to the byte.
#pragma once

#include "base/units.h"
#include "workload/job.h"
#include "workload/model_shape.h"

namespace rightsize::memory {

// One weight (all its copies) in a serving or frozen-base format, on one GPU of `tensor` that share it. Linear layers
// are quantized with their scales; biases, norms and, unless `embeddings` says otherwise, embeddings and the head stay
// 16-bit. Fully 32-bit with kFp32.
Bytes weight_bytes(const workload::Weight& weight, workload::Precision format, int tensor, bool embeddings);

// Every weight a GPU holds under tensor, pipeline and expert parallelism: the fullest pipeline stage.
Bytes model_weight_bytes(const workload::ModelShape& model, workload::Precision format,
                         const workload::Parallelism& parallel, bool embeddings);

// Bytes of one element kept in 16-, 8- or 4-bit caches.
double bytes_per_element(workload::Precision format);

}  // namespace rightsize::memory
