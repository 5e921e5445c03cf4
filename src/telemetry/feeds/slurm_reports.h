// Reports of single jobs, as seff and jobstats print them, one after the other. They have the GPU utilization that
// sacct's table lacks if neither AdminComment nor gres/gpuutil is stored:
//
//   Job ID: 39798795
//   ...
//     GPU utilization  [||||||||||||||||||||         68%]     (jobstats)
//   GPU Efficiency: 68.0%                                     (seff with GPUs)
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace rightsize::telemetry {

bool looks_like_job_reports(std::string_view beginning);

// The mean utilization of a job's GPUs, 0-1, by job ID. Jobs without one are left out.
std::map<std::string, double> read_job_reports(std::string_view text);

}  // namespace rightsize::telemetry
