#include "rightsize/input/speed_input.h"

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

// The time per unit on one GPU: joules per unit divided by watts.
double unit_time(const JobEnergy& energy) { return energy.joules_per_unit / in_watts(energy.power.mean); }

// Steps of 5 % of the limit, down to 50 %: below that, idle power outweighs the savings of a lower clock.
constexpr double kCapStep = 0.05, kLowestCap = 0.5;

Result<SpeedEstimate> within_best_cap(const perf::Constants& constants, const SpeedInput& input) {
  RIGHTSIZE_TRY(SpeedEstimate best, estimate_on(constants, input, input.speed));
  perf::GpuSpeed speed = input.speed;
  std::optional<JobEnergy> least = energy_of(input, best);
  if (!least) return best;
  const double free = unit_time(*least);
  for (double share = 1 - kCapStep; share > kLowestCap - 1e-9; share -= kCapStep) {
    speed.power.cap = speed.power.limit * share;
    RIGHTSIZE_TRY(SpeedEstimate capped, estimate_on(constants, input, speed));
    const std::optional<JobEnergy> energy = energy_of(input, capped);
    if (!energy || energy->joules_per_unit >= least->joules_per_unit) continue;
    best = std::move(capped), least = energy;
    best.power_cap = speed.power.cap, best.capped_time = unit_time(*energy) / free;
  }
  return best;
}

}  // namespace

Result<SpeedEstimate> estimate_speed(const perf::Constants& constants, const SpeedInput& input) {
  if (input.find_power_cap) return within_best_cap(constants, input);
  RIGHTSIZE_TRY(SpeedEstimate result, estimate_on(constants, input, input.speed));
  if (!input.speed.power.capped()) return result;
  perf::GpuSpeed free = input.speed;
  free.power.cap = {};
  RIGHTSIZE_TRY(const SpeedEstimate without, estimate_on(constants, input, free));
  const std::optional<JobEnergy> with = energy_of(input, result), before = energy_of(input, without);
  result.power_cap = input.speed.power.cap;
  if (with && before) result.capped_time = unit_time(*with) / unit_time(*before);
  return result;
}

std::optional<JobEnergy> energy_of(const SpeedInput& input, const SpeedEstimate& estimate) {
  JobEnergy energy;
  double per_gpu = 0;  // units per second
  if (input.work.image) energy.unit = input.work.pipeline && input.work.pipeline->frames > 1 ? "video" : "image";
  if (estimate.train) {
    energy.power = estimate.train->power;
    per_gpu =
        input.work.image ? estimate.train->samples_per_second_per_gpu : in_tokens_per_s(estimate.train->tokens_per_gpu);
  } else if (estimate.serve) {
    energy.power = estimate.serve->power;
    per_gpu = in_tokens_per_s(estimate.serve->output_per_gpu);
  } else if (estimate.batch) {
    energy.power = estimate.batch->power;
    per_gpu = estimate.batch->samples_per_second;
    if (!input.work.image) energy.unit = "sample";
  }
  if (!energy.power.known() || !(per_gpu > 0)) return std::nullopt;
  energy.joules_per_unit = in_watts(energy.power.mean) / per_gpu;
  return energy;
}

}  // namespace rightsize::app
