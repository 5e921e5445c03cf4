#include "rightsize/rl/rl_input.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "capacity/service.h"
#include "rightsize/input/named_gpu.h"
#include "rl/rollout.h"
#include "rl/trainer.h"
#include "settings/setting.h"

namespace rightsize::app {
namespace {

constexpr std::array kSettings = {
    "algorithm",      "prompts", "train-batch",      "reference",  "kept-prompts",      "reward-time",
    "layout",         "async",   "rollout-tp",       "rollout-ep", "rollout-precision", "rollout-gpu",
    "reward-workers", "osl-end", "rollout-purchase", "max-async"};

// Lengths of mathematics problems and their answers in published runs; the standard deviation of answers is about their
// mean.
constexpr double kUsualPrompt = 150, kUsualAnswer = 1500, kUsualVariation = 1;
constexpr double kUsualPrompts = 128, kUsualSamples = 8;

template <class Value>
Result<Value> read_one(const std::map<std::string, std::string>& settings, const char* name, Value otherwise) {
  const auto found = settings.find(name);
  if (found == settings.end()) return otherwise;
  return settings::read_as<Value>(name, found->second);
}

template <class Enum>
Result<Enum> read_name(const std::map<std::string, std::string>& given, const char* name, int count,
                       std::string_view allowed) {
  const auto found = given.find(name);
  if (found == given.end()) return Enum{};
  for (int i = 0; i < count; ++i)
    if (rl::name_of(static_cast<Enum>(i)) == found->second) return static_cast<Enum>(i);
  return fail(bad_input(fmt::format("--{} {} does not apply to --job rl", name, found->second))
                  .with_hint(fmt::format("use {}", allowed)));
}

bool is_of(settings::Jobs jobs, const std::string& name) {
  const settings::Setting* row = settings::find(name);
  return row != nullptr && row->jobs == jobs;
}

// The trainer's settings as a training job.
JobFlags trainer_flags(const JobFlags& given, const rl::RlJob& job) {
  JobFlags flags{given.model, given.gpu, {}};
  for (const auto& [name, value] : given.settings)
    if (!is_of(settings::Jobs::kServe, name)) flags.settings[name] = value;
  flags.settings["job"] = "train";
  flags.settings["gpus"] = std::to_string(job.layout.train);
  model::Parallelism parallel;
  const auto size = [&](const char* name) {
    const auto found = given.settings.find(name);
    return found == given.settings.end() ? 1 : static_cast<int>(*settings::read_as<int>(name, found->second));
  };
  parallel.tensor = size("tp"), parallel.pipeline = size("pp"), parallel.expert = size("ep");
  const bool adapters = given.settings.contains("method") && given.settings.at("method") != "full";
  const model::Stack stack = rl::trainer_stack(job.framework, parallel);
  flags.settings["stack"] = std::string(model::name_of(stack));
  flags.settings.try_emplace("precision", adapters ? "bf16" : "mixed-bf16");
  flags.settings.try_emplace("recompute", "full");
  if (job.layout.train > 1) flags.settings.try_emplace("zero", stack == model::Stack::kMegatron ? "1" : "3");
  return flags;
}

// The engine's settings as a serving job. If experts are spread over more GPUs than tensor parallelism uses, attention
// is replicated.
Result<JobFlags> engine_flags(const JobFlags& given, const RlFlags& rl, const rl::RlJob& job) {
  JobFlags flags{given.model, given.gpu, {}};
  for (const auto& [name, value] : given.settings)
    if (is_of(settings::Jobs::kServe, name) && name != "isl" && name != "osl" && name != "steps")
      flags.settings[name] = value;
  RIGHTSIZE_TRY(const int tensor, read_one(rl.settings, "rollout-tp", 1));
  RIGHTSIZE_TRY(const int expert, read_one(rl.settings, "rollout-ep", 1));
  const int copy = std::max(tensor, expert);
  if (copy > job.layout.rollout) {
    return fail(bad_input(fmt::format("one copy of the engine needs {} GPUs, and there are {} for generation", copy,
                                      job.layout.rollout))
                    .with_hint("use a smaller --rollout-tp or more --gpus"));
  }
  flags.settings["job"] = "serve";
  flags.settings["stack"] = "vllm";
  flags.settings["gpus"] = std::to_string(std::max(copy, job.layout.rollout / copy * copy));
  flags.settings["tp"] = std::to_string(copy);
  if (expert > 1) flags.settings["ep"] = std::to_string(expert);
  if (copy > tensor) flags.settings["attention-dp"] = std::to_string(copy / tensor);
  const bool fp8 = given.settings.contains("precision") && given.settings.at("precision") == "fp8";
  const auto format = rl.settings.find("rollout-precision");
  flags.settings["precision"] = format != rl.settings.end() ? format->second : fp8 ? "fp8" : "bf16";
  return flags;
}

Result<> read_amounts(const JobFlags& given, const RlFlags& flags, rl::RlJob& job) {
  RIGHTSIZE_TRY(job.prompts, read_one(flags.settings, "prompts", kUsualPrompts));
  const bool one = job.algorithm == rl::Algorithm::kPpo || job.algorithm == rl::Algorithm::kDistill;
  RIGHTSIZE_TRY(job.samples, read_one(flags.settings, "samples", one ? 1 : kUsualSamples));
  constexpr double kMostAnswers = 1e8, kMostOfOne = 1024;
  if (job.samples > kMostOfOne) {
    return fail(bad_input(fmt::format("--samples {} must be at most {:.0f}: it is the number of answers per prompt",
                                      format_count(job.samples), kMostOfOne))
                    .with_hint(fmt::format("write --samples {:.0f}; --prompts is the number of prompts per step, and "
                                           "--steps the number of steps",
                                           kUsualSamples)));
  }
  if (job.sequences() > kMostAnswers) {
    return fail(bad_input(fmt::format("--prompts {} and --samples {} are more than 100 million answers per step",
                                      format_count(job.prompts), format_count(job.samples)))
                    .with_hint("--samples is the number of answers per prompt"));
  }
  RIGHTSIZE_TRY(job.train_batch, read_one(flags.settings, "train-batch", job.sequences()));
  // DAPO has no KL term, so it needs no reference (Yu et al. 2025, arXiv 2503.14476).
  RIGHTSIZE_TRY(job.reference, read_one(flags.settings, "reference", job.algorithm != rl::Algorithm::kDapo));
  RIGHTSIZE_TRY(job.async, read_one(flags.settings, "async", 0.0));
  RIGHTSIZE_TRY(const Ratio kept, read_one(flags.settings, "kept-prompts", Ratio::fraction(1)));
  job.kept_prompts = kept.fraction();
  if (flags.settings.contains("reward-time")) {
    RIGHTSIZE_TRY(job.reward, read_one(flags.settings, "reward-time", Seconds{}));
  }
  const auto length = [&](const char* name, double mean) -> Result<capacity::Length> {
    const auto found = given.settings.find(name);
    if (found == given.settings.end()) return capacity::Length{mean, std::nullopt, {}};
    if (found->second.starts_with("max=")) {  // only a limit: the mean is the usual one, or half of the limit
      RIGHTSIZE_TRY(const double most, parse_count(found->second.substr(4)));
      return capacity::Length{std::min(mean, std::max(1.0, std::round(most / 2))), std::nullopt, most};
    }
    return capacity::parse_length(found->second, true);
  };
  RIGHTSIZE_TRY(const capacity::Length prompt, length("isl", kUsualPrompt));
  RIGHTSIZE_TRY(const capacity::Length answer, length("osl", kUsualAnswer));
  job.isl = prompt.mean;
  job.answers = {answer.mean, answer.variation.value_or(kUsualVariation), answer.most.value_or(0)};
  RIGHTSIZE_TRY(job.reward_workers, read_one(flags.settings, "reward-workers", 1.0));
  RIGHTSIZE_TRY(const double end, read_one(flags.settings, "osl-end", 0.0));
  if (!(end > 0)) return {};
  if (job.answers.most > 0 && end > job.answers.most)
    return fail(bad_input(fmt::format("--osl-end {} is longer than the limit of --osl ({})", format_count(end),
                                      format_count(job.answers.most))));
  // Step times grow about in proportion to answer lengths, so one mean length represents all steps.
  job.first_mean = answer.mean, job.last_mean = end;
  job.answers.mean = (answer.mean + end) / 2;
  return {};
}

// The engine is read as a serving job, and its flags have other names in --job rl.
std::string with_engine_flags(std::string text) {
  for (const char* name : {"--tp", "--ep", "--precision"}) {
    const std::string flag = name;
    for (std::size_t at = text.find(flag); at != std::string::npos; at = text.find(flag, at + flag.size() + 8)) {
      const std::size_t end = at + flag.size();
      const bool whole =
          end == text.size() || (std::isalnum(static_cast<unsigned char>(text[end])) == 0 && text[end] != '-');
      if (whole) text.insert(at + 2, "rollout-");
    }
  }
  return text;
}

Errors of_engine(Errors errors) {
  for (Error& error : errors) {
    error.message = with_engine_flags(std::move(error.message));
    for (std::string& hint : error.hints) hint = with_engine_flags(std::move(hint));
  }
  return errors;
}

// Prompt and answer share the model's context.
Result<bool> keep_within_context(rl::RlJob& job, const model::ModelShape& model) {
  if (model.context <= 0) return false;
  const double left = static_cast<double>(model.context) - rl::longest_prompt(job.isl, model.context);
  if (job.answers.mean > left) {
    return fail(
        bad_input(fmt::format("answers of {} tokens do not fit: {} has a context of {}, and prompts use up to {}",
                              format_count(std::round(job.answers.mean)), model.name,
                              format_count(static_cast<double>(model.context)),
                              format_count(static_cast<double>(model.context) - left)))
            .with_hint("use a smaller --osl or --isl"));
  }
  if (job.longest() - job.isl <= left) return false;
  job.answers.most = std::floor(left);
  return true;
}

}  // namespace

void add_rl_flags(FlagSet& command, RlFlags& flags, bool has_samples) {
  const auto add = [&](const char* name) {
    return command.add(name, [&flags, name](const settings::Value& value) -> Result<> {
      flags.settings[name] = value.text;
      return {};
    });
  };
  for (const char* name : kSettings) add(name);
  if (!has_samples) add("samples")->meaning("rl: answers per prompt (default 8; 1 with ppo)");
}

bool is_rl_setting(std::string_view name) {
  return std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end();
}

bool asks_for_rl(const JobFlags& job, const RlFlags& flags) {
  const auto kind = job.settings.find("job");
  return kind == job.settings.end() ? !flags.settings.empty() : kind->second == "rl";
}

Checked<RlInput> read_rl(const JobFlags& given, const RlFlags& flags) {
  rl::RlJob job;
  RIGHTSIZE_TRY(job.framework, read_name<rl::Framework>(given.settings, "stack", 4, "verl, nemo-rl, openrlhf or trl"));
  RIGHTSIZE_TRY(job.algorithm, read_name<rl::Algorithm>(flags.settings, "algorithm", 6, "grpo, ppo or dapo"));
  std::optional<int> gpus;
  if (given.settings.contains("gpus")) {
    RIGHTSIZE_TRY(gpus, settings::read_as<int>("gpus", given.settings.at("gpus")));
  }
  const auto layout = flags.settings.find("layout");
  RIGHTSIZE_TRY(job.layout, rl::parse_layout(layout == flags.settings.end() ? "colocated" : layout->second, gpus));
  if (Result<> amounts = read_amounts(given, flags, job); !amounts) return fail(amounts.error());
  if (job.async > 0 && !job.layout.split) {
    return fail(bad_input("--async needs separate GPUs for the engine")
                    .with_hint("add --layout split=TRAINER:ROLLOUT, for example split=8:8"));
  }
  RIGHTSIZE_TRY(ModelAndJob trainer, read_job(trainer_flags(given, job)));
  if (trainer.model.kind != model::ModelKind::kDecoder) {
    return fail(bad_input(fmt::format("{} does not generate text token by token, which reinforcement learning needs",
                                      trainer.model.name))
                    .with_hint("'rightsize models' lists language models"));
  }
  RIGHTSIZE_TRY(const bool capped, keep_within_context(job, trainer.model));
  RIGHTSIZE_TRY(const JobFlags engine, engine_flags(given, flags, job));
  auto rollout = read_job(engine, trainer.model);
  if (!rollout) return fail(of_engine(std::move(rollout).error()));
  job.rollout = *std::move(rollout);
  if (given.settings.contains("memory-share")) job.engine_share = job.rollout.serve.memory_share;
  job.rollout.serve.memory_share = rl::memory_of_engine(job);
  job.train = trainer.job;
  return RlInput{std::move(trainer.model), job, capped};
}

Checked<RlInput> read_rl_template(JobFlags job, const RlFlags& flags) {
  if (flags.settings.contains("layout") && flags.settings.at("layout") != "colocated") return read_rl(job, flags);
  int gpus = 8;
  for (const char* name : {"tp", "pp", "cp", "ep"}) {
    const auto found = job.settings.find(name);
    if (found == job.settings.end()) continue;
    RIGHTSIZE_TRY(const int size, settings::read_as<int>(name, found->second));
    gpus *= size;
  }
  for (const char* name : {"rollout-tp", "rollout-ep"}) {
    RIGHTSIZE_TRY(const int size, read_one(flags.settings, name, 1));
    gpus *= size;
  }
  job.settings["gpus"] = std::to_string(std::min(gpus, 1 << 19));
  RlFlags on_policy = flags;
  on_policy.settings.erase("async");
  RIGHTSIZE_TRY(RlInput input, read_rl(job, on_policy));
  RIGHTSIZE_TRY(input.job.async, read_one(flags.settings, "async", 0.0));
  return input;
}

Result<RlGpus> read_rl_gpus(const JobFlags& job, const RlFlags& flags, const catalog::Catalog& catalog) {
  if (job.gpu.empty()) return fail(bad_input("--gpu is missing").with_hint("'rightsize gpus' lists the names"));
  RlGpus gpus;
  RIGHTSIZE_TRY(gpus.train, named_gpu(catalog, job.gpu));
  gpus.rollout = gpus.train;
  if (const auto other = flags.settings.find("rollout-gpu"); other != flags.settings.end()) {
    RIGHTSIZE_TRY(gpus.rollout, named_gpu(catalog, other->second));
  }
  return gpus;
}

std::string describe_rl(const RlInput& input) {
  const rl::RlJob& job = input.job;
  const std::string kept =
      job.kept_prompts < 1 ? fmt::format(" kept of {}", format_count(std::ceil(job.prompts / job.kept_prompts))) : "";
  return fmt::format("{} of {} with {}, {} prompts{} x {} answer{} of {} tokens", rl::name_of(job.algorithm),
                     input.model.name, rl::name_of(job.framework), format_count(job.prompts), kept,
                     format_count(job.samples), job.samples == 1 ? "" : "s",
                     format_count(std::round(job.answers.mean)));
}

}  // namespace rightsize::app
