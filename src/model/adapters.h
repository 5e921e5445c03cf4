// Which weights a trainer adapts for LoRA on every linear layer.
#pragma once

#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::model {

// The total rank of the adapters of a weight, in multiples of r: 0 none, 2 if the tensor holds two matrices side by
// side.
//
// peft 0.21 with transformers 5.17 (checked on 2026-11-16 with small models): "all-linear" excludes the output layer,
// but not the transform before it. If transformers maps expert names from older checkpoints, the names of MLP layers
// match the stacked experts: peft adapts these and their router, but not shared experts and dense MLPs of the same
// model. For other models (Weight::spared) it is the opposite. Other trainers adapt both.
int adapter_ranks(const ModelShape& shape, const Weight& weight, LoraTargets targets, Stack stack);

// Whether peft adapts the experts of this model.
bool adapts_experts(const ModelShape& shape);

}  // namespace rightsize::model
