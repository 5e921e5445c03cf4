// The power and energy of jobs and plans: fields, sentences and power caps.
#pragma once

#include <functional>

#include "perf/perf.h"
#include "plan/plan.h"
#include "report/fields.h"
#include "rightsize/input/electricity.h"

namespace rightsize::app {

// Power of each GPU, and the energy of all GPUs per unit of work.
struct JobEnergy {
  perf::PowerEstimate power;
  double joules_per_unit = 0;
  perf::Interval interval = {};  // factors on joules_per_unit that bound it with 80 % probability
  const char* unit = "token";
  std::optional<Watts> cap = {};  // of each GPU
  double capped_time = 1;         // time with the cap divided by time without it
  Electricity electricity = {};

  // Of one GPU, in seconds.
  double unit_time() const { return joules_per_unit / in_watts(power.mean); }
  Joules of_million() const { return watts(joules_per_unit * 1e6) * seconds(1); }
};
const report::Fields<JobEnergy>& job_energy_fields();

// The energy of a GPU that completes `rate` units per second. `time`: factors on the time of a unit.
JobEnergy energy_at(const perf::PowerEstimate& power, double rate, const perf::Interval& time);

// "Each GPU draws 512 W (80 % interval 454 W to 578 W): 0.076 J per token." `sought`: the best cap was looked for.
std::string energy_sentence(const JobEnergy& energy, std::string_view unit, bool sought);

// Applies --power-cap to a GPU. True if the cap with the least energy must be found, with least_energy_cap().
Result<bool> read_power_cap(const std::string& text, const catalog::Gpu& gpu, perf::GpuPower& power);

// The cap with the least energy per unit; empty if none needs less than `free`, the job without a cap. `at` gives the
// energy under a cap, or nothing if it is unknown.
std::optional<Watts> least_energy_cap(const perf::GpuPower& gpu, const JobEnergy& free,
                                      const std::function<std::optional<JobEnergy>(Watts)>& at);

// Whether energy is part of the question.
bool shows_energy(const plan::Request& request, const plan::Plan& first);

// The fields of a plan's power, energy and carbon dioxide.
const report::Fields<plan::Plan>& energy_fields();

// The same in words, with the effect of its power cap; empty if its power is unknown.
std::string energy_sentence(const plan::Request& request, const plan::Plan& plan);

}  // namespace rightsize::app
