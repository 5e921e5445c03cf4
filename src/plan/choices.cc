// Default choices of the search for settings that were not given.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "memory/memory.h"
#include "model/serve_settings.h"
#include "plan/layouts.h"
#include "plan/read_parts.h"
#include "plan/request.h"

namespace rightsize::plan {
namespace {

using model::Job;
using model::JobKind;
using model::Stack;

std::vector<std::int64_t> doubling(std::int64_t most) {
  std::vector<std::int64_t> values;
  for (std::int64_t n = 1; n <= most; n *= 2) values.push_back(n);
  return values;
}

// Stages with the same number of layers each, and powers of two with shorter ends (61 and 126 layers have few equal
// stages). Published runs have no longer pipelines.
std::vector<int> usual_stages(std::int64_t layers) {
  constexpr int kMostStages = 16;
  std::vector<int> stages{1};
  for (int n = 2; n <= kMostStages; ++n) {
    const bool power = (n & (n - 1)) == 0;
    if (layers > 0 && (layers % n == 0 || (power && pipeline_stages(layers, n)))) stages.push_back(n);
  }
  return stages;
}

// Groups that divide the experts evenly; machines have powers of two of GPUs, so other sizes are tried only if few of
// those divide the experts.
std::vector<int> usual_groups(const Request& request) {
  if (!request.model.experts) return {1};
  constexpr std::size_t kFew = 4;
  const auto experts = static_cast<int>(request.model.experts->count);
  std::vector<int> powers, all;
  for (int n = 1; n <= experts; ++n) {
    if (experts % n != 0) continue;
    all.push_back(n);
    if ((n & (n - 1)) == 0) powers.push_back(n);
  }
  return powers.size() < kFew ? all : powers;
}

Errors check_split(const Request& request, int tensor, int pipeline) {
  Job job = request.job;
  job.parallel.tensor = tensor, job.parallel.pipeline = pipeline, job.parallel.gpus = tensor * pipeline;
  return memory::check_job(request.model, job);
}

// GPUs that share one copy of the model, or one image or video.
std::vector<int> usual_splits(const Request& request) {
  const Stack stack = request.job.stack;
  const bool train = request.job.kind == JobKind::kTrain;
  if (train && (request.model.image_size > 0 || (stack != Stack::kMegatron && stack != Stack::kTorchTitan))) return {1};
  std::vector<int> splits = {1, 2, 4, 8};
  if (train || request.model.kind == model::ModelKind::kDecoder) return splits;
  std::erase_if(splits, [&](int gpus) { return !check_split(request, gpus, 1).empty(); });
  return splits;
}

}  // namespace

void fill_choices(Request& request) {
  SearchChoices& c = request.choices;
  const Stack stack = request.job.stack;
  const bool split_stack = stack == Stack::kMegatron || stack == Stack::kTorchTitan;
  const bool train = request.job.kind == JobKind::kTrain;
  const bool image = request.model.image_size > 0;
  if (c.methods.empty()) c.methods = {model::Method::kFull};
  if (c.recomputes.empty()) {
    using model::Recompute;
    c.recomputes = {Recompute::kNone};
    // Megatron's selective recomputation drops only what fused attention does not store anyway.
    const bool eager = request.job.train.attention == model::Attention::kEager;
    if (stack == Stack::kTorchTitan || (split_stack && eager)) c.recomputes.push_back(Recompute::kSelective);
    if (!image) c.recomputes.push_back(Recompute::kFull);
  }
  constexpr std::int64_t kLargestPass = 512;
  if (c.batches.empty()) c.batches = doubling(train ? std::min(request.global_batch, kLargestPass) : 256);
  if (c.tensor.empty()) c.tensor = usual_splits(request);
  if (c.pipeline.empty()) c.pipeline = train && split_stack ? usual_stages(request.model.layers) : std::vector{1};
  if (train && c.expert.empty()) c.expert = split_stack ? usual_groups(request) : std::vector{1};
  if (c.zero.empty()) {
    if (stack == Stack::kMegatron)
      c.zero = {0, 1};  // its distributed optimizer
    else if (stack == Stack::kTorchTitan)
      c.zero = {0, 3};  // plain, or FSDP
    else
      c.zero = train ? std::vector{0, 1, 2, 3} : std::vector{0};
  }
}

// Samples of an optimizer step that a run of this many tokens can use: the critical batch grows with the data, as
// fitted by Zhang et al. 2024 (arXiv 2410.21676): 22.91 x (tokens in millions)^0.47 sequences of 512 tokens, which
// gives the 16M tokens of Llama 3 for its 15T. At least 128, as in fine-tuning, and a power of two, to be divisible.
std::int64_t usual_batch(const Request& request) {
  constexpr double kLeast = 128;
  const double tokens = 512 * 22.91 * std::pow(request.work.amount / 1e6, 0.47);
  const double samples = tokens / static_cast<double>(std::max<std::int64_t>(1, request.job.sequence));
  return std::llround(std::exp2(std::floor(std::log2(std::max(kLeast, samples)))));
}

std::vector<model::Precision> precisions_for(const Request& request, model::Method method) {
  using model::Precision;
  const Job& job = request.job;
  if (request.choices.precision_auto) {
    std::vector<Precision> formats{model::default_precision(request.model, job.stack)};
    for (Precision usual : {Precision::kBf16, Precision::kFp8}) {
      if (usual != formats.front()) formats.push_back(usual);
    }
    for (Precision named : request.choices.precisions) {
      if (std::find(formats.begin(), formats.end(), named) == formats.end()) formats.push_back(named);
    }
    return formats;
  }
  if (!request.choices.precisions.empty()) return request.choices.precisions;
  if (job.kind == JobKind::kServe) return {model::default_precision(request.model, job.stack)};
  const Precision usual = model::default_training_precision(job.stack, method);
  if (method != model::Method::kFull || usual != Precision::kBf16) return {usual};
  if (request.model.image_size > 0) return {Precision::kAmpBf16};
  return {Precision::kAmpBf16, Precision::kMixedBf16};
}

bool suits(const Request& request, model::Precision precision, const catalog::Gpu& gpu) {
  const std::vector<model::Precision>& named = request.choices.precisions;
  if (precision != model::Precision::kFp8 || std::find(named.begin(), named.end(), precision) != named.end())
    return true;
  return gpu.peak(catalog::NumberFormat::kFp8).supported;
}

bool is_usual(const Request& request, const Job& job) {
  // Adapters have hardly any gradients and states to shard, so shard all weights or nothing.
  const bool in_part = job.parallel.zero == 1 || job.parallel.zero == 2;
  if (job.train.method != model::Method::kFull && request.choices.zero.size() > 1 && in_part) return false;
  const bool open = request.choices.precisions.empty() && job.train.method == model::Method::kFull &&
                    precisions_for(request, job.train.method).size() > 1;
  if (!open) return true;
  return (job.precision == model::Precision::kMixedBf16) == (job.parallel.zero > 0);
}

Result<> check_splits(const Request& request) {
  const bool batches = request.job.kind == JobKind::kServe && request.model.kind != model::ModelKind::kDecoder;
  for (int tensor : batches ? request.choices.tensor : std::vector<int>{}) {
    if (Errors wrong = check_split(request, tensor, 1); !wrong.empty()) return fail(std::move(wrong.front()));
  }
  for (int pipeline : batches ? request.choices.pipeline : std::vector<int>{}) {
    if (Errors wrong = check_split(request, 1, pipeline); !wrong.empty()) return fail(std::move(wrong.front()));
  }
  const std::vector<int>& asked = request.choices.expert;
  const auto most = std::max_element(asked.begin(), asked.end());
  if (most == asked.end() || *most <= 1) return {};
  if (!request.model.experts)
    return fail(bad_input(fmt::format("ep: {} has no experts to spread", request.model.name))
                    .with_hint("leave ep out, or use tp"));
  if (request.job.kind != JobKind::kTrain) return {};
  if (request.job.stack != Stack::kMegatron && request.job.stack != Stack::kTorchTitan)
    return fail(bad_input(fmt::format("ep: {} does not spread experts in training", model::name_of(request.job.stack)))
                    .with_hint("add --stack megatron or --stack torchtitan"));
  for (int groups : asked) {
    if (request.model.experts->count % groups != 0)
      return fail(bad_input(fmt::format("ep: {} groups do not divide the {} experts of {}", groups,
                                        request.model.experts->count, request.model.name))
                      .with_hint("use a divisor"));
  }
  return {};
}

}  // namespace rightsize::plan
