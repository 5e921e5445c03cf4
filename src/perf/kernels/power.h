// Power of a GPU: the sum over its parts, at the highest clock that the power limit allows.
//
//   energy of a period = idle x time + (kernels x busy x clock + tensor cores) x voltage^2 + memory + links + waits
//
// A part draws its power in proportion to its use. Voltage falls with the clock down to a floor, so a GPU at its limit
// lowers its clock, and arithmetic slows down while memory does not. Equations and sources: docs/energy.md.
#pragma once

#include "base/units.h"

namespace rightsize::perf {

// The activity of one GPU in a period. Each part's time is its work at the data sheet's rate, so tensor / time is the
// tensor core utilization.
struct Activity {
  Seconds time;
  Seconds busy;      // kernels compute or move data
  Seconds tensor;    // arithmetic at the peak of its format
  Seconds memory;    // traffic at full bandwidth
  Seconds exchange;  // collectives, and kernels that start or end
  Seconds host;      // waits for the host, with the next kernels queued

  Activity& operator+=(const Activity& o) {
    time += o.time, busy += o.busy, tensor += o.tensor, memory += o.memory, exchange += o.exchange, host += o.host;
    return *this;
  }
  Activity operator*(double n) const { return {time * n, busy * n, tensor * n, memory * n, exchange * n, host * n}; }
};

// Watts of each part at full use and full clock.
struct GpuPower {
  Watts idle, kernels, tensor, memory, exchange, host;
  Watts limit;                     // of the data sheet
  double held = 1;                 // share of a limit at which the GPU settles
  double voltage_floor = 1;        // clock, as a share of the highest, below which voltage no longer falls
  double width = 0;                // |log error| that covers 80 %
  double served_energy_width = 0;  // the same of the energy of a served token
  Watts cap;                       // set by the user, at most the limit; zero: none

  bool known() const { return limit > Watts{}; }
  bool capped() const { return cap > Watts{} && cap < limit; }
};

// The lowest clock, as a share of the highest, to which a cap can slow a GPU down.
inline constexpr double kSlowestClock = 0.15;

// Mean power at a clock, as a share of the highest.
Watts power_at(const GpuPower& gpu, const Activity& activity, double clock);

// The highest clock at which power stays below a limit; kSlowestClock if none does.
double clock_within(const GpuPower& gpu, const Activity& activity, Watts limit);

struct PowerEstimate {
  Watts mean;                // of each GPU
  double low = 1, high = 1;  // factors on the mean: 80 % interval
  double clock = 1;          // share of the highest clock
  double slower = 1;         // clock with the user's cap divided by the clock without it
  double energy_width = 0;   // |log error| of the energy per unit: at least this, where the work was measured
  Activity activity;         // of one GPU, per optimizer step, decode step or batch
  bool known() const { return mean > Watts{}; }
};

// Power at the GPU's own limit. The times of `activity` are measured, so they include its slower clock.
PowerEstimate power_of(const GpuPower& gpu, const Activity& activity);

// Completes an estimate with a known mean: power is never below idle or above the limit.
void bound_power(const GpuPower& gpu, Watts limit, PowerEstimate& estimate);

}  // namespace rightsize::perf
