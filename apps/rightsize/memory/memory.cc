// rightsize memory: how much memory a job needs, and whether it fits.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "memory/options.h"
#include "memory/serve.h"
#include "memory/weight_bytes.h"
#include "presets/gguf.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/input/sweep.h"
#include "rightsize/memory/report.h"
#include "rightsize/rl/memory_report.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;

struct MemoryFlags {
  JobFlags job;
  RlFlags rl;
  std::string catalog, sweep;
  bool options = false, longest = false;
};

// The named GPU, or all GPUs that can be rented, smallest first.
Result<std::vector<const Gpu*>> candidates(const catalog::Catalog& catalog, const std::string& name) {
  if (!name.empty()) {
    RIGHTSIZE_TRY(const Gpu* gpu, named_gpu(catalog, name));
    return std::vector<const Gpu*>{gpu};
  }
  std::set<std::string_view> rented;
  for (const catalog::Machine& machine : catalog.machines) rented.insert(machine.gpu);
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : catalog.gpus) {
    if (rented.contains(gpu.name) && runs_modelled_software(gpu)) gpus.push_back(&gpu);
  }
  std::ranges::stable_sort(gpus, [](const Gpu* a, const Gpu* b) { return a->capacity() < b->capacity(); });
  return gpus;
}

// If a number format was assumed, adds the figures for the other likely format; also if the GPU does not have it.
void note_formats(const JobFlags& flags, const ModelAndJob& input, const memory::MemoryNeed& need, const Gpu* gpu) {
  model::Job other = input.job;
  const bool trains = input.job.kind == model::JobKind::kTrain, given = flags.settings.contains("precision");
  if (gpu != nullptr && model::is_bf16(other.precision) && !gpu->peak(catalog::NumberFormat::kBf16).supported) {
    other.precision = trains ? model::Precision::kAmpFp16 : model::Precision::kFp16;
    const bool possible = memory::check_job(input.model, other).empty();
    note(fmt::format("{} has no bf16 arithmetic; {}", gpu->name,
                     !possible ? "fp16 with loss scaling is needed"
                               : fmt::format("--precision {} needs {}", model::name_of(other.precision),
                                             format_bytes(memory::estimate_memory(input.model, other, gpu).device))));
    other = input.job;
  }
  if (trains && !given && input.job.precision == model::Precision::kBf16 &&
      input.job.train.method == model::Method::kFull) {
    other.precision = input.job.parallel.zero > 0 ? model::Precision::kMixedBf16 : model::Precision::kAmpBf16;
    note(fmt::format("pure bf16 is assumed; --precision {}, which 'recommend' plans with, needs {}",
                     model::name_of(other.precision),
                     format_bytes(memory::estimate_memory(input.model, other, gpu).device)));
  }
  if (trains || gpu == nullptr || other.serve.kv_precision || need.kv_format != model::Precision::kFp8 ||
      input.model.cache_scales)
    return;
  other.serve.kv_precision = model::Precision::kBf16;
  note(fmt::format(
      "fp8 is assumed for the KV cache, as in NVIDIA's settings; without scales in the checkpoint it is bf16 "
      "and has room for {} (--kv-precision bf16)",
      format_count(static_cast<double>(memory::estimate_memory(input.model, other, gpu).max_concurrency.value_or(0)))));
}

// llama.cpp's files have their own bits per weight. It takes as much of the GPU as it needs, and prompts in parts of
// 512 tokens. Returns what the weights of one GPU take beyond those of the modelled format.
std::optional<Bytes> use_llama_cpp(const JobFlags& flags, ModelAndJob& input, const Gpu* gpu) {
  const auto given = [&](const char* name) { return flags.settings.contains(name); };
  const std::optional<double> bits = model::gguf_bits(flags.model);
  if (!bits || input.job.kind != model::JobKind::kServe || given("stack")) return std::nullopt;
  if (given("precision") && flags.settings.at("precision") != "int4") return std::nullopt;
  model::ServeSettings& serve = input.job.serve;
  if (!given("max-tokens")) serve.max_tokens = 512;
  const int parts = input.job.parallel.tensor * input.job.parallel.pipeline;
  const Bytes weights = bytes(static_cast<double>(input.model.parameters()) * *bits / 8 / parts);
  const Bytes beyond = weights - memory::served_weight_bytes(input.model, input.job);
  if (!given("memory-share") && gpu != nullptr) serve.memory_share = 1 - beyond / gpu->capacity();
  note(fmt::format(
      "the weights of {} have {:.2f} bits each; no share of the GPU is reserved, as in llama.cpp and Ollama",
      flags.model, *bits));
  return beyond;
}

Checked<std::vector<SweptNeed>> run_sweep(const MemoryFlags& flags, const Gpu* gpu) {
  if (flags.sweep.empty()) return {};
  const QuietNotes quiet;
  std::vector<SweptNeed> rows;
  RIGHTSIZE_TRY(const Sweep sweep, parse_sweep(flags.sweep));
  for (const std::string& value : sweep.values) {
    JobFlags job = flags.job;
    job.settings[sweep.setting] = value;
    RIGHTSIZE_TRY(ModelAndJob input, read_job(job));
    rows.push_back({sweep.setting, value, memory::estimate_memory(input.model, input.job, gpu)});
  }
  return rows;
}

// With --longest: the tokens of the longest request or training sequence that fits.
Checked<std::optional<std::int64_t>> longest_of(const MemoryFlags& flags, const ModelAndJob& input, const Gpu* gpu) {
  if (!flags.longest) return std::nullopt;
  if (gpu == nullptr) return fail(Errors(bad_input("--longest depends on the GPU").with_hint("add --gpu h100-sxm")));
  if (input.model.kind != model::ModelKind::kDecoder)
    return fail(Errors(bad_input(fmt::format("--longest is for language models; {} is none", input.model.name))
                           .with_hint("leave out --longest")));
  if (input.job.kind == model::JobKind::kTrain) return memory::longest_sequence(input.model, input.job, *gpu);
  const auto launch = memory::engine_launch(input.model, input.job, *gpu);
  if (!launch)
    return fail(Errors(bad_input("--longest needs an engine that reserves its KV cache")
                           .with_hint("leave out --stack, or use --stack vllm")));
  return launch->max_context;
}

Checked<Outcome> run_memory(const MemoryFlags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_hardware(flags.catalog));
  if (asks_for_rl(flags.job, flags.rl)) return memory_rl(flags.job, flags.rl, catalog);
  RIGHTSIZE_TRY(ModelAndJob input, read_job(flags.job));
  RIGHTSIZE_TRY(std::vector<const Gpu*> gpus, candidates(catalog, flags.job.gpu));
  const Gpu* only = gpus.size() == 1 ? gpus.front() : nullptr;
  if (only != nullptr) use_formats_of(*only, flags.job, input.job);
  if (only != nullptr && split_if_too_large(flags.job, input.model, *only, input.job))
    note(fmt::format("{} and the KV cache of its requests do not fit one {}: split over all {} GPUs (--tp {})",
                     input.model.name, only->name, input.job.parallel.tensor, input.job.parallel.tensor));
  const model::Parallelism& split = input.job.parallel;
  if (input.job.kind == model::JobKind::kServe && split.gpus > 1 && !input.job.serve.disaggregated &&
      split.tensor * split.pipeline * split.expert * split.attention_data == 1)
    note(fmt::format("{0} copies of the model, one on each GPU; --tp {0} splits it over them", split.gpus));
  if (only != nullptr && shard_if_too_large(flags.job, input.model, *only, input.job))
    note(sharded_words(input.model, *only, input.job));
  note_lengths(flags.job);
  const std::optional<Bytes> beyond = use_llama_cpp(flags.job, input, only);
  memory::MemoryNeed need = memory::estimate_memory(input.model, input.job, only);
  for (Bytes* part :
       {&need.parts[memory::Part::kWeights], &need.peak_allocated, &need.reserved, &need.device, &need.low, &need.high})
    *part += beyond.value_or(Bytes{});
  note_formats(flags.job, input, need, only);
  RIGHTSIZE_TRY(const perf::Constants constants, open_constants(flags.catalog));
  RIGHTSIZE_TRY(const std::vector<SweptNeed> sweep, run_sweep(flags, only));
  RIGHTSIZE_TRY(const std::optional<std::int64_t> longest, longest_of(flags, input, only));
  return Outcome{memory_report(input, need, gpus, constants, flags.options, !beyond, sweep, longest)};
}

}  // namespace

Run add_memory(FlagSet& command) {
  auto flags = std::make_shared<MemoryFlags>();
  add_job_flags(command, flags->job);
  add_rl_flags(command, flags->rl);
  command.find("--max-batch")->alone();  // the largest batch is part of every answer
  command.add("options", flags->options);
  command.add("longest", flags->longest);
  command.add("sweep", flags->sweep)->meaning("table over one setting, e.g. precision=bf16,fp8,int4 or isl=512..8192");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_memory(*flags); };
}

}  // namespace rightsize::app
