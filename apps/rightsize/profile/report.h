// The report of `rightsize profile`.
#pragma once

#include <string>
#include <vector>

#include "diagnose/observer.h"
#include "rightsize/command.h"
#include "rightsize/profile/elsewhere.h"
#include "rightsize/profile/input.h"
#include "rightsize/profile/watch.h"

namespace rightsize::app {

// `elsewhere` has one entry per GPU. `known` is null if the user did not describe the job.
report::Report profile_report(const std::vector<diagnose::GpuProfile>& gpus, const std::vector<Elsewhere>& elsewhere,
                              const ProfileSource& source, const perf::SpeedTable& speeds, const KnownWork* known,
                              std::size_t top);

}  // namespace rightsize::app
