// The memory of a job as sentences, a picture, tables and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory.h"
#include "perf/perf.h"
#include "rightsize/input/job_flags.h"

namespace rightsize::app {

// The need with one value of a setting.
struct SweptNeed {
  std::string setting, value;
  memory::MemoryNeed need;
};

// `gpus` are the GPUs to check, smallest first: one, or all that can be rented. With `wants_options`, or if the only
// GPU is too small, the report also shows what frees memory. `by_engine`: the memory that an engine takes at its start.
// With `longest`, tokens of the longest sequence that fits, the report begins with that.
report::Report memory_report(const ModelAndJob& input, const memory::MemoryNeed& need,
                             const std::vector<const catalog::Gpu*>& gpus, const perf::Constants& constants,
                             bool wants_options, bool by_engine = true, const std::vector<SweptNeed>& sweep = {},
                             std::optional<std::int64_t> longest = {});

// "needs 21 GiB (80 % interval 19 GiB to 23 GiB). It fits l4 with 1 GiB to spare."
std::string memory_sentence(const memory::MemoryNeed& need, const model::Job& job,
                            const std::vector<const catalog::Gpu*>& gpus);

}  // namespace rightsize::app
