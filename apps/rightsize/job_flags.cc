#include "job_flags.h"

#include <fmt/format.h>

#include "memory/memory.h"
#include "workload/presets.h"

namespace rightsize::app {

void add_job_flags(CLI::App& command, JobFlags& flags) {
  command
      .add_option("--model", flags.model,
                  "built-in name (see 'rightsize models') or path of a Hugging Face config.json")
      ->required();
  command.add_option("--gpu", flags.gpu, "GPU name, e.g. h100-sxm (see 'rightsize gpus')");
  for (const workload::SettingInfo& info : workload::job_settings()) {
    command
        .add_option_function<std::string>(
            "--" + info.name, [&flags, name = info.name](const std::string& text) { flags.settings[name] = text; },
            info.meaning)
        ->type_name(info.values);
  }
}

Checked<ModelAndJob> read_job(const JobFlags& flags) {
  RIGHTSIZE_TRY(workload::ModelShape model, workload::find_model(flags.model));
  std::vector<workload::Setting> settings;
  for (const auto& [name, value] : flags.settings) settings.push_back({name, value, {}});
  RIGHTSIZE_TRY(workload::Job job, workload::parse_job(settings));
  if (job.sequence == 0) job.sequence = memory::default_sequence(model);
  if (Errors errors = memory::check_job(model, job); !errors.empty()) return fail(std::move(errors));
  return ModelAndJob{std::move(model), job};
}

std::string describe_job(const workload::ModelShape& model, const workload::Job& job) {
  std::string text;
  if (job.kind == workload::JobKind::kServe) {
    text = fmt::format("Serving {} in {} with {}: {} request{} in flight, {} tokens in, {} out", model.name,
                       workload::name_of(job.precision), workload::name_of(job.stack), job.serve.concurrency,
                       job.serve.concurrency == 1 ? "" : "s", job.serve.isl, job.serve.osl);
  } else {
    const bool adapters = job.train.method != workload::Method::kFull;
    text =
        fmt::format("{} {} in {} with {}, batch {}{}",
                    adapters ? fmt::format("Training {} adapters of", workload::name_of(job.train.method)) : "Training",
                    model.name, workload::name_of(job.precision), workload::name_of(job.train.optimizer), job.batch,
                    model.image_size > 0 ? "" : fmt::format(" x {} tokens", job.sequence));
    if (job.train.recompute != workload::Recompute::kNone) {
      text += fmt::format(", {} recompute", workload::name_of(job.train.recompute));
    }
  }
  const workload::Parallelism& p = job.parallel;
  if (p.gpus > 1) {
    text += fmt::format(", on {} GPUs", p.gpus);
    if (p.tensor > 1) text += fmt::format(", tp {}", p.tensor);
    if (p.pipeline > 1) text += fmt::format(", pp {}", p.pipeline);
    if (p.zero > 0) text += fmt::format(", ZeRO {}", p.zero);
  }
  return text;
}

}  // namespace rightsize::app
