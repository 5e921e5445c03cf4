// Times for `rightsize batch` from the speed model: batches of encoders and image models, steps of language models.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "model/presets.h"
#include "perf/perf.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;

// Everything that does not change with the GPU.
struct Predictor {
  const BatchFlags& flags;
  model::ModelShape shape;
  perf::Constants constants;
  perf::ModelWork work;
};

// One forward pass at each power of two up to 256, between which times interpolate.
Result<BatchOffer> batch_times(const Predictor& p, const Gpu& gpu) {
  constexpr int kLargest = 256;
  RIGHTSIZE_TRY(const std::int64_t tokens, parse_positive(p.flags.isl, "--isl"));
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.sequence = tokens;
  const perf::GpuSpeed speed = perf::gpu_speed(p.constants, gpu);
  std::vector<sim::TableTime::Row> rows;
  BatchOffer offer;
  for (int batch = 1; batch <= kLargest; batch *= 2) {
    job.batch = batch;
    RIGHTSIZE_TRY(const perf::BatchEstimate estimate,
                  perf::estimate_batch(p.constants, p.work, perf::fitted_to(p.work, job), speed));
    rows.push_back({batch, {estimate.batch, estimate.batch}});
    offer.sizes.push_back(batch);
  }
  offer.gpu = gpu.name;
  offer.time = std::make_unique<sim::TableTime>(std::move(rows), p.flags.pad);
  return offer;
}

Checked<model::Job> serving_job(const BatchFlags& flags) {
  std::vector<model::Setting> settings{{"job", "serve", {}}, {"isl", flags.isl, {}}, {"osl", flags.osl, {}}};
  const std::pair<const char*, const std::string*> given[] = {
      {"stack", &flags.stack}, {"precision", &flags.precision}, {"kv-precision", &flags.kv_precision}};
  for (const auto& [name, value] : given) {
    if (!value->empty()) settings.push_back({name, *value, {}});
  }
  return model::parse_job(settings);
}

Result<BatchOffer> step_times(const Predictor& p, model::Job job, const Gpu& gpu, int tensor) {
  constexpr double kMostRunning = 256;  // as --max-batch has it where not given
  job.parallel.gpus = job.parallel.tensor = tensor;
  perf::ServeLoad load;
  load.kv_tokens = perf::kv_token_capacity(p.shape, job, gpu);
  RIGHTSIZE_TRY(const perf::StepFit fit,
                perf::fit_engine_step(p.constants, p.work, job, perf::gpu_speed(p.constants, gpu),
                                      perf::default_cluster(gpu), load, kMostRunning));
  auto ns = [](Seconds time) { return in_seconds(time) * 1e9; };
  BatchOffer offer;
  offer.gpu = gpu.name;
  offer.gpus_each = tensor;
  offer.step = {.base = ns(fit.base),
                .prefill = ns(fit.prompt_token),
                .sequence = ns(fit.sequence),
                .context = ns(fit.context_token),
                .request = ns(fit.request),
                .kv_tokens = static_cast<std::int64_t>(load.kv_tokens),
                .experts = ns(fit.experts),
                .expert_chance = fit.expert_chance};
  offer.fit = fit;
  return offer;
}

Result<std::vector<const Gpu*>> gpus_named(const std::string& names, const catalog::Catalog& catalog) {
  std::vector<const Gpu*> gpus;
  for (std::string_view name : split_list(names, ',')) {
    RIGHTSIZE_TRY(const std::vector<const Gpu*> matched, catalog.match_gpus(std::string(name)));
    for (const Gpu* gpu : matched) {
      if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  if (gpus.empty()) return fail(bad_input("predicting times needs a GPU").with_hint("--gpu h100-sxm"));
  return gpus;
}

// Where a search has several to choose from, those that cannot hold the model are left out; the first reason stays for
// the case that none can.
Checked<std::vector<BatchOffer>> language_offers(const Predictor& p, const std::vector<const Gpu*>& gpus) {
  RIGHTSIZE_TRY(const model::Job job, serving_job(p.flags));
  Result<std::vector<int>> asked = parse_sizes(p.flags.tp, "--tp");
  if (!asked) return fail(one(asked.error()));
  if (asked->empty()) *asked = p.flags.slo.empty() ? std::vector<int>{1} : std::vector<int>{1, 2, 4, 8};
  std::vector<BatchOffer> offers;
  std::optional<Error> reason;
  for (const Gpu* gpu : gpus) {
    for (int tensor : *asked) {
      if (tensor > 1 && tensor > perf::default_cluster(*gpu).node_gpus) continue;
      Result<BatchOffer> offer = step_times(p, job, *gpu, tensor);
      if (offer) offers.push_back(*std::move(offer));
      if (!offer && !reason) reason = offer.error();
    }
  }
  if (offers.empty()) return fail(one(reason ? *reason : bad_input("no GPU has so many beside it: use less --tp")));
  return offers;
}

}  // namespace

Checked<std::vector<BatchOffer>> predict_offers(const BatchFlags& flags, const catalog::Catalog& catalog,
                                                bool& continuous) {
  RIGHTSIZE_TRY(model::ModelShape shape, model::find_model(flags.model));
  const Result<std::vector<const Gpu*>> gpus = gpus_named(flags.gpu, catalog);
  if (!gpus) return fail(one(gpus.error()));
  Result<std::string> overlay = catalog::overlay_directory(flags.catalog);
  if (!overlay) return fail(one(overlay.error()));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(*overlay));
  perf::ModelWork work = perf::work_of(shape);
  const Predictor predictor{flags, std::move(shape), std::move(constants), std::move(work)};
  const bool batches = perf::serves_batches(predictor.work);
  if (batches == continuous && !flags.policy.empty()) {
    return fail(one(bad_input(fmt::format("{} {}", predictor.shape.name,
                                          batches ? "does not make tokens one by one: its requests come in batches"
                                                  : "makes tokens one by one: its requests do not come in batches"))
                        .with_hint(batches ? "use --policy dynamic" : "use --policy continuous")));
  }
  continuous = !batches;
  if (continuous) return language_offers(predictor, *gpus);
  std::vector<BatchOffer> offers;
  for (const Gpu* gpu : *gpus) {
    Result<BatchOffer> offer = batch_times(predictor, *gpu);
    if (!offer) return fail(one(offer.error()));
    offers.push_back(*std::move(offer));
  }
  return offers;
}

}  // namespace rightsize::app
