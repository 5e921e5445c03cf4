#include "plan/hand_over_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "families/presets.h"
#include "model/serve_settings.h"
#include "perf/perf.h"
#include "plan/candidates.h"
#include "plan/layouts.h"
#include "plan/startup.h"

namespace rightsize::plan {
namespace {

using hand_over::Facts;
using model::Precision;
using model::Stack;

constexpr int kPort = 8000;  // of the server in front of the replicas

// Engines refuse to compute in bfloat16 on GPUs without it (T4, V100, P100).
bool has_bf16(const Plan& plan) { return plan.offer.gpu->peak(catalog::NumberFormat::kBf16).supported; }

std::string hub_id(const Request& request) {
  for (const model::Preset& preset : model::presets()) {
    if (preset.name != request.model.name) continue;
    // Hub IDs are "owner/name"; other aliases have no owner.
    for (const std::string& alias : preset.aliases) {
      if (alias.find('/') != std::string::npos) return alias;
    }
  }
  return {};
}

// ---- What the user has to provide: environment variables of the work's command. ----

Facts input(std::string_view name, std::string_view value, std::string_view meaning) {
  return Facts().set("name", name).set("value", value).set("meaning", meaning);
}

Facts checkpoint_input(const Request& request, const Plan& plan) {
  const Precision p = plan.job.precision;
  const std::string id = hub_id(request), named = id.empty() ? request.model.name : id;
  const bool own_format = p == Precision::kInt4 || p == Precision::kInt8 || p == Precision::kFp4;
  if (plan.job.kind == model::JobKind::kServe && own_format)
    return input("MODEL", fmt::format("REPLACE-BY-{}-CHECKPOINT-OF-{}", model::name_of(p), named),
                 fmt::format("a checkpoint of {} quantized to {}: its Hub ID or its folder", named, model::name_of(p)));
  if (plan.job.stack == Stack::kMegatron)
    return input("MODEL", fmt::format("./{}-megatron", hand_over::object_name(request.name)),
                 fmt::format("the weights of {} in Megatron's format, in a folder every machine sees", named));
  if (id.empty()) return input("MODEL", named, "the checkpoint: its Hub ID or its folder");
  return input("MODEL", id, "the checkpoint's Hub ID; for a gated model, HF_TOKEN must be set");
}

std::vector<Facts> inputs_of(const Request& request, const Plan& plan, std::string_view storage) {
  std::vector<Facts> inputs;
  if (!request.model.name.empty()) inputs.push_back(checkpoint_input(request, plan));
  const std::string folder = fmt::format("{}/{}", storage, hand_over::object_name(request.name));
  if (is_training(request)) {
    const bool config = plan.job.stack == Stack::kTorchTitan || plan.job.stack == Stack::kLlmFoundry;
    const char* meaning = config ? "the configuration file of the model for this trainer"
                          : plan.job.stack == Stack::kHf
                              ? "your training script; it passes --resume_from_checkpoint to Trainer.train()"
                              : "your training script";
    inputs.push_back(input("TRAIN_SCRIPT", config ? "train.config" : "train.py", meaning));
    inputs.push_back(input("DATA", "./data", "the training data: a folder beside the script, or a mounted one"));
    inputs.push_back(input("OUTPUT", folder, "where checkpoints go, and where a restarted run finds the newest"));
  } else if (request.work.kind == WorkKind::kOffline) {
    const int parts = std::max(1, plan.replicas);
    if (needs_code(request))
      inputs.push_back(input("WORK_SCRIPT", "work.py", "your script: --input and --output of one part"));
    inputs.push_back(
        input("INPUT", folder + "/input", fmt::format("the items in {} parts, part-0 to part-{}", parts, parts - 1)));
    inputs.push_back(input("OUTPUT", folder + "/output", "where results go"));
  } else if (in_batches(request)) {
    inputs.push_back(input("SERVE_SCRIPT", "serve.py", "your server: gathers requests into batches, answers /health"));
  }
  return inputs;
}

// ---- The header's comments. ----

void add_header(Facts& facts, const Request& request, const Plan& plan) {
  const catalog::Price& price = *plan.offer.price;
  facts.set("workload", request.name)
      .set("gpus", plan.gpus)
      .set("gpu", plan.offer.gpu->name)
      .set("machines", plan.machines)
      .set("instance", plan.offer.machine->instance)
      .set("provider", plan.offer.machine->provider)
      .set("region", price.region == "any" ? "" : price.region)
      .set("purchase", catalog::name_of(price.purchase))
      .set("cost", format_usd(plan.cost))
      .set("cost_low", format_usd(plan.cost_low))
      .set("cost_high", format_usd(plan.cost_high))
      .set("rate", format_usd_per_hour(plan.rate()))
      .set("duration", format_duration(plan.time.total()))
      .set("price_sources", fmt::format("{}", fmt::join(price.provenance.sources, ", ")))
      .set("price_date", price.provenance.date ? format_date(*price.provenance.date) : "")
      .set("settings", request.work.is_measured() ? "one worker per GPU" : settings_words(request, plan))
      .set("committed", is_committed(plan));
}

// ---- The machines. ----

// Network cards per machine. AWS: the counts that AWS's training examples request (vpc.amazonaws.com/efa), with the
// layout of the EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards".
// Google: one RoCE card per GPU on A3 Ultra, A4 and A4X (NVIDIA AICR, "GKE GB200 networking"), eight on A3 Mega, four
// on A3 High. Read 2026-11-15. No public source was found for P4d's four cards and for G6e's.
void add_network(Facts& facts, const Request& request, const Plan& plan) {
  static const std::map<std::string, int, std::less<>> kEfaCards = {
      {"p4d.24xlarge", 4},   {"p4de.24xlarge", 4},    {"p5.48xlarge", 32},      {"p5e.48xlarge", 32},
      {"p5en.48xlarge", 16}, {"p6-b200.48xlarge", 8}, {"p6-b300.48xlarge", 16}, {"g6e.48xlarge", 4}};
  const catalog::Machine& machine = *plan.offer.machine;
  const bool together = work_together(request, plan), rdma = together && machine.fabric == "roce";
  int efa = 0, gpu_nics = 0;
  if (together && machine.fabric == "efa") {
    const auto found = kEfaCards.find(machine.instance);
    efa = found == kEfaCards.end() ? 1 : found->second;
  }
  if (together && machine.provider == "gcp") {
    if (machine.instance == "a3-highgpu-8g") gpu_nics = 4;
    if (rdma || machine.instance == "a3-megagpu-8g") gpu_nics = machine.gpus;
  }
  const int first_card = machine.instance.starts_with("p6-b300") ? 1 : 0;
  facts.set("together", together)
      .set("efa", efa)
      .set("first_card", first_card)
      .set("last_card", first_card + efa)
      .set("gpu_nics", gpu_nics)
      .set("rdma", rdma)
      .set("nic_type", rdma ? "MRDMA" : "GVNIC")
      .set("infiniband", together && machine.fabric == "infiniband");
}

std::string install_command(const Request& request, const Plan& plan) {
  if (needs_code(request)) return "pip install -r requirements.txt";
  return plan.job.stack == Stack::kSglang   ? "pip install \"sglang[all]\""
         : plan.job.stack == Stack::kTrtLlm ? "pip install tensorrt_llm"
                                            : "pip install vllm";
}

void add_machines(Facts& facts, const Request& request, const Plan& plan, std::string_view storage) {
  const catalog::Machine& machine = *plan.offer.machine;
  const int used = gpus_used_per_machine(plan), span = machines_per_replica(request, plan);
  const int cpus = machine.vcpus ? std::max(1, static_cast<int>(*machine.vcpus * used / std::max(1, machine.gpus))) : 0;
  facts.set("name", hand_over::object_name(request.name))
      .set("served", is_served(request))
      .set("needs_code", needs_code(request))
      .set("keeps_results", !is_served(request))
      .set("inputs", inputs_of(request, plan, storage))
      .set("storage", storage)
      .set("spot", is_spot(plan))
      .set("amd", is_amd(plan))
      .set("resource", is_amd(plan) ? "amd.com/gpu" : "nvidia.com/gpu")
      .set("machine_gpus", machine.gpus)
      .set("machine_gpus_used", used)
      .set("all_gpus", plan.machines * machine.gpus)
      .set("several_machines", plan.machines > 1)
      .set("cpus", cpus)
      .set("disk_gb", disk_gb(request, plan))
      .set("max_price", max_price(plan))
      .set("image", image_for(request, perf::work_of(request.model), *plan.offer.gpu))
      .set("install", install_command(request, plan))
      .set("replicas", std::max(1, plan.replicas))
      .set("several_replicas", plan.replicas > 1)
      .set("span", span)
      .set("spans", span > 1)
      .set("port", kPort);
}

// ---- The command that does the work, with the plan's settings as flags of its software. Flag names as documented in
// 2026: TRL's sft script over transformers.TrainingArguments, Megatron-LM, torchtitan, llm-foundry, vLLM (with
// NixlConnector behind vllm-router), SGLang (behind sglang_router), TensorRT-LLM. ----

std::int64_t steps_of(const Request& request, const Plan& plan) {
  const double sequence = request.model.image_size > 0 ? 1.0 : static_cast<double>(plan.job.sequence);
  const double each = static_cast<double>(request.global_batch) * std::max(1.0, sequence);
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

// GPUs without bfloat16 compute in float16; Trainer then scales the loss.
const char* hf_dtype_flag(Precision precision, bool bf16) {
  if (precision == Precision::kBf16) return bf16 ? "--dtype bfloat16" : "--dtype float16";
  if (precision == Precision::kAmpBf16 || precision == Precision::kMixedBf16)
    return bf16 ? "--bf16 true" : "--fp16 true";
  return precision == Precision::kAmpFp16 ? "--fp16 true" : "";
}

// FSDP has no stage that shards optimizer states alone and no 16-bit weights over 32-bit master copies; DeepSpeed has.
bool needs_deepspeed(const model::Job& job) { return job.parallel.zero == 1 || job.precision == Precision::kMixedBf16; }

const char* hf_sharding_flag(const model::Job& job) {
  if (needs_deepspeed(job)) return "--deepspeed deepspeed.json";
  if (job.parallel.zero == 2) return "--fsdp 'shard_grad_op auto_wrap'";
  return job.parallel.zero == 3 ? "--fsdp 'full_shard auto_wrap'" : "";
}

const char* composer_precision(Precision precision) {
  if (precision == Precision::kFp32) return "fp32";
  if (precision == Precision::kFp8) return "amp_fp8";
  return precision == Precision::kAmpFp16 ? "amp_fp16" : "amp_bf16";
}

void add_parallelism(Facts& facts, const model::Job& job) {
  facts.set("tensor", job.parallel.tensor)
      .set("attention_tensor", job.parallel.attention_tensor())
      .set("attention_data", job.parallel.attention_data > 1 ? job.parallel.attention_data : 0)
      .set("pipeline", job.parallel.pipeline)
      .set("several_pipeline", job.parallel.pipeline > 1)
      .set("expert", job.parallel.expert)
      .set("several_expert", job.parallel.expert > 1)
      .set("micro_batch", job.batch);
}

void add_training(Facts& facts, const Request& request, const Plan& plan) {
  static constexpr const char* kComposerSharding[] = {"NO_SHARD", "SHARD_GRAD_OP", "SHARD_GRAD_OP", "FULL_SHARD"};
  const model::Job& job = plan.job;
  const std::int64_t steps = steps_of(request, plan);
  const double saved = plan.time.interval > Seconds{} ? std::min(1.0, plan.time.interval / plan.time.work) : 1.0;
  const int data = std::max(1, plan.gpus / (job.parallel.tensor * job.parallel.pipeline * job.parallel.context));
  const bool bf16 = has_bf16(plan);
  facts.set("steps", steps)
      .set("save_steps", std::max<std::int64_t>(1, std::llround(saved * static_cast<double>(steps))))
      .set("script", job.stack == Stack::kTorchTitan ? "-m torchtitan.train" : "\"$TRAIN_SCRIPT\"")
      .set("global_batch", request.global_batch)
      .set("accumulation", job.train.accumulation)
      .set("sequence", job.sequence)
      .set("text_model", request.model.image_size == 0)
      .set("optimizer", hf_optimizer(job.train.optimizer))
      .set("dtype_flag", hf_dtype_flag(job.precision, bf16))
      .set("sharding_flag", hf_sharding_flag(job))
      .set("deepspeed", needs_deepspeed(job))
      .set("half", bf16 ? "bf16" : "fp16")
      .set("half_enabled", job.precision == Precision::kMixedBf16 ? "true" : "\"auto\"")
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
      .set("fp8", job.precision == Precision::kFp8)
      .set("zero", job.parallel.zero)
      .set("data_shards", job.parallel.zero > 0 ? data : 1)
      .set("data_replicas", job.parallel.zero > 0 ? 1 : data)
      .set("composer_precision", composer_precision(job.precision))
      .set("composer_sharding", kComposerSharding[job.parallel.zero]);
}

// The longest request an engine accepts. Chats grow beyond the planned lengths, so a server accepts four times those
// and at least 8,192 tokens, within the model's context and a quarter of the replica's KV cache.
std::int64_t longest_request(const Request& request, const Plan& plan) {
  constexpr std::int64_t kGrowth = 4, kLeast = 8192;
  std::int64_t planned = plan.job.serve.isl + plan.job.serve.osl;
  for (const RequestSize& size : request.work.mix) planned = std::max(planned, size.isl + size.osl);
  if (request.work.kind == WorkKind::kOffline) return planned;
  std::int64_t longest = std::max(kLeast, planned * kGrowth);
  if (request.work.mix.empty() && !request.work.trace) {
    const sim::RequestShape lengths = request_lengths(request);  // every simulated request must be accepted
    planned = std::max<std::int64_t>(planned, lengths.longest_size() + lengths.longest_output());
  }
  const double cache = perf::kv_token_capacity(request.model, plan.job, *plan.offer.gpu);
  if (cache > 0) longest = std::min(longest, static_cast<std::int64_t>(cache / 4));
  if (request.model.context > 0) longest = std::min(longest, request.model.context);
  return std::max(planned, longest);
}

void add_engine(Facts& facts, const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  const bool half = job.precision == Precision::kBf16 || job.precision == Precision::kFp16;
  const bool bf16 = job.precision == Precision::kBf16 && has_bf16(plan);
  const bool fp8_on_load = job.precision == Precision::kFp8 && request.model.checkpoint != Precision::kFp8;
  // A server runs with the limits it was simulated with, an offline job with the plan's own concurrency.
  const std::int64_t running = plan.sequences > 0 ? plan.sequences : job.serve.concurrency;
  facts.set("model", "\"$MODEL\"")
      .set("sequences", std::max<std::int64_t>(1, running))
      .set("token_budget", plan.token_budget)
      .set("longest", longest_request(request, plan))
      .set("memory_share", job.serve.memory_share)
      .set("dtype", !half  ? ""
                    : bf16 ? "bfloat16"
                           : "float16")
      .set("half_only", job.precision == Precision::kBf16 && !bf16)
      .set("fp8_on_load", fp8_on_load)
      .set("quantization", fp8_on_load                        ? "fp8"
                           : job.precision == Precision::kNf4 ? "bitsandbytes"
                                                              : "")
      .set("kv_cache_dtype", perf::kv_format(job, request.model.narrow_cache) == Precision::kFp8 ? "fp8" : "");
}

std::string in_background(std::string command) {
  command.pop_back();
  return command + " &\n";
}

std::string side_by_side(Facts facts, const std::string& each, int gpus) {
  facts.set("each", each).set("each_in_background", in_background(each)).set("engine_gpus", gpus);
  return hand_over::fill_in("work/side_by_side", facts);
}

std::string_view engine_name(Stack stack) {
  return stack == Stack::kSglang ? "sglang" : stack == Stack::kTrtLlm ? "trtllm" : "vllm";
}

// Separate workers for prefill and decode on one machine: each on separate GPUs and ports, behind a router.
std::string disaggregated(Facts facts, const Request& request, const Plan& plan) {
  constexpr int kPrefillPort = 8100, kDecodePort = 8200, kBootstrapPort = 8998;
  const model::Disaggregated& d = *plan.job.serve.disaggregated;
  const std::string engine(engine_name(plan.job.stack));
  facts.set("is_" + engine, true).set("engines", 0).set("bootstrap_port", kBootstrapPort);
  const auto workers = [&](bool prefill, int count, int tensor, int first_gpu, int first_port) {
    Plan worker = plan;
    if (prefill) worker.job = model::prefill_worker(plan.job);
    worker.job.parallel.gpus = plan.job.parallel.gpus;
    worker.job.serve.disaggregated.reset();
    Facts own = facts;
    add_parallelism(own, worker.job);
    add_engine(own, request, worker);
    own.set("port", fmt::format("$(( {} + i ))", first_port)).set("role", true);
    own.set(prefill ? "prefill" : "decode", true);
    std::vector<Facts> urls;
    for (int i = 0; i < count; ++i)
      urls.push_back(Facts()
                         .set("url_port", first_port + i)
                         .set("bootstrap", prefill && engine == "sglang" ? kBootstrapPort + i : 0));
    return Facts()
        .set("role", prefill ? "prefill" : "decode")
        .set("servers", prefill ? "context_servers" : "generation_servers")
        .set("count", count)
        .set("last", count - 1)
        .set("first_gpu", first_gpu)
        .set("tensor", tensor)
        .set("last_gpu", tensor - 1)
        .set("urls", std::move(urls))
        .set("each_in_background", in_background(hand_over::command("work/" + engine, own)));
  };
  facts.set("workers", std::vector{workers(true, d.prefill_workers, d.prefill_tensor, 0, kPrefillPort),
                                   workers(false, d.decode_workers, d.decode_tensor,
                                           d.prefill_workers * d.prefill_tensor, kDecodePort)});
  facts.set("router", hand_over::command("work/router", facts));
  return hand_over::fill_in("work/disaggregated", facts);
}

std::string serve_command(Facts facts, const Request& request, const Plan& plan, int engines) {
  if (in_batches(request)) return hand_over::command("work/server_script", facts);
  if (plan.job.serve.disaggregated) return disaggregated(facts, request, plan);
  const std::string engine(engine_name(plan.job.stack));
  const bool several = engine == "trtllm" && engines > 1;  // the other engines start their replicas themselves
  if (several) facts.set("port", fmt::format("$(( {} + i ))", kPort));
  const std::string text =
      hand_over::fill_in("work/before_" + engine, facts) + hand_over::command("work/" + engine, facts);
  return several ? side_by_side(facts, text, plan.job.parallel.tensor * plan.job.parallel.pipeline) : text;
}

std::string_view trainer_name(Stack stack) {
  return stack == Stack::kMegatron     ? "train_megatron"
         : stack == Stack::kTorchTitan ? "train_torchtitan"
         : stack == Stack::kLlmFoundry ? "train_llm_foundry"
                                       : "train_hf";
}

}  // namespace

bool is_spot(const Plan& plan) { return plan.offer.price->purchase == catalog::Purchase::kSpot; }

bool is_committed(const Plan& plan) {
  const catalog::Purchase purchase = plan.offer.price->purchase;
  return purchase == catalog::Purchase::kOneYear || purchase == catalog::Purchase::kThreeYears;
}

bool is_amd(const Plan& plan) { return plan.offer.gpu->vendor == "AMD"; }
bool is_served(const Request& request) { return request.work.kind == WorkKind::kServing; }
bool is_training(const Request& request) { return request.work.kind == WorkKind::kTraining; }
bool in_batches(const Request& request) { return perf::serves_batches(perf::work_of(request.model)); }

bool needs_code(const Request& request) {
  return is_training(request) || request.work.is_measured() || in_batches(request);
}

int gpus_used_per_machine(const Plan& plan) { return std::max(1, (plan.gpus + plan.machines - 1) / plan.machines); }
int engines_per_machine(const Plan& plan) { return std::max(1, plan.replicas / plan.machines); }

int machines_per_replica(const Request& request, const Plan& plan) {
  if (!is_served(request)) return 1;
  const int copy = plan.job.parallel.tensor * plan.job.parallel.pipeline, gpus = plan.offer.machine->gpus;
  return std::max(1, (copy + gpus - 1) / gpus);
}

bool work_together(const Request& request, const Plan& plan) {
  return (plan.machines > 1 && is_training(request)) || machines_per_replica(request, plan) > 1;
}

std::string max_price(const Plan& plan) {
  constexpr double kMargin = 1.2;
  const double price = in_usd_per_machine_hour(std::max(plan.price.listed, plan.price.likely));
  return fmt::format("{:.2f}", std::ceil(price * kMargin * 100) / 100);
}

int disk_gb(const Request& request, const Plan& plan) {
  constexpr double kSystemAndImage = 100, kStep = 50;
  if (request.work.is_measured()) return static_cast<int>(2 * kSystemAndImage);
  const perf::ModelWork work = perf::work_of(request.model);
  // As downloaded: 16 bits per parameter, or the whole checkpoint of a format that comes with its own.
  const double weights = 2e-9 * static_cast<double>(request.model.parameters());
  const double saved = 1e-9 * in_bytes(checkpoint_bytes(work, plan.job)) / std::max(1, plan.machines);
  return static_cast<int>(std::ceil((kSystemAndImage + 1.1 * weights + 2.2 * saved) / kStep) * kStep);
}

Facts facts_of(const Request& request, const Plan& plan, std::string_view storage) {
  Facts facts;
  add_header(facts, request, plan);
  add_machines(facts, request, plan, storage);
  add_network(facts, request, plan);
  return facts;
}

void add_work(Facts& facts, const Request& request, const Plan& plan, const Launcher& launcher) {
  facts.set("rank", launcher.rank)
      .set("head", launcher.head)
      .set("engines", launcher.engines > 1 ? launcher.engines : 0)
      .set("engines_or_one", launcher.engines)
      .set("last_engine", launcher.engines - 1)
      .set("measured", request.work.is_measured());
  add_parallelism(facts, plan.job);
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
    facts.set("each", hand_over::command(needs_code(request) ? "work/part_script" : "work/vllm_batch", facts));
    work = "mkdir -p \"$OUTPUT\"\n" +
           side_by_side(facts, hand_over::fill_in("work/part", facts), plan.job.parallel.tensor);
  }
  facts.set("work", work);
}

}  // namespace rightsize::plan
