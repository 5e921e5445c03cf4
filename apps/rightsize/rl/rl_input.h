// The settings of --job rl, shared by estimate, memory and recommend.
#pragma once

#include <map>
#include <string>

#include "rightsize/input/facts.h"
#include "rightsize/input/job_flags.h"
#include "rl/rl.h"

namespace rightsize::app {

struct RlFlags {
  std::map<std::string, std::string> settings;  // by name, as given; absent if not given
};

// Declares the settings that only --job rl has. `has_samples`: --samples is declared elsewhere.
void add_rl_flags(FlagSet& command, RlFlags& flags, bool has_samples = false);

// Whether only --job rl has this setting.
bool is_rl_setting(std::string_view name);

// Whether --job rl was given, or a setting that only it has.
bool asks_for_rl(const JobFlags& job, const RlFlags& flags);

struct RlInput {
  model::ModelShape model;
  rl::RlJob job;
  bool capped = false;  // answers are cut: prompt and answer share the model's context
};

// The model and the job. Settings of training apply to the trainer, settings of serving to the engine.
Checked<RlInput> read_rl(const JobFlags& job, const RlFlags& flags);

// The same for a search that chooses the GPUs: the number of GPUs is one that every given size divides.
Checked<RlInput> read_rl_template(JobFlags job, const RlFlags& flags);

// The GPUs of the trainer (--gpu) and of the engine (--rollout-gpu, or the same).
struct RlGpus {
  const catalog::Gpu* train = nullptr;
  const catalog::Gpu* rollout = nullptr;
};
Result<RlGpus> read_rl_gpus(const JobFlags& job, const RlFlags& flags, const catalog::Catalog& catalog);

// "grpo of llama-3.1-8b with nemo-rl, 64 prompts x 32 answers".
std::string describe_rl(const RlInput& input);

}  // namespace rightsize::app
