#include <array>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

using Maker = ModelPtr (*)(Recorder&, const model::ModelShape&, const Plan&);

struct Row {
  const char* family;
  Maker make;
  bool exact;
};

// Checked against recorded allocations where `exact`.
constexpr std::array kBuilders = {
    Row{"llama", make_llama_like, true},
    Row{"mistral", make_llama_like, true},
    Row{"qwen2", make_llama_like, true},
    Row{"qwen3", make_llama_like, true},
    Row{"smollm3", make_llama_like, true},
    Row{"granite", make_llama_like, true},
    Row{"phi3", make_llama_like, true},
    Row{"phi", make_llama_like, true},
    Row{"gemma", make_llama_like, true},
    Row{"gemma2", make_llama_like, true},
    Row{"gemma3_text", make_llama_like, true},
    Row{"gemma3", make_llama_like, true},
    Row{"olmo2", make_llama_like, true},
    Row{"starcoder2", make_llama_like, true},
    Row{"stablelm", make_llama_like, true},
    Row{"mixtral", make_llama_like, true},
    Row{"qwen3_moe", make_llama_like, true},
    Row{"qwen2_moe", make_llama_like, false},
    Row{"gpt_oss", make_llama_like, false},
    Row{"olmo", make_llama_like, true},
    Row{"cohere", make_llama_like, true},
    Row{"cohere2", make_llama_like, false},
    Row{"glm", make_llama_like, true},
    Row{"glm4", make_llama_like, true},
    Row{"olmoe", make_llama_like, false},
    Row{"gpt2", make_gpt2, true},
    Row{"gpt_bigcode", make_gpt2, true},
    Row{"gpt_neo", make_gpt2, true},
    Row{"gpt_neox", make_gpt_neox, true},
    Row{"gptj", make_gpt_neox, true},
    Row{"opt", make_opt, true},
    Row{"mpt", make_mpt, true},
    Row{"bloom", make_bloom, true},
    Row{"falcon", make_falcon, true},
    Row{"bert", make_bert, true},
    Row{"roberta", make_bert, true},
    Row{"xlm-roberta", make_bert, true},
    Row{"camembert", make_bert, true},
    Row{"distilbert", make_bert, true},
    Row{"t5", make_t5, true},
    Row{"mt5", make_t5, true},
    Row{"umt5", make_t5, false},
    Row{"bart", make_bart, true},
    Row{"whisper", make_bart, false},
    Row{"vit", make_vit, true},
    Row{"deit", make_vit, true},
    Row{"deepseek_v2", make_deepseek, false},
    Row{"deepseek_v3", make_deepseek, false},
    Row{"resnet", make_convnet, true},
    Row{"convnext", make_convnet, true},
    Row{"efficientnet", make_convnet, true},
    Row{"swin", make_swin, true},
    Row{"unet2d_condition", make_unet, false},
};

}  // namespace

BuiltModel build_model(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  for (const Row& row : kBuilders) {
    if (shape.family == row.family) return {row.make(recorder, shape, plan), row.exact};
  }
  return {make_llama_like(recorder, shape, plan), false};
}

}  // namespace rightsize::memory::tape
