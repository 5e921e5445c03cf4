#include "rightsize/input/job_flags.h"

#include <fmt/format.h>

#include "memory/memory.h"
#include "model/presets.h"
#include "model/serve_settings.h"

namespace rightsize::app {

void add_job_flags(FlagSet& command, JobFlags& flags) {
  command
      .add_option("--model,model", flags.model,
                  "built-in name (see 'rightsize models') or path of a Hugging Face config.json")
      ->required();
  command.add_option("--gpu,gpu", flags.gpu, "GPU name, e.g. h100-sxm (see 'rightsize gpus')");
  for (const model::SettingInfo& info : model::job_settings()) {
    command
        .add_option_function(
            "--" + info.name, [&flags, name = info.name](const std::string& text) { flags.settings[name] = text; },
            info.meaning)
        ->type_name(info.values);
  }
}

Checked<ModelAndJob> read_job(const JobFlags& flags) {
  RIGHTSIZE_TRY(model::ModelShape model, model::find_model(flags.model));
  std::vector<model::Setting> settings;
  for (const auto& [name, value] : flags.settings) settings.push_back({name, value, {}});
  RIGHTSIZE_TRY(model::Job job, model::parse_job(settings));
  const bool served = job.kind == model::JobKind::kServe && !flags.settings.contains("precision");
  if (served) job.precision = model::default_precision(model, job.stack);
  if (job.sequence == 0) job.sequence = memory::default_sequence(model);
  if (Errors errors = memory::check_job(model, job); !errors.empty()) return fail(std::move(errors));
  return ModelAndJob{std::move(model), job};
}

std::string describe_job(const model::ModelShape& model, const model::Job& job) {
  std::string text;
  if (job.kind == model::JobKind::kServe) {
    text = fmt::format("Serving {} in {} with {}: {} request{} in flight, {} tokens in, {} out", model.name,
                       model::name_of(job.precision), model::name_of(job.stack), job.serve.concurrency,
                       job.serve.concurrency == 1 ? "" : "s", job.serve.isl, job.serve.osl);
  } else {
    const bool adapters = job.train.method != model::Method::kFull;
    text = fmt::format("{} {} in {} with {}, batch {}{}",
                       adapters ? fmt::format("Training {} adapters of", model::name_of(job.train.method)) : "Training",
                       model.name, model::name_of(job.precision), model::name_of(job.train.optimizer), job.batch,
                       model.image_size > 0 ? "" : fmt::format(" x {} tokens", job.sequence));
    if (job.train.recompute != model::Recompute::kNone) {
      text += fmt::format(", {} recompute", model::name_of(job.train.recompute));
    }
  }
  const model::Parallelism& p = job.parallel;
  if (p.gpus > 1) {
    text += fmt::format(", on {} GPUs", p.gpus);
    if (const auto& d = job.serve.disaggregated) {
      text += fmt::format(": {} x {} for prompts, {} x {} for answers", d->prefill_workers, d->prefill_tensor,
                          d->decode_workers, d->decode_tensor);
    }
    if (p.tensor > 1) text += fmt::format(", tp {}", p.tensor);
    if (p.expert > 1) text += fmt::format(", ep {}", p.expert);
    if (p.attention_data > 1) text += fmt::format(", attention dp {}", p.attention_data);
    if (p.pipeline > 1) text += fmt::format(", pp {}", p.pipeline);
    if (p.zero > 0) text += fmt::format(", ZeRO {}", p.zero);
  }
  return text;
}

}  // namespace rightsize::app
