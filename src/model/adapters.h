// Which weights a trainer adapts when LoRA is asked for on every linear layer.
#pragma once

#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::model {

// Matrices of rank r beside a weight, in multiples of r: 0 none, 2 where two stand side by side in one tensor.
//
// peft 0.21 with transformers 5.17 (asked on 2026-11-16 with small models, tools/measure_speed.py adapted):
// "all-linear" leaves out the output layer, but not the transform before it. Where transformers maps the names of
// experts from older checkpoints, the names of MLP layers come to mean the stacked experts: those and their router are
// adapted, shared experts and dense MLPs of the same model are not. Elsewhere (Weight::spared) it is the other way
// round. Other trainers adapt both.
int adapter_ranks(const ModelShape& shape, const Weight& weight, LoraTargets targets, Stack stack);

// peft adapts the experts of this model.
bool adapts_experts(const ModelShape& shape);

}  // namespace rightsize::model
