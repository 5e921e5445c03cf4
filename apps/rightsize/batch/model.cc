// Times for `rightsize batch` from the speed model: batches of encoders and image models, steps of language models.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "families/presets.h"
#include "memory/memory.h"
#include "model/serve_settings.h"
#include "perf/perf.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;

// What is the same for every GPU.
struct Known {
  const BatchFlags& flags;
  model::ModelShape shape;
  perf::Constants constants;
  perf::ModelWork work;
};

BatchOffer offer_of(capacity::Replica replica) {
  BatchOffer offer;
  offer.gpu = replica.gpu;
  offer.gpus_each = replica.gpus;
  offer.replica = std::move(replica);
  return offer;
}

Checked<model::Job> serving_job(const BatchFlags& flags) {
  std::vector<model::Setting> settings{{"job", "serve", {}}};
  const std::pair<const char*, const std::string*> given[] = {{"isl", &flags.isl},
                                                              {"osl", &flags.osl},
                                                              {"stack", &flags.stack},
                                                              {"precision", &flags.precision},
                                                              {"kv-precision", &flags.kv_precision}};
  for (const auto& [name, value] : given) {
    if (value->empty()) continue;
    const bool length = value == &flags.isl || value == &flags.osl;  // a job only has mean lengths
    const Result<capacity::Length> read = capacity::parse_length(length ? *value : "1");
    if (!read) return fail(Errors{read.error()});
    settings.push_back({name, length ? std::to_string(std::llround(read->mean)) : *value, {}});
  }
  return model::parse_job(settings);
}

Result<std::vector<const Gpu*>> gpus_named(const std::string& names, const catalog::Catalog& catalog) {
  std::vector<const Gpu*> gpus;
  for (std::string_view name : split_list(names, ',')) {
    RIGHTSIZE_TRY(const std::vector<const Gpu*> matched, catalog.match_gpus(std::string(name)));
    for (const Gpu* gpu : matched) {
      if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  if (gpus.empty()) return fail(bad_input("no GPU given").with_hint("--gpu h100-sxm"));
  return gpus;
}

// GPUs that cannot hold the model are left out. If none can, the first reason is the error.
Checked<std::vector<BatchOffer>> language_offers(const Known& known, const model::Job& job,
                                                 const std::vector<const Gpu*>& gpus) {
  const capacity::Predictor predictor{known.constants, known.shape, known.work};
  RIGHTSIZE_TRY(std::vector<int> asked, parse_sizes(known.flags.tp, "--tp"));
  if (asked.empty()) asked = known.flags.slo.empty() ? std::vector<int>{1} : std::vector<int>{1, 2, 4, 8};
  std::vector<BatchOffer> offers;
  std::optional<Error> reason;
  for (const Gpu* gpu : gpus) {
    const perf::Cluster cluster = perf::default_cluster(*gpu);
    const perf::GpuSpeed speed = perf::gpu_speed(known.constants, *gpu);
    for (int tensor : asked) {
      if (tensor > 1 && tensor > cluster.node_gpus) continue;
      model::Job split = job;
      split.parallel.gpus = split.parallel.tensor = tensor;
      Result<capacity::Replica> replica = capacity::token_replica(predictor, split, *gpu, speed, cluster);
      if (!replica && !reason) reason = replica.error();
      if (replica) offers.push_back(offer_of(*std::move(replica)));
    }
  }
  if (offers.empty()) return fail(reason ? *reason : bad_input("no machine has that many GPUs; use a smaller --tp"));
  return offers;
}

Checked<std::vector<BatchOffer>> batch_offers(const Known& known, model::Job job, const std::vector<const Gpu*>& gpus,
                                              Seconds overhead) {
  const capacity::Predictor predictor{known.constants, known.shape, known.work};
  job.sequence = known.flags.isl.empty() ? memory::default_sequence(known.shape) : job.serve.isl;
  std::vector<BatchOffer> offers;
  for (const Gpu* gpu : gpus) {
    const perf::GpuSpeed speed = perf::gpu_speed(known.constants, *gpu);
    RIGHTSIZE_TRY(capacity::Replica replica,
                  capacity::batch_replica(predictor, job, *gpu, speed, known.flags.pad, overhead));
    offers.push_back(offer_of(std::move(replica)));
  }
  return offers;
}

}  // namespace

Checked<std::vector<BatchOffer>> predict_offers(const BatchFlags& flags, const catalog::Catalog& catalog,
                                                BatchInput& input) {
  RIGHTSIZE_TRY(model::ModelShape shape, model::find_model(flags.model));
  RIGHTSIZE_TRY(std::vector<const Gpu*> gpus, gpus_named(flags.gpu, catalog));
  RIGHTSIZE_TRY(std::string overlay, catalog::overlay_directory(flags.catalog));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(overlay));
  RIGHTSIZE_TRY(model::Job job, serving_job(flags));
  if (flags.precision.empty()) job.precision = model::default_precision(shape, job.stack);
  perf::ModelWork work = perf::work_of(shape);
  const Known known{flags, std::move(shape), std::move(constants), std::move(work)};
  const bool batches = perf::serves_batches(known.work);
  if (batches == input.continuous && !flags.policy.empty()) {
    return fail(bad_input(fmt::format("{} {}", known.shape.name,
                                      batches ? "does not generate tokens one by one; it serves batches"
                                              : "generates tokens one by one; it does not serve batches"))
                    .with_hint(batches ? "use --policy dynamic" : "use --policy continuous"));
  }
  input.continuous = !batches;
  input.service.lengths.longest = static_cast<double>(known.shape.context);
  return batches ? batch_offers(known, job, gpus, input.overhead) : language_offers(known, job, gpus);
}

}  // namespace rightsize::app
