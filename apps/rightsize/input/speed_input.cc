#include "rightsize/input/speed_input.h"

#include "capacity/replica.h"
#include "perf/energy.h"

namespace rightsize::app {

namespace {

Result<SpeedEstimate> estimate_on(const perf::Constants& constants, const SpeedInput& input,
                                  const perf::GpuSpeed& speed) {
  SpeedEstimate result;
  result.measured = perf::measured_runs(constants, input.work, input.job, *input.gpu);
  if (input.job.kind == model::JobKind::kTrain) {
    RIGHTSIZE_TRY(result.train, perf::estimate_training(constants, input.work, input.job, speed, input.cluster));
  } else if (perf::serves_batches(input.work) && !input.work.encoder_decoder) {
    RIGHTSIZE_TRY(result.batch, perf::estimate_batch(constants, input.work, input.job, speed));
  } else {
    const perf::ServeLoad load = capacity::load_of(input.model, input.job, *input.gpu, input.rate);
    RIGHTSIZE_TRY(result.serve, perf::estimate_serving(constants, input.work, input.job, speed, input.cluster, load));
  }
  return result;
}

}  // namespace

Result<SpeedEstimate> estimate_speed(const perf::Constants& constants, const SpeedInput& input) {
  perf::GpuSpeed speed = input.speed;
  const bool capped = speed.power.capped();
  speed.power.cap = {};
  RIGHTSIZE_TRY(SpeedEstimate free, estimate_on(constants, input, speed));
  const std::optional<JobEnergy> before = energy_of(input, free);
  if (!capped && !(input.find_power_cap && before)) return free;
  std::optional<Watts> cap = input.speed.power.cap;
  if (input.find_power_cap) {
    cap = least_energy_cap(speed.power, *before, [&](Watts tried) {
      speed.power.cap = tried;
      const Result<SpeedEstimate> estimate = estimate_on(constants, input, speed);
      return estimate ? energy_of(input, *estimate) : std::nullopt;
    });
    if (!cap) return free;
  }
  speed.power.cap = *cap;
  RIGHTSIZE_TRY(SpeedEstimate result, estimate_on(constants, input, speed));
  result.power_cap = cap;
  const std::optional<JobEnergy> with = energy_of(input, result);
  if (with && before) result.capped_time = with->unit_time() / before->unit_time();
  return result;
}

std::optional<JobEnergy> energy_of(const SpeedInput& input, const SpeedEstimate& estimate) {
  JobEnergy energy{.power = {}, .cap = estimate.power_cap, .capped_time = estimate.capped_time};
  double per_gpu = 0;    // units per second
  perf::Interval time;  // factors on the time of a unit
  if (input.work.image) energy.unit = input.work.pipeline && input.work.pipeline->frames > 1 ? "video" : "image";
  if (estimate.train) {
    energy.power = estimate.train->power, time = estimate.train->interval;
    per_gpu =
        input.work.image ? estimate.train->samples_per_second_per_gpu : in_tokens_per_s(estimate.train->tokens_per_gpu);
  } else if (estimate.serve) {
    energy.power = estimate.serve->power, time = estimate.serve->tpot_interval;
    per_gpu = in_tokens_per_s(estimate.serve->output_per_gpu);
  } else if (estimate.batch) {
    energy.power = estimate.batch->power, time = estimate.batch->interval;
    per_gpu = estimate.batch->samples_per_second;
    if (!input.work.image) energy.unit = "sample";
  }
  if (!energy.power.known() || !(per_gpu > 0)) return std::nullopt;
  energy.joules_per_unit = in_watts(energy.power.mean) / per_gpu;
  energy.interval = perf::energy_interval(energy.power, time);
  return energy;
}

}  // namespace rightsize::app
