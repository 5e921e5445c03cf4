#include "calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "perf/energy.h"

namespace rightsize::calibration {
namespace {

using model::JobKind;
using perf::Bound;
using perf::Calibration;
using perf::Constants;
using perf::gpu_speed;
using perf::GpuSpeed;
using perf::Interval;
using perf::PowerEstimate;
using perf::slot_of;

// Measurements of one stack, job and GPU.
struct Group {
  model::Stack stack;
  JobKind job;
  const catalog::Gpu* gpu;
  std::vector<const Measurement*> rows;
};

std::vector<Group> groups_of(const std::vector<Measurement>& measurements) {
  std::vector<Group> groups;
  for (const Measurement& m : measurements) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.stack == m.job.stack && g.job == m.job.kind && g.gpu == m.gpu;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), {m.job.stack, m.job.kind, m.gpu, {}});
    found->rows.push_back(&m);
  }
  return groups;
}

// Logarithms of the three factors.
struct Factors {
  double device = 0, host = 0, prefill = 0;

  Factors moved(const Factors& along, double by) const {
    return {device + by * along.device, host + by * along.host, prefill + by * along.prefill};
  }
};
// The directions of the search. A prompt waits for steps, and steps for prompts: what fits one of the two often has to
// move both factors.
constexpr Factors kDirections[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, -1}};

// Mean |predicted / measured - 1| of every metric.
using MetricErrors = std::map<std::string, double, std::less<>>;
MetricErrors errors_of(const std::vector<CalibrationPoint>& points, Seconds CalibrationPoint::*which) {
  MetricErrors errors;
  std::map<std::string_view, double> counts;
  for (const CalibrationPoint& p : points) {
    errors[p.metric] += std::fabs(p.*which / p.measured - 1.0);
    counts[p.metric] += 1;
  }
  for (auto& [metric, error] : errors) error /= counts[metric];
  return errors;
}

// An error that does not stand in the way of a better fit of another metric: two runs of a benchmark differ by as much.
constexpr double kTolerable = 0.1;

// By how much the errors exceed the limits, in total. A fit of several metrics must not pay for one with another.
double excess(const MetricErrors& errors, const MetricErrors& limits) {
  constexpr double kRounding = 1e-9;
  double sum = 0;
  for (const auto& [metric, error] : errors) {
    const auto limit = limits.find(metric);
    if (limit == limits.end()) continue;
    const double most = std::max(limit->second, kTolerable);
    if (error > most * (1 + kRounding) + kRounding) sum += error - most;
  }
  return sum;
}

class Fitter {
 public:
  // `limits`: errors that no metric should exceed.
  Fitter(const Constants& constants, const Group& group, MetricErrors limits)
      : constants_(constants), group_(group), limits_(std::move(limits)), gpu_(gpu_speed(constants, *group.gpu)) {}

  // Sum of a soft L1 loss (quadratic for small errors, linear for large ones) plus a prior towards 1: a factor of e^0.5
  // costs as much as an error of 5 %.
  double cost(const Factors& f) {
    constexpr double kScale = 0.05, kPull = 0.5;
    set(f);
    double sum = 0;
    std::vector<CalibrationPoint> points;
    for (const Measurement* m : group_.rows) {
      const Result<Predictions> metrics = predict(constants_, *m, gpu_);
      if (!metrics) return 1e30;
      for (const Prediction& metric : *metrics) {
        const double error = std::log(metric.predicted / metric.measured) / kScale;
        sum += 2.0 * (std::sqrt(1.0 + error * error) - 1.0);
        if (limited_) points.push_back({0, {}, metric.metric, metric.measured, {}, metric.predicted});
      }
    }
    constexpr double kPerExcess = 1e4;
    if (limited_) sum += kPerExcess * excess(errors_of(points, &CalibrationPoint::after), limits_);
    for (double x : {f.device, f.host, f.prefill}) sum += x / kPull * (x / kPull);
    return sum;
  }

  // The best fit; if it makes a metric worse than its limit, the best that does not, as far as one is found.
  Factors fit() {
    Factors best = descend({});
    limited_ = true;
    if (has_excess(best)) best = descend(best);
    if (has_excess(best)) best = descend({});
    set(best);
    return best;
  }

  const GpuSpeed& gpu() const { return gpu_; }

 private:
  // Along one direction after the other.
  Factors descend(Factors best) {
    constexpr double kSame = 1e-5;  // further rounds change no figure that is shown
    for (int round = 0; round < 8; ++round) {
      const Factors before = best;
      for (const Factors& along : kDirections)
        if (group_.job == JobKind::kServe || along.prefill == 0) improve(best, along);
      if (std::abs(best.device - before.device) + std::abs(best.host - before.host) +
              std::abs(best.prefill - before.prefill) <
          kSame)
        break;
    }
    return best;
  }

  bool has_excess(const Factors& f) {
    const double with = cost(f);
    limited_ = false;
    const double without = cost(f);
    limited_ = true;
    return with > without;
  }

  void set(const Factors& f) {
    const auto slot = static_cast<std::size_t>(slot_of(group_.stack)), job = static_cast<std::size_t>(group_.job);
    Calibration& own = gpu_.calibration[slot][job];
    own = {true, std::exp(f.device), std::exp(f.host), std::exp(f.prefill), 0.1, 1};
  }

  // Golden-section search along one direction, with factors from 0.1 to 10.
  void improve(Factors& best, const Factors& along) {
    constexpr double kGolden = 0.6180339887498949, kRange = 2.3;
    double low = -2 * kRange, high = 2 * kRange;
    for (double Factors::*which : {&Factors::device, &Factors::host, &Factors::prefill}) {
      if (along.*which == 0) continue;
      const double one = (-kRange - best.*which) / along.*which, other = (kRange - best.*which) / along.*which;
      low = std::max(low, std::min(one, other)), high = std::min(high, std::max(one, other));
    }
    const auto at = [&](double x) { return cost(best.moved(along, x)); };
    double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    double at_a = at(a), at_b = at(b);
    for (int i = 0; i < 32; ++i) {
      if (at_a < at_b) {
        high = b, b = a, at_b = at_a;
        a = high - kGolden * (high - low);
        at_a = at(a);
      } else {
        low = a, a = b, at_a = at_b;
        b = low + kGolden * (high - low);
        at_b = at(b);
      }
    }
    const double found = 0.5 * (low + high);
    // Factors that the points do not determine stay unchanged.
    if (at(found) < cost(best)) best = best.moved(along, found);
  }

  const Constants& constants_;
  const Group& group_;
  const MetricErrors limits_;
  bool limited_ = false;
  GpuSpeed gpu_;
};

// The stack's own width counts as two more points: one lucky row must not give false certainty.
double width_after(const std::vector<CalibrationPoint>& points, double width_before) {
  constexpr double kEighty = 1.2816;
  const double before = 0.5 * width_before / kEighty;
  double sum = 2 * before * before;
  for (const CalibrationPoint& p : points) sum += std::pow(std::log(p.after / p.measured), 2);
  const double freedom = std::max(0.0, static_cast<double>(points.size()) - 1.0) + 2.0;
  return std::max(0.02, kEighty * std::sqrt(sum / freedom));
}

double mean_error(const std::vector<CalibrationPoint>& points, Seconds CalibrationPoint::*which) {
  double sum = 0;
  for (const CalibrationPoint& p : points) sum += std::fabs(p.*which / p.measured - 1.0);
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

GpuSpeed uncalibrated(GpuSpeed gpu) {
  gpu.calibration = {};
  return gpu;
}

// Requests that were served, though at a rate that the estimate cannot serve: as many in flight as Little's law says.
void close_unstable_loop(const Constants& constants, Measurement& m) {
  if (!(m.load.rate > RequestsPerSecond{}) || !m.ttft || !m.tpot) return;
  const GpuSpeed gpu = gpu_speed(constants, *m.gpu);
  if (predict(constants, m, gpu) && predict(constants, m, uncalibrated(gpu))) return;
  const Seconds latency = *m.ttft + *m.tpot * static_cast<double>(std::max<std::int64_t>(0, m.job.serve.osl - 1));
  m.job.serve.concurrency = std::max(1LL, std::llround(in_requests_per_s(m.load.rate) * in_seconds(latency)));
  m.load.rate = {};
}

Result<CalibrationFit> fit_group(const Constants& constants, const Group& group) {
  CalibrationFit fit;
  const GpuSpeed as_is = gpu_speed(constants, *group.gpu);
  const GpuSpeed plain = uncalibrated(as_is);  // without the width of the calibration that is being replaced
  for (const Measurement* m : group.rows) {
    Result<Predictions> metrics = predict(constants, *m, as_is);
    if (!metrics) {
      Error error = std::move(metrics).error();
      error.message = fmt::format("line {}: {}", m->line, error.message);
      return fail(std::move(error));
    }
    for (const Prediction& metric : *metrics) {
      fit.points.push_back({m->line, m->model, metric.metric, metric.measured, metric.predicted, {}});
    }
    RIGHTSIZE_TRY(Predictions metrics_before, predict(constants, *m, plain));
    for (const Prediction& metric : metrics_before)
      fit.width_before = std::max(fit.width_before, std::log(metric.interval.high));
  }
  const MetricErrors limits = errors_of(fit.points, &CalibrationPoint::before);
  Fitter fitter(constants, group, limits);
  const Factors found = fitter.fit();
  std::size_t next = 0;
  for (const Measurement* m : group.rows) {
    RIGHTSIZE_TRY(Predictions metrics, predict(constants, *m, fitter.gpu()));
    for (const Prediction& metric : metrics) fit.points[next++].after = metric.predicted;
  }
  fit.error_before = mean_error(fit.points, &CalibrationPoint::before);
  fit.error_after = mean_error(fit.points, &CalibrationPoint::after);
  fit.row.stack = group.stack;
  fit.row.job = group.job;
  fit.row.gpu = group.gpu->name;
  Calibration& factors = fit.row.factors;
  factors = {true, std::exp(found.device), std::exp(found.host), std::exp(found.prefill)};
  if (fit.error_after > fit.error_before || excess(errors_of(fit.points, &CalibrationPoint::after), limits) > 0) {
    factors = as_is.calibration[static_cast<std::size_t>(slot_of(group.stack))][static_cast<std::size_t>(group.job)];
    for (CalibrationPoint& point : fit.points) point.after = point.before;
    fit.error_after = fit.error_before;
  }
  factors.known = true;
  factors.width = width_after(fit.points, fit.width_before);
  factors.points = static_cast<int>(fit.points.size());
  return fit;
}

}  // namespace

Result<Predictions> predict(const Constants& constants, const Measurement& m, const GpuSpeed& gpu, bool with_power) {
  Predictions found;
  auto add = [&](const char* metric, const std::optional<Seconds>& measured, Seconds predicted,
                 const Interval& interval, Bound bound) {
    if (measured) found.push_back({metric, *measured, predicted, interval, bound});
  };
  // Power, and the energy per unit of work if its time was measured too.
  const auto add_power = [&](const PowerEstimate& power, const std::optional<Seconds>& measured, Seconds predicted,
                             const Interval& time, Bound bound) {
    if (!with_power || !m.power || !power.known()) return;
    add("power", *m.power * seconds(1) / gpu.power.limit, power.mean * seconds(1) / gpu.power.limit,
        {power.low, power.high}, bound);
    if (!measured) return;
    add("energy", *m.power * *measured / gpu.power.limit, power.mean * predicted / gpu.power.limit,
        perf::energy_interval(power, time), bound);
  };
  if (m.step) {
    RIGHTSIZE_TRY(perf::TrainEstimate e, perf::estimate_training(constants, m.work, m.job, gpu, m.cluster));
    add("step", m.step, e.step, e.interval, e.bound);
    add_power(e.power, m.step, e.step, e.interval, e.bound);
  } else if (m.batch) {
    RIGHTSIZE_TRY(perf::BatchEstimate e, perf::estimate_batch(constants, m.work, m.job, gpu));
    add("batch", m.batch, e.batch, e.interval, e.bound);
    add_power(e.power, m.batch, e.batch, e.interval, e.bound);
  } else {
    RIGHTSIZE_TRY(perf::ServeEstimate e, perf::estimate_serving(constants, m.work, m.job, gpu, m.cluster, m.load));
    if (!e.stable)
      return fail(bad_input(fmt::format("by the estimate, {} requests/s arrive faster than they can be served",
                                        in_requests_per_s(m.load.rate)))
                      .with_hint("give the requests in flight (concurrency) instead of the rate"));
    add("ttft", m.ttft, e.ttft, e.ttft_interval, e.bound);
    add("tpot", m.tpot, e.tpot, e.tpot_interval, e.bound);
    add("prefill", m.prefill, e.prefill, e.ttft_interval, e.bound);
    add("decode", m.decode, e.decode_step, e.tpot_interval, e.bound);
    if (m.output) add("output", m.output, tokens(1) / e.output_per_gpu, e.tpot_interval, e.bound);
    add_power(e.power, m.output, tokens(1) / e.output_per_gpu, e.tpot_interval, e.bound);
  }
  return found;
}

Checked<std::vector<CalibrationFit>> fit_calibrations(const Constants& constants,
                                                      const std::vector<Measurement>& measurements) {
  std::vector<CalibrationFit> fits;
  Errors errors;
  std::vector<Measurement> rows = measurements;
  for (Measurement& row : rows) close_unstable_loop(constants, row);
  for (const Group& group : groups_of(rows)) {
    Result<CalibrationFit> fit = fit_group(constants, group);
    if (fit) {
      fits.push_back(*std::move(fit));
    } else {
      errors.push_back(std::move(fit).error());
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return fits;
}

}  // namespace rightsize::calibration
