#include "diagnose/summary.h"

#include <algorithm>
#include <cmath>

namespace rightsize::diagnose {
namespace {

// NVML's clock event reasons.
constexpr unsigned kPowerBits = 0x4 | 0x80;
constexpr unsigned kHeatBits = 0x20 | 0x40;

}  // namespace

std::optional<double> activity(const Sample& sample) {
  std::optional<double> level = sample.get(Metric::kGraphicsActive);
  // The engine counter may cover more than the sample's time. It counts if SMs did anything: the smallest kernels
  // launched without pause show 0.03 %.
  constexpr double kAnyKernel = 1e-4;
  if (auto sm = sample.get(Metric::kSmActive)) level = *sm < kAnyKernel ? 0 : std::max(*sm, level.value_or(0));
  if (!level) level = sample.get(Metric::kGpuUtil);
  // Copies are not engine time. Up to 1 GB/s is kernel launches and polling.
  constexpr double kCopying = 1e9, kFullLink = 25e9;
  const double copied = std::max(sample.get(Metric::kPcieRx).value_or(0), sample.get(Metric::kPcieTx).value_or(0));
  if (copied > kCopying) level = std::max(level.value_or(0), std::min(1.0, copied / kFullLink));
  return level;
}

void SummaryBuilder::Column::add(double value) {
  min = count() == 0 ? value : std::min(min, value);
  max = count() == 0 ? value : std::max(max, value);
  sum += value;
  histogram.add(value);
}

// A bucket is wider than its values; no quantile lies outside the observed range.
double SummaryBuilder::Column::quantile(double q) const { return std::clamp(histogram.quantile(q), min, max); }

void SummaryBuilder::add_time(const Sample& sample) {
  const double step = samples_ == 0 ? 0 : in_seconds(sample.time - last_time_);
  last_time_ = sample.time;
  if (samples_++ == 0) return;
  const double usual = intervals_.count() > 0 ? intervals_.mean() : step;
  constexpr double kGap = 20;  // times the usual interval: the recorder paused, or the clock was changed
  const bool jumped = step <= 0 || !std::isfinite(step) || (intervals_.count() >= 5 && step > kGap * usual);
  if (jumped) {
    ++clock_jumps_;
    return;
  }
  intervals_.add(step);
  covered_ += seconds(step);
  if (auto power = sample.get(Metric::kPower)) {
    power_energy_ += watts(*power) * seconds(step);
    power_time_ += seconds(step);
  }
  if (auto level = activity(sample)) add_activity(*level, seconds(step));
}

void SummaryBuilder::add_activity(double level, Seconds time) {
  const bool idle = level <= idle_level_;
  ++levels_;
  if (idle) ++idle_;
  if (!idle) active_sum_ += level;
  if (idling_ && *idling_ != idle) {
    ++changes_;
    (*idling_ ? idle_runs_ : active_runs_).add(in_seconds(run_));
    run_ = Seconds{};
  }
  idling_ = idle;
  run_ += time;
}

void SummaryBuilder::add_throttle(const Sample& sample) {
  auto bits = sample.get(Metric::kThrottle);
  if (!bits || *bits > 4e9) return;
  const auto reasons = static_cast<unsigned>(*bits);
  ++throttle_known_;
  if ((reasons & kPowerBits) != 0) ++power_capped_;
  if ((reasons & kHeatBits) != 0) ++thermally_capped_;
}

void SummaryBuilder::add(const Sample& sample) {
  add_time(sample);
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (auto value = sample.get(static_cast<Metric>(i))) columns_[i].add(*value);
  }
  add_throttle(sample);
  if (auto counted = sample.get(Metric::kEnergy)) {
    const Joules energy = joules(*counted);
    if (!first_energy_ || energy < *last_energy_) {  // a reloaded driver restarts at zero
      first_energy_ = energy;
      first_energy_time_ = sample.time;
    }
    last_energy_ = energy;
    last_energy_time_ = sample.time;
  }
}

// The engine's share of the time in which anything ran. If its counter is read less often than the others, it covers
// the time since its last reading, idle or not, and is spread over the samples that were not idle.
double SummaryBuilder::active_level() const {
  if (levels_ == idle_) return 0;
  const auto active = static_cast<double>(levels_ - idle_);
  const Column& engine = columns_[static_cast<std::size_t>(Metric::kGraphicsActive)];
  const bool sparse = engine.count() > 0 && 2 * engine.count() < levels_;
  if (!sparse) return active_sum_ / active;
  return std::min(1.0, engine.mean() * static_cast<double>(levels_) / active);
}

OnOff SummaryBuilder::on_off() const {
  OnOff on_off;
  on_off.idle_share = static_cast<double>(idle_) / static_cast<double>(levels_);
  on_off.active_level = active_level();
  // The last period counts like the first: both are cut off by the recording.
  Column idle = idle_runs_, active = active_runs_;
  if (idling_) (*idling_ ? idle : active).add(in_seconds(run_));
  on_off.idle_run = seconds(idle.quantile(0.5));
  on_off.active_run = seconds(active.quantile(0.5));
  on_off.changes = changes_;
  return on_off;
}

// The energy counter is exact but read rarely, so it is used only if its readings span the recording. Otherwise the
// mean power is used. Both are extended to the interval after the last sample.
std::optional<Joules> SummaryBuilder::energy(Seconds duration) const {
  const Seconds spanned = last_energy_time_ - first_energy_time_;
  if (first_energy_ && *last_energy_ > *first_energy_ && spanned > covered_ * 0.98)
    return (*last_energy_ - *first_energy_) / spanned * duration;
  if (power_energy_ > Joules{}) return power_energy_ / power_time_ * duration;
  return std::nullopt;
}

Summary SummaryBuilder::summary() const {
  Summary summary;
  summary.samples = samples_;
  summary.clock_jumps = clock_jumps_;
  summary.interval = seconds(intervals_.quantile(0.5));
  summary.duration = covered_ + (samples_ > 0 ? summary.interval : Seconds{});
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const Column& column = columns_[i];
    if (column.count() == 0) continue;
    summary.metrics[i] = {column.mean(), column.quantile(0.5), column.quantile(0.95), column.max};
  }
  if (levels_ > 0) summary.on_off = on_off();
  if (throttle_known_ > 0) {
    summary.power_capped = static_cast<double>(power_capped_) / static_cast<double>(throttle_known_);
    summary.thermally_capped = static_cast<double>(thermally_capped_) / static_cast<double>(throttle_known_);
  }
  summary.energy = energy(summary.duration);
  return summary;
}

}  // namespace rightsize::diagnose
