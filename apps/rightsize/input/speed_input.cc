#include "rightsize/input/speed_input.h"

#include "capacity/replica.h"

namespace rightsize::app {

Result<SpeedEstimate> estimate_speed(const perf::Constants& constants, const SpeedInput& input) {
  SpeedEstimate result;
  result.measured = perf::measured_runs(constants, input.work, input.job, *input.gpu);
  if (input.job.kind == model::JobKind::kTrain) {
    RIGHTSIZE_TRY(result.train, perf::estimate_training(constants, input.work, input.job, input.speed, input.cluster));
  } else if (perf::serves_batches(input.work) && !input.work.encoder_decoder) {
    RIGHTSIZE_TRY(result.batch, perf::estimate_batch(constants, input.work, input.job, input.speed));
  } else {
    const perf::ServeLoad load = capacity::load_of(input.model, input.job, *input.gpu, input.rate);
    RIGHTSIZE_TRY(result.serve,
                  perf::estimate_serving(constants, input.work, input.job, input.speed, input.cluster, load));
  }
  return result;
}

}  // namespace rightsize::app
