// The command of each stack, with the plan's settings in its own flags. Flag names: TRL's sft script over
// transformers.TrainingArguments, Megatron-LM's and torchtitan's arguments, llm-foundry's YAML keys, `vllm serve`,
// SGLang's launch_server and trtllm-serve, as documented in 2026.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perf/perf.h"
#include "plan/candidates.h"
#include "plan/hand_over/apart.h"
#include "plan/hand_over/parts.h"
#include "plan/startup.h"

namespace rightsize::plan {
namespace {

using model::Precision;
using model::Recompute;
using model::Stack;

// Words of one command, a line each.
class CommandLine {
 public:
  void add(std::string words) { lines_.push_back(std::move(words)); }
  template <class Value>
  void add(const char* flag, const Value& value) {
    lines_.push_back(fmt::format("{} {}", flag, value));
  }
  std::string text() const { return fmt::format("{}\n", fmt::join(lines_, " \\\n  ")); }

 private:
  std::vector<std::string> lines_;
};

bool in_batches(const Request& request) { return perf::serves_batches(perf::work_of(request.model)); }

std::int64_t steps(const Request& request, const Plan& plan) {
  const double sequence = request.model.image_size > 0 ? 1.0 : static_cast<double>(plan.job.sequence);
  const double each = static_cast<double>(request.global_batch) * std::max(1.0, sequence);
  return std::max<std::int64_t>(1, std::llround(std::ceil(request.work.amount / each)));
}

// Steps between checkpoints, as often as the plan's hours have it.
std::int64_t steps_between_saves(const Request& request, const Plan& plan) {
  const double share = plan.time.interval > Seconds{} ? std::min(1.0, plan.time.interval / plan.time.work) : 1.0;
  return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(steps(request, plan))));
}

std::string torchrun(const Plan& plan, const Launcher& launcher) {
  if (plan.machines == 1) return fmt::format("torchrun --standalone --nproc-per-node={}", working_gpus(plan));
  return fmt::format(
      "torchrun --nnodes={} --nproc-per-node={} --node-rank=\"{}\" \\\n  --master-addr=\"{}\" --master-port=29500",
      plan.machines, working_gpus(plan), launcher.rank, launcher.head);
}

const char* hf_optimizer(model::Optimizer optimizer) {
  using model::Optimizer;
  switch (optimizer) {
    case Optimizer::kAdamW8bit:
      return "adamw_bnb_8bit";
    case Optimizer::kAdamWPaged8bit:
      return "paged_adamw_8bit";
    case Optimizer::kSgd:
    case Optimizer::kSgdMomentum:
      return "sgd";
    case Optimizer::kAdafactor:
      return "adafactor";
    case Optimizer::kLion:
      return "lion_32bit";
    default:
      return "adamw_torch";
  }
}

// FSDP has no stage that shards optimizer states alone, and no 16-bit weights over 32-bit master copies; DeepSpeed has.
bool by_deepspeed(const model::Job& job) { return job.parallel.zero == 1 || job.precision == Precision::kMixedBf16; }

std::string deepspeed_config(const model::Job& job, const catalog::Gpu& gpu) {
  return fmt::format(
      "cat > deepspeed.json <<'JSON'\n"
      "{{\"zero_optimization\": {{\"stage\": {}}}, \"{}\": {{\"enabled\": {}}},\n"
      " \"train_micro_batch_size_per_gpu\": \"auto\", \"gradient_accumulation_steps\": \"auto\"}}\n"
      "JSON\n",
      job.parallel.zero, has_bf16(gpu) ? "bf16" : "fp16", job.precision == Precision::kMixedBf16 ? "true" : "\"auto\"");
}

void add_hf_sharding(CommandLine& line, const model::Job& job) {
  if (by_deepspeed(job))
    line.add("--deepspeed deepspeed.json");
  else if (job.parallel.zero == 2)
    line.add("--fsdp 'shard_grad_op auto_wrap'");
  else if (job.parallel.zero == 3)
    line.add("--fsdp 'full_shard auto_wrap'");
}

// GPUs without bfloat16 compute in the other 16-bit format; Trainer then scales the loss.
void add_hf_precision(CommandLine& line, Precision precision, const catalog::Gpu& gpu) {
  const bool bf16 = has_bf16(gpu);
  if (precision == Precision::kBf16) line.add(bf16 ? "--dtype bfloat16" : "--dtype float16");
  if (precision == Precision::kAmpBf16 || precision == Precision::kMixedBf16)
    line.add(bf16 ? "--bf16 true" : "--fp16 true");
  if (precision == Precision::kAmpFp16) line.add("--fp16 true");
}

// The newest checkpoint that was written to its end; the first run finds none. trainer_state.json is written last.
constexpr const char* kLastHfCheckpoint =
    "mkdir -p \"$OUTPUT\"\n"
    "last=$(ls -d \"$OUTPUT\"/checkpoint-*/trainer_state.json 2>/dev/null | sort -V | tail -n1 || true)\n";

std::string train_hf(const Request& request, const Plan& plan, const Launcher& launcher) {
  const model::Job& job = plan.job;
  CommandLine line;
  line.add(torchrun(plan, launcher) + " \"$TRAIN_SCRIPT\"");
  line.add("--model_name_or_path \"$MODEL\" --dataset_name \"$DATA\" --output_dir \"$OUTPUT\"");
  line.add("${last:+--resume_from_checkpoint \"${last%/*}\"}");
  line.add("--per_device_train_batch_size", job.batch);
  line.add("--gradient_accumulation_steps", job.train.accumulation);
  line.add("--max_steps", steps(request, plan));
  line.add("--save_strategy steps --save_steps", steps_between_saves(request, plan));
  if (request.model.image_size == 0) line.add("--max_length", job.sequence);
  line.add("--optim", hf_optimizer(job.train.optimizer));
  add_hf_precision(line, job.precision, *plan.offer.gpu);
  line.add("--gradient_checkpointing", job.train.recompute != Recompute::kNone);
  add_hf_sharding(line, job);
  if (job.train.method != model::Method::kFull) {
    line.add("--use_peft true --lora_r", job.train.lora_rank);
    line.add(job.train.lora_targets == model::LoraTargets::kAllLinear
                 ? "--lora_target_modules all-linear"
                 : "--lora_target_modules q_proj k_proj v_proj o_proj");
  }
  if (job.train.method == model::Method::kQlora) line.add("--load_in_4bit true");
  return kLastHfCheckpoint + (by_deepspeed(job) ? deepspeed_config(job, *plan.offer.gpu) : std::string{}) + line.text();
}

std::string train_megatron(const Request& request, const Plan& plan, const Launcher& launcher) {
  const model::Job& job = plan.job;
  CommandLine line;
  line.add(torchrun(plan, launcher) + " \"$TRAIN_SCRIPT\"");
  // Megatron loads the newest checkpoint of --load, and --pretrained-checkpoint where there is none yet.
  line.add("--load \"$OUTPUT\" --pretrained-checkpoint \"$MODEL\" --use-checkpoint-args");
  line.add("--data-path \"$DATA\" --save \"$OUTPUT\"");
  line.add("--tensor-model-parallel-size", job.parallel.tensor);
  line.add("--pipeline-model-parallel-size", job.parallel.pipeline);
  if (job.parallel.context > 1) line.add("--context-parallel-size", job.parallel.context);
  if (job.parallel.expert > 1) line.add("--expert-model-parallel-size", job.parallel.expert);
  if (job.parallel.tensor > 1 && job.parallel.sequence_parallel) line.add("--sequence-parallel");
  line.add("--micro-batch-size", job.batch);
  line.add("--global-batch-size", request.global_batch);
  line.add("--seq-length", job.sequence);
  line.add("--train-iters", steps(request, plan));
  line.add("--save-interval", steps_between_saves(request, plan));
  line.add("--bf16");
  if (job.precision == Precision::kFp8) line.add("--fp8-format hybrid");
  if (job.parallel.zero > 0) line.add("--use-distributed-optimizer");
  if (job.train.recompute == Recompute::kSelective) line.add("--recompute-granularity selective");
  if (job.train.recompute == Recompute::kFull)
    line.add("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
  return line.text();
}

std::string train_torchtitan(const Request& request, const Plan& plan, const Launcher& launcher) {
  const model::Job& job = plan.job;
  const int model_gpus = job.parallel.tensor * job.parallel.pipeline * job.parallel.context;
  const int data = std::max(1, plan.gpus / model_gpus);
  CommandLine line;
  line.add(torchrun(plan, launcher) + " -m torchtitan.train");
  line.add("--job.config_file \"$TRAIN_SCRIPT\" --training.dataset_path \"$DATA\" --job.dump_folder \"$OUTPUT\"");
  // Used only while the dump folder holds no checkpoint of this run.
  line.add("--checkpoint.initial_load_path \"$weights\" --checkpoint.initial_load_in_hf");
  line.add("--training.local_batch_size", job.batch);
  line.add("--training.global_batch_size", request.global_batch);
  line.add("--training.seq_len", job.sequence);
  line.add("--training.steps", steps(request, plan));
  line.add("--checkpoint.enable --checkpoint.interval", steps_between_saves(request, plan));
  line.add("--parallelism.tensor_parallel_degree", job.parallel.tensor);
  line.add("--parallelism.pipeline_parallel_degree", job.parallel.pipeline);
  line.add("--parallelism.data_parallel_shard_degree", job.parallel.zero > 0 ? data : 1);
  line.add("--parallelism.data_parallel_replicate_degree", job.parallel.zero > 0 ? 1 : data);
  line.add("--activation_checkpoint.mode", model::name_of(job.train.recompute));
  return "weights=$(hf download \"$MODEL\")\n" + line.text();
}

std::string train_llm_foundry(const Request& request, const Plan& plan, const Launcher& launcher) {
  static constexpr const char* kSharding[] = {"NO_SHARD", "SHARD_GRAD_OP", "SHARD_GRAD_OP", "FULL_SHARD"};
  const model::Job& job = plan.job;
  CommandLine line;
  line.add(plan.machines == 1
               ? fmt::format("composer -n {} train.py \"$TRAIN_SCRIPT\"", working_gpus(plan))
               : fmt::format(
                     "composer -n {} --world_size {} --node_rank \"{}\" \\\n  --master_addr \"{}\" --master_port 29500 "
                     "train.py \"$TRAIN_SCRIPT\"",
                     working_gpus(plan), plan.gpus, launcher.rank, launcher.head));
  line.add("model.pretrained_model_name_or_path=\"$MODEL\" variables.data_local=\"$DATA\" save_folder=\"$OUTPUT\"");
  line.add(fmt::format("device_train_microbatch_size={} global_train_batch_size={}", job.batch, request.global_batch));
  line.add(fmt::format("variables.max_seq_len={} max_duration={}ba", job.sequence, steps(request, plan)));
  line.add(fmt::format("run_name={} save_interval={}ba autoresume=true", object_name(request),
                       steps_between_saves(request, plan)));
  line.add(fmt::format("precision={}", model::name_of(job.precision)));
  line.add(fmt::format("fsdp_config.sharding_strategy={}", kSharding[job.parallel.zero]));
  line.add(fmt::format("fsdp_config.activation_checkpointing={}", job.train.recompute != Recompute::kNone));
  return line.text();
}

// The longest request a server takes. Chats grow past the lengths that were planned with: four times those, and at
// least 8,192 tokens, as far as the model's positions and a quarter of the replica's cache go.
std::int64_t longest_request(const Request& request, const Plan& plan) {
  constexpr std::int64_t kRoom = 4, kLeast = 8192;
  std::int64_t planned = plan.job.serve.isl + plan.job.serve.osl;
  for (const RequestSize& size : request.work.mix) planned = std::max(planned, size.isl + size.osl);
  if (request.work.kind == WorkKind::kOffline) return planned;
  std::int64_t longest = std::max(kLeast, planned * kRoom);
  if (request.work.mix.empty() && !request.work.trace) {
    const sim::RequestShape lengths = request_lengths(request);  // what was simulated must be let in
    planned = std::max<std::int64_t>(planned, lengths.longest_size() + lengths.longest_output());
  }
  const double cache = perf::kv_token_capacity(request.model, plan.job, *plan.offer.gpu);
  if (cache > 0) longest = std::min(longest, static_cast<std::int64_t>(cache / 4));
  if (request.model.context > 0) longest = std::min(longest, request.model.context);
  return std::max(planned, longest);
}

// A server runs with the limits it was simulated with, an offline job with the plan's own number.
std::int64_t most_running(const Plan& plan) {
  return std::max<std::int64_t>(1, plan.sequences > 0 ? plan.sequences : plan.job.serve.concurrency);
}

// Formats that the checkpoint brings itself (int4, int8, fp4) need no flag.
void add_vllm_flags(CommandLine& line, const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  // Attention data parallelism: vLLM counts its groups, and the GPUs of one of them.
  line.add("--tensor-parallel-size", job.parallel.attention_tensor());
  if (job.parallel.attention_data > 1) line.add("--data-parallel-size", job.parallel.attention_data);
  if (job.parallel.pipeline > 1) line.add("--pipeline-parallel-size", job.parallel.pipeline);
  if (job.parallel.expert > 1) line.add("--enable-expert-parallel");
  line.add("--max-num-seqs", most_running(plan));
  if (plan.token_budget > 0) line.add("--max-num-batched-tokens", plan.token_budget);
  line.add("--max-model-len", longest_request(request, plan));
  line.add("--gpu-memory-utilization", job.serve.memory_share);
  const bool bf16 = job.precision == Precision::kBf16 && has_bf16(*plan.offer.gpu);
  const bool sixteen_bits = job.precision == Precision::kBf16 || job.precision == Precision::kFp16;
  if (sixteen_bits) line.add(bf16 ? "--dtype bfloat16" : "--dtype float16");
  if (job.precision == Precision::kFp8 && request.model.checkpoint != Precision::kFp8) line.add("--quantization fp8");
  if (job.precision == Precision::kNf4) line.add("--quantization bitsandbytes");
  if (perf::kv_format(job, request.model.narrow_cache) == Precision::kFp8) line.add("--kv-cache-dtype fp8");
}

// Of an engine over several machines the first answers; the others only compute (vLLM, "Multi-node deployment" 2026).
std::string serve_vllm(const Request& request, const Plan& plan, const Launcher& launcher) {
  CommandLine line;
  line.add(fmt::format("vllm serve \"$MODEL\" --host 0.0.0.0 --port {}", kPort));
  add_vllm_flags(line, request, plan);
  if (launcher.replicas > 1) line.add("--data-parallel-size", launcher.replicas);  // layouts with groups fill a machine
  const int machines = replica_machines(request, plan);
  if (machines == 1) return line.text();
  line.add(
      fmt::format("--nnodes {} --node-rank {} --master-addr {} $HEADLESS", machines, launcher.rank, launcher.head));
  return fmt::format("HEADLESS=\nif [ {} -gt 0 ]; then HEADLESS=--headless; fi\n{}", launcher.rank, line.text());
}

std::string serve_sglang(const Request& request, const Plan& plan, const Launcher& launcher) {
  CommandLine line;
  const int replicas = launcher.replicas, machines = replica_machines(request, plan);
  line.add(fmt::format("python -m sglang.launch_server --model-path \"$MODEL\" --host 0.0.0.0 --port {}", kPort));
  line.add("--tp", plan.job.parallel.tensor);
  if (plan.job.parallel.pipeline > 1) line.add("--pp-size", plan.job.parallel.pipeline);
  if (machines > 1)
    line.add(
        fmt::format("--nnodes {} --node-rank {} --dist-init-addr {}:20000", machines, launcher.rank, launcher.head));
  if (plan.job.parallel.expert > 1) line.add("--ep-size", plan.job.parallel.expert);
  if (plan.job.parallel.attention_data > 1)
    line.add(fmt::format("--enable-dp-attention --dp-size {}", plan.job.parallel.attention_data));
  if (replicas > 1) line.add("--dp", replicas);
  line.add("--max-running-requests", most_running(plan));
  if (plan.token_budget > 0) line.add("--chunked-prefill-size", plan.token_budget);
  line.add("--context-length", longest_request(request, plan));
  line.add("--mem-fraction-static", plan.job.serve.memory_share);
  if (plan.job.precision == Precision::kBf16 && !has_bf16(*plan.offer.gpu)) line.add("--dtype float16");
  if (plan.job.precision == Precision::kFp8 && request.model.checkpoint != Precision::kFp8)
    line.add("--quantization fp8");
  return line.text();
}

// A part that is done is not done again when a machine comes back.
std::string unless_done(const std::string& output, const std::string& command) {
  return fmt::format("if [ ! -e \"{0}.done\" ]; then\n{1}  touch \"{0}.done\"\nfi\n", output, indented(command, "  "));
}

// Engines side by side on a machine, each on GPUs of its own; `replica` counts them over all machines.
std::string side_by_side(const std::string& command, int replicas, int tensor, const std::string& rank) {
  if (replicas == 1) return fmt::format("replica={}\n{}", rank, command);
  return fmt::format(
      "pids=()\n"
      "for i in $(seq 0 {0}); do\n"
      "  replica=$(( {1} * {2} + i ))\n"
      "  export CUDA_VISIBLE_DEVICES=$(seq -s, $(( i * {3} )) $(( i * {3} + {3} - 1 )))\n"
      "{4}"
      "  pids+=(\"$!\")\n"
      "done\n"
      "for pid in \"${{pids[@]}}\"; do wait \"$pid\"; done\n",
      replicas - 1, rank, replicas, tensor, indented(command.substr(0, command.size() - 1) + " &\n", "  "));
}

std::string serve_trtllm(const Request& request, const Plan& plan, const Launcher& launcher) {
  CommandLine line;
  const bool several = launcher.replicas > 1;
  line.add(fmt::format("trtllm-serve \"$MODEL\" --host 0.0.0.0 --port {}",
                       several ? fmt::format("$(( {} + i ))", kPort) : fmt::format("{}", kPort)));
  line.add("--tp_size", plan.job.parallel.tensor);
  if (plan.job.parallel.pipeline > 1) line.add("--pp_size", plan.job.parallel.pipeline);
  if (plan.job.parallel.expert > 1) line.add("--ep_size", plan.job.parallel.expert);
  if (plan.job.parallel.attention_data > 1) line.add("--extra_llm_api_options <(echo 'enable_attention_dp: true')");
  line.add("--max_batch_size", most_running(plan));
  if (plan.token_budget > 0) line.add("--max_num_tokens", plan.token_budget);
  line.add("--max_seq_len", longest_request(request, plan));
  if (!several) return line.text();
  return side_by_side(line.text(), launcher.replicas, plan.job.parallel.tensor * plan.job.parallel.pipeline,
                      launcher.rank);
}

std::string offline(const Request& request, const Plan& plan, const Launcher& launcher) {
  CommandLine line;
  if (request.work.is_measured() || in_batches(request)) {
    line.add("python \"$WORK_SCRIPT\" --input \"$INPUT/part-$replica\" --output \"$OUTPUT/part-$replica\"");
    if (!request.work.is_measured()) line.add(fmt::format("--model \"$MODEL\" --batch-size {}", plan.job.batch));
  } else {
    line.add("vllm run-batch --model \"$MODEL\"");
    line.add("-i \"$INPUT/part-$replica.jsonl\" -o \"$OUTPUT/part-$replica.jsonl\"");
    add_vllm_flags(line, request, plan);
  }
  const std::string once = unless_done("$OUTPUT/part-$replica", line.text());
  return "mkdir -p \"$OUTPUT\"\n" + side_by_side(once, launcher.replicas, plan.job.parallel.tensor, launcher.rank);
}

std::string serve(const Request& request, const Plan& plan, const Launcher& launcher) {
  if (in_batches(request)) {
    CommandLine line;
    line.add(fmt::format("python \"$SERVE_SCRIPT\" --model \"$MODEL\" --host 0.0.0.0 --port {}", kPort));
    line.add(fmt::format("--batch-size {} --gpus {}", plan.job.batch, launcher.replicas));
    return line.text();
  }
  if (plan.job.serve.disaggregated) {
    const Launcher alone{launcher.rank, launcher.head, 1};
    return apart_commands(plan, serve(request, prefill_worker(plan), alone),
                          serve(request, decode_worker(plan), alone));
  }
  if (plan.job.stack == Stack::kSglang) return serve_sglang(request, plan, launcher);
  if (plan.job.stack == Stack::kTrtLlm) return serve_trtllm(request, plan, launcher);
  return serve_vllm(request, plan, launcher);
}

// The checkpoint the command loads, and what to know of it.
Input checkpoint_of(const Request& request, const Plan& plan) {
  const Precision p = plan.job.precision;
  const std::string id = hub_id(request), named = id.empty() ? request.model.name : id;
  const bool own_format = p == Precision::kInt4 || p == Precision::kInt8 || p == Precision::kFp4;
  if (plan.job.kind == model::JobKind::kServe && own_format)
    return {"MODEL", fmt::format("REPLACE-BY-{}-CHECKPOINT-OF-{}", model::name_of(p), named),
            fmt::format("a checkpoint of {} quantized to {}, by its Hub id or its folder", named, model::name_of(p))};
  if (plan.job.stack == Stack::kMegatron)
    return {"MODEL", fmt::format("./{}-megatron", object_name(request)),
            fmt::format("the weights of {} in Megatron's format, in a folder every machine sees", named)};
  if (id.empty()) return {"MODEL", named, "the checkpoint, by its Hub id or its folder"};
  return {"MODEL", id, "the checkpoint's Hub id; where it is gated, HF_TOKEN must be set"};
}

std::string in_storage(const Request& request, std::string_view storage) {
  return fmt::format("{}/{}", storage, object_name(request));
}

}  // namespace

bool needs_code(const Request& request, const Plan&) {
  return request.work.kind == WorkKind::kTraining || request.work.is_measured() || in_batches(request);
}

std::vector<Input> inputs_of(const Request& request, const Plan& plan, std::string_view storage) {
  std::vector<Input> inputs;
  if (!request.model.name.empty()) inputs.push_back(checkpoint_of(request, plan));
  const std::string kept = in_storage(request, storage);
  if (request.work.kind == WorkKind::kTraining) {
    const bool config = plan.job.stack == Stack::kTorchTitan || plan.job.stack == Stack::kLlmFoundry;
    const bool hf = plan.job.stack == Stack::kHf;
    inputs.push_back(config ? Input{"TRAIN_SCRIPT", "train.config", "the stack's configuration file of the model"}
                            : Input{"TRAIN_SCRIPT", "train.py",
                                    hf ? "your training script; it passes --resume_from_checkpoint to Trainer.train()"
                                       : "your training script"});
    inputs.push_back({"DATA", "./data", "what is trained on: a folder beside the script, or a mounted one"});
    inputs.push_back({"OUTPUT", kept, "where checkpoints go, and where a run that comes back finds the newest"});
  } else if (request.work.kind == WorkKind::kOffline) {
    if (request.work.is_measured() || in_batches(request))
      inputs.push_back({"WORK_SCRIPT", "work.py", "your script: --input and --output of one part"});
    inputs.push_back({"INPUT", kept + "/input",
                      fmt::format("the items in {} parts, part-0 to part-{}", std::max(1, plan.replicas),
                                  std::max(1, plan.replicas) - 1)});
    inputs.push_back({"OUTPUT", kept + "/output", "where results go"});
  } else if (in_batches(request)) {
    inputs.push_back({"SERVE_SCRIPT", "serve.py", "your server: gathers requests into batches, answers /health"});
  }
  return inputs;
}

Software software_of(const Request& request, const Plan& plan) {
  const bool plain = plan.job.kind == model::JobKind::kTrain || request.work.is_measured() || in_batches(request);
  const char* install = plain                              ? "pip install -r requirements.txt"
                        : plan.job.stack == Stack::kSglang ? "pip install \"sglang[all]\""
                        : plan.job.stack == Stack::kTrtLlm ? "pip install tensorrt_llm"
                                                           : "pip install vllm";
  return {image_for(request, perf::work_of(request.model), *plan.offer.gpu), install};
}

std::string work_command(const Request& request, const Plan& plan, const Launcher& launcher) {
  if (request.work.kind == WorkKind::kOffline) return offline(request, plan, launcher);
  if (request.work.kind == WorkKind::kServing) return serve(request, plan, launcher);
  switch (plan.job.stack) {
    case Stack::kMegatron:
      return train_megatron(request, plan, launcher);
    case Stack::kTorchTitan:
      return train_torchtitan(request, plan, launcher);
    case Stack::kLlmFoundry:
      return train_llm_foundry(request, plan, launcher);
    default:
      return train_hf(request, plan, launcher);
  }
}

}  // namespace rightsize::plan
