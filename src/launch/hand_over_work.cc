// The commands that do the work, with the plan's settings as flags of its software. data/flags.csv lists every flag we
// write, checked in the source of its project; a test fails on any other flag.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "launch/hand_over_facts.h"
#include "model/serve_settings.h"
#include "perf/perf.h"
#include "plan/candidates.h"
#include "plan/layouts.h"

namespace rightsize::launch {
namespace {

using hand_over::Facts;
using model::Precision;
using model::Stack;

// Ports of the server in front of the replicas, and of a worker behind a router.
constexpr int kPort = 8000, kWorkerPort = 8001, kBootstrapPort = 8998;

// Engines refuse to compute in bfloat16 on GPUs without it (T4, V100, P100).
bool has_bf16(const Plan& plan) { return plan.offer.gpu->peak(catalog::NumberFormat::kBf16).supported; }

// ---- Training. ----

// Samples per step, as the plan adjusted them to its GPUs.
std::int64_t samples_per_step(const model::Job& job) {
  return job.batch * job.parallel.data() * job.train.accumulation;
}

std::int64_t steps_of(const Request& request, const Plan& plan) {
  const double sequence = request.model.image_size > 0 ? 1.0 : static_cast<double>(plan.job.sequence);
  const double pair = plan.job.train.preference ? 2 : 1;
  const double each = static_cast<double>(samples_per_step(plan.job)) * pair * std::max(1.0, sequence);
  return std::max<std::int64_t>(1, std::llround(std::ceil(request.work.amount / each)));
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

// FSDP can neither shard optimizer states alone nor keep 16-bit weights with 32-bit master copies; DeepSpeed can.
bool needs_deepspeed(const model::Job& job) { return job.parallel.zero == 1 || job.precision == Precision::kMixedBf16; }

// TRL turns autocast on by default (bf16 is true), but the plan uses autocast only for amp. DeepSpeed needs bf16 to
// keep 16-bit weights and runs without autocast. GPUs without bfloat16 compute in float16; Trainer then scales the
// loss.
std::string hf_precision_flags(const model::Job& job, bool bf16) {
  const char* half = bf16 ? "bfloat16" : "float16";
  const char* enabled = bf16 && job.precision != Precision::kAmpFp16 ? "--bf16 true" : "--fp16 true";
  if (job.precision == Precision::kFp32) return "--dtype float32 --bf16 false";
  if (needs_deepspeed(job)) return fmt::format("--dtype {} {}", half, enabled);
  if (job.precision == Precision::kBf16) return fmt::format("--dtype {} --bf16 false", half);
  return fmt::format("--dtype float32 {}", enabled);
}

// The first version of FSDP flattens the parameters of a layer and refuses 32-bit adapters with 16-bit weights; the
// second leaves 4-bit weights unsharded on every GPU. The first can shard 4-bit weights stored as bfloat16 (accelerate
// issue 3874).
std::string hf_sharding_flag(const model::Job& job) {
  if (needs_deepspeed(job)) return "--deepspeed deepspeed.json";
  if (job.parallel.zero < 2) return "";
  const bool narrow = job.train.method == model::Method::kQlora;
  return fmt::format("--fsdp '{} auto_wrap' --fsdp_config '{{\"version\": {}}}'{}",
                     job.parallel.zero == 2 ? "shard_grad_op" : "full_shard", narrow ? 1 : 2,
                     narrow ? " --bnb_4bit_quant_storage bfloat16" : "");
}

const char* hf_attention(model::Attention attention) {
  return attention == model::Attention::kEager   ? "eager"
         : attention == model::Attention::kFlash ? "flash_attention_2"
                                                 : "sdpa";
}

const char* hf_loss_flag(model::CrossEntropy loss) {
  return loss == model::CrossEntropy::kFused     ? "--use_liger_kernel true"
         : loss == model::CrossEntropy::kChunked ? "--loss_type chunked_nll"
                                                 : "--loss_type nll";
}

const char* composer_precision(Precision precision) {
  if (precision == Precision::kFp32) return "fp32";
  if (precision == Precision::kFp8) return "amp_fp8";
  return precision == Precision::kAmpFp16 ? "amp_fp16" : "amp_bf16";
}

const char* megatron_precision(Precision precision) {
  return precision == Precision::kFp32 ? "" : precision == Precision::kAmpFp16 ? "--fp16" : "--bf16";
}

// torchtitan computes in bfloat16 over 32-bit weights by default.
const char* titan_precision(Precision precision) {
  return precision == Precision::kBf16   ? "--training.dtype bfloat16"
         : precision == Precision::kFp32 ? "--training.mixed_precision_param float32"
                                         : "";
}

// Megatron distributes whole experts unless there are fewer expert groups than GPUs that share a matrix.
void add_stages(Facts& facts, const Request& request, const model::Job& job) {
  const auto stages = plan::pipeline_stages(request.model.layers, job.parallel.pipeline);
  const bool uneven = stages && !stages->even();
  facts.set("first_layers", uneven && stages->first != stages->middle ? std::to_string(stages->first) : "")
      .set("last_layers", uneven ? std::to_string(stages->last) : "")
      .set("expert_tensor", std::max(1, job.parallel.tensor / job.parallel.expert));
}

void add_parallelism(Facts& facts, const model::Job& job) {
  facts.set("tensor", job.parallel.tensor)
      .set("several_tensor", job.parallel.tensor > 1)
      .set("attention_tensor", job.parallel.attention_tensor())
      .set("attention_data", job.parallel.attention_data > 1 ? job.parallel.attention_data : 0)
      .set("pipeline", job.parallel.pipeline)
      .set("several_pipeline", job.parallel.pipeline > 1)
      .set("expert", job.parallel.expert)
      .set("several_expert", job.parallel.expert > 1)
      .set("micro_batch", job.batch);
}

void add_precision(Facts& facts, const Plan& plan) {
  const model::Job& job = plan.job;
  const bool bf16 = has_bf16(plan);
  facts.set("precision_flags", hf_precision_flags(job, bf16))
      .set("sharding_flag", hf_sharding_flag(job))
      .set("deepspeed", needs_deepspeed(job))
      .set("half", bf16 && job.precision != Precision::kAmpFp16 ? "bf16" : "fp16")
      .set("half_enabled", job.precision == Precision::kFp32 ? "false" : "true")
      .set("megatron_precision", megatron_precision(job.precision))
      .set("bf16_gradients", job.train.gradients == model::StateFormat::kBf16)
      .set("fp8", job.precision == Precision::kFp8)
      .set("fp4", job.precision == Precision::kFp4)
      .set("titan_precision", titan_precision(job.precision))
      .set("composer_precision", composer_precision(job.precision));
}

// How often a run saves, and how many checkpoints it keeps. Megatron keeps the newest checkpoint and those at multiples
// of a second interval, which must be a multiple of the first; only the last step's is then kept.
void add_saving(Facts& facts, const Plan& plan, std::int64_t steps) {
  const double saved = plan.time.interval > Seconds{} ? std::min(1.0, plan.time.interval / plan.time.work) : 1.0;
  const std::int64_t every = std::max<std::int64_t>(1, std::llround(saved * static_cast<double>(steps)));
  facts.set("steps", steps)
      .set("save_steps", every)
      .set("keep", plan::kKeptCheckpoints)
      .set("retain_steps", (steps + every - 1) / every * every);
}

// The sizes of a decoder as lines of flags, for a run from random weights. Models with gated MLPs have RMSNorm and no
// biases.
std::vector<Facts> megatron_shape(const model::ModelShape& model, std::int64_t sequence) {
  std::vector<Facts> lines;
  const auto add = [&](std::string flags) { lines.push_back(Facts().set("flags", std::move(flags))); };
  add(fmt::format("--num-layers {} --hidden-size {} --ffn-hidden-size {}", model.layers, model.hidden,
                  model.intermediate));
  const bool grouped = model.kv_heads > 0 && model.kv_heads < model.heads;
  add(fmt::format("--num-attention-heads {} --kv-channels {}{}", model.heads, model.head_dim,
                  grouped ? fmt::format(" --group-query-attention --num-query-groups {}", model.kv_heads) : ""));
  add(fmt::format("--max-position-embeddings {} --position-embedding-type {}", std::max(model.context, sequence),
                  model.positions == model::Positions::kRotary ? "rope" : "learned_absolute"));
  add(fmt::format(
      "{}{}{}{}",
      model.gated_mlp ? "--normalization RMSNorm --swiglu --disable-bias-linear" : "--normalization LayerNorm",
      model.family.starts_with("qwen2") ? " --add-qkv-bias" : "",
      model.family.starts_with("qwen3") ? " --qk-layernorm" : "",
      model.tied_embeddings ? "" : " --untie-embeddings-and-output-weights"));
  if (model.experts)
    add(fmt::format("--num-experts {} --moe-router-topk {} --moe-ffn-hidden-size {} --moe-grouped-gemm",
                    model.experts->count, model.experts->per_token, model.experts->intermediate));
  return lines;
}

void add_training(Facts& facts, const Request& request, const Plan& plan) {
  static constexpr const char* kComposerSharding[] = {"NO_SHARD", "SHARD_GRAD_OP", "SHARD_GRAD_OP", "FULL_SHARD"};
  const model::Job& job = plan.job;
  const int data = std::max(1, plan.gpus / (job.parallel.tensor * job.parallel.pipeline * job.parallel.context));
  const bool pipelined = job.parallel.pipeline > 1;
  add_saving(facts, plan, steps_of(request, plan));
  add_precision(facts, plan);
  facts.set("script", job.stack == Stack::kTorchTitan ? "-m torchtitan.train" : "\"$TRAIN_SCRIPT\"")
      .set("has_checkpoint", has_checkpoint(request, plan))
      .set("shape", megatron_shape(request.model, job.sequence))
      .set("global_batch", samples_per_step(job))
      .set("accumulation", job.train.accumulation)
      // A pipeline of torchtitan splits the batch of a step into micro-batches itself.
      .set("local_batch", pipelined ? job.batch * job.train.accumulation : job.batch)
      .set("sequence", job.sequence)
      .set("text_model", request.model.image_size == 0)
      .set("trl", request.model.kind == model::ModelKind::kDecoder)
      .set("attention", hf_attention(job.train.attention))
      .set("packs", !job.train.preference)  // preference pairs are padded
      .set("loss_flag", job.train.preference ? "--loss_type sigmoid" : hf_loss_flag(job.train.cross_entropy))
      .set("optimizer", hf_optimizer(job.train.optimizer))
      .set("compile", job.train.compile)
      .set("checkpointing", job.train.recompute == model::Recompute::kNone ? "false" : "true")
      .set("recompute", model::name_of(job.train.recompute))
      .set("recompute_selective", job.train.recompute == model::Recompute::kSelective)
      .set("recompute_full", job.train.recompute == model::Recompute::kFull)
      .set("adapters", job.train.method != model::Method::kFull)
      .set("qlora", job.train.method == model::Method::kQlora)
      .set("lora_rank", job.train.lora_rank)
      .set("lora_targets",
           job.train.lora_targets == model::LoraTargets::kAllLinear ? "all-linear" : "q_proj k_proj v_proj o_proj")
      .set("context", job.parallel.context)
      .set("several_context", job.parallel.context > 1)
      .set("sequence_parallel", job.parallel.tensor > 1 && job.parallel.sequence_parallel)
      .set("zero", job.parallel.zero)
      .set("data_shards", job.parallel.zero > 0 ? data : 1)
      .set("data_replicas", job.parallel.zero > 0 ? 1 : data)
      .set("composer_sharding", kComposerSharding[job.parallel.zero]);
}

std::string_view trainer_name(Stack stack) {
  return stack == Stack::kMegatron     ? "train_megatron"
         : stack == Stack::kTorchTitan ? "train_torchtitan"
         : stack == Stack::kLlmFoundry ? "train_llm_foundry"
                                       : "train_hf";
}

// ---- Serving. ----

// TensorRT-LLM's options that have no flag, as lines of YAML for printf.
std::string trtllm_options(const Request& request, const Plan& plan, const char* role) {
  std::string options;
  if (plan.job.parallel.attention_data > 1) options += "enable_attention_dp: true\\n";
  if (has_fp8_cache(request, plan)) options += "kv_cache_config:\\n  dtype: fp8\\n";
  if (std::string_view(role) == "prefill") options += "disable_overlap_scheduler: true\\n";
  if (*role != '\0') options += "cache_transceiver_config:\\n  backend: DEFAULT\\n";
  return options;
}

void add_engine(Facts& facts, const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  const bool half = job.precision == Precision::kBf16 || job.precision == Precision::kFp16;
  const bool bf16 = job.precision == Precision::kBf16 && has_bf16(plan);
  const bool fp8_on_load = job.precision == Precision::kFp8 && request.model.checkpoint != Precision::kFp8 &&
                           !needs_fp8_checkpoint(request, plan);
  // A server runs with its simulated limits, an offline job with the plan's concurrency. For embeddings and scores,
  // vLLM fills batches up to the plan's number of tokens.
  const bool pooled = plan::is_pooled(request);
  const std::int64_t longest = plan::longest_request(request, plan);
  const std::int64_t running = pooled ? job.batch : plan.sequences > 0 ? plan.sequences : job.serve.concurrency;
  const bool fp8_cache = has_fp8_cache(request, plan);
  facts.set("model", "\"$MODEL\"")
      .set("sequences", std::max<std::int64_t>(1, running))
      .set("pooled", plan::is_one_pass_of_text(request))
      .set("token_budget", pooled ? std::max(job.batch * job.sequence, longest) : plan.token_budget)
      .set("longest", longest)
      .set("memory_share", job.serve.memory_share)
      .set("dtype", !half  ? ""
                    : bf16 ? "bfloat16"
                           : "float16")
      .set("half_only", job.precision == Precision::kBf16 && !bf16)
      .set("fp8_on_load", fp8_on_load)
      .set("quantization", fp8_on_load                        ? "fp8"
                           : job.precision == Precision::kNf4 ? "bitsandbytes"
                                                              : "")
      .set("remote_code", runs_remote_code(hub_id_of(request)))
      .set("speculates", job.serve.speculation.tokens > 0)
      .set("fp8_cache", fp8_cache)
      .set("kv_cache_dtype", fp8_cache ? "fp8" : "")
      .set("llm_options", trtllm_options(request, plan, ""));
}

std::string in_background(std::string command) {
  command.pop_back();
  return command + " &\n";
}

std::string side_by_side(Facts facts, const std::string& each, int gpus) {
  facts.set("each", each).set("each_in_background", in_background(each)).set("engine_gpus", gpus);
  return hand_over::fill_in("work/side_by_side", facts);
}

std::string engine_name(Stack stack) {
  return stack == Stack::kSglang ? "sglang" : stack == Stack::kTrtLlm ? "trtllm" : "vllm";
}

// The replicas of one machine, each with its own parts: a script of the user, or an engine that a client keeps busy.
std::string offline_work(Facts facts, const Request& request, const Plan& plan, int engines) {
  std::string before = hand_over::fill_in("work/before_parts", facts);
  if (!needs_code(request)) {
    facts.set("port", engines > 1 ? fmt::format("$(( {} + i ))", kWorkerPort) : std::to_string(kWorkerPort));
    Facts one = facts;
    one.set("engines", 0);
    const std::string engine = hand_over::command("work/" + engine_name(plan.job.stack), one);
    facts.set("engine", true).set("engine_in_background", in_background(engine));
    before += hand_over::fill_in("work/send_parts", facts);
  }
  std::string worker = hand_over::command(needs_code(request) ? "work/part_script" : "work/part_client", facts);
  worker.pop_back();
  facts.set("worker", worker + " |");
  return before + side_by_side(facts, hand_over::fill_in("work/parts", facts), plan.job.parallel.tensor);
}

// One kind of workers of a disaggregated plan: their number, their GPUs and their addresses.
struct Pool {
  bool prefill = true;
  int workers = 1, tensor = 1;
  std::vector<std::string> urls = {};  // host:port of each

  const char* role() const { return prefill ? "prefill" : "decode"; }
};

// The command of one worker on `port`, a shell expression.
std::string worker_command(const Facts& facts, const Request& request, const Plan& plan, const Pool& pool,
                           const std::string& port, const std::string& bootstrap_port) {
  Plan worker = plan;
  if (pool.prefill) worker.job = model::prefill_worker(plan.job);
  worker.job.parallel.gpus = plan.job.parallel.gpus;
  worker.job.serve.disaggregated.reset();
  Facts own = facts;
  add_parallelism(own, worker.job);
  add_engine(own, request, worker);
  own.set("engines", 0)
      .set("port", port)
      .set("bootstrap_port", bootstrap_port)
      .set("role", true)
      .set(pool.role(), true)
      .set("llm_options", trtllm_options(request, worker, pool.role()));
  return hand_over::command("work/" + engine_name(plan.job.stack), own);
}

// The router in front of both pools, as bash.
std::string router_command(Facts facts, const Plan& plan, const std::vector<Pool>& pools,
                           const std::vector<int>& bootstrap_ports) {
  std::vector<Facts> all;
  for (const Pool& pool : pools) {
    std::vector<Facts> urls;
    for (std::size_t i = 0; i < pool.urls.size(); ++i) {
      const bool bootstraps = pool.prefill && plan.job.stack == Stack::kSglang;
      urls.push_back(Facts().set("url", pool.urls[i]).set("bootstrap", bootstraps ? bootstrap_ports[i] : 0));
    }
    all.push_back(Facts()
                      .set("role", pool.role())
                      .set("servers", pool.prefill ? "context_servers" : "generation_servers")
                      .set("count", static_cast<int>(pool.urls.size()))
                      .set("urls", std::move(urls)));
  }
  facts.set("workers", all).set("is_" + engine_name(plan.job.stack), true).set("port", kPort);
  return plan.job.stack == Stack::kTrtLlm ? hand_over::fill_in("work/router_trtllm", facts)
                                          : hand_over::command("work/router", facts);
}

// Separate workers for prefill and decode on one machine: each on separate GPUs and ports, behind a router.
std::string disaggregated(Facts facts, const Request& request, const Plan& plan) {
  constexpr int kPrefillPort = 8100, kDecodePort = 8200;
  const model::Disaggregated& d = *plan.job.serve.disaggregated;
  facts.set("is_" + engine_name(plan.job.stack), true);
  std::vector<Facts> workers;
  std::vector<Pool> pools = {{true, d.prefill_workers, d.prefill_tensor}, {false, d.decode_workers, d.decode_tensor}};
  std::vector<int> bootstrap_ports;
  for (int i = 0; i < d.prefill_workers; ++i) bootstrap_ports.push_back(kBootstrapPort + i);
  for (Pool& pool : pools) {
    const int first_port = pool.prefill ? kPrefillPort : kDecodePort;
    for (int i = 0; i < pool.workers; ++i) pool.urls.push_back(fmt::format("127.0.0.1:{}", first_port + i));
    const std::string each = worker_command(facts, request, plan, pool, fmt::format("$(( {} + i ))", first_port),
                                            fmt::format("$(( {} + i ))", kBootstrapPort));
    workers.push_back(Facts()
                          .set("last", pool.workers - 1)
                          .set("first_gpu", pool.prefill ? 0 : d.prefill_workers * d.prefill_tensor)
                          .set("tensor", pool.tensor)
                          .set("last_gpu", pool.tensor - 1)
                          .set("each_in_background", in_background(each)));
  }
  facts.set("workers", workers).set("router", router_command(facts, plan, pools, bootstrap_ports));
  return hand_over::fill_in("work/disaggregated", facts);
}

// The engines of one machine, each on separate GPUs and a port, behind a router on the port of the service.
std::string behind_router(Facts facts, const Plan& plan, int engines) {
  std::vector<Facts> urls;
  for (int i = 0; i < engines; ++i) urls.push_back(Facts().set("url", fmt::format("127.0.0.1:{}", kWorkerPort + i)));
  facts.set("engines", 0).set("port", fmt::format("$(( {} + i ))", kWorkerPort)).set("urls", urls);
  const std::string engine = engine_name(plan.job.stack), each = hand_over::command("work/" + engine, facts);
  facts.set("is_" + engine, true)
      .set("port", kPort)
      .set("engine_gpus", plan.job.parallel.tensor * plan.job.parallel.pipeline)
      .set("each_in_background", in_background(each));
  facts.set("router", hand_over::command("work/plain_router", facts));
  return hand_over::fill_in("work/behind_router", facts);
}

std::string serve_command(const Facts& facts, const Request& request, const Plan& plan, int engines) {
  if (needs_code(request)) return hand_over::command("work/server_script", facts);
  if (plan.job.serve.disaggregated) return disaggregated(facts, request, plan);
  if (has_router(request, plan, engines)) return behind_router(facts, plan, engines);
  const std::string engine = engine_name(plan.job.stack);
  return hand_over::fill_in("work/before_" + engine, facts) + hand_over::command("work/" + engine, facts);
}

}  // namespace

void add_pools(Facts& facts, const Request& request, const Plan& plan, const std::string& name) {
  const model::Disaggregated& d = *plan.job.serve.disaggregated;
  const int groups = std::max(1, plan.replicas);
  facts.set("is_" + engine_name(plan.job.stack), true);
  std::vector<Pool> pools = {{true, groups * d.prefill_workers, d.prefill_tensor},
                             {false, groups * d.decode_workers, d.decode_tensor}};
  for (Pool& pool : pools) {
    for (int i = 0; i < pool.workers; ++i)
      pool.urls.push_back(fmt::format("{0}-{1}-{2}.{0}-{1}:{3}", name, pool.role(), i, kWorkerPort));
  }
  const std::vector<int> bootstrap_ports(static_cast<std::size_t>(pools[0].workers), kBootstrapPort);
  const std::string router = router_command(facts, plan, pools, bootstrap_ports);
  std::vector<Facts> made;
  for (const Pool& pool : pools) {
    Facts own = facts;
    const std::string command =
        worker_command(facts, request, plan, pool, std::to_string(kWorkerPort), std::to_string(kBootstrapPort));
    own.set("each", command);
    made.push_back(Facts()
                       .set("pool", fmt::format("{}-{}", name, pool.role()))
                       .set("app", pool.prefill ? name : fmt::format("{}-{}", name, pool.role()))
                       .set("follows", !pool.prefill)
                       .set("workers", pool.workers)
                       .set("pod_gpus", pool.tensor)
                       .set("port", kWorkerPort)
                       .set("answers", true)
                       .set("work", hand_over::fill_in("work/worker", own))
                       .set("router", pool.prefill ? router : "")
                       .set("router_port", kPort));
  }
  facts.set("pools", made);
}

void add_work(Facts& facts, const Request& request, const Plan& plan, const Launcher& launcher) {
  facts.set("rank", launcher.rank)
      .set("head", launcher.head)
      .set("engines", launcher.engines > 1 ? launcher.engines : 0)
      .set("engines_or_one", launcher.engines)
      .set("last_engine", launcher.engines - 1)
      .set("measured", request.work.is_measured());
  add_parallelism(facts, plan.job);
  add_stages(facts, request, plan.job);
  std::string work;
  if (is_training(request)) {
    add_training(facts, request, plan);
    const std::string trainer(trainer_name(plan.job.stack));
    work = hand_over::fill_in("work/before_" + trainer, facts) + hand_over::command("work/" + trainer, facts);
  } else if (is_served(request)) {
    add_engine(facts, request, plan);
    work = serve_command(facts, request, plan, launcher.engines);
  } else {
    add_engine(facts, request, plan);
    work = offline_work(facts, request, plan, launcher.engines);
  }
  facts.set("work", work);
}

}  // namespace rightsize::launch
