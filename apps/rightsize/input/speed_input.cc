#include "rightsize/input/speed_input.h"

#include <cmath>

#include "capacity/replica.h"

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
  JobEnergy energy;
  if (estimate.train) {
    const perf::TrainEstimate& e = *estimate.train;
    energy = energy_at(e.power, input.work.image ? e.samples_per_second_per_gpu : in_tokens_per_s(e.tokens_per_gpu),
                       e.interval);
  } else if (estimate.serve) {
    const perf::ServeEstimate& e = *estimate.serve;
    energy = energy_at(e.power, in_tokens_per_s(e.output_per_gpu), e.tpot_interval);
  } else if (estimate.batch) {
    energy = energy_at(estimate.batch->power, estimate.batch->samples_per_second, estimate.batch->interval);
    energy.unit = "sample";
  }
  if (!energy.power.known() || !std::isfinite(energy.joules_per_unit)) return std::nullopt;
  if (input.work.image) energy.unit = input.work.pipeline && input.work.pipeline->frames > 1 ? "video" : "image";
  energy.cap = estimate.power_cap, energy.capped_time = estimate.capped_time;
  return energy;
}

}  // namespace rightsize::app
