#include "memory/kept_replays.h"

#include "memory/tape/plan.h"
#include "memory/tape/replay_cache.h"

namespace rightsize::memory {

using model::Job;
using model::ModelShape;

std::shared_ptr<const tape::TrainingSurface> surface_of(const ModelShape& model, const Job& job) {
  static tape::ReplayCache<Job, std::shared_ptr<const tape::TrainingSurface>> kept;
  Job alike = job;  // a surface does not depend on the batch or on the number of data-parallel groups
  alike.batch = 1;
  alike.train.accumulation = tape::micro_batches_held(job);
  const int group = job.parallel.tensor * job.parallel.pipeline * job.parallel.context;
  alike.parallel.gpus = group * (job.parallel.data() > 1 ? 2 : 1);
  return kept.get(model, alike, [&] { return std::make_shared<const tape::TrainingSurface>(model, job); });
}

tape::TrainingPeak peak_of(const ModelShape& model, const Job& job) {
  static tape::ReplayCache<Job, tape::TrainingPeak> kept;
  Job alike = job;
  alike.train.accumulation = tape::micro_batches_held(job);
  return kept.get(model, alike, [&] { return tape::replay_training(model, job); });
}

}  // namespace rightsize::memory
