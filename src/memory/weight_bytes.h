// Bytes of weights in each number format, to the byte.
#pragma once

#include "base/units.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory {

// One weight (all copies) in a serving or frozen-base format, on one of `tensor` GPUs that share it. Linear layers are
// quantized with scales; biases, norms and (unless `embeddings` is set) embeddings and head stay 16-bit. kFp32 keeps
// everything in 32 bits.
Bytes weight_bytes(const model::Weight& weight, model::Precision format, int tensor, bool embeddings);

// All weights on the fullest GPU with tensor, pipeline and expert parallelism.
Bytes model_weight_bytes(const model::ModelShape& model, model::Precision format, const model::Parallelism& parallel,
                         bool embeddings);

// The same for serving: each weight in the engine's format, experts split over all GPUs of a copy, the rest over the
// GPUs that share one sequence.
Bytes served_weight_bytes(const model::ModelShape& model, const model::Job& job);

// Bytes per element of 16-, 8- or 4-bit caches.
double bytes_per_element(model::Precision format);

}  // namespace rightsize::memory
