// The builders of model families; build_model() chooses among them.
#pragma once

#include "memory/tape/model.h"

namespace rightsize::memory::tape {

using ModelPtr = std::unique_ptr<Model>;

ModelPtr make_llama_like(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_gpt2(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_gpt_neox(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_opt(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_mpt(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_bloom(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_falcon(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_bert(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_t5(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_bart(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_vit(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_deepseek(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_convnet(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_swin(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
ModelPtr make_unet(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);

}  // namespace rightsize::memory::tape
