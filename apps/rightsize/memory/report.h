// What a job needs, in words, a picture, tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "memory/memory.h"
#include "perf/perf.h"
#include "rightsize/input/job_flags.h"

namespace rightsize::app {

// `gpus` are those the verdict is asked for, small before large: one, or all that can be rented. With `options`, and
// where the one GPU is too small, also what frees memory.
report::Report memory_report(const ModelAndJob& input, const memory::MemoryNeed& need,
                             const std::vector<const catalog::Gpu*>& gpus, const perf::Constants& constants,
                             bool options);

// "needs 21 GiB (80 % sure of 19 GiB to 23 GiB). It fits l4 with 1 GiB to spare."
std::string memory_sentence(const memory::MemoryNeed& need, const model::Job& job,
                            const std::vector<const catalog::Gpu*>& gpus);

}  // namespace rightsize::app
