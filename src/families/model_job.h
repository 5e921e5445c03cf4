// A job and its model as one: what the user left open filled in as this model has it, and what means nothing for it
// refused. Every command reads its model and job through here, so that all understand the same flags the same way.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::model {

// Tokens of a served request where the user says nothing: what the model can take, 1024 in and 256 out at most; a
// window of audio for speech models.
void fill_lengths(const ModelShape& model, bool isl_given, bool osl_given, Job& job);

struct ModelJob {
  ModelShape model;
  Job job;
};
// `name` as find_model() takes it; `given` are the settings the job was parsed from. The sequence of training jobs and
// of encoders is left at 0 where nobody gave it.
Checked<ModelJob> fit_to_model(std::string_view name, Job job, const std::vector<Setting>& given);

// The same for a shape found before, at the job's resolution. Not for prompts with images, which add to the shape:
// has_images() says so.
Checked<Job> fit_job(const ModelShape& model, Job job, const std::vector<Setting>& given);
bool has_images(const ModelShape& model, const Job& job);

}  // namespace rightsize::model
