// Bytes of weights in each number format, to the byte.
#pragma once

#include "base/units.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory {

// One weight (all its copies) in a serving or frozen-base format, on one GPU of `tensor` that share it. Linear layers
// are quantized with their scales; biases, norms and, unless `embeddings` says otherwise, embeddings and the head stay
// 16-bit. Fully 32-bit with kFp32.
Bytes weight_bytes(const model::Weight& weight, model::Precision format, int tensor, bool embeddings);

// Every weight a GPU holds under tensor, pipeline and expert parallelism: the fullest pipeline stage.
Bytes model_weight_bytes(const model::ModelShape& model, model::Precision format, const model::Parallelism& parallel,
                         bool embeddings);

// The same for a served job: each weight in the format the engine keeps it in, experts spread over all GPUs of a copy,
// the rest over the GPUs that share one sequence.
Bytes served_weight_bytes(const model::ModelShape& model, const model::Job& job);

// Bytes of one element kept in 16-, 8- or 4-bit caches.
double bytes_per_element(model::Precision format);

}  // namespace rightsize::memory
