#include "live_service/learn_speed.h"

#include <algorithm>
#include <cmath>

#include "capacity/replica.h"

namespace rightsize::live_service {
namespace {

constexpr std::size_t kMostRows = 24;  // more hours of the same service add nothing

// The mean batch seen by a token. With independent arrivals the number of running requests is Poisson distributed, and
// a token sees one more than the mean: its own request.
double batch_seen_by_token(double tokens, double tpot, double replicas) {
  return 1 + tokens * tpot / (kHour * std::max(1.0, replicas));
}

double tokens_of(const HourReading& hour, double osl) { return hour.tokens > 0 ? hour.tokens : hour.requests * osl; }

calibration::Measurement measurement(const ServiceReading& r, const Description& d, const ServedModel& m,
                                     const perf::ModelWork& work, double concurrency) {
  calibration::Measurement row;
  row.model = m.name;
  row.gpu = d.gpu;
  row.work = work;
  row.job = job_of(r, d, m, concurrency);
  row.cluster = perf::default_cluster(*d.gpu);
  row.load = capacity::load_of(m.shape, row.job, *d.gpu);
  return row;
}

std::vector<calibration::Measurement> rows_of(const ServiceReading& r, const Description& d, const ServedModel& m,
                                              const perf::ModelWork& work) {
  const double osl = d.osl.mean.value_or(1);
  std::vector<const HourReading*> hours;
  for (const HourReading& hour : r.hours) {
    if (hour.tpot && *hour.tpot > 0 && hour.requests >= 20) hours.push_back(&hour);
  }
  std::stable_sort(hours.begin(), hours.end(),
                   [](const HourReading* a, const HourReading* b) { return a->requests > b->requests; });
  std::vector<calibration::Measurement> rows;
  const std::size_t every = std::max<std::size_t>(1, (hours.size() + kMostRows - 1) / kMostRows);
  for (std::size_t i = 0; i < hours.size(); i += every) {
    const HourReading& hour = *hours[i];
    const double seen = batch_seen_by_token(tokens_of(hour, osl), *hour.tpot, hour.replicas);
    calibration::Measurement row = measurement(r, d, m, work, seen);
    row.line = static_cast<int>(i) + 1;
    row.tpot = seconds(*hour.tpot);
    rows.push_back(row);
    if (!hour.prefill || !(*hour.prefill > 0)) continue;
    calibration::Measurement prompt = measurement(r, d, m, work, 1);
    prompt.line = row.line;
    prompt.prefill = seconds(*hour.prefill);
    rows.push_back(prompt);
  }
  return rows;
}

}  // namespace

model::Stack stack_of(Engine engine) {
  if (engine == Engine::kSglang) return model::Stack::kSglang;
  if (engine == Engine::kTensorRtLlm || engine == Engine::kTriton) return model::Stack::kTrtLlm;
  return model::Stack::kVllm;
}

model::Job job_of(const ServiceReading& r, const Description& d, const ServedModel& m, double concurrency) {
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.stack = stack_of(r.engine);
  job.precision = m.precision;
  job.parallel.gpus = job.parallel.tensor = std::max(1, d.gpus_per_replica);
  job.serve.isl = std::max<std::int64_t>(1, std::llround(d.isl.mean.value_or(1)));
  job.serve.osl = std::max<std::int64_t>(1, std::llround(d.osl.mean.value_or(1)));
  job.serve.prefix_hit = std::min(0.99, d.prefix_hit.value_or(0));
  job.serve.concurrency = std::max<std::int64_t>(1, std::llround(concurrency));
  job.sequence = job.serve.isl + job.serve.osl;
  return job;
}

Result<LearnedSpeed> learn_speed(const ServiceReading& r, const Description& d, const ServedModel& m,
                                 const perf::Constants& constants) {
  if (d.gpu == nullptr) return fail(bad_input("the GPU is unknown; pass --gpu"));
  if (!d.tpot.mean) return fail(bad_input("the engine publishes no time per token"));
  if (!d.isl.mean || !d.osl.mean) return fail(bad_input("the engine publishes no request lengths"));
  const perf::ModelWork work = perf::work_of(m.shape);
  if (perf::serves_batches(work)) return fail(bad_input("the model does not generate tokens"));
  const double tokens_per_hour = d.output_tokens / r.seconds() * kHour;
  const double replicas = r.replica_seconds > 0 ? r.replica_seconds / r.seconds() : d.replicas;
  calibration::Measurement mean =
      measurement(r, d, m, work, batch_seen_by_token(tokens_per_hour, *d.tpot.mean, replicas));
  mean.tpot = seconds(*d.tpot.mean);
  std::vector<calibration::Measurement> rows = rows_of(r, d, m, work);
  if (rows.empty()) rows.push_back(mean);
  Checked<std::vector<calibration::CalibrationFit>> fits = calibration::fit_calibrations(constants, rows);
  if (!fits) return fail(std::move(fits).error().front());

  LearnedSpeed learned;
  learned.constants = constants;
  std::erase_if(learned.constants.calibrations, [&](const perf::CalibrationRow& row) {
    return row.gpu == d.gpu->name && row.stack == mean.job.stack && row.job == mean.job.kind;
  });
  learned.constants.calibrations.push_back(fits->front().row);
  learned.factors = fits->front().row.factors;
  learned.rows = static_cast<int>(rows.size());
  learned.measured_tpot = *mean.tpot;
  RIGHTSIZE_TRY(const calibration::Predictions before,
                calibration::predict(constants, mean, perf::gpu_speed(constants, *d.gpu)));
  RIGHTSIZE_TRY(const calibration::Predictions after,
                calibration::predict(learned.constants, mean, perf::gpu_speed(learned.constants, *d.gpu)));
  learned.prior_tpot = before[0].predicted, learned.prior_interval = before[0].interval;
  learned.corrected_tpot = after[0].predicted, learned.corrected_interval = after[0].interval;
  const Result<perf::ServeEstimate> at_load = perf::estimate_serving(
      learned.constants, work, mean.job, perf::gpu_speed(learned.constants, *d.gpu), mean.cluster, mean.load);
  if (at_load && at_load->power.known()) {
    learned.gpu_power = at_load->power.mean;
    learned.energy_per_token = at_load->power.mean / at_load->output_per_gpu * tokens(1);
  }
  return learned;
}

}  // namespace rightsize::live_service
