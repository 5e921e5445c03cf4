// Bytes of the KV cache.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory {

// The published weights: their format, and whether scales for an 8-bit cache come with them.
struct Checkpoint {
  model::Precision format = model::Precision::kBf16;
  bool cache_scales = false;
};
Checkpoint checkpoint_of(const model::ModelShape& model);

// The cache format: as requested, or the engine's default. vLLM's and SGLang's "auto" is 16 bits, even with 8-bit
// weights, unless the checkpoint includes scales for the cache (resolve_kv_cache_dtype_string in
// vllm/utils/torch_utils.py, configure_kv_cache_dtype in SGLang's model_runner.py; read 2026-11-17). In vLLM, weights
// in a format other than the published one are assumed to be NVIDIA's, which include them (kv_cache_quant_algo).
// TensorRT-LLM's published settings use 8 bits, but 16 with MXFP4 weights on a GPU without 4-bit arithmetic
// (`four_bits`; perf-overview.md @03e27c7, read 2026-11-15).
model::Precision kv_format(const model::Job& job, const Checkpoint& checkpoint, bool four_bits);

// How an engine lays out its cache.
struct KvLayout {
  model::Precision format = model::Precision::kBf16;
  int tensor = 1;  // GPUs that share one sequence
  int pipeline = 1;
  std::int64_t page = 1;       // tokens; a sequence holds whole pages
  bool whole_windows = false;  // layers with a window still keep every token
};

// One sequence of `tokens` on one GPU. Grouped heads are stored once per key head (at least one per GPU); latent
// attention stores its compressed vector on every GPU; layers with a sliding window hold at most the window if the
// engine supports that.
Bytes kv_sequence_bytes(const model::ModelShape& model, std::int64_t tokens, const KvLayout& layout);

// Bytes per additional token, ignoring windows and pages.
Bytes kv_token_bytes(const model::ModelShape& model, const KvLayout& layout);

}  // namespace rightsize::memory
