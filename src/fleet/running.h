// What runs on a GPU when the window ends, and what it did since it came: the only thing an action can be about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/coverage.h"
#include "fleet/fleet.h"

namespace rightsize::fleet {

// The window all GPUs of a fleet share: from the first reading of any GPU to the end of the last.
Interval window_of(const std::vector<GpuRow>& gpus);

// Load, bandwidth and memory are of the time since `since`, not of what ran there before.
struct Running {
  bool here = false;                   // the GPU still reports when the window ends
  bool old_enough = false;             // its owners have been there for min_age, or since before the window
  std::vector<const Tenancy*> owners;  // there now, longest first; empty: nobody the labels name
  TimePoint since;                     // when the last of them came; without owners, when the last owner left
  std::size_t first_step = 0;          // of the profile: [first_step, steps()) is their time
  double idle_share = 0, held_share = 0;
  bool quiet = false;                  // no activity in the last min_age (at most one reading in a thousand)
  double busy_p95 = 1, busy_peak = 1;  // activity
  double dram_p95 = 1, dram_peak = 1;  // share of peak bandwidth; activity where there is no counter
  Bytes memory_peak;                   // 0: unknown

  // May an action be about it?
  bool actionable() const { return here && old_enough; }
  // The owner the action is about: the longest there. Empty without one.
  const Owner& owner() const;
  std::string instances() const;  // "chat-0, chat-1": pods or jobs there now
};

Running running_on(const GpuRow& gpu, const Interval& window, const Thresholds& thresholds);

// The load per step that a new place would have seen, in its own terms: 1 is full. NaN: nothing was recorded.
struct LoadCurve {
  TimePoint start;
  Seconds width;
  std::vector<double> mean, max;

  // Takes in another workload that shares the place. Peaks of a step add up: they may have met.
  void add(const LoadCurve& other);
  void scale(double factor);
  // Whichever of two resources is the fuller one in each step.
  void at_least(const LoadCurve& other);
};

// Activity (or bandwidth) of what runs there now, as recorded. Empty where there is no curve.
LoadCurve activity_curve(const GpuRow& gpu, const Running& running);
LoadCurve dram_curve(const GpuRow& gpu, const Running& running);

// The share of the recorded time in which the load was above `limit`. A step's mean and maximum bound it: a load that
// is never above its maximum M and has the mean m is above L for at most m/L of the step (Markov), and for at least
// (m-L)/(M-L), or one reading where M > L. `likely` is the geometric middle. `p95` (0: unknown), taken from single
// readings, bounds the sum: at most a twentieth of the time lies above it.
ShareBounds time_above(const LoadCurve& load, double limit, Seconds reading, double p95);

// The forecast for a place. `growth`: how many times longer the work takes there when alone; `now_*` the load where it
// is. Latency follows the M/G/1 queue with processor sharing, where a request of length S takes S/(1-load) whatever the
// distribution of lengths (Kleinrock 1976, 4.4): a GPU that runs several requests at once comes near that. For work
// that takes what time it can get (`paced` false) latency is the growth alone.
struct ForecastInput {
  double p95 = 0, peak = 0;  // on the new place
  double now_p95 = 0, now_peak = 0;
  double growth = 1;
  bool paced = true;
  Seconds reading = {};  // between two readings
};
Forecast make_forecast(const LoadCurve& load, const ForecastInput& input);

// The smallest capacity that would have been too small for at most `overload` of the recorded time; at least p95.
double level_for(const LoadCurve& load, double overload, Seconds reading, double p95);

// The larger of two, field by field: what a group's action has to stand for.
Forecast worse_of(Forecast a, const Forecast& b);

}  // namespace rightsize::fleet
