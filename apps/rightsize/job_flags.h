// The flags that memory, estimate and recommend share: the model, the job's settings, the GPU.
#pragma once

#include <map>
#include <string>

#include "command.h"
#include "workload/job.h"
#include "workload/model_shape.h"

namespace rightsize::app {

struct JobFlags {
  std::string model;
  std::string gpu;
  std::map<std::string, std::string> settings;  // by name, as given; absent when not
};

void add_job_flags(CLI::App& command, JobFlags& flags);

// The model and the job as one, checked against each other. Sequence lengths the user left out are filled in.
struct ModelAndJob {
  workload::ModelShape model;
  workload::Job job;
};
Checked<ModelAndJob> read_job(const JobFlags& flags);

// "Training llama-2-7b in bf16 with adamw, batch 8 x 2048 tokens": how a sentence about the job begins.
std::string describe_job(const workload::ModelShape& model, const workload::Job& job);

}  // namespace rightsize::app
