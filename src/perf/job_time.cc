#include "perf/job_time.h"

#include <algorithm>

namespace rightsize::perf {

Result<JobTime> job_time(const Constants& constants, const model::ModelShape& model, const model::Job& job,
                         const catalog::Gpu& gpu) {
  return job_time(constants, work_of(model), job, gpu_speed(constants, gpu), default_cluster(gpu));
}

Result<JobTime> job_time(const Constants& constants, const ModelWork& work, const model::Job& job,
                         const GpuSpeed& speed, const Cluster& cluster) {
  if (job.kind == model::JobKind::kTrain) {
    RIGHTSIZE_TRY(const TrainEstimate e, estimate_training(constants, work, job, speed, cluster));
    return JobTime{e.step, seconds(1 / e.samples_per_second_per_gpu), e.power, e.basis};
  }
  if (serves_batches(work)) {
    RIGHTSIZE_TRY(const BatchEstimate e, estimate_batch(constants, work, job, speed));
    return JobTime{e.batch, seconds(1 / e.samples_per_second), e.power, e.basis};
  }
  ServeLoad load;  // enough cache for everything: only speed matters here
  load.kv_tokens = static_cast<double>((job.serve.isl + job.serve.osl) * job.serve.concurrency);
  RIGHTSIZE_TRY(const ServeEstimate e, estimate_serving(constants, work, job, speed, cluster, load));
  return JobTime{e.tpot, seconds(1 / in_tokens_per_s(e.output_per_gpu)), e.power, e.basis};
}

Result<Slowdown> job_slowdown(const Constants& constants, const model::ModelShape& model, const model::Job& job,
                              const SustainedRates& from, const SustainedRates& to) {
  RIGHTSIZE_TRY(const JobTime here, job_time(constants, model, job, *from.gpu));
  RIGHTSIZE_TRY(const JobTime there, job_time(constants, model, job, *to.gpu));
  const double factor = there.unit / here.unit;
  // The estimate includes launches and copies, so they are not scaled separately.
  return Slowdown{factor, factor, factor, factor, width_between(from, to), std::max(here.basis, there.basis)};
}

}  // namespace rightsize::perf
