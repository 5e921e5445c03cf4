#include "diagnose/summary.h"

#include <algorithm>
#include <cmath>

namespace rightsize::diagnose {
namespace {

// NVML's clock event reasons.
constexpr unsigned kPowerBits = 0x4 | 0x80;
constexpr unsigned kHeatBits = 0x20 | 0x40;

double quantile(std::vector<float> values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return static_cast<double>(values[at]);
}

}  // namespace

std::optional<double> activity(const Sample& sample) {
  std::optional<double> level = sample.get(Metric::kGraphicsActive);
  // The engine counter may be that of a longer time than the sample's, so SMs have the last word on whether anything
  // ran: a GPU with nothing to do shows 0, the smallest kernels launched without pause 0.03 %.
  constexpr double kAnything = 1e-4;
  if (auto sm = sample.get(Metric::kSmActive)) {
    level = *sm < kAnything ? 0 : std::max(kIdleActivity, level.value_or(*sm));
  }
  if (!level) level = sample.get(Metric::kGpuUtil);
  // Copies do not count as engine time. 1 GB/s and less is kernel launches and polling.
  constexpr double kCopying = 1e9, kFullLink = 25e9;
  const double copied = std::max(sample.get(Metric::kPcieRx).value_or(0), sample.get(Metric::kPcieTx).value_or(0));
  if (copied > kCopying) level = std::max(level.value_or(0), std::min(1.0, copied / kFullLink));
  return level;
}

void Accumulator::draw(std::vector<float>& drawn, std::uint64_t seen, double value) {
  if (drawn.size() < kDrawn) return drawn.push_back(static_cast<float>(value));
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  if (const std::uint64_t at = random_ % seen; at < kDrawn) drawn[at] = static_cast<float>(value);
}

void Accumulator::add_value(Column& column, double value) {
  ++column.count;
  column.sum += value;
  column.max = column.count == 1 ? value : std::max(column.max, value);
  draw(column.drawn, column.count, value);
}

void Accumulator::add_time(const Sample& sample) {
  const double step = samples_ == 0 ? 0 : sample.time - last_time_;
  last_time_ = sample.time;
  if (samples_++ == 0) return;
  const double usual = intervals_.count > 0 ? intervals_.sum / static_cast<double>(intervals_.count) : step;
  constexpr double kGap = 20;  // times the usual interval: the recorder slept, or the clock was set
  const bool jumped = step <= 0 || !std::isfinite(step) || (intervals_.count >= 5 && step > kGap * usual);
  if (jumped) {
    ++clock_jumps_;
    return;
  }
  add_value(intervals_, step);
  seconds_ += step;
  if (auto watts = sample.get(Metric::kPower)) {
    power_joules_ += *watts * step;
    power_seconds_ += step;
  }
  if (auto level = activity(sample)) add_activity(*level, step);
}

void Accumulator::add_activity(double level, double seconds) {
  const bool idle = level < kIdleActivity;
  ++levels_;
  if (idle) ++idle_;
  if (!idle) active_sum_ += level;
  if (idling_ && *idling_ != idle) {
    ++changes_;
    Runs& runs = *idling_ ? idle_runs_ : active_runs_;
    draw(runs.drawn, ++runs.count, run_s_);
    run_s_ = 0;
  }
  idling_ = idle;
  run_s_ += seconds;
}

void Accumulator::add_throttle(const Sample& sample) {
  auto bits = sample.get(Metric::kThrottle);
  if (!bits || *bits > 4e9) return;
  const auto reasons = static_cast<unsigned>(*bits);
  ++throttle_known_;
  if ((reasons & kPowerBits) != 0) ++power_capped_;
  if ((reasons & kHeatBits) != 0) ++thermally_capped_;
}

void Accumulator::add(const Sample& sample) {
  add_time(sample);
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (auto value = sample.get(static_cast<Metric>(i))) add_value(columns_[i], *value);
  }
  add_throttle(sample);
  if (auto energy = sample.get(Metric::kEnergy)) {
    if (!first_energy_ || *energy < *last_energy_) {  // a reloaded driver counts from zero
      first_energy_ = energy;
      first_energy_time_ = sample.time;
    }
    last_energy_ = energy;
    last_energy_time_ = sample.time;
  }
}

// The engine's share of the time in which anything ran. Its counter may be read less often than the others and then
// covers the time since its last reading, idle or not: it is spread over the samples that were not idle.
double Accumulator::active_level() const {
  if (levels_ == idle_) return 0;
  const auto active = static_cast<double>(levels_ - idle_);
  const Column& engine = columns_[static_cast<std::size_t>(Metric::kGraphicsActive)];
  const bool sparse = engine.count > 0 && 2 * engine.count < levels_;
  if (!sparse) return active_sum_ / active;
  return std::min(1.0, engine.sum / static_cast<double>(engine.count) * static_cast<double>(levels_) / active);
}

Summary Accumulator::summary() const {
  Summary summary;
  summary.samples = samples_;
  summary.clock_jumps = clock_jumps_;
  summary.interval = quantile(intervals_.drawn, 0.5);
  summary.seconds = seconds_ + (samples_ > 0 ? summary.interval : 0);
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const Column& column = columns_[i];
    if (column.count == 0) continue;
    summary.metrics[i] = {column.sum / static_cast<double>(column.count), quantile(column.drawn, 0.5),
                          quantile(column.drawn, 0.95), column.max};
  }
  if (levels_ > 0) {
    OnOff on_off;
    on_off.idle_share = static_cast<double>(idle_) / static_cast<double>(levels_);
    on_off.active_level = active_level();
    // The stretch at the end counts like the others: it was cut short at either end of the recording alike.
    std::vector<float> idle = idle_runs_.drawn, active = active_runs_.drawn;
    if (idling_) (*idling_ ? idle : active).push_back(static_cast<float>(run_s_));
    on_off.idle_run_s = quantile(idle, 0.5);
    on_off.active_run_s = quantile(active, 0.5);
    on_off.changes = changes_;
    summary.on_off = on_off;
  }
  if (throttle_known_ > 0) {
    summary.power_capped = static_cast<double>(power_capped_) / static_cast<double>(throttle_known_);
    summary.thermally_capped = static_cast<double>(thermally_capped_) / static_cast<double>(throttle_known_);
  }
  // The counter is exact, but read rarely: it counts only where its readings span the time.
  if (first_energy_ && *last_energy_ > *first_energy_ && last_energy_time_ - first_energy_time_ > 0.98 * seconds_) {
    const double watts = (*last_energy_ - *first_energy_) / (last_energy_time_ - first_energy_time_);
    summary.joules = watts * summary.seconds;
  } else if (power_joules_ > 0) {
    // Three readings have two times between them and cover three: the mean over the two holds for all.
    summary.joules = power_joules_ / power_seconds_ * summary.seconds;
  }
  return summary;
}

}  // namespace rightsize::diagnose
