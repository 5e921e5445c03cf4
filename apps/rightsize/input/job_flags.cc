#include "rightsize/input/job_flags.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "memory/memory.h"
#include "memory/weight_bytes.h"
#include "model/serve_settings.h"
#include "presets/model_job.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {

void add_job_flags(FlagSet& command, JobFlags& flags) {
  command.add("model", flags.model)->argument()->required();
  command
      .add("gpu", [&flags](const settings::Value& value) { return take_gpu(value.text, flags.gpu, flags.settings); })
      ->argument()
      ->one_value();
  for (const std::string& name : model::job_settings()) {
    if (name == "gpus") continue;
    command
        .add(name,
             [&flags, name](const settings::Value& value) -> Result<> {
               flags.settings[name] = value.text;
               return {};
             })
        ->one_value();
  }
  command.add_unchecked("gpus",
                        [&flags](const std::string& text) { return take_gpus(text, flags.gpu, flags.settings); });
}

Result<> take_gpu(const std::string& text, std::string& gpu, std::map<std::string, std::string>& settings) {
  const catalog::CountedGpu counted = catalog::split_gpu_count(text);
  gpu = counted.name;
  return counted.count ? take_gpus(std::to_string(*counted.count), gpu, settings) : Result<>();
}

Result<> take_gpus(const std::string& text, std::string& gpu, std::map<std::string, std::string>& settings) {
  const catalog::CountedGpu counted = catalog::split_gpu_count(text);
  if (counted.count) gpu = counted.name;
  const std::string number = counted.count ? std::to_string(*counted.count) : text;
  RIGHTSIZE_TRY([[maybe_unused]] const settings::Value value, settings::read(settings::get("gpus"), number));
  const std::string& kept = settings.try_emplace("gpus", number).first->second;
  if (kept == number) return {};
  return fail(bad_input(fmt::format("the number of GPUs is both {} and {}", kept, number))
                  .with_hint(fmt::format("give it once: --gpus {}", number)));
}

namespace {

std::vector<model::Setting> settings_of(const JobFlags& flags) {
  std::vector<model::Setting> settings;
  settings.reserve(flags.settings.size());
  for (const auto& [name, value] : flags.settings) settings.push_back({name, value, {}});
  return settings;
}

constexpr double kWeightShare = 0.85;  // of the memory; the rest is for the engine and the KV cache

// PEFT turns on gradient checkpointing for adapters on quantized weights.
bool recomputes_by_default(const JobFlags& flags, const model::ModelShape& model, const model::Job& job) {
  return job.kind == model::JobKind::kTrain && job.train.method == model::Method::kQlora &&
         job.stack == model::Stack::kHf && model.layers > 0 && !flags.settings.contains("recompute");
}

// Fills in what the user left out, and checks the job against the model.
Checked<model::Job> finish_job(const JobFlags& flags, const model::ModelShape& model, model::Job job) {
  const bool served = job.kind == model::JobKind::kServe && !flags.settings.contains("precision");
  if (served) job.precision = model::default_precision(model, job.stack);
  if (job.parallel.zero > 0 && job.parallel.gpus == 1) {
    return fail(bad_input(fmt::format("--zero {} needs more than one GPU", job.parallel.zero))
                    .with_hint("add the number of GPUs: --gpus 8"));
  }
  if (job.sequence == 0) job.sequence = memory::default_sequence(model);
  if (recomputes_by_default(flags, model, job)) job.train.recompute = model::Recompute::kFull;
  if (Errors errors = memory::check_job(model, job); !errors.empty()) return fail(std::move(errors));
  return job;
}

}  // namespace

void use_formats_of(const catalog::Gpu& gpu, const JobFlags& flags, model::Job& job) {
  const bool bf16 = gpu.peak(catalog::NumberFormat::kBf16).supported;
  if (bf16 || job.precision != model::Precision::kBf16 || flags.settings.contains("precision")) return;
  const bool trains = job.kind == model::JobKind::kTrain;
  if (trains && (job.train.method != model::Method::kFull || job.stack != model::Stack::kHf)) return;
  job.precision = trains ? model::Precision::kAmpFp16 : model::Precision::kFp16;
  if (trains) note(fmt::format("assumed: --precision amp-fp16, as {} has no bf16", gpu.name));
}

bool split_if_too_large(const JobFlags& flags, const model::ModelShape& model, const catalog::Gpu& gpu, model::Job& job,
                        bool may_add_gpus) {
  if (job.kind != model::JobKind::kServe || model.kind != model::ModelKind::kDecoder) return false;
  const bool add = may_add_gpus && job.stack != model::Stack::kHf && !flags.settings.contains("gpus");
  if (job.parallel.gpus == 1 && !add) return false;
  for (const char* layout : {"tp", "pp", "ep", "attention-dp", "disaggregated"}) {
    if (flags.settings.contains(layout)) return false;
  }
  // One copy must also hold the KV cache of the requests.
  const bool small = memory::served_weight_bytes(model, job) <= gpu.capacity() * kWeightShare;
  const bool crowded = job.parallel.gpus > 1 &&
                       (memory::fits(memory::estimate_memory(model, job, &gpu), gpu).verdict == memory::Verdict::kNo ||
                        memory::estimate_memory(model, job, &gpu).max_concurrency.value_or(1) == 0);
  if (small && !crowded) return false;
  constexpr int kMostGpus = 16;
  for (int gpus = add ? 2 : job.parallel.gpus; gpus <= (add ? kMostGpus : job.parallel.gpus); gpus *= 2) {
    model::Job split = job;
    split.parallel.gpus = split.parallel.tensor = gpus;
    const bool holds = !add || memory::served_weight_bytes(model, split) <= gpu.capacity() * kWeightShare;
    if (!holds || !memory::check_job(model, split).empty()) continue;
    job = split;
    return true;
  }
  return false;
}

std::optional<model::Precision> smaller_format(const model::ModelShape& model, const model::Job& job,
                                               const catalog::Gpu& gpu) {
  using enum model::Precision;
  const Bytes now = memory::served_weight_bytes(model, job);
  for (const model::Precision format : {kFp8, kInt8, kInt4}) {
    model::Job other = job;
    other.precision = format;
    const bool runs = format != kFp8 || gpu.peak(catalog::NumberFormat::kFp8).supported;
    if (!runs || !memory::check_job(model, other).empty() || memory::served_weight_bytes(model, other) >= now) continue;
    if (memory::estimate_memory(model, other, &gpu).max_concurrency.value_or(0) > 0) return format;
  }
  return std::nullopt;
}

void narrow_if_too_large(const JobFlags& flags, const model::ModelShape& model, const catalog::Gpu& gpu,
                         model::Job& job) {
  const bool served = job.kind == model::JobKind::kServe && model.kind == model::ModelKind::kDecoder;
  if (!served || flags.settings.contains("precision") ||
      memory::served_weight_bytes(model, job) <= gpu.capacity() * kWeightShare ||
      memory::estimate_memory(model, job, &gpu).max_concurrency.value_or(0) > 0)
    return;
  if (const auto format = smaller_format(model, job, gpu)) job.precision = *format;
}

bool shard_if_too_large(const JobFlags& flags, const model::ModelShape& model, const catalog::Gpu& gpu, model::Job& job,
                        bool may_add_gpus) {
  const bool add = may_add_gpus && !flags.settings.contains("gpus");
  if (job.kind != model::JobKind::kTrain || (job.parallel.gpus == 1 && !add)) return false;
  for (const char* layout : {"zero", "tp", "pp", "cp", "ep"}) {
    if (flags.settings.contains(layout)) return false;
  }
  const auto verdict = [&](const model::Job& sharded) {
    return memory::fits(memory::estimate_memory(model, sharded, &gpu), gpu).verdict;
  };
  if (verdict(job) != memory::Verdict::kNo) return false;
  constexpr int kMostGpus = 1024;
  const int most_zero = job.stack == model::Stack::kMegatron ? 1 : 3;  // Megatron shards the optimizer only
  const bool may_recompute = !flags.settings.contains("recompute") && model.layers > 0;
  if (may_recompute && job.parallel.gpus == 1) {
    model::Job smaller = job;
    smaller.train.recompute = model::Recompute::kFull;
    if (memory::check_job(model, smaller).empty() && verdict(smaller) == memory::Verdict::kFits) {
      job = smaller;
      return true;
    }
  }
  for (int gpus = add ? 2 : job.parallel.gpus; gpus <= (add ? kMostGpus : job.parallel.gpus); gpus *= 2) {
    for (int try_number = 0; try_number < (may_recompute ? 2 : 1) * most_zero; ++try_number) {
      model::Job sharded = job;
      sharded.parallel.gpus = gpus, sharded.parallel.zero = 1 + try_number % most_zero;
      if (try_number >= most_zero) sharded.train.recompute = model::Recompute::kFull;
      if (!memory::check_job(model, sharded).empty() || verdict(sharded) != memory::Verdict::kFits) continue;
      job = sharded;
      return true;
    }
  }
  return false;
}

void note_lengths(const JobFlags& flags) {
  for (const char* name : {"seq", "isl", "osl", "max-model-len"}) {
    const auto given = flags.settings.find(name);
    if (given == flags.settings.end() || !to_lower(given->second).ends_with('k')) continue;
    const Result<double> tokens = parse_count(given->second);
    const auto thousands = tokens ? static_cast<std::uint64_t>(*tokens / 1000) : 0;
    if (std::has_single_bit(thousands) && *tokens == static_cast<double>(thousands) * 1000)
      note(fmt::format("--{} {} is {} tokens; for {} x 1,024 write {}", name, given->second, format_count(*tokens),
                       thousands, thousands * 1024));
  }
}

std::string sharded_words(const model::ModelShape& model, const catalog::Gpu& gpu, const model::Job& job) {
  const bool again = job.train.recompute == model::Recompute::kFull;
  if (job.parallel.gpus == 1)
    return fmt::format("{} fits one {} only if it recomputes activations (--recompute full)", model.name, gpu.name);
  return fmt::format("a copy of {} does not fit one {}: sharded over {} GPUs (--gpus {} --zero {}{})", model.name,
                     gpu.name, job.parallel.gpus, job.parallel.gpus, job.parallel.zero,
                     again ? " --recompute full" : "");
}

Checked<ModelAndJob> read_job(const JobFlags& flags) {
  const std::vector<model::Setting> settings = settings_of(flags);
  RIGHTSIZE_TRY(const model::Job parsed, model::parse_job(settings));
  RIGHTSIZE_TRY(model::ModelJob fitted, model::fit_to_model(flags.model, parsed, settings));
  RIGHTSIZE_TRY(const model::Job job, finish_job(flags, fitted.model, fitted.job));
  if (recomputes_by_default(flags, fitted.model, job))
    note("assumed: --recompute full, which PEFT turns on for QLoRA (--recompute none: without)");
  return ModelAndJob{std::move(fitted.model), job};
}

Checked<model::Job> read_job(const JobFlags& flags, const model::ModelShape& model) {
  const std::vector<model::Setting> settings = settings_of(flags);
  RIGHTSIZE_TRY(const model::Job parsed, model::parse_job(settings));
  RIGHTSIZE_TRY(const model::Job fitted, model::fit_job(model, parsed, settings));
  return finish_job(flags, model, fitted);
}

namespace {

// "1024x1024, 30 steps with guidance".
std::string describe_image(const model::ModelShape& model, const model::Job& job) {
  const model::ImagePipeline& pipeline = *model.pipeline;
  const int height = model.image_height > 0 ? model.image_height : model.image_size;
  return fmt::format("{}x{} pixels, {} steps{}", model.image_size * pipeline.pixels, height * pipeline.pixels,
                     job.image.steps.value_or(pipeline.steps),
                     job.image.guidance.value_or(pipeline.guidance) ? " with guidance" : "");
}

std::string count(std::int64_t n) { return format_count(static_cast<double>(n)); }

// "bf16", "fp4 (as published, MXFP4 or NVFP4)".
std::string format_words(const model::ModelShape& model, const model::Job& job) {
  std::string text(model::name_of(job.precision));
  if (job.precision == model::Precision::kBf16 || job.precision != model::checkpoint_precision(model)) return text;
  return text + (job.precision == model::Precision::kFp4 ? " (as published, MXFP4 or NVFP4)" : " (as published)");
}

// A request of this model in words.
std::string describe_requests(const model::ModelShape& model, const model::Job& job) {
  using model::ModelKind;
  if (model.pipeline) return fmt::format(": batch {}, {}", job.batch, describe_image(model, job));
  if (model.kind == ModelKind::kEncoder) return fmt::format(": batch {} x {} tokens", job.batch, count(job.sequence));
  const std::int64_t together = std::max(job.serve.concurrency, job.batch);
  const std::string flight = fmt::format(" with {}: {} request{} in flight", model::name_of(job.stack),
                                         count(job.serve.concurrency), job.serve.concurrency == 1 ? "" : "s");
  if (model.encoder_context > 0) {
    return fmt::format(" with hf: {} window{} of {} s of audio at once, {} tokens out", together,
                       together == 1 ? "" : "s", model.encoder_context / 50, job.serve.osl);
  }
  if (model.kind != ModelKind::kDecoder && model.kind != ModelKind::kEncoderDecoder)
    return fmt::format(": batch {}", job.batch);
  if (job.image.count > 0) {
    return flight + fmt::format(", {} tokens in ({} of {} image{}), {} out", count(job.serve.isl),
                                count(job.image.tokens), job.image.count, job.image.count == 1 ? "" : "s",
                                count(job.serve.osl));
  }
  if (job.serve.osl <= 1) return flight + fmt::format(", one pass over {} tokens", count(job.serve.isl));
  return flight + fmt::format(", {} tokens in, {} out", count(job.serve.isl), count(job.serve.osl));
}

}  // namespace

std::string describe_job(const model::ModelShape& model, const model::Job& job) {
  std::string text;
  if (job.kind == model::JobKind::kServe) {
    text = fmt::format("Serving {} in {}{}", model.name, format_words(model, job), describe_requests(model, job));
  } else {
    const bool adapters = job.train.method != model::Method::kFull;
    text = fmt::format(
        "{} {} in {} with {}, batch {}{}{}",
        adapters ? fmt::format("Training {} adapters of rank {} of",
                               job.train.method == model::Method::kLora ? "LoRA" : "QLoRA", job.train.lora_rank)
                 : "Training",
        model.name, model::name_of(job.precision), model::name_of(job.train.optimizer), job.batch,
        !job.train.preference ? ""
        : job.batch == 1      ? " pair"
                              : " pairs",
        model.image_size > 0 ? "" : fmt::format(" x {} tokens", count(job.sequence)));
    if (job.train.preference)
      text += adapters ? ", DPO against the base without adapters" : ", DPO against a frozen copy of the model";
    if (job.train.recompute != model::Recompute::kNone) {
      text += fmt::format(", {} recompute", model::name_of(job.train.recompute));
    }
  }
  const model::Parallelism& p = job.parallel;
  if (p.gpus > 1) {
    text += fmt::format(", on {} GPUs", p.gpus);
    if (const auto& d = job.serve.disaggregated) {
      text += fmt::format(": {} x {} for prefill, {} x {} for decode", d->prefill_workers, d->prefill_tensor,
                          d->decode_workers, d->decode_tensor);
    }
    if (p.tensor > 1) text += fmt::format(", tp {}", p.tensor);
    if (p.expert > 1) text += fmt::format(", ep {}", p.expert);
    if (p.attention_data > 1) text += fmt::format(", attention dp {}", p.attention_data);
    if (p.pipeline > 1) text += fmt::format(", pp {}", p.pipeline);
    if (p.zero > 0) text += fmt::format(", ZeRO {}", p.zero);
  }
  return text;
}

}  // namespace rightsize::app
