#include "plan/layouts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "memory/kv_cache.h"

namespace rightsize::plan {
namespace {

std::string plural(double n, std::string_view word) {
  return fmt::format("{} {}{}", format_count(n), word, n == 1 ? "" : "s");
}

std::string training_settings(const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  const model::Parallelism& p = job.parallel;
  std::string text = fmt::format(
      "{} in {} with {}, micro-batch {}",
      job.train.method == model::Method::kFull ? "full training" : std::string(model::name_of(job.train.method)),
      model::name_of(job.precision), model::name_of(job.stack), job.batch);
  if (plan.gpus > 1 && p.data() > 1)
    text += fmt::format(" on each of {}", plural(p.data(), p.tensor * p.pipeline > 1 ? "replica" : "GPU"));
  if (job.train.accumulation > 1) text += fmt::format(", {} accumulation steps", job.train.accumulation);
  const double samples = static_cast<double>(job.batch) * p.data() * job.train.accumulation;
  text += request.model.image_size > 0 ? fmt::format(" ({} images per step)", format_count(samples))
                                       : fmt::format(" ({} {} of {} tokens per step)", format_count(samples),
                                                     job.train.preference ? "pairs of sequences" : "sequences",
                                                     format_count(static_cast<double>(job.sequence)));
  if (job.train.preference)
    text += job.train.method == model::Method::kFull ? ", frozen reference model" : ", the base is the reference model";
  if (p.tensor > 1) text += fmt::format(", tensor parallel {}", p.tensor);
  if (p.pipeline > 1) text += fmt::format(", pipeline {}", p.pipeline);
  const auto stages = pipeline_stages(request.model.layers, p.pipeline);
  if (stages && !stages->even())
    text += fmt::format(" ({} layers in the first stage, {} in the last)", stages->first, stages->last);
  text += layout_words(job);
  if (p.zero > 0) text += fmt::format(", ZeRO {}", p.zero);
  text += job.train.recompute == model::Recompute::kNone
              ? ", no recompute"
              : fmt::format(", {} recompute", model::name_of(job.train.recompute));
  if (job.train.cross_entropy != model::CrossEntropy::kEager)
    text += fmt::format(", {} loss", model::name_of(job.train.cross_entropy));
  return text;
}

std::string serving_settings(const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  // Engines run 16-bit weights in fp16 if the GPU lacks bf16.
  const bool bf16 = plan.offer.gpu == nullptr || plan.offer.gpu->peak(catalog::NumberFormat::kBf16).supported;
  const bool fp16 = job.precision == model::Precision::kBf16 && !bf16;
  std::string text =
      fmt::format("{} in {} with {}", plural(plan.replicas, "replica"), fp16 ? "fp16" : model::name_of(job.precision),
                  model::name_of(runs_with(request, plan)));
  if (job.parallel.tensor > 1)
    text += fmt::format(", {} parallel {}", request.model.pipeline ? "sequence" : "tensor", job.parallel.tensor);
  if (job.parallel.pipeline > 1) {
    text += fmt::format(", pipeline {}", job.parallel.pipeline);
    if (plan.machines > plan.replicas)
      text += fmt::format(" (each replica spans {} machines)", plan.machines / plan.replicas);
  }
  text += layout_words(job);
  if (has_fp8_cache(request, plan)) text += ", fp8 KV cache";
  if (job.batch > 1) text += fmt::format(", batches of up to {}", job.batch);
  if (plan.delay > Seconds{}) text += fmt::format(" that wait up to {} for more requests", format_duration(plan.delay));
  if (plan.sequences > 0) {
    text += fmt::format(", at most {} sequences and {} tokens per step", plan.sequences,
                        format_count(static_cast<double>(plan.token_budget)));
  }
  if (const std::string assumed = assumed_engine(request); !assumed.empty()) text += ", " + assumed;
  if (plan.running > 0) text += fmt::format(", {} at once per replica", plural(std::ceil(plan.running), "request"));
  return text;
}

}  // namespace

std::string settings_words(const Request& request, const Plan& plan) {
  return request.work.kind == WorkKind::kTraining ? training_settings(request, plan) : serving_settings(request, plan);
}

std::optional<PipelineStages> pipeline_stages(std::int64_t layers, int stages) {
  if (stages <= 1) return PipelineStages{layers, layers, layers};
  const std::int64_t longest = (layers + stages - 1) / stages, missing = longest * stages - layers;
  const std::int64_t of_last = (missing + 1) / 2, of_first = missing / 2;
  if (of_last >= longest) return std::nullopt;
  return PipelineStages{longest - of_first, longest, longest - of_last};
}

std::string assumed_engine(const Request& request) {
  std::string text;
  const model::Speculation& drafts = request.job.serve.speculation;
  if (request.job.kind == model::JobKind::kServe && drafts.tokens > 0)
    text = fmt::format("{} per step ({})", plural(drafts.tokens, "draft token"),
                       drafts.method.empty() ? fmt::format("{:.0f} % accepted", 100 * drafts.acceptance)
                                             : "accepted as measured with " + drafts.method);
  if (routes_by_prefix(request)) text += fmt::format("{}a prefix-aware router", text.empty() ? "" : " and ");
  return text;
}

bool routes_by_prefix(const Request& request) {
  return request.work.kind == WorkKind::kServing && request.work.trace && request.work.trace->prompts &&
         request.work.routing == sim::Routing::kPrefixAware;
}

bool has_fp8_cache(const Request& request, const Plan& plan) {
  const bool generates = request.model.kind == model::ModelKind::kDecoder && plan.job.stack != model::Stack::kHf;
  if (plan.job.kind != model::JobKind::kServe || !generates || plan.offer.gpu == nullptr) return false;
  const bool four_bits = plan.offer.gpu->peak(catalog::NumberFormat::kFp4).supported;
  return memory::kv_format(plan.job, memory::checkpoint_of(request.model), four_bits) == model::Precision::kFp8;
}

namespace {

// The longest request of the plan's traffic: the maximum of a mix or a trace, or p99.95 of varying lengths.
std::int64_t longest_planned(const Request& request, const Plan& plan) {
  std::int64_t longest = plan.job.serve.isl + plan.job.serve.osl;
  for (const RequestSize& size : request.work.mix) longest = std::max(longest, size.isl + size.osl);
  if (request.work.trace) {
    for (const sim::Arrival& arrival : request.work.trace->arrivals)
      longest = std::max<std::int64_t>(longest, static_cast<std::int64_t>(arrival.size) + arrival.output);
  } else if (request.work.mix.empty()) {
    const sim::RequestShape lengths = request_lengths(request);
    longest = std::max<std::int64_t>(longest, lengths.longest_size() + lengths.longest_output());
  }
  return request.model.context > 0 ? std::min(longest, request.model.context) : longest;
}

}  // namespace

std::string model_shown(const Request& request) {
  const std::string& given = request.model_given;
  const bool named = request.model.kind == model::ModelKind::kEncoder || is_one_pass_of_text(request);
  if (!named || given.empty() || given.ends_with(".json")) return request.model.name;
  return to_lower(given.substr(given.rfind('/') + 1));
}

bool is_pooled(const Request& request) {
  return request.work.kind == WorkKind::kServing && request.model.kind == model::ModelKind::kEncoder &&
         request.model.image_size == 0;
}

bool is_one_pass(const Request& request) {
  if (request.job.kind != model::JobKind::kServe) return false;
  if (perf::serves_batches(perf::work_of(request.model))) return true;
  const auto one = [](const auto& answer) { return answer.osl <= 1; };
  const bool all = request.work.mix.empty() ? one(request.job.serve) : std::ranges::all_of(request.work.mix, one);
  return all && !request.work.trace && request.model.encoder_context == 0;
}

bool is_one_pass_of_text(const Request& request) {
  return is_pooled(request) ||
         (is_one_pass(request) && request.model.kind == model::ModelKind::kDecoder && request.model.image_size == 0);
}

model::Stack runs_with(const Request& request, const Plan& plan) {
  return is_pooled(request) ? model::Stack::kVllm : plan.job.stack;
}

std::int64_t longest_request(const Request& request, const Plan& plan) {
  constexpr std::int64_t kGrowth = 4, kLeast = 8192;
  const std::int64_t planned = longest_planned(request, plan);
  if (is_pooled(request)) return std::max(plan.job.sequence, planned);
  if (request.max_model_len) return *request.max_model_len;
  if (request.work.kind == WorkKind::kOffline) return planned;
  std::int64_t longest = std::max(kLeast, (plan.job.serve.isl + plan.job.serve.osl) * kGrowth);
  const double cache = perf::kv_token_capacity(request.model, plan.job, *plan.offer.gpu);
  if (cache > 0) longest = std::min(longest, static_cast<std::int64_t>(cache / 4));
  if (request.model.context > 0) longest = std::min(longest, request.model.context);
  return std::max(planned, longest);
}

int replica_gpus(const model::Job& job) {
  return job.serve.disaggregated ? job.serve.disaggregated->gpus() : job.parallel.tensor * job.parallel.pipeline;
}

std::string layout_words(const model::Job& job) {
  std::string text;
  if (job.parallel.expert > 1) text += fmt::format(", expert parallel {}", job.parallel.expert);
  if (job.parallel.attention_data > 1) text += fmt::format(", attention data parallel {}", job.parallel.attention_data);
  if (const auto& d = job.serve.disaggregated)
    text += fmt::format(", disaggregated: {} x tp {} for prefill, {} x tp {} for decode", d->prefill_workers,
                        d->prefill_tensor, d->decode_workers, d->decode_tensor);
  return text;
}

std::vector<Groups> groups_of(const Request& request, int tensor) {
  const int experts = request.model.experts ? static_cast<int>(request.model.experts->count) : 1;
  const bool engine = request.job.stack != model::Stack::kHf;
  const std::vector<int>& asked = request.choices.expert;
  std::vector<Groups> groups;
  for (int count : asked.empty() ? std::vector{1, tensor} : asked) {
    const bool spreads = tensor % count == 0 && experts % count == 0 && engine;
    const bool is_new = groups.empty() || groups.back().expert != count;
    if ((count == 1 || spreads) && is_new) groups.push_back({count, 1});
  }
  // Engines use data-parallel attention with expert parallelism: each GPU then holds different requests.
  const bool spread = !groups.empty() && groups.back().expert == tensor && tensor > 1;
  if (spread && request.job.parallel.attention_data == 1) groups.push_back({tensor, tensor});
  return groups;
}

bool may_separate(const Request& request) {
  return request.choices.separate && request.work.kind == WorkKind::kServing &&
         request.job.stack != model::Stack::kHf && (request.limits.tpot || request.limits.latency) &&
         in_requests_per_s(request.work.rate) > 0;
}

std::optional<model::Disaggregated> best_separation(const std::vector<int>& tensors, int gpus,
                                                    const WorkerRate& prefill, const WorkerRate& decode) {
  std::map<int, double> prompts, answers;
  for (int tensor : tensors) {
    if (tensor < gpus) prompts[tensor] = prefill(tensor), answers[tensor] = decode(tensor);
  }
  std::optional<model::Disaggregated> best;
  double most = 0;
  for (const auto& [p, one_prefill] : prompts) {
    for (const auto& [d, one_decode] : answers) {
      for (int workers = 1; workers * p < gpus; ++workers) {
        const int rest = (gpus - workers * p) / d;
        const double rate = std::min(workers * one_prefill, rest * one_decode);
        if (rate <= most) continue;
        most = rate;
        best = model::Disaggregated{workers, p, rest, d};
      }
    }
  }
  return best;
}

}  // namespace rightsize::plan
