// Bytes of the KV cache.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory {

// The cache format: as requested, or the engine's default (vLLM and TensorRT-LLM use 8 bits with fp8 and fp4 weights).
// `narrow` is ModelShape::narrow_cache.
model::Precision kv_format(const model::Job& job, bool narrow);

// `narrow` for kv_format, by whether the GPU has 4-bit arithmetic: TensorRT-LLM's published settings use 8 bits with
// MXFP4 weights on Blackwell and 16 on Hopper (perf-overview.md @03e27c7, read 2026-11-15).
bool keeps_narrow(const model::Job& job, bool narrow, bool four_bits);

// How an engine lays out its cache.
struct KvLayout {
  model::Precision format = model::Precision::kBf16;
  int tensor = 1;  // GPUs that share one sequence
  int pipeline = 1;
  std::int64_t page = 1;       // tokens; a sequence holds whole pages
  bool whole_windows = false;  // layers with a window still keep every token
};

// One sequence of `tokens` on one GPU. Grouped heads are stored once per key head (at least one per GPU); latent
// attention stores its compressed vector on every GPU; layers with a sliding window hold no more than the window
// if the engine supports that.
Bytes kv_sequence_bytes(const model::ModelShape& model, std::int64_t tokens, const KvLayout& layout);

// Bytes per additional token, ignoring windows and pages.
Bytes kv_token_bytes(const model::ModelShape& model, const KvLayout& layout);

}  // namespace rightsize::memory
