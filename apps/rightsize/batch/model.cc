// Times for `rightsize batch` from the speed model: batches of encoders and image models, steps of language models.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "memory/memory.h"
#include "model/serve_settings.h"
#include "perf/perf.h"
#include "presets/presets.h"
#include "rightsize/batch/input.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;

Checked<model::Job> serving_job(const BatchFlags& flags, const sim::RequestShape& lengths,
                                const model::ModelShape& shape) {
  std::vector<model::Setting> settings{{"job", "serve", {}}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) settings.push_back({name, value, {}});
  };
  add("stack", flags.stack);
  add("precision", flags.precision);
  add("kv-precision", flags.kv_precision);
  RIGHTSIZE_TRY(model::Job job, model::parse_job(settings));
  job.serve.isl = std::llround(lengths.size), job.serve.osl = std::llround(lengths.output);
  if (flags.precision.empty()) job.precision = model::default_precision(shape, job.stack);
  return job;
}

Result<std::vector<const Gpu*>> gpus_named(const std::string& names, const catalog::Catalog& catalog) {
  std::vector<const Gpu*> gpus;
  for (std::string_view name : split_list(names, ',')) {
    RIGHTSIZE_TRY(const std::vector<const Gpu*> matched, catalog.match_gpus(std::string(name)));
    for (const Gpu* gpu : matched) {
      if (std::ranges::find(gpus, gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  if (gpus.empty()) return fail(bad_input("no GPU given").with_hint("--gpu h100-sxm"));
  return gpus;
}

}  // namespace

// GPUs that cannot hold the model are left out. If none can, the first reason is the error.
Checked<std::vector<BatchOffer>> predict_offers(const BatchFlags& flags, const Facts& facts, BatchInput& input) {
  RIGHTSIZE_TRY(const model::ModelShape shape, model::find_model(flags.model));
  RIGHTSIZE_TRY(const std::vector<const Gpu*> gpus, gpus_named(flags.gpu, facts.catalog));
  RIGHTSIZE_TRY(model::Job job, serving_job(flags, input.service.lengths, shape));
  const perf::ModelWork work = perf::work_of(shape);
  const bool batches = perf::serves_batches(work);
  if (batches == input.continuous && !flags.policy.empty()) {
    return fail(bad_input(fmt::format("{} {}", shape.name,
                                      batches ? "does not generate tokens one by one; it serves batches"
                                              : "generates tokens one by one; it does not serve batches"))
                    .with_hint(batches ? "use --policy dynamic" : "use --policy continuous"));
  }
  input.continuous = !batches;
  input.service.lengths.longest = static_cast<double>(shape.context);
  std::vector<int> splits = flags.tp;
  if (splits.empty()) splits = flags.slo.empty() ? std::vector{1} : std::vector{1, 2, 4, 8};
  if (batches) {
    splits = {1};
    job.sequence = flags.isl.empty() ? memory::default_sequence(shape) : job.serve.isl;
    if (flags.isl.empty() && shape.kind == model::ModelKind::kEncoder)
      note(fmt::format("assumed: {} tokens per text (--isl)", format_count(static_cast<double>(job.sequence))));
  }
  const capacity::Predictor predictor{facts.constants, shape, work};
  std::vector<BatchOffer> offers;
  std::optional<Error> reason;
  for (const Gpu* gpu : gpus) {
    const perf::Cluster cluster = perf::default_cluster(*gpu);
    const perf::GpuSpeed speed = perf::gpu_speed(facts.constants, *gpu);
    for (int tensor : splits) {
      if (tensor > 1 && tensor > cluster.node_gpus) continue;
      model::Job split = job;
      split.parallel.gpus = split.parallel.tensor = tensor;
      Result<capacity::Replica> replica =
          batches ? capacity::batch_replica(predictor, split, *gpu, speed, flags.pad, input.overhead)
                  : capacity::token_replica(predictor, split, *gpu, speed, cluster);
      if (!replica && !reason) reason = replica.error();
      if (replica) offers.push_back({*std::move(replica)});
    }
  }
  if (offers.empty()) return fail(reason ? *reason : bad_input("no machine has that many GPUs; use a smaller --tp"));
  return offers;
}

}  // namespace rightsize::app
