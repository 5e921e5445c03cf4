// Units of usage records and bills: points in time, GPU-hours, energy, dollars per month.
//
//   TimePoint end = job.start + hours(3);
//   Seconds length = end - job.start;             // two points in time do not add
//   Usd bill = usd_per_gpu_hour(2.49) * (gpus(8) * length);
#pragma once

#include <compare>

#include "base/units.h"

namespace rightsize {

// A point in time: seconds since 1970 (UTC), or since the start of a recording without dates.
class TimePoint {
 public:
  constexpr TimePoint() = default;
  explicit constexpr TimePoint(Seconds since_epoch) : since_epoch_(since_epoch) {}
  constexpr Seconds since_epoch() const { return since_epoch_; }

  constexpr auto operator<=>(const TimePoint&) const = default;
  constexpr TimePoint operator+(Seconds by) const { return TimePoint(since_epoch_ + by); }
  constexpr TimePoint operator-(Seconds by) const { return TimePoint(since_epoch_ - by); }
  constexpr Seconds operator-(TimePoint o) const { return since_epoch_ - o.since_epoch_; }
  constexpr TimePoint& operator+=(Seconds by) { return *this = *this + by; }

 private:
  Seconds since_epoch_;
};
constexpr TimePoint unix_seconds(double v) { return TimePoint(seconds(v)); }
constexpr double in_unix_seconds(TimePoint t) { return in_seconds(t.since_epoch()); }

using GpuTime = decltype(Gpus{} * Seconds{});
constexpr GpuTime gpu_hours(double v) { return gpus(1) * hours(v); }
constexpr double in_gpu_hours(GpuTime v) { return in_hours(v / gpus(1)); }

constexpr Joules joules(double v) { return watts(v) * seconds(1); }
constexpr double in_joules(Joules v) { return in_watts(v / seconds(1)); }

// Recurring cost or savings, per month.
constexpr UsdPerSecond usd_per_month(double v) { return usd(v) / kMonth; }
constexpr double in_usd_per_month(UsdPerSecond v) { return in_usd(v * kMonth); }

}  // namespace rightsize
