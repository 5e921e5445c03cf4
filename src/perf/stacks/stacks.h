// The constants of each stack, with the names in data/stacks.csv. The .def files declare each constant once, with its
// meaning; docs/speed.md has the equations. Rates are shares of a GPU's peaks, factors multiply predicted times.
#pragma once

#include "base/units.h"

namespace rightsize::perf {

#define NUMBER(name, otherwise) double name = otherwise;
#define TIME(name) Seconds name;
struct EngineConstants {
#include "perf/stacks/engine_constants.def"
};
struct EagerConstants {
#include "perf/stacks/eager_constants.def"
};
struct ShardedConstants {
#include "perf/stacks/sharded_constants.def"
};
struct MegatronConstants {
#include "perf/stacks/megatron_constants.def"
};
struct VisionConstants {
#include "perf/stacks/vision_constants.def"
};
struct PowerConstants {
#include "perf/stacks/power_constants.def"
};
#undef NUMBER
#undef TIME

}  // namespace rightsize::perf
