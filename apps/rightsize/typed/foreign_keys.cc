#include "rightsize/typed/foreign_keys.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

// The meaning of a key, given by the end of its path. Any other key means the flag of the same name, ours or another
// tool's (aliases.cc), unless its group has another purpose. An empty meaning: handled elsewhere, or without effect.
struct Key {
  std::string_view names, meant;
};
constexpr Key kKeys[] = {
    // DeepSpeed, Accelerate, FSDP.
    {"zero-optimization.stage deepspeed-config.zero-stage", "zero"},
    {"fsdp-sharding-strategy", "sharding-strategy"},
    {"zero-optimization.offload-optimizer.device deepspeed-config.offload-optimizer-device", "offload-optimizer"},
    {"zero-optimization.offload-param.device deepspeed-config.offload-param-device fsdp-offload-params",
     "offload-params"},
    {"bf16.enabled", "bf16"},
    {"fp16.enabled", "fp16"},
    {"optimizer.type optimizer.name", "optimizer"},
    {"train-micro-batch-size-per-gpu training.local-batch-size batch-size", "batch"},
    {"deepspeed-config.gradient-accumulation-steps", "accumulate"},
    {"fsdp-activation-checkpointing enable-gradient-checkpointing enable-activation-checkpointing",
     "gradient-checkpointing"},
    // torchtitan, torchtune.
    {"training.global-batch-size", "global-batch"},
    {"training.seq-len dataset.max-seq-len tokenizer.max-seq-len block-size cutoff-len", "seq"},
    {"training.steps max-steps", "steps"},
    {"parallelism.tensor-parallel-degree", "tp"},
    {"parallelism.pipeline-parallel-degree", "pp"},
    {"parallelism.context-parallel-degree", "cp"},
    {"parallelism.expert-parallel-degree", "ep"},
    {"activation-checkpoint.mode", "recompute"},
    {"compile.enable", "torch-compile"},
    {"parallelism.data-parallel-shard-degree parallelism.data-parallel-replicate-degree model.flavor", ""},
    // Files that are read too, and keys that the reader combines.
    {"deepspeed config config-file deepspeed-config-file distributed-type quantization-bit job task stack file.format "
     "file.program",
     ""},
    {"max-samples", "dataset-samples"},
    // kohya's sd-scripts.
    {"network-module", "method=lora"},
    {"network-dim", "lora-rank"},
    {"training-arguments.train-batch-size", "batch"},
    {"optimizer-type", "optimizer"},
    {"max-train-steps", "steps"},
    {"pretrained-model-name-or-path", ""},
    // Engines.
    {"kv-cache-config.free-gpu-memory-fraction", "memory-share"},
    {"kv-cache-config.dtype", "kv-precision"},
    {"max-num-tokens", "max-tokens"},
    {"sampling-params.max-tokens", "osl"},
    {"max-total-tokens", "max-model-len"},
    {"dynamic-batching.max-queue-delay-microseconds", "max-delay=*us"},
    {"instance-group.count", "instances"},
    {"input.dims", "isl"},
    // Models.
    {"model-url model-uri storage-uri model-id model-path model-name-or-path base-model hf-model-id pretrain "
     "policy.model-name model.path model.name envs.model envs.model-name env.model env.model-name environment.model "
     "model model-name",
     ""},
    // Reinforcement learning: verl, OpenRLHF, NeMo-RL, TRL.
    {"data.train-batch-size grpo.num-prompts-per-step", "prompts"},
    {"data.max-response-length max-completion-length generate-max-len", "max-response-length"},
    {"rollout.n n-samples-per-prompt grpo.num-generations-per-prompt num-generations", "samples"},
    {"rollout.tensor-model-parallel-size", "rollout-tp"},
    {"actor.ppo-mini-batch-size", "ppo-mini-batch-size"},
    {"algorithm.adv-estimator", "algorithm"},
    {"use-kl-loss use-kl-in-reward", "reference"},
    {"trainer.total-training-steps grpo.max-num-steps", "steps"},
    // Machines: put_machines() reads these.
    {"resources.accelerators nvidia.com/gpu amd.com/gpu request-gpu devices.count nproc-per-node n-gpus-per-node "
     "gpus-per-node sbatch.gres sbatch.gpus sbatch.gpus-per-node sbatch.gpus-per-task num-gpus num-processes nnodes "
     "actor-num-gpus-per-node actor-num-nodes worker.replicas master.replicas accelerator-type "
     "num-nodes num-machines sbatch.nodes sbatch.n trainer.nnodes gpu.product gpu.product-name gke-accelerator "
     "instance-type sbatch.time sbatch.t sbatch.ntasks-per-node",
     ""},
    {"resources.use-spot", "spot"},
    {"resources.cloud", "provider"},
    {"resources.region", "region"},
    {"resources.infra", "infra"},
    // Autoscaling: put_policy() reads these.
    {"min-replicas min-replica-count", "min-replicas"},
    {"max-replicas max-replica-count", "max-replicas"},
    {"scale-target scale-metric average-value stabilization-window-seconds", ""},
    // Without effect on memory, speed and cost.
    {"rollout.name model-type tokenizer-type kind api-version model-format.name name trust-remote-code do-train "
     "do-eval setup workdir platform backend compute-environment dataset-name",
     ""},
};
// Groups with settings of the job. Keys of other groups describe something else: a port, a probe, a logger.
constexpr std::string_view kGroups =
    "vllm-config engine engine-args engine-kwargs config training training-args train trainer model-args data-args "
    "lora peft env envs environment model data policy args server-args parameters training-arguments "
    "dataset-arguments optimizer-arguments model-arguments";

std::string last_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// Whether a flag, another tool's flag, an amount of work or a limit has this name.
bool is_understood(const std::string& flag, const std::string& value, const std::deque<FlagInfo>& declared) {
  return find_flag(declared, flag) != nullptr || !meant_flag(flag, declared, true).empty() || read_work_flag(flag) ||
         read_limit_name(flag.substr(2)) || !flag_by_words(flag, value, declared, true).empty();
}

}  // namespace

bool is_off(const std::string& value) {
  return value.empty() || lists_word("false no none off 0 null", to_lower(value));
}

// Whether a path is one of these names or ends with one.
bool ends_with_name(std::string_view path, std::string_view names) {
  return std::ranges::any_of(split_list(names, ' '), [&](std::string_view name) {
    return path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '.') ||
           (name.find('/') == name.npos && path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
  });
}

const std::string* find(const Entries& entries, std::string_view names) {
  for (const std::string_view name : split_list(names, ' ')) {
    for (const auto& [key, value] : entries) {
      if (!value.empty() && ends_with_name(key, name)) return &value;
    }
  }
  return nullptr;
}

std::string text_of(const Entries& entries, std::string_view names) {
  const std::string* value = find(entries, names);
  return value == nullptr ? std::string() : *value;
}

bool is_setting_of_job(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos || lists_word(kGroups, last_of(key.substr(0, dot)));
}

Meaning flag_for(const std::string& name, const std::string& value, const std::deque<FlagInfo>& declared,
                 bool serving) {
  using Kind = Meaning::Kind;
  const FlagInfo* own = find_flag(declared, "--" + name);
  const std::string meant = own != nullptr ? own->name : meant_flag("--" + name, declared, serving);
  if (lists_word("ignored default argument", meant)) return {"", Kind::kNoEffect};
  const std::size_t fixed = meant.find('=');
  const FlagInfo* flag = find_flag(declared, meant.substr(0, fixed));
  if (flag == nullptr || flag->setting == nullptr) return {};
  if (fixed != std::string::npos && meant.find('*') == std::string::npos)
    return {is_off(value) ? std::string() : meant, is_off(value) ? Kind::kNoEffect : Kind::kFlag};
  const std::string other = meant_value("--" + name, value);  // mixed-precision: bf16
  std::string text = meant_value(flag->name, other);
  if (flag->name == "--resolution") std::ranges::replace(text, ',', 'x');  // 1024,1024
  if (fixed != std::string::npos)
    text = meant.substr(fixed + 1, meant.find('*') - fixed - 1) + text + meant.substr(meant.find('*') + 1);
  if (flag->values.empty())
    return {is_off(value) ? std::string() : flag->name, is_off(value) ? Kind::kNoEffect : Kind::kFlag};
  if (!settings::read_list(*flag->setting, text)) return {"", is_off(value) ? Kind::kNoEffect : Kind::kUnclear};
  return {flag->name + "=" + text, Kind::kFlag};
}

Meaning meaning_of(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared,
                   bool serving) {
  using Kind = Meaning::Kind;
  const auto row = std::ranges::find_if(kKeys, [&](const Key& each) { return ends_with_name(key, each.names); });
  if (row == std::end(kKeys)) {
    if (!is_setting_of_job(key)) return {};
    const std::string name = last_of(key), flag = "--" + name;
    const Meaning meaning = flag_for(name, value, declared, serving);
    if (meaning.kind != Kind::kUnknown || is_off(value)) return meaning;
    const bool amount = (read_work_flag(flag) && parse_amount(value)) || read_limit_name(name) ||
                        (lists_word("height width", name) && find_flag(declared, "--resolution"));
    return amount ? Meaning{flag + "=" + value, Kind::kFlag} : meaning;
  }
  if (row->meant.empty()) return {"", Kind::kNoEffect};
  std::string name(row->meant), text = value;
  if (const std::size_t fixed = name.find('='); fixed != std::string::npos) {
    text = name.substr(fixed + 1);
    if (const std::size_t star = text.find('*'); star != text.npos) text.replace(star, 1, value);
    name.resize(fixed);
  }
  const Meaning meaning = flag_for(name, text, declared, serving);
  if (meaning.kind != Kind::kUnknown) return meaning;
  // A flag of reinforcement learning that a later step reads.
  const bool later = lists_word("max-response-length ppo-mini-batch-size", name) && find_flag(declared, "--algorithm");
  return later ? Meaning{fmt::format("--{}={}", name, text), Kind::kFlag} : Meaning{"", Kind::kNoEffect};
}

std::string flag_of_key(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared) {
  constexpr std::string_view kOfGroup = "name id path type kind value default mean avg average";
  const auto flag = [](const std::string& name) { return "--" + plain_key(name); };
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) return flag(key);
  const std::string member = key.substr(dot + 1), group = last_of(key.substr(0, dot));
  std::vector<std::string> names{flag(member), flag(group + "-" + member), flag(member + "-" + group)};
  if (lists_word(kOfGroup, to_lower(member))) names.insert(names.begin(), flag(group));
  for (const std::string& name : names) {
    if (is_understood(name, value, declared)) return name;
  }
  return flag(key);
}

}  // namespace rightsize::app
