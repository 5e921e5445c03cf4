// Settings of serving that are more than one number, and the formats a served model's weights have.
#pragma once

#include <string>

#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::model {

// "prefill=2x1,decode=1x4": workers x GPUs each, in either order.
Result<Disaggregated> parse_disaggregated(const std::string& text);

// "3" or "3,0.7": tokens guessed ahead and the share of guesses that hold.
Result<Speculation> parse_speculation(const std::string& text);

// A number from 0 to just below 1.
Result<double> parse_share(const char* name, const std::string& text);

// The format a checkpoint is published in, which is what an engine serves unless told otherwise: fp8 for DeepSeek-V3,
// fp4 for gpt-oss (MXFP4), else bf16.
Precision checkpoint_precision(const ModelShape& model);

// What a served job without --precision runs in: the checkpoint's own format, except in Hugging Face transformers,
// which expands what it cannot compute with.
Precision default_precision(const ModelShape& model, Stack stack);

// What `asked` means for a model's weights.
struct ServedFormats {
  Precision dense = Precision::kBf16;    // attention, ordinary MLPs, shared experts
  Precision experts = Precision::kBf16;  // routed ones
};
// 4-bit floating point of a mixture holds its routed experts; everything else stays 16-bit (gpt-oss' own config.json
// lists self_attn, router and lm_head as not converted; NVIDIA's NVFP4 checkpoints of DeepSeek and Qwen do the same).
// Experts published in four bits are not widened to eight: fp8 then describes the other weights and the cache.
ServedFormats served_formats(bool mixture, Precision checkpoint, Precision asked);

}  // namespace rightsize::model
