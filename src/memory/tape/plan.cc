#include "memory/tape/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rightsize::memory::tape {
namespace {

using model::Job;
using model::Method;
using model::Precision;
using model::Stack;

Count divided(Count n, int by) { return std::max<Count>(1, (n + by - 1) / by); }

void set_widths(const Job& job, GpuPlan& plan) {
  const bool adapters = job.train.method != Method::kFull;
  // DeepSpeed moves the 32-bit master weights to host memory with the optimizer: GPUs hold weights and gradients in 16
  // bits.
  const bool master_in_host = job.train.offload != model::Offload::kNone && !adapters;
  switch (job.precision) {
    case Precision::kAmpBf16:
    case Precision::kAmpFp16:
      if (master_in_host) {
        plan.state_width = kSingle;
        break;
      }
      plan.width = plan.stored_width = plan.state_width = kSingle;
      // FSDP's mixed precision replaces autocast: 32-bit shards are gathered in 16 bits, so the forward pass does not
      // keep 16-bit copies of all weights.
      plan.autocast = !plan.sharded_parameters();
      if (plan.sharded_parameters()) {
        plan.width = kHalf;
        plan.gradient_width = kSingle;
      }
      break;
    case Precision::kFp32:
      plan.width = plan.stored_width = plan.state_width = kSingle;
      break;
    case Precision::kFp8:
    case Precision::kFp4:
      plan.fp8 = true;  // NVFP4 recipes save activations in fp8
      [[fallthrough]];
    case Precision::kMixedBf16:
      plan.state_width = kSingle;
      if (master_in_host) break;
      if (plan.sharded_parameters()) {
        // FSDP keeps 32-bit shards, which are the master weights, and gathers 16-bit copies.
        plan.stored_width = kSingle;
        plan.gradient_width = kSingle;
      } else if (!adapters) {
        plan.master_weights = true;
        // Megatron's main_grads_dtype is fp32; the recipes of NeMo and Megatron-Bridge ask for bf16.
        plan.gradient_width = job.train.gradients == model::StateFormat::kBf16 ? kHalf : kSingle;
      }
      break;
    default:
      break;
  }
  plan.train_weights = !adapters;
  plan.lora_rank = adapters ? job.train.lora_rank : 0;
  plan.lora_attention_only = job.train.lora_targets == model::LoraTargets::kAttention;
  plan.quantized_base = job.train.method == Method::kQlora;
  if (plan.quantized_base) plan.width = plan.stored_width = kHalf;
  if (job.train.optimizer_states) {
    using model::StateFormat;
    const StateFormat format = *job.train.optimizer_states;
    plan.state_width = format == StateFormat::kFp32 ? kSingle : format == StateFormat::kBf16 ? kHalf : kByte;
  }
}

// 1F1B: the first stage starts one micro-batch per stage before it receives a gradient. With v virtual stages it holds
// a share of (p - 1) / (p v) more (Narayanan et al. 2021, "Efficient large-scale language model training").
double most_in_flight(const model::Parallelism& parallel, Stage stage) {
  const double stages = parallel.pipeline, virtual_stages = parallel.pipeline_interleave;
  const double held = stage == Stage::kFirst ? stages : stage == Stage::kSecond ? stages - 1 : 1;
  return held * (virtual_stages > 1 ? 1 + (stages - 1) / (stages * virtual_stages) : 1);
}

double micro_batches_in_flight(const Job& job, Stage stage) {
  const double most = most_in_flight(job.parallel, stage);
  return stage == Stage::kLast ? most : std::min(most, static_cast<double>(std::max(1, job.train.accumulation)));
}

bool marks_ends(const model::ModelShape& model) {
  if (!model.forward) return false;
  const std::vector<model::Op>& ops = model.forward->programs.front().ops;
  return std::ranges::any_of(ops, [](const model::Op& op) { return op.kind == model::OpKind::kFirstStage; });
}

}  // namespace

int micro_batches_held(const Job& job) {
  const double most = std::ceil(most_in_flight(job.parallel, Stage::kFirst));
  return std::min(job.train.accumulation, std::max(2, static_cast<int>(most)));
}

std::vector<Stage> fullest_stages(const model::ModelShape& model, const Job& job) {
  if (job.parallel.pipeline <= 1) return {Stage::kFirst};
  const auto is_other = [&](const model::Weight& weight) {
    return weight.block != 0 && weight.block != model.weights.back().block && !weight.images_only;
  };
  const bool differ = model.experts && std::ranges::count_if(model.weights, is_other) > 0;
  if (job.parallel.pipeline > 2 && differ) return {Stage::kFirst, Stage::kSecond, Stage::kLast};
  return {Stage::kFirst, Stage::kLast};
}

GpuPlan make_plan(const model::ModelShape& model, const Job& job, Stage stage) {
  const model::Parallelism& parallel = job.parallel;
  GpuPlan plan;
  plan.batch = std::max<Count>(1, job.batch);
  plan.all_tokens = std::max<Count>(1, job.sequence);
  plan.tokens = divided(plan.all_tokens, parallel.context);
  plan.tensor = std::max(1, parallel.tensor);
  plan.expert = std::max(1, parallel.expert);
  // Whole experts are faster than slices (Megatron's expert-tensor-parallel-size 1); slices are used if there are fewer
  // groups.
  plan.expert_tensor = std::max(1, plan.tensor / plan.expert);
  plan.sequence_split = parallel.tensor > 1 && parallel.sequence_parallel;
  // Context-parallel GPUs hold the same weights and share the shards.
  plan.shards = std::max(1, parallel.data() * parallel.context);
  plan.zero = parallel.zero;
  plan.layers = static_cast<int>(divided(model.layers, parallel.pipeline));
  // Convolutional models count layers differently and are never divided.
  if (!model.stages.empty()) plan.layers = std::numeric_limits<int>::max() / 2;
  plan.encoder_layers =
      static_cast<int>(model.encoder_layers > 0 ? divided(model.encoder_layers, parallel.pipeline) : 0);
  // If the forward pass marks its ends, a stage holds one of them; for other models both ends are counted everywhere.
  const bool one_stack = model.encoder_layers == 0 && model.image_size == 0 && marks_ends(model);
  plan.first_stage = parallel.pipeline == 1 || stage == Stage::kFirst || !one_stack;
  plan.last_stage = parallel.pipeline == 1 || stage == Stage::kLast || !one_stack;
  if (one_stack && stage != Stage::kFirst) plan.skipped = std::max(0, static_cast<int>(model.layers) - plan.layers);
  plan.in_flight = micro_batches_in_flight(job, parallel.pipeline > 1 ? stage : Stage::kFirst);
  plan.recompute = job.train.recompute;
  plan.attention = job.train.attention;
  plan.cross_entropy = job.train.cross_entropy;
  plan.stack = job.stack;
  plan.fused_kernels = job.train.fused_kernels || job.train.compile || job.stack == Stack::kMegatron;
  plan.compiled = job.train.compile && job.stack == Stack::kHf;
  plan.offload_activations = job.train.offload_activations;
  plan.offload_states = job.train.offload != model::Offload::kNone;
  plan.offload_parameters = job.train.offload == model::Offload::kParameters;
  plan.optimizer_in_backward = job.train.optimizer_in_backward;
  plan.accumulates = job.train.accumulation > 1;
  plan.optimizer = job.train.optimizer;
  // torchvision's recipes use the default torch.optim.AdamW; the Trainer of transformers uses the fused one.
  plan.step_over_lists = model.kind == model::ModelKind::kConvNet || !model.stages.empty() ||
                         (model.kind == model::ModelKind::kVisionTransformer && model.fused_qkv);
  set_widths(job, plan);
  return plan;
}

}  // namespace rightsize::memory::tape
