// The flags that memory, estimate and recommend share: the model, the job's settings, the GPU.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "model/job.h"
#include "model/model_shape.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct JobFlags {
  std::string model;
  std::string gpu;
  std::map<std::string, std::string> settings;  // by name, as given; absent if not given
};

void add_job_flags(FlagSet& command, JobFlags& flags);

// `--gpu H100:8`, `--gpus 8xH100` and `--gpu h100 --gpus 8` are the same. Two different numbers are refused.
Result<> take_gpu(const std::string& text, std::string& gpu, std::map<std::string, std::string>& settings);
Result<> take_gpus(const std::string& text, std::string& gpu, std::map<std::string, std::string>& settings);

// The model and the job, checked against each other. Lengths that the user left out are filled in.
struct ModelAndJob {
  model::ModelShape model;
  model::Job job;
};
Checked<ModelAndJob> read_job(const JobFlags& flags);
// Only the job, for a model that was already read; see model::fit_job().
Checked<model::Job> read_job(const JobFlags& flags, const model::ModelShape& model);

// Without --precision, a served model is in fp16 on a GPU without bf16.
void use_formats_of(const catalog::Gpu& gpu, const JobFlags& flags, model::Job& job);
// The widest format below the job's in which a served model leaves room for a request on its GPUs.
std::optional<model::Precision> smaller_format(const model::ModelShape& model, const model::Job& job,
                                               const catalog::Gpu& gpu);
// Serves in a smaller format if the assumed one does not fit the GPUs that were named.
void narrow_if_too_large(const JobFlags& flags, const model::ModelShape& model, const catalog::Gpu& gpu,
                         model::Job& job);

// `--gpus 8` without --tp means eight copies of a served model that fits one GPU, and one copy over all eight of a
// model that does not. `may_add_gpus`: without --gpus, the fewest that hold the model. Returns whether the job was
// split.
bool split_if_too_large(const JobFlags& flags, const model::ModelShape& model, const catalog::Gpu& gpu, model::Job& job,
                        bool may_add_gpus = false);

// The same for training: a job that does not fit is sharded with the lowest sufficient ZeRO stage, with recomputation
// if needed. It uses the given GPUs or, with `may_add_gpus` and without --gpus, one GPU if recomputation is enough,
// else the fewest that hold it.
bool shard_if_too_large(const JobFlags& flags, const model::ModelShape& model, const catalog::Gpu& gpu, model::Job& job,
                        bool may_add_gpus = false);

// The note about what was changed.
std::string sharded_words(const model::ModelShape& model, const catalog::Gpu& gpu, const model::Job& job);

// In lengths such as 4k, k means 1,000, as in vLLM. Prints a note if the user may have meant 1,024.
void note_lengths(const JobFlags& flags);

// The beginning of a sentence about the job: "Training llama-2-7b in bf16 with adamw, batch 8 x 2048 tokens".
std::string describe_job(const model::ModelShape& model, const model::Job& job);

}  // namespace rightsize::app
