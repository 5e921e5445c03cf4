#include "rightsize/rl/memory_report.h"

#include <fmt/format.h>

#include "base/format.h"
#include "report/fields.h"
#include "rl/memory.h"

namespace rightsize::app {
namespace {

using report::Fields;
using report::one_of;
using rl::PhaseMemory;
using rl::PhasePart;

const Fields<PhasePart> kPhasePartFields = {
    {"name", "the item", &PhasePart::name},
    {"bytes", "its size", &PhasePart::bytes},
};

const Fields<PhaseMemory> kPhaseMemoryFields = {
    {"name", "phase", "the phase", [](const PhaseMemory& p) { return rl::name_of(p.kind); },
     one_of({"generate", "log_prob", "update", "sync"})},
    {"side", "GPUs", "whose GPUs", [](const PhaseMemory& p) { return p.on_rollout ? "rollout" : "trainer"; },
     one_of({"trainer", "rollout"})},
    {"device_bytes", "memory", "memory on the fullest GPU", [](const PhaseMemory& p) { return p.need.device; }},
    {"low_bytes", "lower end of the 80 % interval", [](const PhaseMemory& p) { return p.need.low; }},
    {"high_bytes", "upper end of the interval", [](const PhaseMemory& p) { return p.need.high; }},
    {"capacity_bytes", "of", "memory of the GPU", [](const PhaseMemory& p) { return p.fit.capacity; }},
    {"verdict", "verdict", "whether it fits", [](const PhaseMemory& p) { return p.fit.verdict; },
     one_of({"fits", "tight", "no"})},
    {"parts", "what is in memory", kPhasePartFields, &PhaseMemory::parts},
};

struct RlMemoryView {
  const RlInput& input;
  const catalog::Gpu& gpu;
  const catalog::Gpu& rollout_gpu;
  const rl::RlMemory& memory;
};

std::vector<std::string_view> names_of(const std::vector<rl::Offload>& offloads) {
  std::vector<std::string_view> names;
  for (const rl::Offload offload : offloads) names.push_back(rl::name_of(offload));
  return names;
}

const Fields<RlMemoryView> kRlMemoryFields = {
    {"model", "the model", [](const RlMemoryView& v) { return std::cref(v.input.model.name); }},
    {"job", "reinforcement learning", [](const RlMemoryView&) { return "rl"; }, one_of({"rl"})},
    {"stack", "the framework", [](const RlMemoryView& v) { return v.input.job.framework; }},
    {"algorithm", "the algorithm", [](const RlMemoryView& v) { return v.input.job.algorithm; }},
    {"gpu", "the trainer's GPU", [](const RlMemoryView& v) { return std::cref(v.gpu.name); }},
    {"rollout_gpu", "the engine's GPU", [](const RlMemoryView& v) { return std::cref(v.rollout_gpu.name); }},
    {"gpus", "number of GPUs", [](const RlMemoryView& v) { return v.input.job.layout.gpus(); }},
    {"layout", "where trainer and engine run", [](const RlMemoryView& v) { return rl::describe(v.input.job.layout); }},
    {"verdict", "whether every phase fits", [](const RlMemoryView& v) { return v.memory.verdict; },
     one_of({"fits", "tight", "no"})},
    {"fits", "false: at least one phase does not fit",
     [](const RlMemoryView& v) { return v.memory.verdict != memory::Verdict::kNo; }},
    {"phases", "memory of each phase", kPhaseMemoryFields,
     [](const RlMemoryView& v) { return std::cref(v.memory.phases); }},
    {"offload", "what must leave the GPUs while other phases run",
     [](const RlMemoryView& v) { return names_of(v.memory.offloads); }},
    {"host_bytes", "host memory for that, per GPU", [](const RlMemoryView& v) { return v.memory.host; }},
    {"answers_in_cache", "answers of mean length that one copy's KV cache holds",
     [](const RlMemoryView& v) { return v.memory.answers_in_cache; }},
};
const report::Document<RlMemoryView> kRlMemoryDocument("memory-rl",
                                                       "GPU memory of each phase of reinforcement learning",
                                                       kRlMemoryFields);

// The framework setting that offloads these items from the GPUs.
std::string setting_for(rl::Framework framework, rl::Offload offload) {
  using rl::Framework;
  static constexpr std::string_view kHow[4][rl::kOffloads] = {
      {"actor_rollout_ref.rollout.free_cache_engine=True", "actor_rollout_ref.ref.fsdp_config.param_offload=True",
       "actor_rollout_ref.actor.fsdp_config.optimizer_offload=True",
       "actor_rollout_ref.actor.fsdp_config.param_offload=True"},
      {"done by NeMo-RL", "done by NeMo-RL", "policy.offload_optimizer_for_logprob=true",
       "done by NeMo-RL before generation"},
      {"--vllm_enable_sleep", "--ref_reward_offload", "--adam_offload", "--deepspeed_enable_sleep"},
      {"vllm_enable_sleep_mode=True", "beta=0.0 (no reference), or DeepSpeed's ZeRO 3", "DeepSpeed's offload_optimizer",
       "DeepSpeed's offload_param"},
  };
  return std::string(kHow[static_cast<std::size_t>(framework)][static_cast<std::size_t>(offload)]);
}

std::string verdict_sentence(const RlMemoryView& v) {
  const PhaseMemory& fullest = v.memory.fullest();
  const std::string need = fmt::format("{} of {} in the {} phase on {}", format_bytes(fullest.need.device),
                                       format_bytes(fullest.fit.capacity), rl::name_of(fullest.kind),
                                       fullest.on_rollout ? v.rollout_gpu.name : v.gpu.name);
  if (v.memory.verdict == memory::Verdict::kNo) {
    return fmt::format("does not fit{}: it needs {}.",
                       v.memory.offloads.empty() ? "" : ", even with these parts in host memory", need);
  }
  return fmt::format("{}: memory peaks at {}.",
                     v.memory.verdict == memory::Verdict::kTight ? "fits, but tightly" : "fits", need);
}

}  // namespace

Checked<Outcome> memory_rl(const JobFlags& job, const RlFlags& flags, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const RlInput input, read_rl(job, flags));
  RIGHTSIZE_TRY(const RlGpus gpus, read_rl_gpus(job, flags, catalog));
  const rl::RlMemory found = rl::phase_memory(input.model, input.job, *gpus.train, *gpus.rollout);
  const RlMemoryView view{input, *gpus.train, *gpus.rollout, found};
  report::Report report;
  report.title = "Memory of reinforcement learning";
  report.document = kRlMemoryDocument.of(view);
  report.say(fmt::format("{} on {} GPUs ({}) {}", describe_rl(input), input.job.layout.gpus(),
                         rl::describe(input.job.layout), verdict_sentence(view)));
  report.blocks.emplace_back(
      table_of(kPhaseMemoryFields, found.phases,
               {report::renamed("name", "phase"), "side", "device_bytes", "capacity_bytes", "verdict"}));
  if (!found.offloads.empty()) {
    std::string text = fmt::format("Move to host memory ({} per GPU):", format_bytes(found.host));
    for (const rl::Offload offload : found.offloads)
      text += fmt::format("\n- {}: {}", rl::name_of(offload), setting_for(input.job.framework, offload));
    report.say(std::move(text));
  }
  report.say(fmt::format("The KV cache of one copy of the engine holds {} answers of mean length.",
                         format_count(found.answers_in_cache)));
  return Outcome{std::move(report)};
}

}  // namespace rightsize::app
