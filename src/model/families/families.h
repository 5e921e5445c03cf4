// One reader a family: fills the numbers and the inventory of `shape` from a configuration, noting mistakes in it.
// Defaults and tensor lists are those of the transformers, diffusers and torchvision classes of the same name.
#pragma once

#include "model/config.h"
#include "model/model_shape.h"

namespace rightsize::model {

// llama_like.cc
void read_llama(const Config& config, ModelShape& shape);
void read_mistral(const Config& config, ModelShape& shape);
void read_qwen2(const Config& config, ModelShape& shape);
void read_qwen3(const Config& config, ModelShape& shape);
void read_phi3(const Config& config, ModelShape& shape);
void read_granite(const Config& config, ModelShape& shape);
void read_smollm3(const Config& config, ModelShape& shape);
void read_olmo(const Config& config, ModelShape& shape);
void read_olmo2(const Config& config, ModelShape& shape);
void read_starcoder2(const Config& config, ModelShape& shape);
void read_stablelm(const Config& config, ModelShape& shape);
void read_cohere(const Config& config, ModelShape& shape);
void read_cohere2(const Config& config, ModelShape& shape);
void read_glm(const Config& config, ModelShape& shape);
void read_glm4(const Config& config, ModelShape& shape);

// gemma.cc
void read_gemma(const Config& config, ModelShape& shape);
void read_gemma2(const Config& config, ModelShape& shape);
void read_gemma3_text(const Config& config, ModelShape& shape);
void read_gemma3(const Config& config, ModelShape& shape);  // text alone or with its image tower

// mixture.cc
void read_mixtral(const Config& config, ModelShape& shape);
void read_qwen2_moe(const Config& config, ModelShape& shape);
void read_qwen3_moe(const Config& config, ModelShape& shape);
void read_olmoe(const Config& config, ModelShape& shape);
void read_gpt_oss(const Config& config, ModelShape& shape);

// deepseek.cc
void read_deepseek_v2(const Config& config, ModelShape& shape);
void read_deepseek_v3(const Config& config, ModelShape& shape);

// gpt_like.cc
void read_gpt2(const Config& config, ModelShape& shape);
void read_gpt_bigcode(const Config& config, ModelShape& shape);
void read_gpt_neo(const Config& config, ModelShape& shape);
void read_gpt_neox(const Config& config, ModelShape& shape);
void read_gptj(const Config& config, ModelShape& shape);
void read_phi(const Config& config, ModelShape& shape);

// open_decoders.cc
void read_opt(const Config& config, ModelShape& shape);
void read_mpt(const Config& config, ModelShape& shape);
void read_bloom(const Config& config, ModelShape& shape);
void read_falcon(const Config& config, ModelShape& shape);

// encoder.cc
void read_bert(const Config& config, ModelShape& shape);
void read_roberta(const Config& config, ModelShape& shape);
void read_distilbert(const Config& config, ModelShape& shape);

// encoder_decoder.cc
void read_t5(const Config& config, ModelShape& shape);
void read_whisper(const Config& config, ModelShape& shape);
void read_bart(const Config& config, ModelShape& shape);

// vision.cc
void read_vit(const Config& config, ModelShape& shape);
void read_swin(const Config& config, ModelShape& shape);

// convnet.cc
void read_resnet(const Config& config, ModelShape& shape);
void read_convnext(const Config& config, ModelShape& shape);
void read_efficientnet(const Config& config, ModelShape& shape);

// unet.cc
void read_unet(const Config& config, ModelShape& shape);

}  // namespace rightsize::model
