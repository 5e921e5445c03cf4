// What a job means for the tape of one GPU: sizes after every way of splitting the work, and the switches that change
// what is saved. Derived once from the Job, so that builders never ask about parallelism again.
#pragma once

#include "memory/tape/recorder.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory::tape {

struct Plan {
  Count batch = 1;
  Count tokens = 1;      // of a sequence on this GPU (context parallelism divides it)
  Count all_tokens = 1;  // of the whole sequence
  int tensor = 1;        // GPUs that share every matrix
  int expert = 1;
  bool sequence_split = false;  // norms and residuals hold 1 / tensor of the tokens
  int shards = 1;               // data-parallel GPUs
  int zero = 0;
  int layers = 0;  // to run; the model's own number unless the tape is cut short to be extrapolated
  int encoder_layers = 0;
  bool first_stage = true, last_stage = true;
  double in_flight = 1;  // micro-batches whose activations a pipeline stage holds at once

  std::uint8_t width = kHalf;         // of weights as operations see them
  std::uint8_t stored_width = kHalf;  // of weights as they are kept (sharded 32-bit weights are gathered in 16)
  std::uint8_t gradient_width = 0;    // of gradients kept apart from those autograd makes; 0: autograd's own
  std::uint8_t state_width = kHalf;
  bool master_weights = false;
  bool autocast = false;
  bool train_weights = true;
  int lora_rank = 0;
  bool lora_attention_only = false;
  bool quantized_base = false;

  model::Recompute recompute = model::Recompute::kNone;
  model::Attention attention = model::Attention::kSdpa;
  model::CrossEntropy cross_entropy = model::CrossEntropy::kEager;
  model::Stack stack = model::Stack::kHf;
  bool fused_kernels = false;
  bool compiled = false;  // torch.compile of a whole transformers model
  bool offload_activations = false;
  bool offload_states = false;
  bool offload_parameters = false;  // weights come from host memory layer by layer, gradients go there
  bool optimizer_in_backward = false;
  bool accumulates = false;      // more than one pass a step: gradients stay through the forward
  bool step_over_lists = false;  // torch's default AdamW works on all tensors at once; fused AdamW needs no room
  model::Optimizer optimizer = model::Optimizer::kAdamW;
  bool fp8 = false;

  bool checkpoints() const {
    return recompute == model::Recompute::kFull ||
           (recompute == model::Recompute::kSelective && stack != model::Stack::kMegatron);
  }
  Count rows() const { return batch * tokens; }
  // Rows of the residual stream.
  Count residual_rows() const { return sequence_split ? rows() / tensor : rows(); }
  // Weights are gathered for a layer at a time, from other GPUs or from the host.
  bool gathers() const { return sharded_parameters() || offload_parameters; }
  bool sharded_parameters() const { return zero >= 3 && shards > 1; }
  bool sharded_gradients() const { return zero >= 2 && shards > 1; }
  bool sharded_states() const { return zero >= 1 && shards > 1; }
};

// The plan of the fullest GPU. `last_stage` chooses which end of a pipeline is looked at.
Plan make_plan(const model::ModelShape& model, const model::Job& job, bool last_stage);

}  // namespace rightsize::memory::tape
