// A job from the view of one GPU's tape: sizes after every kind of parallelism, and the switches that change what is
// saved. Derived once from the Job; the code that runs the tape does not deal with parallelism.
#pragma once

#include <vector>

#include "memory/tape/recorder.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory::tape {

struct GpuPlan {
  auto operator<=>(const GpuPlan&) const = default;

  Count batch = 1;
  Count tokens = 1;             // of a sequence, on this GPU (context parallelism divides it)
  Count all_tokens = 1;         // of the whole sequence
  int tensor = 1;               // GPUs that share each matrix
  int expert = 1;               // GPUs that share the experts of a layer
  int expert_tensor = 1;        // GPUs that share each expert
  bool sequence_split = false;  // norms and residuals hold 1 / tensor of the tokens
  int shards = 1;               // data-parallel GPUs
  int zero = 0;
  int layers = 0;   // to run; fewer than the model has if the tape is cut short and extrapolated
  int skipped = 0;  // layers of earlier pipeline stages
  int encoder_layers = 0;
  bool first_stage = true, last_stage = true;
  double in_flight = 1;  // micro-batches with activations in a pipeline stage at once

  std::uint8_t width = kHalf;         // of weights in operations
  std::uint8_t stored_width = kHalf;  // of weights in memory (sharded 32-bit weights are gathered in 16 bits)
  std::uint8_t gradient_width = 0;    // of a separate gradient buffer; 0: autograd's gradients are used
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
  bool offload_parameters = false;  // weights come from host memory layer by layer, and gradients return there
  bool optimizer_in_backward = false;
  bool accumulates = false;      // several passes per step: gradients stay during the forward pass
  bool step_over_lists = false;  // torch's default AdamW works on all tensors at once; fused AdamW needs no buffers
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

// The accumulation steps of a job that matter for memory: beyond two, or beyond what a pipeline holds, more steps
// change nothing.
int micro_batches_held(const model::Job& job);

// The plan of a GPU of a pipeline stage. Stages are as long as the longest one.
enum class Stage { kFirst, kSecond, kLast };
GpuPlan make_plan(const model::ModelShape& model, const model::Job& job, Stage stage);

// The stages that can need the most memory. The second stage matters if layers differ: the first layers of a mixture
// may have no experts.
std::vector<Stage> fullest_stages(const model::ModelShape& model, const model::Job& job);

}  // namespace rightsize::memory::tape
