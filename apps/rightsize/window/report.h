// The report of `rightsize window`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/usage_units.h"
#include "rightsize/window/input.h"

namespace rightsize::app {

// One way to do the work.
struct WindowOption {
  std::string name;
  int gpus = 0;
  GpuTime a_month;  // paid for
  std::optional<market::GpuQuote> price;
  Seconds latency;
  double utilization = 0;
  std::string note;

  std::optional<Usd> monthly() const { return price ? std::optional(price->rate * a_month) : std::nullopt; }
};

// Energy of a month's runs, and the saving of moving them to other hours. Costs without a price stay empty.
struct WindowEnergy {
  Joules energy;
  std::optional<Usd> cost, saved;
  std::optional<double> co2_kg, saved_co2_kg;
};
std::optional<WindowEnergy> window_energy(const WindowProblem& problem, const capacity::WindowSchedule& plan);

// The options, most GPUs first: real time (where possible), windows with GPUs kept, rented, or on spot.
std::vector<WindowOption> window_options(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                                         const std::optional<capacity::Assessment>& real_time);

report::Report window_report(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                             const std::vector<WindowOption>& options, bool real_time_found);
// Exit code 2: the deadline is shorter than the start-up of a GPU, or the work needs too many GPUs.
Outcome no_schedule(const WindowProblem& problem);

}  // namespace rightsize::app
