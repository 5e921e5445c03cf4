// The work of a profile on other GPUs, with the rules of 'fleet'.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/observer.h"
#include "fleet/alternatives.h"

namespace rightsize::app {

struct Elsewhere {
  fleet::GpuPrice price;                         // of the GPU or MIG instance today
  std::vector<fleet::Alternative> alternatives;  // cheapest for the same work first
  std::optional<fleet::Alternative> best;        // the action that 'fleet' would propose
  bool paced = false;                            // the work arrives at its own pace
};

// One for each profile. `from_start` as in diagnose::understand(); otherwise the aggregates decide, as in 'fleet'.
std::vector<Elsewhere> find_elsewhere(const std::vector<diagnose::GpuProfile>& gpus, std::vector<fleet::GpuUse> use,
                                      const fleet::DevicePrices& prices, const perf::SpeedTable& speeds,
                                      const diagnose::KnownJob* known, bool from_start);

}  // namespace rightsize::app
