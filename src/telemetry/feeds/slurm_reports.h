// Reports of single jobs, as seff and jobstats print them, one after the other. They have the GPU utilization that
// sacct's table lacks if neither AdminComment nor gres/gpuutil is stored. A report with the number of GPUs, the start
// and the run time (jobstats) is a job by itself:
//
//   Job ID: 39798795
//   ...
//     GPU utilization  [||||||||||||||||||||         68%]     (jobstats)
//   GPU Efficiency: 68.0%                                     (seff with GPUs)
#pragma once

#include <string_view>

#include "telemetry/feeds/slurm.h"

namespace rightsize::telemetry {

bool looks_like_job_reports(std::string_view beginning);

// Jobs with the mean utilization of their GPUs; those without one are left out. A report that is no job by itself has
// no GPUs (gpu_count 0).
JobTable read_job_reports(std::string_view text);

}  // namespace rightsize::telemetry
