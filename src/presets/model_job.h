// Combines a job with its model: fills in the model's defaults and refuses settings that do not apply to the model.
// Every command reads its model and job through this file, so flags mean the same everywhere.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::model {

// Default tokens of a served request: 1024 in and 256 out, less if the model's context is shorter; one window of audio
// for speech models.
void fill_lengths(const ModelShape& model, bool isl_given, bool osl_given, Job& job);

struct ModelJob {
  ModelShape model;
  Job job;
};
// `name` as for find_model(); `given` are the settings that the job was parsed from. The sequence of training jobs and
// encoders stays 0 if it was not given.
Checked<ModelJob> fit_to_model(std::string_view name, Job job, const std::vector<Setting>& given);

// The same for a shape that was already found at the job's resolution. Do not use it for prompts with images
// (has_images()), because they change the shape.
Checked<Job> fit_job(const ModelShape& model, Job job, const std::vector<Setting>& given);
bool has_images(const ModelShape& model, const Job& job);

}  // namespace rightsize::model
