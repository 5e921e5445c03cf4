#include "rl/files.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"
#include "hand_over/template.h"
#include "launch/hand_over_facts.h"
#include "plan/stored_data.h"
#include "presets/presets.h"
#include "rl/rollout.h"

namespace rightsize::rl {
namespace {

using hand_over::Facts;

const char* yes(bool value, Framework framework) {
  return framework == Framework::kVerl ? (value ? "True" : "False") : (value ? "true" : "false");
}

// How each framework calls the advantage estimator.
std::string_view estimator(const RlJob& job) {
  constexpr std::string_view kVerl[] = {"grpo", "gae", "grpo", "rloo", "reinforce_plus_plus", "grpo"};
  constexpr std::string_view kOpenRlhf[] = {"group_norm", "gae", "group_norm", "rloo", "reinforce", "group_norm"};
  return (job.framework == Framework::kOpenRlhf ? kOpenRlhf : kVerl)[static_cast<std::size_t>(job.algorithm)];
}

// The nodes of a side and the GPUs of each that it uses.
struct Nodes {
  int nodes, gpus;
};
Nodes nodes_of(int gpus, int per_machine) {
  return gpus < per_machine ? Nodes{1, gpus} : Nodes{gpus / per_machine, per_machine};
}

std::string file_of(Framework framework) {
  constexpr std::string_view kEnds[] = {".sh", ".yaml", ".sh", ".yaml"};
  return std::string(name_of(framework)) + std::string(kEnds[static_cast<std::size_t>(framework)]);
}

bool offloads(const RlMemory& memory, Offload what) {
  return std::find(memory.offloads.begin(), memory.offloads.end(), what) != memory.offloads.end();
}

// TRL leaves the trainer's memory to DeepSpeed; a reference is sharded with the weights.
std::string accelerate_offloads(const RlPlan& plan) {
  const bool weights = offloads(plan.memory, Offload::kWeights) || offloads(plan.memory, Offload::kReference);
  return std::string(offloads(plan.memory, Offload::kOptimizer) ? " --offload_optimizer_device cpu" : "") +
         (weights ? " --offload_param_device cpu" : "");
}

std::string model_of(const RlRequest& request) {
  const std::string& given =
      request.request.model_given.empty() ? request.request.model.name : request.request.model_given;
  const std::string hub = model::hub_id(given);
  return hub.empty() ? given : hub;
}

// The longest prompt and answer, within the model's context.
struct LengthLimits {
  long long prompt, answer;

  long long sequence() const { return prompt + answer; }
};
LengthLimits limits_of(const RlRequest& request, const RlJob& job) {
  const std::int64_t context = request.request.model.context;
  const auto prompt = std::llround(longest_prompt(job.isl, context));
  const auto wanted = job.answers.most > 0 ? std::llround(job.answers.most)
                                           : std::llround(std::ceil((job.longest() - job.isl) / 128) * 128);
  return {prompt, context > 0 ? std::min<long long>(wanted, context - prompt) : wanted};
}

// "4,5,6,7"
std::string devices(int first, int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return fmt::format("{}", fmt::join(all, ","));
}

// TRL does not use Ray: accelerate runs on every machine of the trainer, and the engine of a split layout is a server
// on one machine, possibly the trainer's own. The files around it set HEAD, RANK and SERVER.
struct TrlCommands {
  std::string train, serve;
  bool own_machine = false;  // of the engine
};
TrlCommands trl_commands(const RlRequest& request, const RlPlan& plan) {
  const RlJob& job = plan.job;
  const int per_machine = plan.priced.offer->machine->gpus;
  const bool split = job.layout.split, shared = split && job.layout.gpus() <= per_machine;
  const Nodes train = nodes_of(job.layout.train, per_machine);
  TrlCommands made;
  made.own_machine = split && !shared;
  made.serve =
      fmt::format("{}trl vllm-serve --model {} --tensor_parallel_size {} --data_parallel_size {} --max_model_len {}",
                  shared ? fmt::format("CUDA_VISIBLE_DEVICES={} ", devices(job.layout.train, job.layout.rollout)) : "",
                  hand_over::single_quoted(model_of(request)), job.rollout.parallel.tensor,
                  std::max(1, job.layout.rollout / replica_gpus(job)), limits_of(request, job).sequence());
  made.train = fmt::format(
      "{}accelerate launch --config_file zero3.yaml{}{} --num_processes {} -m trl.scripts.{} --config {}{}",
      shared ? fmt::format("CUDA_VISIBLE_DEVICES={} ", devices(0, job.layout.train)) : "", accelerate_offloads(plan),
      train.nodes > 1 ? fmt::format(" --num_machines {} --machine_rank \"$RANK\" --main_process_ip \"$HEAD\" "
                                    "--main_process_port 29500",
                                    train.nodes)
                      : "",
      job.layout.train, job.algorithm == Algorithm::kRloo ? "rloo" : "grpo", file_of(job.framework),
      split ? fmt::format(" --vllm_server_host {} --vllm_server_timeout 1200", shared ? "localhost" : "\"$SERVER\"")
            : "");
  if (shared) made.train = fmt::format("{} > engine.log 2>&1 & {}", made.serve, made.train);
  return made;
}

std::string start_of(const RlRequest& request, const RlPlan& plan) {
  const Framework framework = plan.job.framework;
  const bool distills = plan.job.algorithm == Algorithm::kDistill;
  if (framework == Framework::kTrl) return trl_commands(request, plan).train;
  if (framework != Framework::kNemoRl) return "bash " + file_of(framework);
  return fmt::format("uv run examples/run_{}.py --config {}", distills ? "distillation" : "grpo", file_of(framework));
}

// A framework's trainers differ by algorithm: a file that runs another one than the plan's is not written.
Result<> check_algorithm(const RlJob& job) {
  if (is_written(job)) return {};
  std::vector<std::string_view> others;
  for (const Framework other : {Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf, Framework::kTrl}) {
    RlJob same = job;
    same.framework = other;
    if (is_written(same)) others.push_back(name_of(other));
  }
  return fail(
      bad_input(fmt::format("no file is written for {} with {}", name_of(job.algorithm), name_of(job.framework)))
          .with_hint(others.empty() ? std::string("use --layout colocated")
                                    : fmt::format("use --stack {}", fmt::join(others, " or "))));
}

// TRL's trainer talks to one server, which runs on one machine. vLLM has several replicas in it only for mixtures.
Result<> check_server(const RlRequest& request, const RlPlan& plan) {
  const Layout& layout = plan.job.layout;
  if (plan.job.framework == Framework::kTrl && layout.split && layout.rollout > replica_gpus(plan.job) &&
      !request.request.model.experts) {
    return fail(bad_input("TRL's server runs one replica of a dense model")
                    .with_hint(fmt::format("use --rollout-tp {}", layout.rollout)));
  }
  const bool one = !plan.rollout && layout.rollout <= plan.priced.offer->machine->gpus;
  if (plan.job.framework != Framework::kTrl || !layout.split || one) return {};
  return fail(bad_input("TRL generates on one machine, of the same kind as those that train")
                  .with_hint("use --layout colocated, or --stack verl"));
}

// Items that a framework moves to the host automatically if trainer and engine share GPUs: NeMo-RL everything (the
// reference always), OpenRLHF the weights with --deepspeed_enable_sleep.
std::string own_offloads(const RlPlan& plan) {
  std::vector<std::string_view> own;
  for (const Offload what : plan.memory.offloads) {
    const bool nemo = plan.job.framework == Framework::kNemoRl && what != Offload::kOptimizer;
    const bool slept = plan.job.framework == Framework::kOpenRlhf && what == Offload::kWeights;
    if (nemo || slept) own.push_back(name_of(what));
  }
  return fmt::format("{}", fmt::join(own, ", "));
}

// The parts of DAPO that the files lack: verl's trainer that drops groups of equal rewards runs colocated, and TRL has
// none.
std::string unfiltered(const RlJob& job) {
  if (job.algorithm != Algorithm::kDapo) return {};
  if (job.framework == Framework::kTrl) return "TRL does not drop groups with equal rewards, but the plan assumes it.";
  if (job.framework == Framework::kVerl && job.layout.split)
    return "verl's trainer that drops groups of equal rewards needs --layout colocated; the plan counts on it.";
  return {};
}

std::string layout_words(const RlPlan& plan) {
  const RlJob& job = plan.job;
  if (!job.layout.split) return "trainer and engine take turns";
  if (plan.rollout)
    return fmt::format("they train and {} {} generate{}", job.layout.rollout, plan.rollout->offer->gpu->name,
                       job.async > 0 ? ", off-policy" : "");
  return fmt::format("{} train and {} generate{}", job.layout.train, job.layout.rollout,
                     job.async > 0 ? ", off-policy" : "");
}

void add_header(Facts& facts, const RlRequest& request, const RlPlan& plan) {
  const RlJob& job = plan.job;
  const market::Offer& offer = *plan.priced.offer;
  const catalog::Provenance& price = offer.price->provenance;
  const int machines = std::max(1, plan.priced.option->machines);
  facts.set("machines", machines)
      .set("instance_type", offer.machine->instance)
      .set("provider", offer.machine->provider)
      .set("region", offer.price->region == "any" ? "" : offer.price->region)
      .set("purchase", catalog::name_of(offer.price->purchase))
      .set("duration", format_duration(plan.priced.time.total()))
      .set("cost", format_usd(plan.priced.cost))
      .set("cost_low", format_usd(plan.priced.cost_low))
      .set("cost_high", format_usd(plan.priced.cost_high))
      .set("rate", format_usd_per_hour(plan.rate()))
      .set("price_sources", price.sources.empty() ? price.file : fmt::format("{}", fmt::join(price.sources, ", ")))
      .set("price_date", price.date ? format_date(*price.date) : "")
      .set("unfiltered", unfiltered(job));
  const launch::Software& used = launch::software(name_of(job.framework));
  facts.set("software", used.name).set("software_commit", used.commit).set("software_date", used.date);
  facts.set("algorithm", name_of(job.algorithm))
      .set("framework", name_of(job.framework))
      .set("model", model_of(request))
      .set("gpus", plan.rollout ? job.layout.train : job.layout.gpus())
      .set("gpu", plan.priced.machines->gpu->name)
      .set("layout_words", layout_words(plan))
      .set("step", format_duration(plan.step.step))
      .set("step_low", format_duration(plan.step.step * plan.step.interval.low))
      .set("step_high", format_duration(plan.step.step * plan.step.interval.high))
      .set("name", hand_over::object_name(fmt::format("{}-{}", name_of(job.algorithm), request.request.model.name)));
}

// As often as the plan saves; without interruptions, every four hours.
long long steps_between_saves(const RlPlan& plan) {
  const Seconds interval = plan.priced.time.interval > Seconds{} ? plan.priced.time.interval : hours(4);
  return std::max<long long>(1, std::llround(interval / plan.step.step));
}

void add_job(Facts& facts, const RlRequest& request, const RlPlan& plan) {
  const RlJob& job = plan.job;
  const model::Parallelism& p = job.train.parallel;
  const bool megatron = job.train.stack == model::Stack::kMegatron;
  const auto [max_prompt, max_answer] = limits_of(request, job);
  const bool dapo = job.algorithm == Algorithm::kDapo, distills = job.algorithm == Algorithm::kDistill;
  const double per_prompt = std::max(1.0, job.samples);
  const double mini = std::max(1.0, std::round(std::min(job.train_batch, job.sequences()) / per_prompt));
  const bool kl = job.reference, fp8 = job.rollout.precision == model::Precision::kFp8;
  const bool streams = job.layout.split && job.async < 1;
  // NeMo-RL refuses answers of an older policy or of an engine in fp8 without it.
  const bool corrects = job.async > 0 || fp8;
  facts.set("estimator", estimator(job))
      .set("entry", !job.layout.split ? "verl.trainer.main_ppo"
                    : streams         ? "verl.experimental.fully_async_policy.fully_async_main"
                                      : "verl.experimental.one_step_off_policy.main_ppo")
      .set("megatron", megatron)
      .set("config", !megatron           ? ""
                     : !job.layout.split ? "ppo_megatron_trainer"
                     : streams           ? "fully_async_ppo_megatron_trainer"
                                         : "one_step_off_ppo_megatron_trainer")
      .set("streams", streams)
      .set("staleness", job.async)
      .set("mini_batches", std::llround(std::ceil(job.prompts / mini)))
      .set("dapo", dapo)
      .set("filters_groups", dapo && unfiltered(job).empty())
      .set("generated_batches", std::llround(std::ceil(1 / job.kept_prompts)))
      .set("batch_multiplier", format_number(1 / job.kept_prompts, 3))
      .set("corrects", corrects)
      .set("loss", !distills && (dapo || !kl || corrects))
      .set("distills", distills)
      .set("section", distills ? "distillation" : "grpo")
      .set("defaults", distills ? "distillation_math_megatron.yaml" : "grpo_math_1B_megatron.yaml")
      .set("leave_one_out", job.algorithm == Algorithm::kRloo)
      .set("save_steps", steps_between_saves(plan))
      .set("prompts", std::llround(job.prompts))
      .set("samples", std::llround(job.samples))
      .set("steps", std::llround(request.steps))
      .set("all_prompts", std::llround(job.prompts * request.steps))
      .set("max_prompt", max_prompt)
      .set("max_answer", max_answer)
      .set("max_sequence", max_answer + max_prompt)
      .set("mini_prompts", std::llround(mini))
      .set("train_batch", std::llround(mini * per_prompt))
      .set("tokens_per_gpu", (max_prompt + max_answer + p.context - 1) / p.context)
      .set("tp", p.tensor)
      .set("pp", p.pipeline)
      .set("cp", p.context)
      .set("ep", p.expert)
      .set("rollout_tp", job.rollout.parallel.tensor)
      .set("rollout_precision", fp8 ? "fp8" : "bfloat16")
      .set("fp8_engine", fp8)
      .set("no_fp8", fp8 && (job.framework == Framework::kOpenRlhf || job.framework == Framework::kTrl))
      .set("recompute", yes(job.train.train.recompute != model::Recompute::kNone, Framework::kVerl))
      .set("recompute_yaml", yes(job.train.train.recompute != model::Recompute::kNone, Framework::kTrl))
      .set("sequence_parallel", yes(p.tensor > 1, Framework::kTrl))
      .set("lora", job.train.train.method == model::Method::kFull ? 0 : job.train.train.lora_rank)
      .set("kl", kl)
      .set("use_kl", yes(kl, Framework::kVerl))
      .set("kl_coefficient", kl ? "0.001" : "0.0")
      .set("async", job.async > 0 ? std::llround(std::ceil(job.async)) : 0)
      .set("async_engine", yes(job.async > 0, Framework::kTrl));
  // One device's share of the answers of a step, in optimizer steps of train_batch.
  const auto devices = static_cast<long long>(job.layout.train);
  const auto accumulation = std::max<long long>(1, std::llround(mini * per_prompt) / devices);
  // OpenRLHF needs a micro-batch for each process.
  facts.set("micro_rollout", std::clamp<long long>(std::llround(job.sequences()) / devices, 1, 8))
      .set("shares_reference", job.layout.split && kl && !(job.async > 0));
  facts.set("device_batch", 1)
      .set("accumulation", accumulation)
      .set("generation_steps", std::max<long long>(accumulation, std::llround(job.sequences()) / devices));
}

void add_machines(Facts& facts, const RlRequest& request, const RlPlan& plan) {
  const RlJob& job = plan.job;
  const int per_machine = plan.priced.offer->machine->gpus;
  // If the engine has other machines, the first group is the trainer's.
  const int engine_machine = plan.rollout ? plan.rollout->offer->machine->gpus : per_machine;
  const Nodes all = nodes_of(plan.rollout ? job.layout.train : job.layout.gpus(), per_machine),
              train = nodes_of(job.layout.train, per_machine), rollout = nodes_of(job.layout.rollout, engine_machine);
  facts.set("two_pools", plan.rollout.has_value())
      .set("has_workers", plan.rollout || all.nodes > 1)
      .set("group", plan.rollout ? "trainer" : "gpus")
      .set("all_nodes", all.nodes + (plan.rollout ? plan.rollout->machines : 0));
  if (plan.rollout) {
    const market::Offer& engine = *plan.rollout->offer;
    facts.set("engine_machines", plan.rollout->machines)
        .set("engine_node_gpus", rollout.gpus)
        .set("engine_instance", engine.machine->instance)
        .set("engine_provider", engine.machine->provider)
        .set("engine_gpu", engine.gpu->name)
        .set("engine_purchase", catalog::name_of(engine.price->purchase))
        .set("engine_spot", engine.price->purchase == catalog::Purchase::kSpot)
        .set("engine_use_spot", engine.price->purchase == catalog::Purchase::kSpot ? "true" : "false");
  }
  facts.set("split", job.layout.split)
      .set("nodes", all.nodes)
      .set("node_gpus", all.gpus)
      .set("several", all.nodes > 1)
      .set("other_nodes", all.nodes - 1)
      .set("train_nodes", train.nodes)
      .set("train_node_gpus", train.gpus)
      .set("train_gpus", job.layout.train)
      .set("rollout_nodes", rollout.nodes)
      .set("rollout_node_gpus", rollout.gpus)
      .set("rollout_gpus", job.layout.rollout)
      .set("engines", std::max(1, job.layout.rollout / replica_gpus(job)))
      .set("offload_weights", yes(offloads(plan.memory, Offload::kWeights), Framework::kVerl))
      .set("offload_optimizer", yes(offloads(plan.memory, Offload::kOptimizer), Framework::kVerl))
      .set("offload_reference", yes(offloads(plan.memory, Offload::kReference), Framework::kVerl))
      .set("offloads_optimizer", offloads(plan.memory, Offload::kOptimizer))
      .set("offloads_optimizer_yaml", yes(offloads(plan.memory, Offload::kOptimizer), Framework::kNemoRl))
      .set("offloads_reference", offloads(plan.memory, Offload::kReference))
      .set("memory_share", plan.memory.engine_share)
      .set("critic", job.has_critic())
      .set("own_offloads", own_offloads(plan))
      .set("start", start_of(request, plan))
      .set("ray", job.framework != Framework::kTrl);
  if (job.framework == Framework::kTrl) {
    const TrlCommands trl = trl_commands(request, plan);
    facts.set("serve", trl.serve).set("own_server", trl.own_machine);
  }
  const double minutes = std::ceil(std::max(15.0, in_hours(plan.priced.time.total()) * 60 * plan.step.interval.high));
  const auto whole = static_cast<long>(minutes);
  facts.set("time_limit", fmt::format("{}-{:02}:{:02}:00", whole / 1440, whole / 60 % 24, whole % 60));
}

// How SkyPilot names the place of an offer.
Result<std::string> infra_of(const market::Offer& offer, int machines) {
  const std::string& provider = offer.machine->provider;
  const std::string infra = plan::skypilot_cloud(provider).infra;
  if (infra.empty())
    return fail(bad_input(fmt::format("SkyPilot rents no machines from {}", provider))
                    .with_hint("use --emit kubernetes or --emit slurm"));
  const bool spot = offer.price->purchase == catalog::Purchase::kSpot;
  if (Result<> possible = plan::check_skypilot(provider, {.nodes = machines > 1, .spot = spot}); !possible)
    return fail(possible.error());
  return offer.price->region == "any" ? infra : infra + "/" + offer.price->region;
}

Result<> add_cloud(Facts& facts, const RlPlan& plan) {
  const market::Offer& offer = *plan.priced.offer;
  RIGHTSIZE_TRY(const std::string infra, infra_of(offer, plan.priced.option->machines));
  facts.set("infra", infra)
      .set("instance", offer.machine->instance)
      .set("use_spot", offer.price->purchase == catalog::Purchase::kSpot ? "true" : "false");
  if (plan.rollout) {
    RIGHTSIZE_TRY(const std::string engine, infra_of(*plan.rollout->offer, plan.rollout->machines));
    facts.set("engine_infra", engine);
  }
  return {};
}

}  // namespace

bool is_written(const RlJob& job) {
  const Algorithm a = job.algorithm;
  const bool by_group = a == Algorithm::kGrpo || a == Algorithm::kDapo || a == Algorithm::kRloo;
  const bool distills = a == Algorithm::kDistill;
  switch (job.framework) {
    case Framework::kVerl:
      return !distills;
    case Framework::kOpenRlhf:  // without --async_train, a critic next to a split engine needs more GPUs
      return !distills && !(job.has_critic() && job.layout.split && !(job.async > 0));
    case Framework::kNemoRl:
      return by_group || (distills && !(job.async > 0));  // its distillation has no asynchronous trainer
    case Framework::kTrl:
      return by_group;
  }
  return false;
}

std::vector<std::string_view> file_names(Framework framework) {
  return {name_of(framework), "skypilot", "slurm", "kubernetes"};
}

Result<std::string> file_for(std::string_view name, const RlRequest& request, const RlPlan& plan) {
  const std::vector<std::string_view> names = file_names(plan.job.framework);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return fail(bad_input(fmt::format("--emit {} does not apply to this plan", name))
                    .with_hint(fmt::format("use {}", fmt::join(names, ", "))));
  }
  if (Result<> runs = check_algorithm(plan.job); !runs) return fail(runs.error());
  if (Result<> served = check_server(request, plan); !served) return fail(served.error());
  Facts facts;
  add_header(facts, request, plan);
  add_job(facts, request, plan);
  add_machines(facts, request, plan);
  if (name == "skypilot") {
    if (Result<> cloud = add_cloud(facts, plan); !cloud) return fail(cloud.error());
    return hand_over::fill_in("rl/skypilot.yaml", facts);
  }
  if (name == "slurm") return hand_over::fill_in("rl/slurm.sh", facts);
  if (name == "kubernetes") {
    const bool ray = plan.job.framework != Framework::kTrl;
    return hand_over::fill_in(ray ? "rl/kubernetes.yaml" : "rl/kubernetes_job.yaml", facts);
  }
  return hand_over::fill_in("rl/" + file_of(plan.job.framework), facts);
}

}  // namespace rightsize::rl
