// Serving settings with several values, and the weight formats of a served model.
#pragma once

#include <string>

#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::model {

// "prefill=2x1,decode=1x4": workers x GPUs each, in either order.
Result<Disaggregated> parse_disaggregated(const std::string& text);

// "3" or "3,0.7": tokens drafted per step and the share accepted.
Result<Speculation> parse_speculation(const std::string& text);

// One prefill worker of a disaggregated job. It spreads experts and attention over its GPUs if decode workers do.
Job prefill_worker(const Job& job);

// Expert slots of `groups` GPU groups that hold equally many: more than the experts if they do not divide evenly. The
// spare slots hold copies of popular experts (SGLang: ep-num-redundant-experts).
std::int64_t expert_slots(std::int64_t experts, int groups);

// A number from 0 to just below 1.
Result<double> parse_share(const char* name, const std::string& text);

// The format of the published checkpoint, an engine's default: fp8 for DeepSeek-V3, fp4 for gpt-oss (MXFP4), else bf16.
Precision checkpoint_precision(const ModelShape& model);

// The precision of a serving job without --precision: the checkpoint's format, except in Hugging Face transformers,
// which converts it to bf16, and for models that no serving engine runs.
Precision default_precision(const ModelShape& model, Stack stack);

// The weight formats of a model served in one precision.
struct ServedFormats {
  Precision dense = Precision::kBf16;    // attention, ordinary MLPs, shared experts
  Precision experts = Precision::kBf16;  // routed ones
};
// In a mixture, only routed experts are stored in 4-bit floating point; everything else stays 16-bit (config.json of
// gpt-oss lists self_attn, router and lm_head as not converted; NVIDIA's NVFP4 checkpoints of DeepSeek and Qwen do the
// same). Experts published in 4 bits are not widened to 8: fp8 then describes the other weights and the cache.
ServedFormats served_formats(bool mixture, Precision checkpoint, Precision asked);

}  // namespace rightsize::model
