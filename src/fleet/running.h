// The workload on a GPU at the end of the window, and its activity since it started. Only this can be acted on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "gpu_use/coverage.h"

namespace rightsize::fleet {

// From the first reading of any GPU to the end of the last.
TimeSpan window_of(const std::vector<GpuRow>& gpus);

// Load, bandwidth and memory are those of the time after `since`, not of what ran there before.
struct Running {
  bool here = false;                   // the GPU still reports when the window ends
  bool old_enough = false;             // its owners have been there for min_age or since before the window
  bool watched = false;                // ... and were observed for min_age, in enough readings
  std::vector<const Tenancy*> owners;  // present now, longest first; empty if no label names one
  TimePoint since;                     // when the last of them started; without owners, when the last one left
  std::size_t first_step = 0;          // steps [first_step, steps()) of the profile are theirs
  double idle_share = 0, held_share = 0;
  bool quiet = false;                  // no activity in the last min_age (at most one reading in a thousand)
  double busy_p95 = 1, busy_peak = 1;  // activity
  double dram_p95 = 1, dram_peak = 1;  // share of peak bandwidth, or activity without a counter
  Bytes memory_peak;                   // 0: unknown

  bool actionable() const { return here && old_enough; }
  // The owner with the longest time; may be empty.
  const Owner& owner() const;
};

Running running_on(const GpuRow& gpu, const TimeSpan& window, const Thresholds& thresholds);

// The load that another GPU would have had in each step; 1 is full, NaN unknown.
struct LoadCurve {
  TimePoint start;
  Seconds width;
  std::vector<double> mean, max;

  // Adds a workload that shares the GPU. The peaks of a step add up, because they may coincide.
  void add(const LoadCurve& other);
  void scale(double factor);
  double peak() const;  // the highest known value; 0 if there is none
  // The higher load of two resources in each step.
  void at_least(const LoadCurve& other);
};

// Recorded activity (or bandwidth) of what runs there now; empty without a curve.
LoadCurve activity_curve(const GpuRow& gpu, const Running& running);
LoadCurve dram_curve(const GpuRow& gpu, const Running& running);

// The share of the recorded time with a load above `limit`, bounded by the mean m and maximum M of each step: the load
// is above L for at most m/L of the step (Markov) and at least (m-L)/(M-L), or one reading if M > L. `likely` is the
// geometric mean of the bounds. If the p95 of single readings is known (not 0), at most 5 % of the time lies above it.
ShareBounds time_above(const LoadCurve& load, double limit, Seconds reading, double p95);

// The forecast for another GPU. `growth`: the factor on the time of the work alone on the new GPU; `now_*`: today's
// load. Latency follows the M/G/1 queue with processor sharing, in which a request of length S takes S/(1-load) for any
// distribution of lengths (Kleinrock 1976, 4.4); a GPU that runs several requests at once is close to that. If the work
// is not `paced`, it uses all available time and its latency grows by `growth` alone.
struct ForecastInput {
  double p95 = 0, peak = 0;  // on the new GPU
  double now_p95 = 0, now_peak = 0;
  double growth = 1;
  bool paced = true;
  Seconds reading = {};  // between two readings
};
Forecast make_forecast(const LoadCurve& load, const ForecastInput& input);

// The smallest capacity that is too small for at most `overload` of the recorded time, but at least p95.
double level_for(const LoadCurve& load, double overload, Seconds reading, double p95);

// The worse of two forecasts, field by field, for actions on several GPUs.
Forecast worse_of(Forecast a, const Forecast& b);

}  // namespace rightsize::fleet
